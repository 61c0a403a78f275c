"""Frontmatter that a person wrote: read by ruamel, and edited so that everything that does not change keeps its bytes.

Only plain data: anchors, aliases, tags, merge keys and repeated keys are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.scanner import Scanner
from ruamel.yaml.tokens import (
    AliasToken,
    AnchorToken,
    BlockEndToken,
    BlockMappingStartToken,
    BlockSequenceStartToken,
    DirectiveToken,
    DocumentStartToken,
    FlowMappingEndToken,
    FlowMappingStartToken,
    FlowSequenceEndToken,
    FlowSequenceStartToken,
    ScalarToken,
    TagToken,
    Token,
)

from agent_memory.note.frontmatter import NotReadable, Plain, flow_text, plain_value, text_scalar

MAX_DEPTH = 8
_STARTS = (BlockMappingStartToken, BlockSequenceStartToken, FlowMappingStartToken, FlowSequenceStartToken)
_ENDS = (BlockEndToken, FlowMappingEndToken, FlowSequenceEndToken)
_COMMENT = re.compile("(?<!\\S)#[^\n\x85\u2028\u2029]*")


# -- reading ----------------------------------------------------------------------------------------------------------


def read_block(text: str) -> MappingNode | None:
    """Returns the mapping that the text is; None for a text without any value. Else NotReadable with the problems and
    their lines.

    Lines are counted from 2: the block of a note begins below its first `---`.
    """
    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner = _Scanner
    try:
        if refused := list(_refused_tokens(yaml.scan(text))):
            raise NotReadable(*refused)
        root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        what = " ".join(str(error.problem or error.context).split())
        raise NotReadable(f"line {_line(error.problem_mark or error.context_mark)}: {what}") from error
    except NotReadable:
        raise
    except (YAMLError, ValueError, OverflowError, AssertionError) as error:
        # A character that no YAML may hold, an escape that is no character, a directive that ruamel does not expect.
        raise NotReadable(f"not YAML: {' '.join(str(error).split('in ')[0].split())}") from error
    if root is None or (isinstance(root, ScalarNode) and plain(root) is None):
        return None
    if not isinstance(root, MappingNode):
        raise NotReadable("keys with values expected, like `title: something`")
    if refused := list(_refused_keys(root)):
        raise NotReadable(*refused)
    return root


class _Scanner(Scanner):
    """Refuses what is nested too deeply as it meets it: ruamel looks at every bracket that is open again at every token."""

    def fetch_flow_collection_start(self, TokenClass: type[Token], to_push: Literal["[", "{"]) -> None:  # noqa: N803 - ruamel calls it so
        """Refuse the next `[` or `{` where too many are open."""
        if len(self.flow_context) >= MAX_DEPTH:
            raise _too_deep(self.reader.get_mark())
        super().fetch_flow_collection_start(TokenClass, to_push)


def block_values(text: str) -> dict[str, Plain]:
    """Returns the keys of a block that `read_block` reads, and their bare values."""
    root = read_block(text)
    return {key.value: plain(value) for key, value in root.value} if root else {}


def plain(node: Node) -> Plain:
    """Returns the node as bare values."""
    if isinstance(node, MappingNode):
        return {key.value: plain(value) for key, value in node.value}
    if isinstance(node, SequenceNode):
        return [plain(item) for item in node.value]
    return str(node.value) if node.style else plain_value(node.value)


def _refused_tokens(tokens: Iterator[Token]) -> Iterator[str]:
    """Yields what is not allowed, with its line. What is nested too deeply is refused at once: the rest is not looked at."""
    depth = 0
    for token in tokens:
        depth += isinstance(token, _STARTS) - isinstance(token, _ENDS)
        if depth > MAX_DEPTH:
            raise _too_deep(token.start_mark)
        if isinstance(token, DirectiveToken | DocumentStartToken):
            raise NotReadable(f"line {_line(token.start_mark)}: one document without directives expected")
        if isinstance(token, AnchorToken):
            yield _refusal(token.start_mark, "anchors", f"&{token.value}")
        elif isinstance(token, AliasToken):
            yield _refusal(token.start_mark, "aliases", f"*{token.value}")
        elif isinstance(token, TagToken):
            yield _refusal(token.start_mark, "tags", "".join(filter(None, token.value)))


def _refused_keys(node: Node) -> Iterator[str]:
    if isinstance(node, SequenceNode):
        for item in node.value:
            yield from _refused_keys(item)
    elif isinstance(node, MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                yield f"line {_line(key.start_mark)}: a key must be plain text"
                continue
            if key.value == "<<" and not key.style:
                yield _refusal(key.start_mark, "merge keys", "<<")
            if key.value in seen:
                yield _refusal(key.start_mark, "repeated keys", key.value)
            seen.add(key.value)
            yield from _refused_keys(value)


def _refusal(mark: object, what: str, sign: str) -> str:
    return f"line {_line(mark)}: {what} (`{sign}`) are not allowed; quote what is meant as text"


def _too_deep(mark: object) -> NotReadable:
    return NotReadable(f"line {_line(mark)}: nested deeper than {MAX_DEPTH} levels")


def _line(mark: object) -> int:
    return int(getattr(mark, "line", 0)) + 2


# -- editing ----------------------------------------------------------------------------------------------------------


def edit_block(block: str, changes: Mapping[str, str], order: Sequence[str]) -> str:
    """Returns the block with each key of `changes` set to the YAML given for it (which follows `key:`).

    A key that is there keeps its place; a comment stays on its line where the value is on that line too, and else moves above the
    key. A new key stands after the last one that precedes it in `order`. All other keys, comments, quoting and spacing
    stay. Where the block is written in a way that cannot be edited so (all of it in braces, say), it is written anew, one line a
    key in the same order, comments first. The block must be one that `read_block` reads.
    """
    wanted = {**block_values(block), **{key: block_values(_written(key, text))[key] for key, text in changes.items()}}
    edited = block if block.endswith("\n") or not block else f"{block}\n"
    try:
        for key, text in changes.items():
            edited = _with_key(edited, key, text, order)
        if block_values(edited) == wanted:
            return edited
    except NotReadable:
        pass
    lines = "".join(f"{text_scalar(key, in_flow=True)}: {flow_text(value)}\n" for key, value in wanted.items())
    return "".join(f"{comment}\n" for comment in comment_lines(block)) + lines


def comment_lines(block: str) -> tuple[str, ...]:
    """Returns every comment of a block, wherever it stands, without what stands before it on its line; none of a block
    that cannot be read."""
    try:
        read_block(block)
    except NotReadable:
        return ()
    return tuple(_comments(block, 0, len(block)))


def _written(key: str, text: str) -> str:
    return f"{key}:{text}\n" if text.startswith("\n") else f"{key}: {text}\n"


def _with_key(block: str, key: str, text: str, order: Sequence[str]) -> str:
    root = read_block(block)
    if root is None:
        return block + _written(key, text)
    if root.flow_style:
        return block
    indent = " " * (_start(root) - _line_start(block, _start(root)))
    for found, value in root.value:
        if found.value == key:
            return _with_value(block, found, value, text, indent)
    before = set(order[: order.index(key)])
    preceding = [pair for pair in root.value if pair[0].value in before]
    place = line_end(block, pair_end(*preceding[-1])) if preceding else _line_start(block, _start(root.value[0][0]))
    written = _written(key, text).removesuffix("\n").replace("\n", f"\n{indent}")
    return f"{block[:place]}{indent}{written}\n{block[place:]}"


def _with_value(block: str, key: Node, value: Node, text: str, indent: str) -> str:
    text = text.replace("\n", f"\n{indent}")
    start, end = _line_start(block, _start(key)), line_end(block, pair_end(key, value))
    colon = block.find(":", node_end(key)) + 1
    named = block[start:colon]
    blank = "" if text.startswith("\n") else " "
    if block.find("\n", start) + 1 < end or (isinstance(value, ScalarNode) and value.style in ("|", ">")):
        above = "".join(f"{indent}{comment}\n" for comment in _comments(block, start, end))
        return f"{block[:start]}{above}{named}{blank}{text}\n{block[end:]}"
    value_start, value_end = (colon, colon) if _is_unwritten(value) else (_start(value), node_end(value))
    rest = block[value_end:end]
    if text.startswith("\n"):  # a list in lines stands below its key's comment
        return f"{block[:start]}{named}{rest.rstrip()}{text}\n{block[end:]}"
    return f"{block[:start]}{named}{block[colon:value_start] or blank}{text}{rest}{block[end:]}"


def _comments(block: str, start: int, end: int) -> list[str]:
    """Returns the comments between two offsets. What looks like one inside a scalar is none."""
    text = block
    for token in YAML(typ="safe", pure=True).scan(block):
        if isinstance(token, ScalarToken):
            first, last = token.start_mark.index, token.end_mark.index
            if token.style in ("|", ">"):
                first = line_end(block, first)  # a comment may follow the sign
            text = text[:first] + re.sub(r"[^\n]", "x", text[first:last]) + text[last:]
    return _COMMENT.findall(text[start:end])


# -- places in the text -----------------------------------------------------------------------------------------------


def _start(node: Node) -> int:
    return int(node.start_mark.index)


def node_end(node: Node) -> int:
    """Returns where the node ends. For ruamel a list or mapping in lines ends where the next thing begins: here with
    its last value."""
    if isinstance(node, ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    return pair_end(*node.value[-1]) if isinstance(node, MappingNode) else node_end(node.value[-1])


def pair_end(key: Node, value: Node) -> int:
    """Returns where a member of a mapping ends."""
    return node_end(key) if _is_unwritten(value) else node_end(value)


def _is_unwritten(value: Node) -> bool:
    return isinstance(value, ScalarNode) and not value.style and _start(value) == node_end(value)


def _line_start(block: str, offset: int) -> int:
    return block.rfind("\n", 0, offset) + 1


def line_end(block: str, offset: int) -> int:
    """Returns the place just behind the newline of the line that `offset` is on; a value in `|` style ends there already."""
    if block[offset - 1 : offset] == "\n":
        return offset
    return block.find("\n", offset) + 1 or len(block)

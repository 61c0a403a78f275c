"""Frontmatter written by a person: read by ruamel, and edited so that everything unchanged keeps its bytes.

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

from agent_memory.note.frontmatter import NotReadable, Plain, flow_text, plain_value, read_quickly, text_scalar

MAX_DEPTH = 8
_STARTS = (BlockMappingStartToken, BlockSequenceStartToken, FlowMappingStartToken, FlowSequenceStartToken)
_ENDS = (BlockEndToken, FlowMappingEndToken, FlowSequenceEndToken)
_COMMENT = re.compile("(?<!\\S)#[^\n\x85\u2028\u2029]*")


# -- reading ----------------------------------------------------------------------------------------------------------


def read_block(text: str) -> MappingNode | None:
    """Returns the mapping in a text, or None for a text without any value. Raises NotReadable with the problems and
    their lines, counted from 2, since a note's block begins below its first `---`."""
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
        # A character that YAML forbids, an escape that is not a character, a directive that ruamel does not expect.
        raise NotReadable(f"not YAML: {' '.join(str(error).split('in ')[0].split())}") from error
    if root is None or (isinstance(root, ScalarNode) and plain(root) is None):
        return None
    if not isinstance(root, MappingNode):
        raise NotReadable("keys with values expected, like `title: something`")
    if refused := list(_refused_keys(root)):
        raise NotReadable(*refused)
    return root


class _Scanner(Scanner):
    """Refuses deep nesting as it meets it: at every token ruamel scans all open brackets again."""

    def fetch_flow_collection_start(self, TokenClass: type[Token], to_push: Literal["[", "{"]) -> None:  # noqa: N803
        if len(self.flow_context) >= MAX_DEPTH:
            raise _too_deep(self.reader.get_mark())
        super().fetch_flow_collection_start(TokenClass, to_push)


def block_values(text: str) -> dict[str, Plain]:
    """Returns the keys and bare values of a block, read with `read_block`."""
    root = read_block(text)
    return {key.value: plain(value) for key, value in root.value} if root else {}


def plain(node: Node) -> Plain:
    if isinstance(node, MappingNode):
        return {key.value: plain(value) for key, value in node.value}
    if isinstance(node, SequenceNode):
        return [plain(item) for item in node.value]
    return str(node.value) if node.style else plain_value(node.value)


def _refused_tokens(tokens: Iterator[Token]) -> Iterator[str]:
    """Yields every forbidden token with its line. Stops at once if the nesting is too deep."""
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
    """Returns the block with each key of `changes` set to the given YAML (which follows `key:`).

    An existing key keeps its place; a comment stays on its line if the value is on that line too, and otherwise moves
    above the key. A new key comes after the last one that precedes it in `order`. All other keys, comments, quoting and
    spacing stay. A block that cannot be edited in place (all of it in braces, say) is written anew, one line a key in
    the same order, comments first. `read_block` must be able to read the block.
    """
    wanted = {**_values(block), **{key: _values(_key_line(key, text))[key] for key, text in changes.items()}}
    edited = block if block.endswith("\n") or not block else f"{block}\n"
    try:
        for key, text in changes.items():
            edited = _with_key(edited, key, text, order)
        if _values(edited) == wanted:
            return edited
    except NotReadable:
        pass
    lines = "".join(f"{text_scalar(key, in_flow=True)}: {flow_text(value)}\n" for key, value in wanted.items())
    return "".join(f"{comment}\n" for comment in comment_lines(block)) + lines


def _values(text: str) -> dict[str, Plain]:
    quick = read_quickly(text)  # ruamel takes 5 ms for a note: too long for each of 3,000
    return block_values(text) if quick is None else quick


def comment_lines(block: str) -> tuple[str, ...]:
    """Returns every comment of a block, without the code before it on its line; none if the block cannot be read."""
    try:
        read_block(block)
    except NotReadable:
        return ()
    return tuple(_comments(block, 0, len(block)))


def _key_line(key: str, text: str) -> str:
    return f"{key}:{text}\n" if text.startswith("\n") else f"{key}: {text}\n"


def _with_key(block: str, key: str, text: str, order: Sequence[str]) -> str:
    root = read_block(block)
    if root is None:
        return block + _key_line(key, text)
    if root.flow_style:
        return block
    indent = " " * (_start(root) - _line_start(block, _start(root)))
    for found, value in root.value:
        if found.value == key:
            return _with_value(block, found, value, text, indent)
    before = set(order[: order.index(key)])
    preceding = [pair for pair in root.value if pair[0].value in before]
    place = line_end(block, pair_end(*preceding[-1])) if preceding else _line_start(block, _start(root.value[0][0]))
    written = _key_line(key, text).removesuffix("\n").replace("\n", f"\n{indent}")
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
    if text.startswith("\n"):  # a list in lines comes below its key's comment
        return f"{block[:start]}{named}{rest.rstrip()}{text}\n{block[end:]}"
    return f"{block[:start]}{named}{block[colon:value_start] or blank}{text}{rest}{block[end:]}"


def _comments(block: str, start: int, end: int) -> list[str]:
    """Returns the comments between two offsets; a `#` inside a scalar does not count."""
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
    """Returns where the node ends: with its last value, where ruamel says where the next thing begins."""
    if isinstance(node, ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    return pair_end(*node.value[-1]) if isinstance(node, MappingNode) else node_end(node.value[-1])


def pair_end(key: Node, value: Node) -> int:
    return node_end(key) if _is_unwritten(value) else node_end(value)


def _is_unwritten(value: Node) -> bool:
    return isinstance(value, ScalarNode) and not value.style and _start(value) == node_end(value)


def _line_start(block: str, offset: int) -> int:
    return block.rfind("\n", 0, offset) + 1


def line_end(block: str, offset: int) -> int:
    """Returns the offset after the newline of the line at `offset`; a value in `|` style ends there already."""
    if block[offset - 1 : offset] == "\n":
        return offset
    return block.find("\n", offset) + 1 or len(block)

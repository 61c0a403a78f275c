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
    TagToken,
    Token,
)

from agent_memory.formats.frontmatter import NotReadable, Plain, flow_text, plain_value, read_values, text_scalar

MAX_DEPTH = 8
_STARTS = (BlockMappingStartToken, BlockSequenceStartToken, FlowMappingStartToken, FlowSequenceStartToken)
_ENDS = (BlockEndToken, FlowMappingEndToken, FlowSequenceEndToken)
_COMMENT = re.compile("(?<!\\S)#[^\n\x85\u2028\u2029]*")
_DASH = re.compile(r"^[ ]*-(?=\s)", re.MULTILINE)


# -- reading ----------------------------------------------------------------------------------------------------------


def read_block(text: str) -> MappingNode | None:
    """The mapping that the text is; None for a text without any value. Else NotReadable with the problems and their lines.

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
        """The next `[` or `{`."""
        if len(self.flow_context) >= MAX_DEPTH:
            raise _too_deep(self.reader.get_mark())
        super().fetch_flow_collection_start(TokenClass, to_push)


def plain_pairs(node: MappingNode | None) -> dict[str, Plain]:
    """The keys of a mapping and their bare values."""
    return {} if node is None else {key.value: plain(value) for key, value in node.value}


def plain(node: Node) -> Plain:
    """The node as bare values."""
    if isinstance(node, MappingNode):
        return plain_pairs(node)
    if isinstance(node, SequenceNode):
        return [plain(item) for item in node.value]
    return str(node.value) if node.style else plain_value(node.value)


def _refused_tokens(tokens: Iterator[Token]) -> Iterator[str]:
    """What is not allowed, with its line. What is nested too deeply is refused at once: the rest is not looked at."""
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
    """The block with each key of `changes` set to the YAML given for it (which follows `key:`).

    A key that is there keeps its place, its comment, and the lines of those list items that stay. A new one stands after
    the last one that precedes it in `order`. Unknown keys, comments, quoting and spacing stay. Where
    the block is written in a way that cannot be edited so (all of it in braces, say), it is written anew, one line a key
    in the same order, comments first. The block must be one that `read_values` reads.
    """
    wanted = {**read_values(block), **{key: read_values(_written(key, text))[key] for key, text in changes.items()}}
    edited = block if block.endswith("\n") or not block else f"{block}\n"
    for key, text in changes.items():
        edited = _set_key(edited, key, text, order)
    return edited if _reads_as(edited, wanted) else _rewritten(block, wanted)


def comment_lines(block: str) -> tuple[str, ...]:
    """Every comment of a block, wherever it stands, without what stands before it on its line; none of a block that cannot
    be read."""
    try:
        return tuple(comment.rstrip("\n") for comment in _comments(block, 0, len(block), read_block(block)))
    except NotReadable:
        return ()


def _written(key: str, text: str) -> str:
    return f"{key}:{text}\n" if text.startswith("\n") else f"{key}: {text}\n"


def _reads_as(block: str, wanted: Mapping[str, Plain]) -> bool:
    try:
        return read_values(block) == wanted
    except NotReadable:
        return False


def _rewritten(block: str, wanted: Mapping[str, Plain]) -> str:
    lines = "".join(f"{text_scalar(key, in_flow=True)}: {flow_text(value)}\n" for key, value in wanted.items())
    with_comments = "".join((*(f"{comment}\n" for comment in comment_lines(block)), lines))
    return with_comments if _reads_as(with_comments, wanted) else lines


def _set_key(block: str, key: str, text: str, order: Sequence[str]) -> str:
    try:
        root = read_block(block)
    except NotReadable:
        return block
    if root is None:
        return block + _written(key, text)
    if root.flow_style:
        return block
    pair = next((pair for pair in root.value if pair[0].value == key), None)
    return _insert(block, root, key, text, order) if pair is None else _replace(block, *pair, text)


def _insert(block: str, root: MappingNode, key: str, text: str, order: Sequence[str]) -> str:
    lines = _indented(_written(key, text), " " * _column(block, _start(root)))
    before = set(order[: order.index(key)])
    preceding = [pair for pair in root.value if pair[0].value in before]
    place = _line_end(block, _pair_end(*preceding[-1])) if preceding else _line_start(block, _start(root.value[0][0]))
    return block[:place] + lines + block[place:]


def _replace(block: str, key: Node, value: Node, text: str) -> str:
    if isinstance(value, ScalarNode) and value.style in ("|", ">"):
        start = _start(value)
        _, mark, comment = block[start : _line_end(block, start)].partition("#")
        return block[:start] + text + (f"  {mark}{comment}" if mark else "\n") + block[_end(value) :]
    if isinstance(value, ScalarNode) or value.flow_style:
        return _replace_inline(block, key, value, text)
    return _replace_lines(block, key, value, text)


def _replace_inline(block: str, key: Node, value: Node, text: str) -> str:
    """For a value that ends on a line which may hold a comment."""
    colon = _behind_colon(block, key)
    start, end = (colon, colon) if _is_unwritten(value) else (_start(value), _end(value))
    line_end = _line_end(block, end)
    head = _head(block, key, _comments(block, start, end, value))
    key_text = block[_line_start(block, _start(key)) : colon]
    if text.startswith("\n"):  # a list in lines stands below its key's comment
        items = _indented(f"{text[1:]}\n", " " * _column(block, _start(key)))
        return f"{head}{key_text}{block[end:line_end].rstrip()}\n{items}{block[line_end:]}"
    return f"{head}{key_text}{block[colon:start] or ' '}{text}{block[end:]}"


def _replace_lines(block: str, key: Node, value: Node, text: str) -> str:
    """For a list or mapping in lines. The lines of items that stay are kept; comments of those that go stand above the key."""
    first = _line_start(block, _start(value))
    items = value.value if isinstance(value, SequenceNode) else ()
    starts = _dash_lines(block, _start(value), items) or [first]
    ends = [*starts[1:], _line_end(block, _end(value))]
    gone = list(zip(items or (value,), starts, ends, strict=True))
    indent = " " * (len(block[first:]) - len(block[first:].lstrip(" ")))
    lines = ""
    for wanted, written in _items_of(text):
        same = next((old for old in gone if plain(old[0]) == wanted), None)
        lines += block[same[1] : same[2]] if same else f"{indent}- {written}\n"
        if same:
            gone.remove(same)
    head = _head(block, key, [comment for node, start, end in gone for comment in _comments(block, start, end, node)])
    colon = _behind_colon(block, key)
    inline = "" if lines else f" {text}"
    return (
        f"{head}{block[_line_start(block, _start(key)) : colon]}{inline}{block[colon:first]}{lines}{block[ends[-1] :]}"
    )


def _dash_lines(block: str, start: int, items: Sequence[Node]) -> list[int]:
    """Where the line of each item's dash begins; the item itself may begin below it."""
    lines, position = list[int](), _line_start(block, start)
    for item in items:
        dash = _DASH.search(block, position, _start(item))
        lines.append(dash.start() if dash else _line_start(block, _start(item)))
        position = _end(item)
    return lines


def _head(block: str, key: Node, comments: list[str]) -> str:
    """All before a key's line, with comments that lost their place."""
    return block[: _line_start(block, _start(key))] + _indented("".join(comments), " " * _column(block, _start(key)))


def _items_of(text: str) -> list[tuple[Plain, str]]:
    """The items of a list as we write it, each with its value."""
    written = _written("items", text)
    root = read_block(written)
    items = root.value[0][1] if root is not None else None
    if not isinstance(items, SequenceNode):
        return []
    return [(plain(item), written[_start(item) : _end(item)]) for item in items.value]


def _comments(block: str, start: int, end: int, node: Node | None) -> list[str]:
    """The comments between two offsets, each as a line, found outside the scalars of `node`."""
    text = block[:end]
    for scalar in _scalars(node):
        text = text[: _start(scalar)] + "x" * (_end(scalar) - _start(scalar)) + text[_end(scalar) :]
    return [f"{comment}\n" for comment in _COMMENT.findall(text[start:end])]


def _scalars(node: Node | None) -> Iterator[ScalarNode]:
    if isinstance(node, ScalarNode):
        yield node
    elif isinstance(node, SequenceNode):
        for item in node.value:
            yield from _scalars(item)
    elif isinstance(node, MappingNode):
        for key, value in node.value:
            yield from _scalars(key)
            yield from _scalars(value)


# -- places in the text -----------------------------------------------------------------------------------------------


def _start(node: Node) -> int:
    return int(node.start_mark.index)


def _end(node: Node) -> int:
    """Where the node ends. For ruamel a list or mapping in lines ends where the next thing begins: here with its last value."""
    if isinstance(node, ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    return _pair_end(*node.value[-1]) if isinstance(node, MappingNode) else _end(node.value[-1])


def _pair_end(key: Node, value: Node) -> int:
    return _end(key) if _is_unwritten(value) else _end(value)


def _is_unwritten(value: Node) -> bool:
    return isinstance(value, ScalarNode) and not value.style and _start(value) == _end(value)


def _behind_colon(block: str, key: Node) -> int:
    return block.find(":", _end(key)) + 1


def _indented(lines: str, indent: str) -> str:
    return "".join(f"{indent}{line}\n" for line in lines.split("\n")[:-1])


def _column(block: str, offset: int) -> int:
    return offset - _line_start(block, offset)


def _line_start(block: str, offset: int) -> int:
    return block.rfind("\n", 0, offset) + 1


def _line_end(block: str, offset: int) -> int:
    """Just behind the newline of the line that `offset` is on; a value in `|` style ends there already."""
    if block[offset - 1 : offset] == "\n":
        return offset
    return block.find("\n", offset) + 1 or len(block)

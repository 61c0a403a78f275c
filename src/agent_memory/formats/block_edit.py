"""Some values of a frontmatter block changed, everything else of it byte for byte as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from returns.result import Failure, Success

from agent_memory.formats.frontmatter import read_values
from agent_memory.formats.yaml_block import MappingNode, Node, Pair, ScalarNode, SequenceNode, plain, read_block
from agent_memory.formats.yaml_scalars import Plain, flow_text, text_scalar
from agent_memory.results import sealed

_COMMENT = re.compile("(?<!\\S)#[^\n\x85\u2028\u2029]*")

_DASH = re.compile(r"^[ ]*-(?=\s)", re.MULTILINE)


def edit_block(block: str, changes: Mapping[str, str], order: Sequence[str]) -> str:
    """The block with each key of `changes` set to the YAML given for it (which follows `key:`).

    A key that is there keeps its place, its comment, and the lines of those list items that stay. A new one stands after
    the last one that precedes it in `order`. Unknown keys, comments, quoting and spacing stay. Where
    the block is written in a way that cannot be edited so (all of it in braces, say), it is written anew, one line a key
    in the same order, comments first. The block must be one that `read_values` reads.
    """
    wanted = {**_values(block), **{key: _values(_written(key, text))[key] for key, text in changes.items()}}
    edited = block if block.endswith("\n") or not block else f"{block}\n"
    for key, text in changes.items():
        edited = _set_key(edited, key, text, order)
    return edited if _reads_as(edited, wanted) else _rewrite(block, wanted)


def comment_lines(block: str) -> tuple[str, ...]:
    """Every comment of a block, wherever it stands, without what stands before it on its line; none of a block that cannot
    be read."""
    match sealed(read_block(block)):
        case Success(root):
            return tuple(comment.rstrip("\n") for comment in _comments(block, 0, len(block), root))
        case _:
            return ()


def _written(key: str, text: str) -> str:
    return f"{key}:{text}\n" if text.startswith("\n") else f"{key}: {text}\n"


def _values(block: str) -> dict[str, Plain]:
    match sealed(read_values(block)):
        case Success(values):
            return values
        case Failure(problems):
            raise ValueError(f"only a readable block can be edited: {'; '.join(problems)}")


def _reads_as(block: str, wanted: Mapping[str, Plain]) -> bool:
    return read_values(block).map(lambda values: values == wanted).value_or(False)


def _set_key(block: str, key: str, text: str, order: Sequence[str]) -> str:
    match sealed(read_block(block)):
        case Success(root) if not root.flow:
            pair = root.get(key)
            return _replace(block, pair, text) if pair else _insert(block, root, key, text, order)
        case _:
            return block


def _insert(block: str, root: MappingNode, key: str, text: str, order: Sequence[str]) -> str:
    lines = _indented(_written(key, text), " " * _column(block, root.start) if root.pairs else "")
    before = set(order[: order.index(key)])
    preceding = [pair for pair in root.pairs if pair.key in before]
    if preceding:
        place = _line_end(block, preceding[-1].end)
    else:
        place = _line_start(block, root.pairs[0].key_start) if root.pairs else len(block)
    return block[:place] + lines + block[place:]


def _replace(block: str, pair: Pair, text: str) -> str:
    match pair.value:
        case ScalarNode(style="|" | ">", start=start, end=end):
            _, mark, comment = block[start : _line_end(block, start)].partition("#")
            return block[:start] + text + (f"  {mark}{comment}" if mark else "\n") + block[end:]
        case ScalarNode() | SequenceNode(flow=True) | MappingNode(flow=True):
            return _replace_inline(block, pair, text)
        case value:
            return _replace_lines(block, pair, value, text)


def _replace_inline(block: str, pair: Pair, text: str) -> str:
    """For a value that ends on a line which may hold a comment."""
    colon = _behind_colon(block, pair)
    start, end = (pair.value.start, pair.value.end) if pair.end > pair.key_end else (colon, colon)
    line_end = _line_end(block, end)
    head, indent = _head(block, pair, _comments(block, start, end, pair.value))
    if text.startswith("\n"):  # a list in lines stands below its key's comment
        items = _indented(f"{text[1:]}\n", indent)
        return f"{head}{block[_key_line(block, pair) : colon]}{block[end:line_end].rstrip()}\n{items}{block[line_end:]}"
    gap = block[colon:start] or " "
    return f"{head}{block[_key_line(block, pair) : colon]}{gap}{text}{block[end:]}"


def _replace_lines(block: str, pair: Pair, value: SequenceNode | MappingNode, text: str) -> str:
    """For a list or mapping in lines. The lines of items that stay are kept; comments of those that go stand above the key."""
    first = _line_start(block, value.start)
    items = value.items if isinstance(value, SequenceNode) else ()
    starts = _dash_lines(block, value.start, items) or [first]
    ends = [*starts[1:], _line_end(block, value.end)]
    gone = list(zip(items or (value,), starts, ends, strict=True))
    indent = " " * (len(block[first:]) - len(block[first:].lstrip(" ")))
    lines = ""
    for wanted, written in _items_of(text):
        same = next((old for old in gone if plain(old[0]) == wanted), None)
        lines += block[same[1] : same[2]] if same else f"{indent}- {written}\n"
        if same:
            gone.remove(same)
    head, _ = _head(
        block, pair, [comment for node, start, end in gone for comment in _comments(block, start, end, node)]
    )
    colon = _behind_colon(block, pair)
    inline = "" if lines else f" {text}"
    return f"{head}{block[_key_line(block, pair) : colon]}{inline}{block[colon:first]}{lines}{block[ends[-1] :]}"


def _dash_lines(block: str, start: int, items: tuple[Node, ...]) -> list[int]:
    """Where the line of each item's dash begins; the item itself may begin below it."""
    lines, position = list[int](), _line_start(block, start)
    for item in items:
        dash = _DASH.search(block, position, item.start)
        lines.append(dash.start() if dash else _line_start(block, item.start))
        position = item.end
    return lines


def _head(block: str, pair: Pair, comments: list[str]) -> tuple[str, str]:
    """All before a pair's line, with comments that lost their place; and the pair's indentation."""
    indent = " " * _column(block, pair.key_start)
    return block[: _key_line(block, pair)] + _indented("".join(comments), indent), indent


def _key_line(block: str, pair: Pair) -> int:
    return _line_start(block, pair.key_start)


def _behind_colon(block: str, pair: Pair) -> int:
    return block.find(":", pair.key_end) + 1


def _items_of(text: str) -> list[tuple[Plain, str]]:
    """The items of a list as we write it, each with its value."""
    written = _written("items", text)
    match sealed(read_block(written)):
        case Success(MappingNode(pairs=(Pair(value=SequenceNode(items=items)),))):
            return [(plain(item), written[item.start : item.end]) for item in items]
        case _:
            return []


def _comments(block: str, start: int, end: int, node: Node) -> list[str]:
    """The comments between two offsets, each as a line, found outside the scalars of `node`."""
    text = block[:end]
    for scalar in _scalars(node):
        text = text[: scalar.start] + "x" * (scalar.end - scalar.start) + text[scalar.end :]
    return [f"{comment}\n" for comment in _COMMENT.findall(text[start:end])]


def _scalars(node: Node) -> Iterator[ScalarNode]:
    match node:
        case ScalarNode():
            yield node
        case SequenceNode(items):
            for item in items:
                yield from _scalars(item)
        case MappingNode(pairs):
            for pair in pairs:
                yield ScalarNode(pair.key, pair.key_start, pair.key_end, "")
                yield from _scalars(pair.value)


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


def _rewrite(block: str, wanted: Mapping[str, Plain]) -> str:
    lines = "".join(f"{text_scalar(key, in_flow=True)}: {flow_text(value)}\n" for key, value in wanted.items())
    match sealed(read_block(block)):
        case Success(root) if _reads_as(
            with_comments := "".join((*_comments(block, 0, len(block), root), lines)), wanted
        ):
            return with_comments
        case _:
            return lines

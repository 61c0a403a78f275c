"""Some values of a frontmatter block changed, everything else of it byte for byte as it was."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence

from returns.result import Failure, Success
from ruamel.yaml import YAML

from agent_memory.domain.results import sealed
from agent_memory.formats.yaml_block import MappingNode, Node, Pair, ScalarNode, SequenceNode, plain, read_block
from agent_memory.formats.yaml_scalars import Plain

_COMMENT = re.compile(r"(?<!\S)#[^\n]*")


def edit_block(block: str, changes: Mapping[str, str], order: Sequence[str]) -> str:
    """The block with each key of `changes` set to the YAML given for it (which follows `key:`).

    A key that is there keeps its place, its comment, and the lines of those list items that stay. A new one stands after
    the last one that precedes it in `order`. Unknown keys, comments, quoting and spacing stay. Where the block is written
    in a way that cannot be edited so (all of it in braces, say), it is written anew by ruamel, which keeps keys, order
    and comments. The block must be one that `read_block` reads.
    """
    wanted = {**_values(block), **{key: _values(_written(key, text))[key] for key, text in changes.items()}}
    edited = block if block.endswith("\n") or not block else f"{block}\n"
    for key, text in changes.items():
        edited = _set_key(edited, key, text, order)
    return edited if _reads_as(edited, wanted) else _rewrite(block, changes, wanted)


def _written(key: str, text: str) -> str:
    return f"{key}:{text}\n" if text.startswith("\n") else f"{key}: {text}\n"


def _values(block: str) -> dict[str, Plain]:
    match sealed(read_block(block)):
        case Success(root):
            return {pair.key: plain(pair.value) for pair in root.pairs}
        case Failure(problems):
            raise ValueError(f"only a readable block can be edited: {'; '.join(problems)}")


def _reads_as(block: str, wanted: Mapping[str, Plain]) -> bool:
    match sealed(read_block(block)):
        case Success(root):
            return {pair.key: plain(pair.value) for pair in root.pairs} == wanted
        case Failure():
            return False


def _set_key(block: str, key: str, text: str, order: Sequence[str]) -> str:
    match sealed(read_block(block)):
        case Success(root) if not root.flow:
            pair = root.get(key)
            return _replace(block, pair, text) if pair else _insert(block, root, key, text, order)
        case _:
            return block


def _insert(block: str, root: MappingNode, key: str, text: str, order: Sequence[str]) -> str:
    indent = " " * _column(block, root.pairs[0].key_start) if root.pairs else ""
    lines = _indented(_written(key, text), indent)
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
    colon = block.index(":", pair.key_end) + 1
    start, end = (pair.value.start, pair.value.end) if pair.end > pair.key_end else (colon, colon)
    rest, after = block[end : _line_end(block, end)], block[_line_end(block, end) :]
    lost = _comments(block, start, end, pair.value)
    head = block[: _line_start(block, pair.key_start)] + _indented("".join(lost), " " * _column(block, pair.key_start))
    key = block[_line_start(block, pair.key_start) : colon]
    if text.startswith("\n"):  # a list in lines stands below its key's comment
        return f"{head}{key}{rest.rstrip()}{text}\n{after}"
    return f"{head}{key}{block[colon:start] or ' '}{text}{rest}{after}"


def _replace_lines(block: str, pair: Pair, value: SequenceNode | MappingNode, text: str) -> str:
    """For a list or mapping in lines. The lines of items that stay are kept; comments of those that go stand above the key."""
    items = value.items if isinstance(value, SequenceNode) else ()
    first = _line_start(block, value.start)
    starts = [_line_start(block, item.start) for item in items]
    ends = [*starts[1:], _line_end(block, value.end)]
    old = list(zip(items, starts, ends, strict=True)) if items else []
    indent = " " * (len(block[first:]) - len(block[first:].lstrip(" ")))
    lines = ""
    for wanted, written in _items_of(text):
        same = next((item for item in old if plain(item[0]) == wanted), None)
        lines += block[same[1] : same[2]] if same else f"{indent}- {written}\n"
        if same:
            old.remove(same)
    lost = "".join(comment for item, start, end in old for comment in _comments(block, start, end, item))
    head = block[: _line_start(block, pair.key_start)] + _indented(lost, " " * _column(block, pair.key_start))
    key = block[_line_start(block, pair.key_start) : first]
    if not lines:
        key_end = block.index(":", pair.key_end) + 1
        key = f"{key[: key_end - first + len(key)]} {text}{key[key_end - first + len(key) :]}"
    return head + key + lines + block[ends[-1] :]


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


def _rewrite(block: str, changes: Mapping[str, str], wanted: Mapping[str, Plain]) -> str:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1_000_000
    yaml.indent(mapping=2, sequence=4, offset=2)
    document = yaml.load(block) or {}
    for key, text in changes.items():
        document[key] = yaml.load(_written(key, text))[key]
    out = io.StringIO()
    yaml.dump(document, out)
    if not _reads_as(out.getvalue(), wanted):
        raise AssertionError("a frontmatter block was not written as it should read")
    return out.getvalue()

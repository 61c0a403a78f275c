"""A note's file cut into its parts, and put together again: byte order mark, frontmatter block, gap, body."""

from __future__ import annotations

import re

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.formats.yaml_scalars import Plain, well_formed

MAX_BLOCK_CHARS = 64 * 1024
"""Of frontmatter that is not written as we write it; what we write is read in a time that does not matter."""

_FENCE = re.compile(r"---[ \t]*\n((?:[^\n]*\n)*?)---[ \t]*(?:\n|\Z)")
_OPENING = re.compile(r"---[ \t]*\n")
_LINE_END = re.compile(r"\r\n?")
_BYTE_ORDER_MARK = "\ufeff"
_CONFLICT = re.compile(r"^<<<<<<<(?: |$).*?^=======$.*?^>>>>>>>(?: |$)", re.MULTILINE | re.DOTALL)


@frozen
class NoteParts:
    """The parts of one file, with `\\n` line ends. Joined they give the same file, with one newline at its end."""

    block: str | None
    """The YAML between the `---` lines, each of its lines with its end; None for a file without frontmatter."""
    gap: str
    """The empty lines between frontmatter and body."""
    body: str
    """Without newlines at its beginning and end."""
    line_end: str = "\n"
    byte_order_mark: bool = False


def split_note(text: str) -> Result[NoteParts, tuple[str, ...]]:
    """The parts of a file; a problem where its frontmatter is never closed.

    The first line end of the file counts as that of the whole file. `---` on the first line opens frontmatter, which the
    next line of `---` closes; the body may hold such lines.
    """
    byte_order_mark = text.startswith(_BYTE_ORDER_MARK)
    line_end = "\r\n" if text[: text.find("\n") + 1].endswith("\r\n") else "\n"
    normal = (
        _LINE_END.sub("\n", text.removeprefix(_BYTE_ORDER_MARK))
        if "\r" in text
        else text.removeprefix(_BYTE_ORDER_MARK)
    )
    fenced = _FENCE.match(normal)
    if not fenced and _OPENING.match(normal):
        return Failure(("the frontmatter that `---` on line 1 opens is never closed by another `---`",))
    rest = normal[fenced.end() :] if fenced else normal
    body = rest.lstrip("\n")
    gap = rest[: len(rest) - len(body)]
    return Success(NoteParts(fenced[1] if fenced else None, gap, body.rstrip("\n"), line_end, byte_order_mark))


def join_note(parts: NoteParts) -> str:
    """The file's text. It ends with exactly one newline, and holds no lone surrogate (U+FFFD instead)."""
    front = "" if parts.block is None else f"---\n{parts.block}---\n"
    text = well_formed(f"{front}{parts.gap}{parts.body}".rstrip("\n") + "\n")
    mark = _BYTE_ORDER_MARK if parts.byte_order_mark else ""
    return mark + (text if parts.line_end == "\n" else text.replace("\n", parts.line_end))


def canonical_body(body: str) -> str:
    """The body as it is read back once it has been written."""
    return well_formed(_LINE_END.sub("\n", body)).strip("\n")


def read_values(block: str) -> Result[dict[str, Plain], tuple[str, ...]]:
    """The values of a frontmatter block; else every problem with its line."""
    from agent_memory.formats.quick_block import read_quickly  # a note whose bytes are known is only cut

    quick = read_quickly(block)
    if quick is not None:
        return Success(quick)
    if len(block) > MAX_BLOCK_CHARS:
        return Failure((f"the frontmatter is larger than {MAX_BLOCK_CHARS // 1024} KiB",))
    if has_conflict(block):
        return Failure(("the frontmatter holds unresolved merge-conflict markers",))
    # ruamel takes longer to import than a thousand notes take to read quickly.
    from agent_memory.formats.yaml_block import plain, read_block

    return read_block(block).map(lambda root: {pair.key: plain(pair.value) for pair in root.pairs})


def has_conflict(text: str) -> bool:
    """Whether the text holds the markers that a merge leaves where it could not decide."""
    return "<<<<<<<" in text and _CONFLICT.search(text) is not None

"""The file of a note: its parts. What its frontmatter says is read by `yaml_scalars`, and by `yaml_block` where we did not
write it."""

from __future__ import annotations

import re

from attrs import frozen

from agent_memory.text.json_codec import InvalidValue

_FENCE = re.compile(r"---[ \t]*\n((?:[^\n]*\n)*?)---[ \t]*(?:\n|\Z)")
_OPENING = re.compile(r"---[ \t]*\n")
_LINE_END = re.compile(r"\r\n?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BYTE_ORDER_MARK = "\ufeff"
_CONFLICT = re.compile(r"^<<<<<<<(?: |$).*?^=======$.*?^>>>>>>>(?: |$)", re.MULTILINE | re.DOTALL)


class NotReadable(InvalidValue):
    """A text that is no note, or a block that is no frontmatter, with every problem in words."""


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


def split_note(text: str) -> NoteParts:
    """Returns the parts of a file; NotReadable where its frontmatter is never closed.

    The first line end of the file counts as that of the whole file. `---` on the first line opens frontmatter, which the
    next line of `---` closes; the body may hold such lines.
    """
    byte_order_mark = text.startswith(_BYTE_ORDER_MARK)
    line_end = "\r\n" if text[: text.find("\n") + 1].endswith("\r\n") else "\n"
    normal = _LINE_END.sub("\n", text.removeprefix(_BYTE_ORDER_MARK))
    fenced = _FENCE.match(normal)
    if not fenced and _OPENING.match(normal):
        raise NotReadable("the frontmatter that `---` on line 1 opens is never closed by another `---`")
    rest = normal[fenced.end() :] if fenced else normal
    body = rest.lstrip("\n")
    gap = rest[: len(rest) - len(body)]
    return NoteParts(fenced[1] if fenced else None, gap, body.rstrip("\n"), line_end, byte_order_mark)


def join_note(parts: NoteParts) -> str:
    """Returns the file's text. It ends with exactly one newline, and holds no lone surrogate (U+FFFD instead)."""
    front = "" if parts.block is None else f"---\n{parts.block}---\n"
    text = well_formed(f"{front}{parts.gap}{parts.body}".rstrip("\n") + "\n")
    mark = _BYTE_ORDER_MARK if parts.byte_order_mark else ""
    return mark + (text if parts.line_end == "\n" else text.replace("\n", parts.line_end))


def canonical_body(body: str) -> str:
    """Returns the body as it is read back once it has been written."""
    return well_formed(_LINE_END.sub("\n", body)).strip("\n")


def has_conflict(text: str) -> bool:
    """Returns whether the text holds the markers that a merge leaves where it could not decide."""
    return "<<<<<<<" in text and _CONFLICT.search(text) is not None


def well_formed(text: str) -> str:
    """Returns the text with each lone surrogate, which no UTF-8 file can hold, replaced by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)

"""The file of a note: its parts, and the YAML of its frontmatter as values.

What we write ourselves is read here, without ruamel; all other YAML is left to `yaml_block`.
"""

from __future__ import annotations

import json
import re

from attrs import frozen

from agent_memory.formats.yaml_scalars import FLOW_WORD, PLAIN_TEXT, NotReadable, Plain, plain_value, well_formed

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


def split_note(text: str) -> NoteParts:
    """The parts of a file; NotReadable where its frontmatter is never closed.

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
    """The file's text. It ends with exactly one newline, and holds no lone surrogate (U+FFFD instead)."""
    front = "" if parts.block is None else f"---\n{parts.block}---\n"
    text = well_formed(f"{front}{parts.gap}{parts.body}".rstrip("\n") + "\n")
    mark = _BYTE_ORDER_MARK if parts.byte_order_mark else ""
    return mark + (text if parts.line_end == "\n" else text.replace("\n", parts.line_end))


def canonical_body(body: str) -> str:
    """The body as it is read back once it has been written."""
    return well_formed(_LINE_END.sub("\n", body)).strip("\n")


def read_values(block: str) -> dict[str, Plain]:
    """The values of a frontmatter block; NotReadable with every problem and its line."""
    quick = read_quickly(block)
    if quick is not None:
        return quick
    if len(block) > MAX_BLOCK_CHARS:
        raise NotReadable(f"the frontmatter is larger than {MAX_BLOCK_CHARS // 1024} KiB")
    if has_conflict(block):
        raise NotReadable("the frontmatter holds unresolved merge-conflict markers")
    # ruamel takes longer to import than a thousand notes take to read quickly.
    from agent_memory.formats.yaml_block import plain_pairs, read_block

    return plain_pairs(read_block(block))


def has_conflict(text: str) -> bool:
    """Whether the text holds the markers that a merge leaves where it could not decide."""
    return "<<<<<<<" in text and _CONFLICT.search(text) is not None


# -- the YAML that we write -------------------------------------------------------------------------------------------

# `memory list` and `read` do without ruamel, which takes a fifth of their time to import and a millisecond for each note.
# What is accepted here is read as ruamel does (a property test holds it to that); what is not certain is declined.

_QUOTED = r'"(?:[^"\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|\\(?:["\\bfnrt]|u(?!d[89a-fA-F]|D[89a-fA-F])[0-9a-fA-F]{4}))*"'
_NUMBER = r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?"
_INSTANT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}Z"
_FLOW_ITEM = rf"(?:{_QUOTED}|{_NUMBER}|{FLOW_WORD.pattern})"
_FLOW_LIST = rf"\[(?:{_FLOW_ITEM}(?:, {_FLOW_ITEM})*)?\]"
_FLOW_PAIR = rf"[A-Za-z]+: (?:{_FLOW_LIST}|{_FLOW_ITEM})"
_FLOW_MAP = rf"\{{{_FLOW_PAIR}(?:, {_FLOW_PAIR})*\}}"

_KEY_LINE = re.compile(
    rf"([A-Za-z_][A-Za-z0-9_]*):(?: ({_QUOTED}|{_NUMBER}|{_INSTANT}|{_FLOW_LIST}|{PLAIN_TEXT.pattern}))?"
)
_ITEM_LINE = re.compile(rf"  - ({_FLOW_MAP}|{_FLOW_ITEM})")
_ITEM = re.compile(_FLOW_ITEM)
_PAIR = re.compile(rf"([A-Za-z]+): ({_FLOW_LIST}|{_FLOW_ITEM})")


def read_quickly(text: str) -> dict[str, Plain] | None:
    """The values of a block, or None where it is not certain that ruamel would read the same."""
    values: dict[str, Plain] = {}
    key = ""
    items: list[Plain] | None = None
    for line in text.removesuffix("\n").split("\n"):
        if found := _KEY_LINE.fullmatch(line):
            key, written = found.groups()
            if key in values:
                return None
            items = None if written else []
            values[key] = _value(written) if written else None
        elif (found := _ITEM_LINE.fullmatch(line)) and items is not None:
            pairs = _PAIR.findall(found[1]) if found[1].startswith("{") else None
            item: Plain = _value(found[1]) if pairs is None else {name: _value(written) for name, written in pairs}
            if isinstance(item, dict) and pairs is not None and len(item) < len(pairs):
                return None
            items.append(item)
            values[key] = items
        else:
            return None
    return values


def _value(written: str) -> Plain:
    if written.startswith('"'):
        return str(json.loads(written))
    if written.startswith("["):
        return [_value(item) for item in _ITEM.findall(written)]
    return plain_value(written)

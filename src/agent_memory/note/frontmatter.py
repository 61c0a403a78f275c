"""The file of a note: its parts, and its frontmatter as we write it: core schema scalars of YAML 1.2 (§10.3.2) that
every YAML version reads alike, with a reader that does not need ruamel. Any other YAML is left to `yaml_block`."""

from __future__ import annotations

import json
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
    """A text that is not a note, or a block that is not frontmatter, with every problem in words."""


@frozen
class NoteParts:
    """The parts of a file, with `\\n` line ends. Joined they give the same file, with one newline at its end."""

    block: str | None
    """The YAML between the `---` lines, with all line ends; None for a file without frontmatter."""
    gap: str
    """The empty lines between frontmatter and body."""
    body: str
    """Without newlines at either end."""
    line_end: str = "\n"
    byte_order_mark: bool = False


def split_note(text: str) -> NoteParts:
    """Returns the parts of a file; raises NotReadable if its frontmatter is never closed.

    The first line end of the file counts as that of the whole file. `---` on the first line opens frontmatter, which
    the next line of `---` closes; the body may contain such lines.
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
    """Returns the file's text. It ends with exactly one newline; lone surrogates become U+FFFD."""
    front = "" if parts.block is None else f"---\n{parts.block}---\n"
    text = well_formed(f"{front}{parts.gap}{parts.body}".rstrip("\n") + "\n")
    mark = _BYTE_ORDER_MARK if parts.byte_order_mark else ""
    return mark + (text if parts.line_end == "\n" else text.replace("\n", parts.line_end))


def canonical_body(body: str) -> str:
    """Returns the body as it will be read back from a file."""
    return well_formed(_LINE_END.sub("\n", body)).strip("\n")


def has_conflict(text: str) -> bool:
    """Returns whether the text has the markers that a merge leaves at a conflict."""
    return "<<<<<<<" in text and _CONFLICT.search(text) is not None


def well_formed(text: str) -> str:
    """Returns the text with U+FFFD for each lone surrogate, which UTF-8 cannot encode."""
    return _SURROGATE.sub("\ufffd", text)


# -- scalars ------------------------------------------------------------------------------------------------------------

Scalar = str | int | float | bool | None
Plain = Scalar | list["Plain"] | dict[str, "Plain"]
"""Any value of a block."""

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLEANS = {word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
_FIRST_OF_NUMBERS = frozenset("+-.0123456789")
_INTEGER = re.compile(r"[-+]?[0-9]{1,40}")
# Compiled only when needed: our own notes do not need them.
_OCTAL_OR_HEXADECIMAL = "0o[0-7]{1,40}|0x[0-9a-fA-F]{1,40}"
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_SPECIAL_FLOAT = r"([-+]?)\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"

# Words that YAML 1.1 readers (and people) take for a boolean or null.
_NOT_TEXT_ELSEWHERE = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
PLAIN_TEXT = re.compile(
    r"[^\W\d_](?:(?:[\w ./()'!?+*=~;&%$@<>^,\"—–→…’‘“”·-]|:(?! )|(?<! )#)*[\w./()'!?+*=~;&%$@<>^\"—–→…’‘“”·-])?"
)
"""Matches text that needs no quotes as a key's value, including all that we write without quotes."""
FLOW_WORD = re.compile(r"[^\W\d_][\w./+#@-]*")
"""Matches text that needs no quotes inside `[…]` and `{…}`, including all that we write without quotes there."""
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def plain_value(text: str) -> Scalar:
    """Returns the meaning of an unquoted scalar in YAML 1.2: `no` is text, `010` is ten, `2026-01-31` is text."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if text[0] not in _FIRST_OF_NUMBERS:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if re.fullmatch(_OCTAL_OR_HEXADECIMAL, text):
        return int(text, 0)
    if re.fullmatch(_FLOAT, text):
        return float(text)
    if special := re.fullmatch(_SPECIAL_FLOAT, text):
        return float("nan") if special[1] is None else float(f"{special[1]}inf")
    return text


def text_scalar(text: str, *, in_flow: bool = False) -> str:
    """Returns YAML on one line that reads back as `text`, unquoted if that is safe, else as JSON; a lone surrogate
    becomes U+FFFD. `in_flow` is for use inside `[…]` and `{…}`."""
    pattern = FLOW_WORD if in_flow else PLAIN_TEXT
    if pattern.fullmatch(text) and text.lower() not in _NOT_TEXT_ELSEWHERE:
        return text
    quoted = json.dumps(well_formed(text), ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def flow_text(value: Plain) -> str:
    """Returns YAML on one line that reads back as `value`, for use inside `[…]` and `{…}`."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return text_scalar(value, in_flow=True)
        case int():
            return str(value)
        case float():
            return repr(value).replace("inf", ".inf").replace("nan", ".nan")
        case list():
            return f"[{', '.join(map(flow_text, value))}]"
        case dict():
            return (
                "{"
                + ", ".join(f"{text_scalar(key, in_flow=True)}: {flow_text(item)}" for key, item in value.items())
                + "}"
            )


# -- a block that we wrote ----------------------------------------------------------------------------------------------

# `memory read` and the index avoid ruamel, which takes a third of a command to import and a millisecond for each note.

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\[\]{},:\s"]+')
"""Matches a token of `[…]` and `{…}`, which become JSON once unquoted tokens are written as JSON."""
_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}Z")


def read_quickly(text: str) -> dict[str, Plain] | None:
    """Returns the values of a block in our own style, as ruamel would read them; None for any other block."""
    values: dict[str, Plain] = {}
    key, items = "", None
    try:
        for line in text.removesuffix("\n").split("\n"):
            if items is not None and line.startswith("  - "):
                items.append(_value(line[4:], in_flow=True))
                values[key] = items
                continue
            key, _, written = line.partition(": ")
            if not written:
                key = line[:-1] if line.endswith(":") else ""
            if not (key.isascii() and key.isidentifier()) or key in values:
                return None
            items = None if written else list[Plain]()
            values[key] = _value(written) if written else None
    except ValueError:
        return None
    return values


def _value(written: str, *, in_flow: bool = False) -> Plain:
    """Returns the value that we would write like this; raises ValueError if there is none."""
    if not written or written.count("[") + written.count("{") > 2:  # empty, or nested deeper than anything we write
        raise ValueError(written)
    is_json = written[0] in '["{'
    value: Plain = json.loads(_TOKEN.sub(_as_json, written)) if is_json else plain_value(written)
    again = text_scalar(value) if isinstance(value, str) and not in_flow else flow_text(value)
    if again != written and not (value == written and _INSTANT.fullmatch(written)):
        raise ValueError(written)
    return value


def _as_json(token: re.Match[str]) -> str:
    return token[0] if token[0].startswith('"') else json.dumps(plain_value(token[0]))

"""YAML on one line: the scalars of the core schema of YAML 1.2 (§10.3.2), and text that every YAML version reads alike."""

from __future__ import annotations

import json
import re

from agent_memory.formats.json_codec import InvalidValue


class NotReadable(InvalidValue):
    """A text that is no note, or a block that is no frontmatter, with every problem in words."""


Scalar = str | int | float | bool | None
Plain = Scalar | list["Plain"] | dict[str, "Plain"]
"""Any value of a block."""

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLEANS = {word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
_FIRST_OF_NUMBERS = frozenset("+-.0123456789")
_INTEGER = re.compile(r"[-+]?[0-9]{1,40}")
_OCTAL = re.compile(r"0o[0-7]{1,40}")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]{1,40}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL_FLOAT = re.compile(r"([-+]?)\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")

# What YAML 1.1 readers (and people) take for a boolean or null.
_NOT_TEXT_ELSEWHERE = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
PLAIN_TEXT = re.compile(
    r"[^\W\d_](?:(?:[\w ./()'!?+*=~;&%$@<>^,\"—–→…’‘“”·-]|:(?! )|(?<! )#)*[\w./()'!?+*=~;&%$@<>^\"—–→…’‘“”·-])?"
)
"""Text that needs no quotes as the value of a key; a superset of what is written without quotes."""
FLOW_WORD = re.compile(r"[^\W\d_][\w./+#@-]*")
"""Text that needs no quotes inside `[…]` and `{…}`; a superset of what is written without quotes there."""
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def plain_value(text: str) -> Scalar:
    """What an unquoted scalar means in YAML 1.2: `no` is text, `010` is ten, `2026-01-31` is text."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if text[0] not in _FIRST_OF_NUMBERS:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text) or _HEXADECIMAL.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    if special := _SPECIAL_FLOAT.fullmatch(text):
        return float("nan") if special[1] is None else float(f"{special[1]}inf")
    return text


def text_scalar(text: str, *, in_flow: bool = False) -> str:
    """YAML on one line that reads back as `text`, unquoted where that is safe; a lone surrogate becomes U+FFFD.

    The quoted form is also JSON. `in_flow` is for places inside `[…]` and `{…}`.
    """
    pattern = FLOW_WORD if in_flow else PLAIN_TEXT
    if pattern.fullmatch(text) and text.lower() not in _NOT_TEXT_ELSEWHERE:
        return text
    quoted = json.dumps(well_formed(text), ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def flow_text(value: Plain) -> str:
    """YAML on one line that reads back as `value`, for places inside `[…]` and `{…}`."""
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


def well_formed(text: str) -> str:
    """The text with each lone surrogate, which no UTF-8 file can hold, replaced by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)

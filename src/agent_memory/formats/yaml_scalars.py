"""The YAML of frontmatter, as we write it: the scalars of the core schema of YAML 1.2 (§10.3.2), text that every YAML version reads
alike, and a reader of both that needs no ruamel. All other YAML is left to `yaml_block`."""

from __future__ import annotations

import json
import re

from agent_memory.formats.frontmatter import well_formed

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

"""A fast reader for the part of YAML that we write ourselves; all else is left to `yaml_block`.

Reading a note with ruamel takes about a millisecond, which is ten seconds for a first listing of 10,000 notes. What this
reader accepts it reads as ruamel does (a property test holds it to that); what it does not know for certain it declines.
"""

from __future__ import annotations

import json
import re

from agent_memory.formats.yaml_scalars import FLOW_WORD, PLAIN_TEXT, Plain, plain_value

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

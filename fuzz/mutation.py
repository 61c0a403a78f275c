"""Inputs made from inputs: damage to the bytes, and to the values where the bytes are JSON, in lines or as a whole."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 1e308, 10**30, "", " ", "\n", "0", "null", "x" * 300, "\ud800", "\u202e\u200b", "id__a1b2c3", [], {}, [[]], [None],
    {"": ""}, ["", 3, None, {}], {"type": "text", "text": 3}, [[[[[[[[[[[[[]]]]]]]]]]]]], "2026-02-30T99:00:00Z", 1_770_000_000_000, "../../etc/passwd",
)  # fmt: skip
GARBAGE = (
    b"\x00",
    b"\xff\xfe",
    b"{",
    b"}",
    b"[",
    b'"',
    b"\\",
    b"\n",
    b"\r\n",
    b"\n\n",
    b"null",
    b"\xf0\x9f",
    b"\xed\xa0\x80",
    b"\xc2\x85",
)
MAX_BYTES = 64 * 1024


def mutated(data: bytes, chance: random.Random, words: Sequence[str] = ()) -> bytes:
    """The input, changed in one to four places."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        changed = _with_changed_value(data, chance, words) if chance.random() < 0.6 else None
        data = _damaged(data, chance, words) if changed is None else changed
    return data[:MAX_BYTES]


def _damaged(data: bytes, chance: random.Random, words: Sequence[str]) -> bytes:
    at = chance.randrange(len(data) + 1)
    end = min(len(data), at + chance.choice((1, 2, 8, 40, 400)))
    match chance.randrange(6):
        case 0:
            return data[:at] + data[end:]
        case 1:
            return data[:end] + data[at:]
        case 2:
            return data[:at] + chance.choice(GARBAGE) + data[at:]
        case 3:
            return data[:at]
        case 4:
            lines = data.split(b"\n")
            chance.shuffle(lines) if chance.random() < 0.2 else lines.insert(
                chance.randrange(len(lines)), chance.choice(lines)
            )
            return b"\n".join(lines)
        case _:
            word = chance.choice(words).encode("utf-8", "surrogatepass") if words else chance.randbytes(3)
            return data[:at] + word + data[chance.choice((at, end)) :]


def _with_changed_value(data: bytes, chance: random.Random, words: Sequence[str]) -> bytes | None:
    """With one value of its JSON changed: of the whole, or of one line. None where there is no JSON."""
    if (value := _parsed(data)) is not None:
        return _dumped(_changed(value, chance, words), chance)
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    if (value := _parsed(lines[at])) is None:
        return None
    lines[at] = _dumped(_changed(value, chance, words), chance)
    return b"\n".join(lines)


def _parsed(data: bytes) -> Any:
    if data[:1] not in (b"{", b"["):
        return None
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _dumped(value: Any, chance: random.Random) -> bytes:
    return json.dumps(value, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")


def _changed(root: Any, chance: random.Random, words: Sequence[str]) -> Any:
    places = list(_places(root))
    if not places:
        return chance.choice(ODD_VALUES)
    holder, key = chance.choice(places)
    old = holder[key]
    match chance.randrange(6):
        case 0:
            del holder[key]
        case 1:
            other, other_key = chance.choice(places)
            holder[key] = json.loads(json.dumps(other[other_key]))
        case 2:
            wrapped = {"text": old, "type": "text"}, {chance.choice(words) if words else "x": old}
            holder[key] = [old] if chance.random() < 0.3 else chance.choice(wrapped)
        case 3 if isinstance(old, str):
            at = chance.randrange(len(old) + 1)
            holder[key] = old[:at] + (chance.choice(words) if words else "\n") + old[at:]
        case 4 if isinstance(holder, dict):
            holder[chance.choice(words) if words else "x"] = old
        case _:
            holder[key] = chance.choice(ODD_VALUES)
    return root


def _places(value: Any) -> Any:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])

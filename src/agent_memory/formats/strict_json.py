"""JSON text as RFC 8259 has it, and nothing that only Python would read.

Refused beyond syntax errors: a key twice in one object (which of them is meant?), NaN and Infinity, numbers of more digits
than anybody means, and nesting that is too deep to read. One byte order mark in front is forgiven.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from attrs import fields

from agent_memory.domain.entry import Listed, Meta, Source
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.vocabulary import Harness, Importance, Kind, Origin, Sensitivity, Status

MAX_DIGITS = 30
MAX_DEPTH = 64


class NotJson(ValueError):
    """The text is no JSON that we take; the message says why."""


class InvalidValue(ValueError):
    """A document that is not the value it should be, with every problem as `path.to.key what is wrong`."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def load_json(text: str) -> Any:
    """The value of a JSON text, or NotJson."""
    try:
        return json.loads(
            text.removeprefix("\ufeff"), object_pairs_hook=_object, parse_int=_integer, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        raise NotJson(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise NotJson("not JSON: nested too deeply") from error


def load_bytes(data: bytes) -> Any:
    """The value of a file in UTF-8, or NotJson."""
    try:
        return load_json(data.decode())
    except UnicodeDecodeError as error:
        raise NotJson(f"not UTF-8 at byte {error.start:,}") from error


def load_document(data: bytes) -> Any:
    """The value of a file that others may have written: no deeper than `MAX_DEPTH`, and nothing in it but characters that can
    be written again, U+0000 not among them; NotJson."""
    if not data.strip():
        raise NotJson("it is empty; an empty object is {}")
    value = load_bytes(data)
    _look_through(value, 0)
    return value


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise NotJson(f"not JSON: the key {twice[:80]!a} stands twice in one object")
    return document


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise NotJson(f"not JSON: a number has {len(digits):,} digits")
    return int(digits)


def _constant(name: str) -> Any:
    raise NotJson(f"not JSON: {name} is no number")


def _look_through(value: object, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise NotJson("not JSON: nested too deeply")
    if isinstance(value, str):
        _look_at_text(value)
    elif is_list(value):
        for each in value:
            _look_through(each, depth + 1)
    elif is_object(value):
        for key, each in value.items():
            _look_at_text(key)
            _look_through(each, depth + 1)


def _look_at_text(text: str) -> None:
    if "\0" in text:
        raise NotJson("it holds the character \\u0000")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise NotJson("it holds half of a surrogate pair, which is no character")


# -- a listed note ----------------------------------------------------------------------------------------------------
# A listed entry as one JSON array, and back: the row of the index. Derived data, read by the version that wrote it.


_META = tuple(each.name for each in fields(Meta))
_LISTED = tuple(name for name in (each.name for each in fields(Listed)) if name != "meta")
_SOURCE = tuple(each.name for each in fields(Source))

LISTED_LAYOUT = repr((_META, _LISTED, _SOURCE))
"""Changes with the fields: a row of another layout must not be read."""

_ENUMS = tuple(
    (_META.index(name), {member.value: member for member in members})
    for name, members in (
        ("kind", Kind),
        ("status", Status),
        ("origin", Origin),
        ("importance", Importance),
        ("sensitivity", Sensitivity),
    )
)
_HARNESSES = {member.value: member for member in Harness}
_TAGS, _ALIASES, _SUPERSEDES, _SOURCES = (_META.index(name) for name in ("tags", "aliases", "supersedes", "sources"))

_render = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_meta_values = attrgetter(*_META)
_listed_values = attrgetter(*_LISTED)
_source_values = attrgetter(*_SOURCE)


def render_listed(listed: Listed) -> str:
    """The array: the meta's values, then the others."""
    meta = list(_meta_values(listed.meta))
    meta[_SOURCES] = [_source_values(source) for source in listed.meta.sources]
    return _render([meta, *_listed_values(listed)])


def parse_listed(text: str) -> Listed:
    """What was rendered. ValueError, TypeError or LookupError for what was not, or is damaged."""
    meta, *others = json.loads(text)
    for at, members in _ENUMS:
        meta[at] = members[meta[at]]
    for at in (_TAGS, _ALIASES, _SUPERSEDES):
        meta[at] = tuple(meta[at])
    meta[_SOURCES] = tuple(
        Source(_HARNESSES[harness], thread_id, repo, cwd, agent, tuple(turns))
        for harness, thread_id, repo, cwd, agent, turns in meta[_SOURCES]
    )
    return Listed(Meta(*meta), *others)

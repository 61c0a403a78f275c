"""A listed note as a JSON array: the row of the index. It is derived data, read only by the version that wrote it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from attrs import fields

from agent_memory.note.note import Harness, Importance, Kind, Listed, Meta, Origin, Sensitivity, Source, Status

_META = tuple(each.name for each in fields(Meta))
_LISTED = tuple(name for name in (each.name for each in fields(Listed)) if name != "meta")
_SOURCE = tuple(each.name for each in fields(Source))

LISTED_LAYOUT = repr((_META, _LISTED, _SOURCE))
"""Changes with the fields: rows of another layout must not be read."""

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
_TURNS = _SOURCE.index("turns")
_HARNESSES = {member.value: member for member in Harness}
_TAGS, _ALIASES, _SUPERSEDES, _SOURCES = (_META.index(name) for name in ("tags", "aliases", "supersedes", "sources"))

_render = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_parse = json.JSONDecoder().decode
_meta_values = attrgetter(*_META)
_listed_values = attrgetter(*_LISTED)
_source_values = attrgetter(*_SOURCE)


def render_listed(listed: Listed) -> str:
    """Returns the array: the values of `meta`, then the others."""
    meta = list(_meta_values(listed.meta))
    meta[_SOURCES] = [_source_values(source) for source in listed.meta.sources]
    return _render([meta, *_listed_values(listed)])


def parse_listed(texts: Sequence[str]) -> Iterable[Listed]:
    """Returns the rendered notes, in order. Raises ValueError, TypeError or LookupError for damaged data."""
    rows = _parse(f"[{','.join(texts)}]")
    if len(rows) != len(texts):
        raise ValueError("these are not arrays of one note each")
    return map(_listed, rows)


def _listed(row: list[Any]) -> Listed:
    meta, *others = row
    for at, members in _ENUMS:
        meta[at] = members[meta[at]]
    for at in (_TAGS, _ALIASES, _SUPERSEDES):
        meta[at] = tuple(meta[at])
    for source in meta[_SOURCES]:
        source[0], source[_TURNS] = _HARNESSES[source[0]], tuple(source[_TURNS])
    meta[_SOURCES] = tuple([Source(*source) for source in meta[_SOURCES]])
    return Listed(Meta(*meta), *others)

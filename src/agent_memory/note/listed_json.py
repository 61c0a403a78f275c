"""A listed note as a JSON array: the row of the index. It is derived data, read only by the version that wrote it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from attrs import fields

from agent_memory.note.note import Harness, Importance, Kind, Listed, Meta, Origin, Sensitivity, Source, Status

_META = tuple(each.name for each in fields(Meta))
_LISTED = tuple(name for name in (each.name for each in fields(Listed)) if name != "meta")
_SOURCE = tuple(each.name for each in fields(Source))

LISTED_LAYOUT = repr((_META, _LISTED, _SOURCE))
"""Changes with the fields: rows of another layout must not be read."""

_VOCABULARIES = {"kind": Kind, "status": Status, "origin": Origin, "importance": Importance, "sensitivity": Sensitivity}
_HARNESSES = {member.value: member for member in Harness}
_TURNS, _SOURCES = _SOURCE.index("turns"), _META.index("sources")

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
    if not rows:
        return ()
    metas, *others = zip(*rows, strict=True)
    values: dict[str, Iterable[Any]] = dict(zip(_META, zip(*metas, strict=True), strict=True))
    values |= {name: map(convert, values[name]) for name, convert in _CONVERTERS.items()}
    return map(Listed, map(Meta, *values.values()), *others)


def _sources(rows: Iterable[list[Any]]) -> tuple[Source, ...]:
    for values in rows:
        values[0], values[_TURNS] = _HARNESSES[values[0]], tuple(values[_TURNS])
    return tuple([Source(*values) for values in rows])


_CONVERTERS: Mapping[str, Callable[[Any], object]] = {
    **{name: {member.value: member for member in each}.__getitem__ for name, each in _VOCABULARIES.items()},
    **dict.fromkeys(("tags", "aliases", "supersedes"), tuple),
    "sources": _sources,
}

"""The frontmatter's keys: for each its place, how its value is read strictly, and how it is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from sys import intern
from typing import Any

from attrs import frozen

from agent_memory.domain.entry import Source
from agent_memory.domain.instants import iso_of, ms_of
from agent_memory.domain.text.ids import is_id
from agent_memory.domain.text.tags import normal_tag
from agent_memory.domain.vocabulary import Harness, Importance, Kind, Origin, Sensitivity, Status
from agent_memory.formats.frontmatter import Plain, flow_text, text_scalar

_EARLIEST_MS, _LATEST_MS = -62_135_596_800_000, 253_402_300_799_999  # the years 1 to 9999
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@frozen
class Wrong:
    """Why a value cannot be that of its key: what was expected, and what to do about it where that is not plain."""

    expected: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.expected}; {self.hint}" if self.hint else self.expected


@frozen
class MetaField:
    """One key of the frontmatter."""

    key: str
    attribute: str
    """Of `Meta`."""
    read: Callable[[Plain], Any]
    """The attribute's value, or `Wrong`. Never called with null, which counts as missing."""
    write: Callable[[Any], str]
    """YAML on one line for a value; for one item where the value is a list. Never called with None."""
    always: bool = False
    """Written even where it is the default."""
    is_list: bool = False
    in_lines: bool = False
    """Each item on a line of its own."""


def problem(key: str, value: Plain, wrong: Wrong) -> str:
    """The problem in words: `kind: 'x' is not one of decision, lesson, …`."""
    return f"{key}: {_shown(value)} is not {wrong}"


def _shown(value: Plain) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f"'{value}'" if len(value) <= 60 else f"'{value[:59]}…'"
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case None:
            return "nothing"
        case _:
            return str(value)


# -- reading ----------------------------------------------------------------------------------------------------------


def _text(value: Plain) -> str | Wrong:
    if isinstance(value, str):
        return value
    return Wrong("text", "put it in quotes" if isinstance(value, bool | int | float) else "")


def _id(value: Plain) -> str | Wrong:
    return value if isinstance(value, str) and is_id(value) else Wrong("an id like id__a1b2c3")


def _choice(choices: type[StrEnum]) -> Callable[[Plain], StrEnum | Wrong]:
    by_name = {str(choice): choice for choice in choices}
    expected = "one of " + ", ".join(by_name)

    def read(value: Plain) -> StrEnum | Wrong:
        return by_name.get(value, Wrong(expected)) if isinstance(value, str) else Wrong(expected)

    return read


def _boolean(value: Plain) -> bool | Wrong:
    return value if isinstance(value, bool) else Wrong("true or false")


def _count(value: Plain) -> int | Wrong:
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0
        else Wrong("a whole number from 0")
    )


def _confidence(value: Plain) -> float | Wrong:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    return Wrong("a number from 0 to 1")


def _instant(value: Plain) -> int | Wrong:
    if isinstance(value, int) and not isinstance(value, bool) and _EARLIEST_MS <= value <= _LATEST_MS:
        return value
    at_ms = _ms_of_day_or_instant(value) if isinstance(value, str) else None
    return Wrong("milliseconds since 1970", f"write {at_ms}" if at_ms is not None else "")


def _ms_of_day_or_instant(text: str) -> int | None:
    return ms_of(f"{text}T00:00Z" if _DAY.fullmatch(text) else text)


def _iso_instant(value: Plain) -> int | Wrong:
    wrong = Wrong("an instant like 2026-02-13T14:30:05Z")
    at_ms = ms_of(value) if isinstance(value, str) else None
    return at_ms if at_ms is not None else wrong


def _scope(value: Plain) -> str | Wrong:
    return value if isinstance(value, str) and value.strip() else Wrong("global, host/owner/repo or path:/directory")


def _list_of(read_item: Callable[[Plain], Any], expected: str) -> Callable[[Plain], tuple[Any, ...] | Wrong]:
    def read(value: Plain) -> tuple[Any, ...] | Wrong:
        if not isinstance(value, list):
            return Wrong(expected)
        items = tuple(read_item(item) for item in value)
        wrong = [
            f"{_shown(found)} is not {item}"
            for item, found in zip(items, value, strict=True)
            if isinstance(item, Wrong)
        ]
        return Wrong(expected, ", ".join(wrong)) if wrong else items

    return read


def _tag(value: Plain) -> str | Wrong:
    if not isinstance(value, str):
        return Wrong("text (put it in quotes)")
    return normal_tag(value) or Wrong("a word")


def _tags(value: Plain) -> tuple[str, ...] | Wrong:
    tags = _list_of(_tag, "a list like [topic__x, area__y]")(value)
    # The same few in thousands of notes: in memory once.
    return tags if isinstance(tags, Wrong) else tuple(dict.fromkeys(map(intern, tags)))


def _turn(value: Plain) -> int | Wrong:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 1 else Wrong("a number from 1")


_SOURCE_READERS: Mapping[str, tuple[str, Callable[[Plain], Any]]] = {
    "harness": ("harness", _choice(Harness)),
    "threadId": ("thread_id", _text),
    "repo": ("repo", _text),
    "cwd": ("cwd", _text),
    "agent": ("agent", _text),
    "turns": ("turns", _list_of(_turn, "a list like [3, 9]")),
}


def _source(value: Plain) -> Source | Wrong:
    if not isinstance(value, dict):
        return Wrong("a mapping with at least a harness")
    found: dict[str, Any] = {
        attribute: read(value[key]) for key, (attribute, read) in _SOURCE_READERS.items() if value.get(key) is not None
    }
    wrong = [
        problem(key, value[key], found[attribute])
        for key, (attribute, _) in _SOURCE_READERS.items()
        if isinstance(found.get(attribute), Wrong)
    ]
    if "harness" not in found:
        wrong.append("harness: missing")
    return Wrong(f"a source ({'; '.join(wrong)})") if wrong else Source(**found)


# -- writing ----------------------------------------------------------------------------------------------------------


def _write_iso_instant(at_ms: int) -> str:
    return iso_of(at_ms).replace(".000Z", "Z")


def _write_word(word: str) -> str:
    return text_scalar(word, in_flow=True)


def _write_source(source: Source) -> str:
    pairs = {key: getattr(source, attribute) for key, (attribute, _) in _SOURCE_READERS.items()}
    pairs["harness"] = str(source.harness)
    pairs["turns"] = list(source.turns) or None
    return flow_text({key: value for key, value in pairs.items() if value is not None})


def write_field(field: MetaField, value: Any, spelled: Mapping[Any, str] | None = None) -> str:
    """YAML for a value, which follows `key:`; a list in lines begins with a line end. `spelled` says how to write some items."""
    if value is None:
        return "null"
    if not field.is_list:
        return field.write(value)
    items = [(spelled or {}).get(item) or field.write(item) for item in value]
    if field.in_lines and items:
        return "".join(f"\n  - {item}" for item in items)
    return f"[{', '.join(items)}]"


def spelled_items(field: MetaField, value: Plain) -> dict[Any, str]:
    """How the readable items of a list are written, by what they are read as: a bare tag, a source with keys of others."""
    if not field.is_list or not isinstance(value, list):
        return {}
    read = ((field.read([item]), item) for item in value)
    return {items[0]: flow_text(item) for items, item in read if not isinstance(items, Wrong)}


# -- the table --------------------------------------------------------------------------------------------------------

_IDS = _list_of(_id, "a list like [id__a1b2c3]")

META_FIELDS: tuple[MetaField, ...] = (
    MetaField("id", "id", _id, text_scalar, always=True),
    MetaField("title", "title", _text, text_scalar, always=True),
    MetaField("description", "description", _text, text_scalar),
    MetaField("kind", "kind", _choice(Kind), str, always=True),
    MetaField("tags", "tags", _tags, _write_word, always=True, is_list=True),
    MetaField("status", "status", _choice(Status), str, always=True),
    MetaField("origin", "origin", _choice(Origin), str, always=True),
    MetaField("scope", "scope", _scope, text_scalar, always=True),
    MetaField("importance", "importance", _choice(Importance), str),
    MetaField("confidence", "confidence", _confidence, repr),
    MetaField("sensitivity", "sensitivity", _choice(Sensitivity), str),
    MetaField("pinned", "pinned", _boolean, flow_text),
    MetaField("promotedBy", "promoted_by", _text, text_scalar),
    MetaField("used", "used", _count, str),
    MetaField("last_used", "last_used_at_ms", _iso_instant, _write_iso_instant),
    MetaField("createdAt", "created_at_ms", _instant, str, always=True),
    MetaField("updatedAt", "updated_at_ms", _instant, str, always=True),
    MetaField("expiresAt", "expires_at_ms", _instant, str),
    MetaField("validFrom", "valid_from_ms", _instant, str),
    MetaField("validUntil", "valid_until_ms", _instant, str),
    MetaField("aliases", "aliases", _IDS, _write_word, is_list=True),
    MetaField("supersedes", "supersedes", _IDS, _write_word, is_list=True),
    MetaField("sources", "sources", _list_of(_source, "a list of sources"), _write_source, is_list=True, in_lines=True),
)
"""In the order in which a new note holds them."""


def read_fields(values: Mapping[str, Plain]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The attributes of `Meta` that the values state, and every problem. Null counts as missing; unknown keys are ignored."""
    attributes: dict[str, Any] = {}
    problems: list[str] = []
    for field in META_FIELDS:
        if (value := values.get(field.key)) is not None:
            read = field.read(value)
            if isinstance(read, Wrong):
                problems.append(problem(field.key, value, read))
            else:
                attributes[field.attribute] = read
    return attributes, tuple(problems)

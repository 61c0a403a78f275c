"""The whole file of a memory entry: the keys of its frontmatter, text to entry, entry to text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from sys import intern
from typing import Any, TypeGuard

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.entry import MemoryEntry, Meta, Source
from agent_memory.domain.instants import iso_of, ms_of
from agent_memory.domain.text.file_name import (
    UNTITLED,
    id_in_name,
    is_id,
    mint_id,
    normal_tag,
    title_in_name,
)
from agent_memory.domain.text.markdown import derive_description, derive_title
from agent_memory.domain.vocabulary import Harness, Importance, Kind, Origin, Sensitivity, Status
from agent_memory.errors import EntryUnreadable
from agent_memory.formats.frontmatter import NoteParts, canonical_body, has_conflict, join_note, read_values, split_note
from agent_memory.formats.yaml_scalars import NotReadable, Plain, flow_text, text_scalar, well_formed

_EARLIEST_MS, _LATEST_MS = -62_135_596_800_000, 253_402_300_799_999  # the years 1 to 9999
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


# -- what the value of a key may be -----------------------------------------------------------------------------------


class Wrong(ValueError):
    """A value cannot be that of its key: what was expected, and what to do about it where that is not plain."""

    def __init__(self, expected: str, hint: str = "") -> None:
        super().__init__(f"{expected}; {hint}" if hint else expected)


Reader = Callable[[Plain], Any]
"""Gives the attribute's value, or raises `Wrong`. Never called with null, which counts as missing."""


def _problem(key: str, value: Plain, wrong: Wrong) -> str:
    """`kind: 'x' is not one of decision, lesson, …`."""
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


def _is_whole(value: Plain) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _that(fits: Callable[[Plain], bool], expected: str) -> Reader:
    def read(value: Plain) -> Plain:
        if not fits(value):
            raise Wrong(expected)
        return value

    return read


_id = _that(lambda value: isinstance(value, str) and is_id(value), "an id like id__a1b2c3")
_boolean = _that(lambda value: isinstance(value, bool), "true or false")
_count = _that(lambda value: _is_whole(value) and value >= 0, "a whole number from 0")
_turn = _that(lambda value: _is_whole(value) and value >= 1, "a number from 1")
_scope = _that(
    lambda value: isinstance(value, str) and bool(value.strip()), "global, host/owner/repo or path:/directory"
)


def _text(value: Plain) -> str:
    if isinstance(value, str):
        return value
    raise Wrong("text", "put it in quotes" if isinstance(value, bool | int | float) else "")


def _choice(choices: type[StrEnum]) -> Reader:
    by_name: dict[Plain, StrEnum] = {str(choice): choice for choice in choices}
    expected = "one of " + ", ".join(map(str, choices))

    def read(value: Plain) -> StrEnum:
        if isinstance(value, str) and value in by_name:
            return by_name[value]
        raise Wrong(expected)

    return read


def _confidence(value: Plain) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise Wrong("a number from 0 to 1")


def _instant(value: Plain) -> int:
    if _is_whole(value) and _EARLIEST_MS <= value <= _LATEST_MS:
        return value
    at_ms = ms_of(f"{value}T00:00Z" if _DAY.fullmatch(value) else value) if isinstance(value, str) else None
    raise Wrong("milliseconds since 1970", f"write {at_ms}" if at_ms is not None else "")


def _iso_instant(value: Plain) -> int:
    at_ms = ms_of(value) if isinstance(value, str) else None
    if at_ms is None:
        raise Wrong("an instant like 2026-02-13T14:30:05Z")
    return at_ms


def _list_of(read_item: Reader, expected: str) -> Reader:
    def read(value: Plain) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise Wrong(expected)
        items: list[Any] = []
        wrong: list[str] = []
        for each in value:
            try:
                items.append(read_item(each))
            except Wrong as refused:
                wrong.append(f"{_shown(each)} is not {refused}")
        if wrong:
            raise Wrong(expected, ", ".join(wrong))
        return tuple(items)

    return read


def _tag(value: Plain) -> str:
    if not isinstance(value, str):
        raise Wrong("text (put it in quotes)")
    tag = normal_tag(value)
    if tag is None:
        raise Wrong("a word")
    return intern(tag)  # the same few in thousands of notes


_listed_tags = _list_of(_tag, "a list like [topic__x, area__y]")


def _tags(value: Plain) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_listed_tags(value)))


_SOURCE_READERS: Mapping[str, tuple[str, Reader]] = {
    "harness": ("harness", _choice(Harness)),
    "threadId": ("thread_id", _text),
    "repo": ("repo", _text),
    "cwd": ("cwd", _text),
    "agent": ("agent", _text),
    "turns": ("turns", _list_of(_turn, "a list like [3, 9]")),
}


def _source(value: Plain) -> Source:
    if not isinstance(value, dict):
        raise Wrong("a mapping with at least a harness")
    found: dict[str, Any] = {}
    wrong: list[str] = []
    for key, (attribute, read) in _SOURCE_READERS.items():
        if (each := value.get(key)) is not None:
            try:
                found[attribute] = read(each)
            except Wrong as refused:
                wrong.append(_problem(key, each, refused))
    if value.get("harness") is None:
        wrong.append("harness: missing")
    if wrong:
        raise Wrong(f"a source ({'; '.join(wrong)})")
    return Source(**found)


# -- the keys ---------------------------------------------------------------------------------------------------------


@frozen
class MetaField:
    """One key of the frontmatter."""

    key: str
    attribute: str
    """Of `Meta`."""
    read: Reader
    write: Callable[[Any], str]
    """YAML on one line for a value; for one item where the value is a list. Never called with None."""
    always: bool = False
    """Written even where it is the default."""
    is_list: bool = False
    in_lines: bool = False
    """Each item on a line of its own."""


def _write_iso_instant(at_ms: int) -> str:
    return iso_of(at_ms).replace(".000Z", "Z")


def _write_source(source: Source) -> str:
    pairs = {key: getattr(source, attribute) for key, (attribute, _) in _SOURCE_READERS.items()}
    pairs["harness"] = str(source.harness)
    pairs["turns"] = list(source.turns) or None
    return flow_text({key: value for key, value in pairs.items() if value is not None})


_IDS = _list_of(_id, "a list like [id__a1b2c3]")

META_FIELDS: tuple[MetaField, ...] = (
    MetaField("id", "id", _id, text_scalar, always=True),
    MetaField("title", "title", _text, text_scalar, always=True),
    MetaField("description", "description", _text, text_scalar),
    MetaField("kind", "kind", _choice(Kind), str, always=True),
    MetaField("tags", "tags", _tags, flow_text, always=True, is_list=True),
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
    MetaField("aliases", "aliases", _IDS, flow_text, is_list=True),
    MetaField("supersedes", "supersedes", _IDS, flow_text, is_list=True),
    MetaField("sources", "sources", _list_of(_source, "a list of sources"), _write_source, is_list=True, in_lines=True),
)
"""In the order in which a new note holds them."""

_ORDER = tuple(field.key for field in META_FIELDS)
_NO_META = Meta(id="", title="", created_at_ms=0, updated_at_ms=0)


def _read_fields(values: Mapping[str, Plain]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The attributes of `Meta` that the values state, and every problem. Null counts as missing; unknown keys are ignored."""
    attributes: dict[str, Any] = {}
    problems: list[str] = []
    for field in META_FIELDS:
        if (value := values.get(field.key)) is not None:
            try:
                attributes[field.attribute] = field.read(value)
            except Wrong as wrong:
                problems.append(_problem(field.key, value, wrong))
    return attributes, tuple(problems)


def _write_field(field: MetaField, value: Any, spelled: Mapping[Any, str] | None = None) -> str:
    """YAML for a value, which follows `key:`; a list in lines begins with a line end. `spelled` says how to write some items."""
    if value is None:
        return "null"
    if not field.is_list:
        return field.write(value)
    items = [(spelled or {}).get(item) or field.write(item) for item in value]
    if field.in_lines and items:
        return "".join(f"\n  - {item}" for item in items)
    return f"[{', '.join(items)}]"


# -- text to entry ----------------------------------------------------------------------------------------------------

HEADLESS = "its frontmatter is gone, or lost its first line `---`"
"""Whose note it was, for whom and about what place, is not known then: it is no new note of a person."""
_FRONT_LINES = re.compile(r"(?:(?:\w+:|[ \t]|- )[^\n]*\n)+---[ \t]*(?:\n|\Z)")
_OWN_KEY = re.compile(r"^(?:id|status|origin|scope|sensitivity|createdAt|updatedAt):", re.MULTILINE)


@frozen
class ParsedNote:
    """One file as it was read."""

    meta: Meta
    body: str
    """With `\\n` line ends, without newlines at its beginning and end."""
    provisional_id: bool = False
    """Neither frontmatter nor file name states an id: `meta.id` is what `doctor --fix` would write, if it is free."""
    conflicted: bool = False
    """The body holds unresolved merge-conflict markers."""

    @property
    def entry(self) -> MemoryEntry:
        return MemoryEntry(self.meta, self.body)


def parse_note(text: str | bytes, path: str, mtime_ms: int) -> Result[ParsedNote, EntryUnreadable]:
    """The entry in a file, defaults filled in; every problem of a file that is none. See `read_note`."""
    try:
        return Success(read_note(text, path, mtime_ms))
    except EntryUnreadable as unreadable:
        return Failure(unreadable)


def read_note(text: str | bytes, path: str, mtime_ms: int) -> ParsedNote:
    """The entry in a file, defaults filled in; EntryUnreadable with every problem of a file that is none.

    `path` gives id and title where the frontmatter does not, and names the file in errors; `mtime_ms` is the default of
    `createdAt`. A file without frontmatter is a note that a person wrote. What the text hides is not taken out here.
    """
    try:
        parts = split_note(_decoded(text))
        values = read_values(parts.block or "")
    except NotReadable as refused:
        raise EntryUnreadable(path, refused.problems) from None
    body, name = parts.body, path.rpartition("/")[2]
    stated, problems = _read_fields(values)
    named_id = id_in_name(name)
    if named_id and stated.get("id", named_id) != named_id:
        problems += (f"id: '{stated['id']}' is not the {named_id} of the file name",)
    if parts.block is None and (named_id or _has_front_lines(body)):
        problems += (HEADLESS,)
    if problems:
        raise EntryUnreadable(path, problems)
    is_provisional = "id" not in stated and named_id is None
    return ParsedNote(_meta(stated, body, name, mtime_ms), body, is_provisional, has_conflict(body))


def _decoded(text: str | bytes) -> str:
    if isinstance(text, str):
        if well_formed(text) != text:
            raise NotReadable("not UTF-8")  # a lone surrogate in a text means that it was decoded leniently
        return text
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotReadable(f"not UTF-8: byte 0x{text[error.start]:02x} at offset {error.start}") from None


def _has_front_lines(body: str) -> bool:
    lines = _FRONT_LINES.match(body)
    return lines is not None and _OWN_KEY.search(lines[0]) is not None


def _meta(stated: dict[str, Any], body: str, name: str, mtime_ms: int) -> Meta:
    title = stated.get("title") or derive_title(body) or title_in_name(name) or UNTITLED
    created_at_ms = stated.get("created_at_ms", mtime_ms)
    values: dict[str, Any] = {
        "id": id_in_name(name) or mint_id(title, created_at_ms, ()),
        "created_at_ms": created_at_ms,
        "updated_at_ms": created_at_ms,
        **stated,
        "title": title,
        "description": stated.get("description") or derive_description(body),
    }
    return Meta(**values)


# -- entry to text ----------------------------------------------------------------------------------------------------


def render_note(entry: MemoryEntry, previous: str | None = None) -> str:
    """The entry's file. It ends with exactly one newline and always can be encoded.

    `parse_note` of it gives the same entry, up to what no such file can hold: line ends in the body other than `\\n`,
    newlines around it, lone surrogates; an empty title or description is read as what the body gives. Without `previous` the keys stand in the table's order, most defaults left out.
    With `previous`, the text of a readable file, unknown keys, comments, key order, line ends and the bytes of every
    unchanged value stay as they were. Clean the text before: nothing hidden is taken out here.
    """
    parts = NoteParts(None, "", "") if previous is None else split_note(previous)
    body = canonical_body(entry.body)
    gap = parts.gap if parts.block is not None and (parts.gap or parts.body) else "\n"
    block = _edited_block(parts.block, entry) if parts.block is not None else _new_block(entry)
    return join_note(NoteParts(block, gap, body, parts.line_end, parts.byte_order_mark))


def _new_block(entry: MemoryEntry) -> str:
    lines: list[str] = []
    for field in META_FIELDS:
        if field.always or not _is_default(field, entry):
            text = _write_field(field, _value(field, entry))
            lines.append(f"{field.key}:{text}\n" if text.startswith("\n") else f"{field.key}: {text}\n")
    return "".join(lines)


def _edited_block(block: str, entry: MemoryEntry) -> str:
    from agent_memory.formats.yaml_block import edit_block  # only rewriting needs ruamel, which is slow to import

    values = read_values(block)
    changes = {field.key: _written(field, entry, values) for field in META_FIELDS if _is_changed(field, entry, values)}
    return edit_block(block, changes, _ORDER) if changes else block


def _is_changed(field: MetaField, entry: MemoryEntry, values: dict[str, Plain]) -> bool:
    before = values.get(field.key)
    if before is not None:
        return bool(field.read(before) != _value(field, entry))
    return field.always or not _is_default(field, entry)


def _written(field: MetaField, entry: MemoryEntry, values: dict[str, Plain]) -> str:
    """The new value; items of a list that stay are written as they were: a bare tag, a source with keys of others."""
    spelled: dict[Any, str] = {}
    before = values.get(field.key)
    for item in before if field.is_list and isinstance(before, list) else ():
        spelled[field.read([item])[0]] = flow_text(item)
    return _write_field(field, _value(field, entry), spelled)


def _is_default(field: MetaField, entry: MemoryEntry) -> bool:
    value = _value(field, entry)
    if field.attribute == "description":
        return value == "" or bool(value == derive_description(canonical_body(entry.body)))
    return bool(value == getattr(_NO_META, field.attribute))


def _value(field: MetaField, entry: MemoryEntry) -> Any:
    value = getattr(entry.meta, field.attribute)
    return well_formed(value) if isinstance(value, str) else value

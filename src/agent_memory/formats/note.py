"""The whole file of a memory entry: text to entry, entry to text."""

from __future__ import annotations

import re
from typing import Any

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.entry import MemoryEntry, Meta
from agent_memory.domain.text.derive import derive_description, derive_title
from agent_memory.domain.text.file_name import UNTITLED, id_in_name, title_in_name
from agent_memory.domain.text.ids import mint_id
from agent_memory.domain.text.tags import normal_tags
from agent_memory.errors import EntryUnreadable
from agent_memory.formats.frontmatter import (
    NoteParts,
    NotReadable,
    Plain,
    canonical_body,
    has_conflict,
    join_note,
    read_values,
    split_note,
    well_formed,
)
from agent_memory.formats.meta_fields import META_FIELDS, MetaField, read_fields, spelled_items, write_field

HEADLESS = "its frontmatter is gone, or lost its first line `---`"
"""Whose note it was, for whom and about what place, is not known then: it is no new note of a person."""
_FRONT_LINES = re.compile(r"(?:(?:\w+:|[ \t]|- )[^\n]*\n)+---[ \t]*(?:\n|\Z)")
_OWN_KEY = re.compile(r"^(?:id|status|origin|scope|sensitivity|createdAt|updatedAt):", re.MULTILINE)
_ORDER = tuple(field.key for field in META_FIELDS)


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
    stated, problems = read_fields(values)
    named_id = id_in_name(name)
    if named_id and stated.get("id", named_id) != named_id:
        problems += (f"id: '{stated['id']}' is not the {named_id} of the file name",)
    if parts.block is None and (named_id or _has_front_lines(body)):
        problems += (HEADLESS,)
    if problems:
        raise EntryUnreadable(path, problems)
    is_provisional = "id" not in stated and named_id is None
    return ParsedNote(_meta(stated, body, name, mtime_ms), body, is_provisional, has_conflict(body))


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


def _new_block(entry: MemoryEntry) -> str:
    lines: list[str] = []
    for field in META_FIELDS:
        if field.always or not _is_default(field, entry):
            text = write_field(field, _value(field, entry))
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
    return write_field(field, _value(field, entry), spelled_items(field, values.get(field.key)))


def _is_default(field: MetaField, entry: MemoryEntry) -> bool:
    value = _value(field, entry)
    if field.attribute == "description":
        return value == "" or bool(value == derive_description(canonical_body(entry.body)))
    return bool(value == _DEFAULTS[field.attribute])


def _value(field: MetaField, entry: MemoryEntry) -> Any:
    value = getattr(entry.meta, field.attribute)
    return well_formed(value) if isinstance(value, str) else value


_NO_META = Meta(id="", title="", created_at_ms=0, updated_at_ms=0)
_DEFAULTS = {field.attribute: getattr(_NO_META, field.attribute) for field in META_FIELDS}


# -- tags as they stand in the file -----------------------------------------------------------------------------------

_TAGS = next(field for field in META_FIELDS if field.key == "tags")


def written_tags(text: str, read: tuple[str, ...]) -> tuple[str, ...]:
    """The tags that the frontmatter of a readable file states, word for word; `read` are those that it was read as."""
    if not read or f"\ntags: {write_field(_TAGS, read)}\n" in text:
        return read
    stated = read_values(split_note(text).block or "").get("tags")
    return tuple(str(each) for each in stated) if isinstance(stated, list) else ()


def with_normal_tags(text: str) -> str:
    """The readable file with its tags in their normal form, and everything else of it as it was."""
    from agent_memory.formats.yaml_block import edit_block

    parts = split_note(text)
    stated = read_values(parts.block or "").get("tags")
    if parts.block is None or not isinstance(stated, list):
        return text
    normal = write_field(_TAGS, normal_tags(map(str, stated)))
    return join_note(evolve(parts, block=edit_block(parts.block, {"tags": normal}, _ORDER)))

"""The whole file of a memory entry: text to entry, entry to text."""

from __future__ import annotations

import re
from typing import Any

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.entry import MemoryEntry, Meta
from agent_memory.domain.text.derive import derive_description, derive_title
from agent_memory.domain.text.file_name import UNTITLED, id_in_name, title_in_name
from agent_memory.domain.text.ids import mint_id
from agent_memory.errors import EntryUnreadable
from agent_memory.formats.frontmatter import (
    NoteParts,
    canonical_body,
    has_conflict,
    join_note,
    read_values,
    split_note,
)
from agent_memory.formats.meta_fields import META_FIELDS, MetaField, read_fields, spelled_items, write_field
from agent_memory.formats.yaml_scalars import Plain, well_formed
from agent_memory.results import sealed

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
    """The entry in a file, defaults filled in; every problem of a file that is none.

    `path` gives id and title where the frontmatter does not, and names the file in errors; `mtime_ms` is the default of
    `createdAt`. A file without frontmatter is a note that a person wrote. What the text hides is not taken out here.
    """
    match sealed(_decoded(text).bind(split_note)):
        case Failure(problems):
            return Failure(EntryUnreadable(path, problems))
        case Success(parts):
            match sealed(read_values(parts.block or "")):
                case Failure(problems):
                    return Failure(EntryUnreadable(path, problems))
                case Success(values):
                    return _note(values, parts.body, path, mtime_ms, has_block=parts.block is not None)


def render_note(entry: MemoryEntry, previous: str | None = None) -> str:
    """The entry's file. It ends with exactly one newline and always can be encoded.

    `parse_note` of it gives the same entry, up to what no such file can hold: line ends in the body other than `\\n`,
    newlines around it, lone surrogates; an empty title or description is read as what the body gives. Without `previous` the keys stand in the table's order, most defaults left out.
    With `previous`, the text of a readable file, unknown keys, comments, key order, line ends and the bytes of every
    unchanged value stay as they were. Clean the text before: nothing hidden is taken out here.
    """
    parts = _parts_of(previous)
    body = canonical_body(entry.body)
    gap = parts.gap if parts.block is not None and (parts.gap or parts.body) else "\n"
    block = _edited_block(parts.block, entry) if parts.block is not None else _new_block(entry)
    return join_note(NoteParts(block, gap, body, parts.line_end, parts.byte_order_mark))


def _decoded(text: str | bytes) -> Result[str, tuple[str, ...]]:
    if isinstance(text, str):
        # A lone surrogate in a text means that it was decoded leniently.
        return Success(text) if well_formed(text) == text else Failure(("not UTF-8",))
    try:
        return Success(text.decode("utf-8"))
    except UnicodeDecodeError as error:
        return Failure((f"not UTF-8: byte 0x{text[error.start]:02x} at offset {error.start}",))


def _note(
    values: dict[str, Plain], body: str, path: str, mtime_ms: int, *, has_block: bool
) -> Result[ParsedNote, EntryUnreadable]:
    stated, problems = read_fields(values)
    name = path.rpartition("/")[2]
    named_id = id_in_name(name)
    if named_id and stated.get("id", named_id) != named_id:
        problems += (f"id: '{stated['id']}' is not the {named_id} of the file name",)
    if not has_block and (named_id or _has_front_lines(body)):
        problems += (HEADLESS,)
    if problems:
        return Failure(EntryUnreadable(path, problems))
    meta = _meta(stated, body, name, mtime_ms)
    provisional = "id" not in stated and named_id is None
    return Success(ParsedNote(meta, body, provisional, has_conflict(body)))


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


def _parts_of(previous: str | None) -> NoteParts:
    if previous is None:
        return NoteParts(None, "", "")
    match sealed(split_note(previous)):
        case Success(parts):
            return parts
        case Failure(problems):
            raise ValueError(f"only a readable file can be written again: {'; '.join(problems)}")


def _new_block(entry: MemoryEntry) -> str:
    lines: list[str] = []
    for field in META_FIELDS:
        if field.always or not _is_default(field, entry):
            text = write_field(field, _value(field, entry))
            lines.append(f"{field.key}:{text}\n" if text.startswith("\n") else f"{field.key}: {text}\n")
    return "".join(lines)


def _edited_block(block: str, entry: MemoryEntry) -> str:
    # Only rewriting needs ruamel, which is slow to import.
    from agent_memory.formats.block_edit import edit_block

    values = read_values(block).value_or(dict[str, Plain]())
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

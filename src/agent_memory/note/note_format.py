"""The format of a note's file: the keys of its frontmatter, parsing and rendering."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from sys import intern
from typing import Annotated, Any

from attrs import frozen

from agent_memory.errors import EntryUnreadable
from agent_memory.note.file_name import UNTITLED, id_in_name, title_in_name
from agent_memory.note.frontmatter import (
    NoteParts,
    NotReadable,
    Plain,
    canonical_body,
    flow_text,
    has_conflict,
    join_note,
    read_quickly,
    split_note,
    text_scalar,
    well_formed,
)
from agent_memory.note.note import Confidence, Importance, Kind, MemoryEntry, Meta, Origin, Sensitivity, Source, Status
from agent_memory.results import as_result
from agent_memory.text.ids import EntryId, mint_id, normal_tag, normal_tags
from agent_memory.text.instants import FIRST_MS, LAST_MS, iso_of, ms_of
from agent_memory.text.json_codec import Converter, InvalidValue
from agent_memory.text.json_shape import is_row
from agent_memory.text.markdown import derive_description, derive_title
from agent_memory.text.plain_text import Count
from agent_memory.text.value_rules import shown

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


# -- what the value of a key may be -----------------------------------------------------------------------------------


_YAML = Converter(null_is_absent=True, expected={str: "text in quotes", list: "a list like [a, b]"})


def _scope_problem(scope: str) -> str | None:
    return None if scope.strip() else f"is {shown(scope)}, expected global, host/owner/repo or path:/directory"


def _tag_problem(tag: str) -> str | None:
    return None if normal_tag(tag) else f"is {shown(tag)}, expected a word"


def _epoch_problem(value: Any) -> str | None:
    if type(value) is int and FIRST_MS <= value <= LAST_MS:
        return None
    at_ms = ms_of(f"{value}T00:00Z" if _DAY.fullmatch(value) else value) if isinstance(value, str) else None
    hint = "" if at_ms is None else f"; write {at_ms}"
    return f"is {shown(value)}, expected milliseconds since 1970{hint}"


def _iso_problem(value: Any) -> str | None:
    is_instant = isinstance(value, str) and ms_of(value) is not None
    return None if is_instant else f"is {shown(value)}, expected an instant like 2026-02-13T14:30:05Z"


_Scope = Annotated[str, _scope_problem]
_Tags = tuple[Annotated[str, _tag_problem], ...]
_Iso = Annotated[Any, _iso_problem]
_Epoch = Annotated[Any, _epoch_problem]
_Ids = tuple[EntryId, ...]


# -- the keys ---------------------------------------------------------------------------------------------------------


@frozen
class MetaField:
    key: str
    attribute: str
    type: Any
    """Its type in the file, for `json_codec`."""
    always: bool = False
    """True if it is written even when it has its default."""
    convert: Callable[[Any], Any] = lambda value: value
    """Converts the file's value to the attribute's."""

    def read(self, value: Plain) -> Any:
        """Returns the attribute's value; raises InvalidValue with every problem."""
        return self.convert(_YAML.value_of(value, self.type, self.key))

    def write(self, value: Any, spelled: Mapping[Any, str]) -> str:
        """Returns the YAML after `key:`, which begins with a line end for sources, one on each line. `spelled` overrides
        the YAML of items."""
        if self.key == "last_used" and value is not None:
            return iso_of(value).replace(".000Z", "Z")
        if isinstance(value, str):
            return text_scalar(value)
        if not is_row(value):
            return flow_text(value)
        items = [spelled.get(item) or _item_of(item) for item in value]
        if self.key == "sources" and items:
            return "".join(f"\n  - {item}" for item in items)
        return f"[{', '.join(items)}]"


def _item_of(item: str | Source) -> str:
    if isinstance(item, str):
        return flow_text(item)
    return flow_text({key: value for key, value in _YAML.written(item).items() if value not in (None, [])})


META_FIELDS: tuple[MetaField, ...] = (
    MetaField("id", "id", EntryId, always=True),
    MetaField("title", "title", str, always=True),
    MetaField("description", "description", str),
    MetaField("kind", "kind", Kind, always=True),
    # Interned, since thousands of notes share a few tags.
    MetaField("tags", "tags", _Tags, always=True, convert=lambda tags: tuple(map(intern, normal_tags(tags)))),
    MetaField("status", "status", Status, always=True),
    MetaField("origin", "origin", Origin, always=True),
    MetaField("scope", "scope", _Scope, always=True),
    MetaField("importance", "importance", Importance),
    MetaField("confidence", "confidence", Confidence, convert=float),
    MetaField("sensitivity", "sensitivity", Sensitivity),
    MetaField("pinned", "pinned", bool),
    MetaField("promotedBy", "promoted_by", str),
    MetaField("withheld", "withheld", bool),
    MetaField("cleared", "cleared", tuple[str, ...]),
    MetaField("used", "used", Count),
    MetaField("last_used", "last_used_at_ms", _Iso, convert=ms_of),
    MetaField("createdAt", "created_at_ms", _Epoch, always=True),
    MetaField("updatedAt", "updated_at_ms", _Epoch, always=True),
    MetaField("expiresAt", "expires_at_ms", _Epoch),
    MetaField("validFrom", "valid_from_ms", _Epoch),
    MetaField("validUntil", "valid_until_ms", _Epoch),
    MetaField("aliases", "aliases", _Ids),
    MetaField("supersedes", "supersedes", _Ids),
    MetaField("sources", "sources", tuple[Source, ...]),
)
"""All keys, in the order of a new note."""

_ORDER = tuple(field.key for field in META_FIELDS)
_NO_META = Meta(id="", title="", created_at_ms=0, updated_at_ms=0)


# -- text to note ----------------------------------------------------------------------------------------------------

HEADLESS = "its frontmatter is gone, or lost its first line `---`"
"""Its origin, sensitivity and scope are unknown, so it must not count as a person's new note."""
MAX_BLOCK_CHARS = 64 * 1024
"""The limit for frontmatter in a style of its own; our own style is read fast at any size."""
_FRONT_LINES = re.compile(r"(?:(?:\w+:|[ \t]|- )[^\n]*\n)+---[ \t]*(?:\n|\Z)")
_OWN_KEY = re.compile(r"^(?:id|status|origin|scope|sensitivity|createdAt|updatedAt):", re.MULTILINE)


@frozen
class ParsedNote:
    meta: Meta
    body: str
    """With `\\n` line ends, without newlines at either end."""
    provisional_id: bool = False
    """True if neither frontmatter nor file name has an id: `meta.id` is what `doctor --fix` would write, if it is free."""
    conflicted: bool = False
    """True if the body has unresolved merge-conflict markers."""

    @property
    def entry(self) -> MemoryEntry:
        return MemoryEntry(self.meta, self.body)


def read_values(block: str) -> dict[str, Plain]:
    """Returns the values of a frontmatter block; raises NotReadable with every problem and its line."""
    quick = read_quickly(block)
    if quick is not None:
        return quick
    if len(block) > MAX_BLOCK_CHARS:
        raise NotReadable(f"the frontmatter is larger than {MAX_BLOCK_CHARS // 1024} KiB")
    if has_conflict(block):
        raise NotReadable("the frontmatter holds unresolved merge-conflict markers")
    # Importing ruamel takes longer than reading a thousand notes quickly.
    from agent_memory.note.yaml_block import block_values

    return block_values(block)


def read_note(data: bytes, path: str, mtime_ms: int) -> ParsedNote:
    """Returns the note in a file, defaults filled in; raises EntryUnreadable with every problem.

    `path` supplies id and title if the frontmatter lacks them, and names the file in errors; `mtime_ms` is the default
    of `createdAt`. A file without frontmatter is a note that a person wrote. Hidden characters are not removed here.
    """
    try:
        parts = split_note(data.decode("utf-8"))
        values = read_values(parts.block or "")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        raise EntryUnreadable(path, (problem,)) from None
    except NotReadable as refused:
        raise EntryUnreadable(path, refused.problems) from None
    front = _FRONT_LINES.match(parts.body)
    if parts.block is None and (id_in_name(path) or (front and _OWN_KEY.search(front[0]))):
        raise EntryUnreadable(path, (HEADLESS,))
    return note_of(values, parts.body, path, mtime_ms)


def note_of(values: Mapping[str, Plain], body: str, path: str, mtime_ms: int) -> ParsedNote:
    """Returns the note with this frontmatter, as `read_note` does."""
    name = path.rpartition("/")[2]
    stated: dict[str, Any] = {}
    problems: list[str] = []
    for field in META_FIELDS:  # null counts as missing; unknown keys are ignored
        if (value := values.get(field.key)) is not None:
            try:
                stated[field.attribute] = field.read(value)
            except InvalidValue as wrong:
                problems += wrong.problems
    named_id = id_in_name(name)
    if named_id and stated.get("id", named_id) != named_id:
        problems.append(f"id: '{stated['id']}' is not the {named_id} of the file name")
    if problems:
        raise EntryUnreadable(path, tuple(problems))
    is_provisional = "id" not in stated and named_id is None
    return ParsedNote(_meta(stated, body, name, mtime_ms), body, is_provisional, has_conflict(body))


parse_note = as_result(read_note)


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


# -- note to text ----------------------------------------------------------------------------------------------------


def render_note(entry: MemoryEntry, previous: str | None = None) -> str:
    """Returns the note's file. It ends with exactly one newline and can always be encoded.

    Reading it gives the same note, except for what no such file can hold: line ends in the body other than `\\n`,
    newlines around it, lone surrogates; an empty title or description is derived from the body. Without `previous` the
    keys are in the table's order, most defaults left out. With `previous`, the text of a readable file, unknown keys,
    comments, key order, line ends and the bytes of every unchanged value stay. Clean the text before: hidden characters
    are not removed here.
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
            text = field.write(_value(field, entry), {})
            lines.append(f"{field.key}:{text}\n" if text.startswith("\n") else f"{field.key}: {text}\n")
    return "".join(lines)


def _edited_block(block: str, entry: MemoryEntry) -> str:
    from agent_memory.note.yaml_block import edit_block  # only rewriting needs ruamel, which is slow to import

    values = read_values(block)
    changes: dict[str, str] = {}
    for field in META_FIELDS:
        before, value = values.get(field.key), _value(field, entry)
        is_kept = field.read(before) == value if before is not None else not field.always and _is_default(field, entry)
        if not is_kept:
            # Items that stay in a list keep their spelling: a bare tag, a source with foreign keys.
            items = before if is_row(value) and is_row(before) else ()
            changes[field.key] = field.write(value, {field.read([item])[0]: flow_text(item) for item in items})
    return edit_block(block, changes, _ORDER) if changes else block


def _is_default(field: MetaField, entry: MemoryEntry) -> bool:
    value = _value(field, entry)
    if field.attribute == "description":
        return value == "" or bool(value == derive_description(canonical_body(entry.body)))
    return bool(value == getattr(_NO_META, field.attribute))


def _value(field: MetaField, entry: MemoryEntry) -> Any:
    value = getattr(entry.meta, field.attribute)
    return well_formed(value) if isinstance(value, str) else value

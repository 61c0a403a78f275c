"""The file of an entry that two machines changed, merged: frontmatter field by field, body line by line."""

from __future__ import annotations

from attrs import evolve, frozen

from agent_memory.domain.entry import MemoryEntry, Meta
from agent_memory.domain.instants import iso_of
from agent_memory.domain.merging import Versions, merged_meta, merged_text, versions_of
from agent_memory.domain.text.markdown import derive_description
from agent_memory.formats.frontmatter import canonical_body, has_conflict, join_note, read_values, split_note
from agent_memory.formats.note import META_FIELDS, parse_note, render_note
from agent_memory.formats.yaml_block import comment_lines, edit_block
from agent_memory.formats.yaml_scalars import NotReadable, Plain, flow_text

_KNOWN = tuple(field.key for field in META_FIELDS)


@frozen
class MergedNote:
    """One file again, and the entry in it."""

    text: str
    entry: MemoryEntry
    conflicted: bool
    """Both had changed the same lines of the body: the two versions stand between conflict markers."""


def merged_note(base: bytes | None, one: bytes, other: bytes, path: str) -> MergedNote | None:
    """Both files as one, the same whichever comes first; None where one of them is no readable entry, or their ids differ.

    Keys that are not ours, and comments, survive: those of the newer file as they stand, those that only the other has
    added behind them. A base that cannot be read counts as none.
    """
    sides = (_entry(one, path), _entry(other, path))
    if sides[0] is None or sides[1] is None or sides[0].meta.id != sides[1].meta.id:
        return None
    before = None if base is None else _entry(base, path)
    versions = versions_of(before, sides[0], sides[1])
    newer, older = (one, other) if versions.newer == sides[0] else (other, one)
    body = _merged_body(versions)
    entry = MemoryEntry(_described(merged_meta(versions), versions, body), body)
    previous = _with_foreign(newer.decode("utf-8"), older.decode("utf-8"), base if before is not None else None)
    return MergedNote(render_note(entry, previous), entry, has_conflict(body))


def _merged_body(versions: Versions) -> str:
    newer, older = versions.newer, versions.older
    labels = (
        f"one machine, {iso_of(newer.meta.updated_at_ms)}",
        f"another machine, {iso_of(older.meta.updated_at_ms)}",
    )
    base = None if versions.base is None else canonical_body(versions.base.body)
    return merged_text(base, canonical_body(newer.body), canonical_body(older.body), labels)


def _described(meta: Meta, versions: Versions, body: str) -> Meta:
    """A description that nobody wrote follows the body; one that only one of them wrote stays."""
    sides = (versions.newer, versions.older)
    written = [each.meta.description for each in sides if not _is_derived(each)]
    if len(written) == len(sides):
        return meta
    was = None if versions.base is None else versions.base.meta.description
    if written and written[0] != was:
        return evolve(meta, description=written[0])
    return meta if has_conflict(body) else evolve(meta, description=derive_description(body))


def _is_derived(entry: MemoryEntry) -> bool:
    return entry.meta.description in ("", derive_description(canonical_body(entry.body)))


def _entry(data: bytes, path: str) -> MemoryEntry | None:
    return parse_note(data, path, 0).map(lambda note: note.entry).value_or(None)


# -- what is not ours -------------------------------------------------------------------------------------------------


def _with_foreign(newer: str, older: str, base: bytes | None) -> str:
    """The newer file's text with the keys and comments that only the older has added since the base."""
    parts = split_note(newer)
    mine = parts.block or ""
    added = _block(older)
    before = "" if base is None else _block(base.decode("utf-8", "replace"))
    block = _with_comments(_with_keys(mine, added, before), added, before)
    return newer if block == mine else join_note(evolve(parts, block=block, gap=parts.gap or "\n"))


def _with_keys(block: str, added: str, before: str) -> str:
    here, there, earlier = _values(block), _values(added), _values(before)
    foreign = {
        key: value
        for key, value in there.items()
        if key not in _KNOWN and here.get(key) != value and _is_news(key, value, here, earlier)
    }
    if not foreign:
        return block
    order = tuple(dict.fromkeys((*_KNOWN, *here, *foreign)))
    return edit_block(block, {key: flow_text(value) for key, value in foreign.items()}, order)


def _is_news(key: str, value: Plain, here: dict[str, Plain], earlier: dict[str, Plain]) -> bool:
    """Whether only the older file has it: added by it, or changed by it and not by the newer."""
    if key in earlier:
        return value != earlier[key] and here.get(key) == earlier[key]
    return key not in here


def _with_comments(block: str, added: str, before: str) -> str:
    known = {*comment_lines(block), *comment_lines(before)}
    news = [line for line in comment_lines(added) if line not in known]
    if not news:
        return block
    ended = block if block.endswith("\n") or not block else f"{block}\n"
    return ended + "".join(f"{line}\n" for line in news)


def _block(text: str) -> str:
    try:
        return split_note(text).block or ""
    except NotReadable:
        return ""


def _values(block: str) -> dict[str, Plain]:
    try:
        return read_values(block)
    except NotReadable:
        return {}

"""Notes that `memory export` wrote come back as they were: JSON lines, and the files of its other formats."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from attrs import evolve

from agent_memory.capture.repository import stated_scope
from agent_memory.errors import EntryUnreadable
from agent_memory.imports import base
from agent_memory.note.frontmatter import Plain
from agent_memory.note.note import GLOBAL_SCOPE, Harness, Source as NoteSource
from agent_memory.note.note_format import note_of
from agent_memory.text.ids import ID_PATTERN, is_id
from agent_memory.text.json_codec import InvalidValue, load_document
from agent_memory.text.json_shape import is_object
from agent_memory.text.markdown import find_code, is_inside
from agent_memory.text.plain_text import spliced

OKF_INDEX = "index.md"
IN_OKF = {"type": "kind", "title": "title", "description": "description", "tags": "tags"}
OURS = "agent-memory"
"""The key of what Open Knowledge Format has no key for, or another meaning."""
_LINK, _OWN_LINK = (
    re.compile(rf"\[([^\[\]\n]*)\]\((?:/|\./)?({target})\.md\)") for target in (r"[^():\s]+", ID_PATTERN)
)


def own_document(each: base.Document) -> base.Record | None:
    """Returns the record of an exported note; None for any other file."""
    front, ours, body = each.front, each.front.get(OURS), each.body
    if isinstance(ours, dict):
        front = {**ours, **{key: front[name] for name, key in IN_OKF.items() if name in front}}
        body = in_brackets(body, _OWN_LINK)
    try:
        return _record(front, body, each.name)
    except EntryUnreadable:
        return None


def in_brackets(body: str, link: re.Pattern[str] = _LINK) -> str:
    """Returns the body with links to files, of which the expression gives words and target, as `[[target|words]]`."""
    code = find_code(body).ranges
    links = (found for found in link.finditer(body) if not is_inside(found.start(), code))
    named = ((found, "" if found[1] == found[2] else f"|{found[1]}") for found in links)
    return spliced(body, ((found.start(), found.end(), f"[[{found[2]}{label}]]") for found, label in named))


def read_lines(path: str) -> Iterator[base.Record | base.LeftOut]:
    for number, line in enumerate(base.read_file(path).split(b"\n"), 1):
        if line.strip():
            yield record_in(line, f"line {number}")


def record_in(line: bytes, name: str) -> base.Record | base.LeftOut:
    """Returns the record in one line of JSON."""
    try:
        row = load_document(line)
        if is_object(row) and isinstance(body := row.pop("body", None), str):
            return _record(row, body, name)
    except (EntryUnreadable, InvalidValue) as error:
        return base.LeftOut(name, "; ".join(error.problems))
    return base.LeftOut(name, "it is no note")


def _record(values: Mapping[str, Plain], body: str, name: str) -> base.Record:
    """Raises EntryUnreadable."""
    if not is_id(str(values.get("id"))):
        raise EntryUnreadable(name, ("it has no id of a note",))
    note = note_of(values, body, name, 0)
    meta, scope = note.meta, stated_scope(note.meta.scope) or ""
    source = meta.sources[0] if meta.sources else NoteSource(Harness.MANUAL)
    return base.Record(
        meta.id, note.body, meta.title, meta.description, meta.kind, meta.tags, meta.created_at_ms, meta.updated_at_ms,
        GLOBAL_SCOPE if scope else None, meta.scope, source.harness, source.thread_id, source.agent, meta.importance,
        meta.confidence, meta.sensitivity, meta.expires_at_ms, names=meta.aliases,
        valid_until_ms=meta.valid_until_ms, own=evolve(meta, scope=scope), origin=meta.origin,
    )  # fmt: skip


def _read(path: str, machine: base.Machine) -> Iterator[base.Found]:
    found = list(read_lines(path))
    base.need(not found or any(isinstance(each, base.Record) for each in found), path, "no line of it is a note")
    return iter(found)


SOURCE = base.Source("notes as JSON lines", _read, has_ids=True)

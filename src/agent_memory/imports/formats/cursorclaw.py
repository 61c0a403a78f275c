"""CursorClaw: `MEMORY.md` and a file a day, a record a line, and prose about the person."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

from agent_memory.files.lines import objects_in
from agent_memory.imports import base
from agent_memory.note.note import Kind, Sensitivity
from agent_memory.text.ids import content_hash
from agent_memory.text.json_shape import is_object
from agent_memory.text.plain_text import counted

_PROSE = {"USER.md": ("About the person", Kind.PREFERENCE), "LONGMEMORY.md": ("Long-term memory", Kind.FACT)}
_SUMMARIES = ("turn-summary", "compaction", "heartbeat")


def _read(path: str, machine: base.Machine) -> Iterator[base.Found]:
    is_there = os.path.isfile(f"{path}/MEMORY.md") or os.path.isdir(f"{path}/memory")
    base.need(is_there, path, "it is no directory with a MEMORY.md")
    return base.documents(path, partial(_found, seen=set()), depth=1)


def _found(each: base.Document, seen: set[tuple[str, str]]) -> Iterator[base.Found]:
    if each.name in _PROSE:
        title, kind = _PROSE[each.name]
        yield base.Record(each.name, each.body, title, kind=kind, updated_at_ms=each.changed_at_ms)
        return
    if "/" in each.name.removeprefix("memory/"):
        return
    others = 0
    for line in each.body.split("\n"):
        found = objects_in(line[2:].encode()).found if line.startswith("- {") else ()
        row: dict[str, Any] = found[0] if found else {}
        id = str(row.get("id") or content_hash(line.encode())[:12])
        if not row.get("text"):
            others += bool(line.strip()) and not line.startswith("#")
        elif (id, str(row["text"])) not in seen:
            seen.add((id, str(row["text"])))
            yield _record(id, row)
    if others:
        yield base.LeftOut(each.name, counted(others, "line of it is no record", "lines of it are no records"))


def _record(id: str, row: dict[str, Any]) -> base.Found:
    from_ = row.get("provenance")
    about: dict[str, Any] = from_ if is_object(from_) else {}
    word, confidence = str(about.get("sensitivity") or ""), about.get("confidence")
    if word == "secret":
        return base.LeftOut(id, "it is secret")
    if row.get("category") in _SUMMARIES:
        return base.LeftOut(id, "it says what a turn did, or that nothing happened")
    return base.Record(
        id,
        str(row["text"]),
        kind=base.kind_of([str(row.get("category"))]),
        created_at_ms=base.instant_in(about.get("timestamp")),
        session_id=str(row.get("sessionId") or "") or None,
        agent=str(about.get("sourceChannel") or "") or None,
        confidence=float(confidence) if isinstance(confidence, int | float) and 0 <= confidence <= 1 else None,
        sensitivity=Sensitivity.PRIVATE if word == "private-user" else Sensitivity.NORMAL,
    )


SOURCE = base.Source("CursorClaw", _read)

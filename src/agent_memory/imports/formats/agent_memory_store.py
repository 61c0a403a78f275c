"""agent-memory-store: chunks and a state by key, in `store.db`; before it had a database, a file each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from agent_memory.imports import base
from agent_memory.note.note import Importance


def _find(machine: base.Machine) -> list[str]:
    named = machine.environ.get("AGENT_STORE_PATH")
    return [*([named] if named else []), *machine.beside(".agent-memory-store")]


def _read(path: str, machine: base.Machine) -> Iterator[base.Found]:
    store = path if path.endswith(".db") else f"{path}/store.db"
    place = os.path.dirname(os.path.dirname(store))
    if os.path.exists(store):
        chunks, state = base.read_tables(store, "topic", "it has no chunks of agent-memory-store", "chunks", "state")
        for each in chunks:
            yield _chunk({**each, "updated": each.get("updated_at")}, str(each.get("content") or ""), place)
        for each in state:
            yield base.Value(str(each.get("key")), base.decoded(str(each.get("value"))))
        return
    base.need(os.path.isdir(f"{path}/chunks"), path, "there is no store.db and no chunks")
    yield from base.documents(f"{path}/chunks", lambda each: _chunk(each.front, each.body, place), depth=0)
    yield from base.json_files(path, "state", _value)


def _value(name: str, row: dict[str, Any]) -> Iterator[base.Found]:
    yield base.Value(str(row["key"]), row.get("value")) if "key" in row else base.LeftOut(name, "it has no key")


def _chunk(row: Mapping[str, object], content: str, place: str) -> base.Record:
    tags = base.texts_in(row.get("tags"))
    return base.Record(
        str(row.get("id")),
        content,
        str(row.get("topic") or ""),
        kind=base.kind_of(tags),
        tags=tags,
        created_at_ms=base.instant_in(row.get("created_at")) or base.instant_in(row.get("updated")),
        updated_at_ms=base.instant_in(row.get("updated")),
        place=place,
        agent=str(row.get("agent") or "") or None,
        importance=next((each for each in Importance if each.value == row.get("importance")), Importance.MEDIUM),
        expires_at_ms=base.instant_in(row.get("expires_at") or row.get("expires")),
        names=(str(row.get("id")),),
    )


SOURCE = base.Source("agent-memory-store", _read, _find, has_ids=True)

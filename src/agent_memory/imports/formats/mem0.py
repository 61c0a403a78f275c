"""mem0: the history of its library, or a dump of a server, a list of memories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_memory.imports import base
from agent_memory.text.json_shape import is_list, is_object


def _read(path: str, machine: base.Machine) -> Iterator[base.Found]:
    rows: Any
    if path.endswith(".db"):
        (events,) = base.read_tables(path, "memory_id", "it has no history of mem0", "history")
        first = {each["memory_id"]: each.get("created_at") for each in reversed(events)}
        last = {each["memory_id"]: each for each in events}
        rows = [
            {**each, "id": id, "memory": each.get("new_memory"), "created_at": first[id]} for id, each in last.items()
        ]
    else:
        dump = base.read_json(path)
        rows = dump.get("results") if is_object(dump) else dump
        base.need(is_list(rows), path, "it is no list of memories")
    for row in rows:
        yield memory_in(row)


def memory_in(row: object) -> base.Found:
    """Returns the memory in a row of mem0, or of OpenMemory."""
    if not is_object(row):
        return base.LeftOut("an item", "it is not a memory")
    name, state = str(row.get("id")), row.get("state") or "active"
    if state == "deleted" or row.get("event") == "DELETE" or row.get("is_deleted"):
        return base.LeftOut(name, "it was deleted there")
    inner, tags = row.get("metadata") or row.get("metadata_"), base.texts_in(row.get("categories"))
    data = inner.get("data") if is_object(inner) else None
    return base.Record(
        name.replace("-", ""),  # the database of OpenMemory has none, its export has some
        str(row.get("content") or row.get("memory") or row.get("data") or data or ""),
        kind=base.kind_of(tags),
        tags=tags,
        created_at_ms=base.instant_in(row.get("created_at")),
        updated_at_ms=base.instant_in(row.get("updated_at")),
        agent=str(row.get("app") or row.get("actor_id") or "") or None,
        is_archived=state in ("paused", "archived"),
    )


SOURCE = base.Source("mem0", _read, lambda machine: [f"{machine.home}/.mem0/history.db"], has_ids=True)

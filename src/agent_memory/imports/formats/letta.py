"""The memory of Letta agents: a directory an agent, a file a block."""

from __future__ import annotations

from collections.abc import Iterator

from agent_memory.files.paths import names_in
from agent_memory.imports import base
from agent_memory.note.note import Kind


def _find(machine: base.Machine) -> Iterator[str]:
    for agents in (f"{machine.home}/.letta/agents", f"{machine.home}/.letta/lc-local-backend/memfs"):
        yield from (f"{agents}/{agent}/memory" for agent in names_in(agents))


def _block(each: base.Document, place: str) -> base.Found:
    path = each.name.removesuffix(".md")
    if path in ("system/persona", "ARCHIVE") or path.startswith("skills/"):
        return base.LeftOut(each.name, "it is about the agent itself")
    return base.Record(
        each.name, each.body, base.title_in(path.rpartition("/")[2]), each.text("description"),
        Kind.PREFERENCE if path == "system/human" else Kind.FACT,
        updated_at_ms=each.changed_at_ms, place=place, names=(path,),
    )  # fmt: skip


SOURCE = base.Source("the memory of Letta agents", base.each_file(_block), _find)

"""Rules of Cursor: a file a rule, with the files that it is for."""

from __future__ import annotations

from agent_memory.imports import base
from agent_memory.note.note import Kind
from agent_memory.text.markdown import first_heading


def _rule(each: base.Document, place: str) -> base.Record:
    globs = base.texts_in(each.front.get("globs"))
    where, said = ", ".join(f"`{glob}`" for glob in globs), each.text("description")
    body = f"{each.body}\n\nApplies to {where}." if globs else each.body
    return base.Record(
        each.name, body, first_heading(each.body) or said, said, Kind.CONVENTION,
        updated_at_ms=each.changed_at_ms, place=place,
    )  # fmt: skip


SOURCE = base.Source(
    "rules of Cursor",
    base.each_file(_rule, ".mdc", ".cursorrules"),
    lambda machine: machine.beside(".cursor/rules", ".cursorrules"),
)

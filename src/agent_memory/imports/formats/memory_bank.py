"""A memory bank, as Cline, Roo and Kilo keep one: six or seven files of a project, each section of which is a note."""

from __future__ import annotations

from collections.abc import Iterator

from agent_memory.imports import base
from agent_memory.note.note import Kind
from agent_memory.text.markdown import first_heading

_KINDS = {
    "projectbrief": Kind.PROJECT,
    "productcontext": Kind.PROJECT,
    "techcontext": Kind.PROJECT,
    "systempatterns": Kind.CONVENTION,
    "decisionlog": Kind.DECISION,
    "activecontext": Kind.TASK,
    "progress": Kind.TASK,
}


def _notes(each: base.Document, place: str) -> Iterator[base.Found]:
    kind, whole = _KINDS.get(each.stem.lower(), Kind.FACT), first_heading(each.body) or each.stem
    parts = base.sections(each.body)
    if any(heading == "Rationale" for heading, _ in parts):  # of the decision in the section before
        parts = [("", each.body)]
    for heading, text in parts:
        title = f"{whole}: {heading}" if heading not in ("", whole) and kind is not Kind.DECISION else heading or whole
        id, at_ms = f"{each.name}#{heading}", each.changed_at_ms
        yield base.Record(id, text, title, kind=kind, updated_at_ms=at_ms, place=place)


SOURCE = base.Source("a memory bank", base.each_file(_notes), lambda machine: machine.beside("memory-bank"))

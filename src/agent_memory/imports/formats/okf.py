"""Open Knowledge Format: a bundle of markdown files whose frontmatter says what each is, who made it and how long it holds."""

from __future__ import annotations

import os
from collections.abc import Iterator

from attrs import evolve

from agent_memory.imports import base
from agent_memory.imports.formats.jsonl import OKF_INDEX, in_brackets
from agent_memory.imports.formats.markdown import note_in
from agent_memory.text.ids import is_id


def _concept(each: base.Document, place: str) -> Iterator[base.Found]:
    record, made = note_in(each, place), each.front.get("generated")
    if os.path.basename(each.name) in (OKF_INDEX, "log.md"):
        return
    if is_id(record.id):
        yield record
        return
    at_ms = base.instant_in(made.get("at")) if isinstance(made, dict) else None
    yield evolve(
        record, body=in_brackets(record.body), created_at_ms=at_ms or record.created_at_ms,
        updated_at_ms=at_ms or record.updated_at_ms, valid_until_ms=each.instant("stale_after"),
        is_archived=each.text("status") == "deprecated",
    )  # fmt: skip


SOURCE = base.Source("an Open Knowledge Format bundle", base.each_file(_concept))

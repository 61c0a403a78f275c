"""What is exported and imported again is the same note, in each format that comes back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st

from agent_memory.imports.base import Document, LeftOut, Record
from agent_memory.imports.exporting import json_line, json_record, leaving, okf_file, own_document
from agent_memory.note.frontmatter import split_note
from agent_memory.note.note import Harness, Importance, Kind, MemoryEntry, Meta, Origin, Sensitivity, Source
from agent_memory.note.note_format import render_note
from agent_memory.note.yaml_block import block_values
from agent_memory.text.ids import ID_PATTERN

IDS = st.from_regex(ID_PATTERN, fullmatch=True)
WORDS = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]), st.sampled_from("ab -#[](){}:,'\"`|&*!%@\n---\\\x85\u2028\u202e")
    ),
    max_size=40,
)
INSTANTS = st.integers(1, 2**42)
LINKS = st.tuples(IDS, st.sampled_from(["", "|words", "|a b"])).map(lambda link: f" [[{link[0]}{link[1]}]] ")
BODIES = st.lists(WORDS | LINKS | st.sampled_from(["```\n[[id__aaaaaa]]\n```", "[x](/y.md)", "---"]), max_size=5).map(
    "\n".join
)


@st.composite
def notes(draw: st.DrawFn) -> MemoryEntry:
    meta = Meta(
        draw(IDS),
        draw(WORDS),
        draw(INSTANTS),
        draw(INSTANTS),
        draw(WORDS),
        draw(st.sampled_from(Kind)),
        tuple(draw(st.lists(WORDS, max_size=3))),
        origin=draw(st.sampled_from(Origin)),
        scope=draw(st.sampled_from(["global", "github.com/ada/lamp", "path:/home/ada/notes"])),
        importance=draw(st.sampled_from(Importance)),
        confidence=draw(st.none() | st.floats(0, 1)),
        sensitivity=draw(st.sampled_from(Sensitivity)),
        expires_at_ms=draw(st.none() | INSTANTS),
        valid_from_ms=draw(st.none() | INSTANTS),
        valid_until_ms=draw(st.none() | INSTANTS),
        sources=draw(st.lists(st.builds(Source, st.sampled_from(Harness), st.none() | WORDS), max_size=2).map(tuple)),
    )
    return leaving(MemoryEntry(meta, draw(BODIES)))


def of_file(text: str) -> Record | None:
    parts = split_note(text)
    return own_document(Document("a.md", parts.body, block_values(parts.block or ""), 0))


def of_line(text: str) -> Record | LeftOut:
    assert "\n" not in text
    return json_record(text.encode(), "line 1")


WAYS: dict[str, Callable[[MemoryEntry], Record | LeftOut | None]] = {
    "markdown": lambda note: of_file(render_note(note)),
    "okf": lambda note: of_file(okf_file(note, [note.meta.id, "id__aaaaaa"])),
    "jsonl": lambda note: of_line(json_line(note)),
}


@pytest.mark.parametrize("way", WAYS)
@given(note=notes())
@settings(max_examples=200, deadline=None)
def test_a_note_comes_back(way: str, note: MemoryEntry) -> None:
    found, meta = WAYS[way](note), note.meta
    assert isinstance(found, Record), found
    assert leaving(evolve(note, meta=evolve(meta, title=found.title), body=found.body)) == note
    assert (found.id, found.kind, found.tags, found.scope) == (meta.id, meta.kind, meta.tags, meta.scope)
    assert (found.created_at_ms, found.updated_at_ms) == (meta.created_at_ms, meta.updated_at_ms)
    ends = (found.expires_at_ms, found.valid_from_ms, found.valid_until_ms)
    assert ends == (meta.expires_at_ms, meta.valid_from_ms, meta.valid_until_ms)
    assert (found.origin, found.sensitivity, found.importance) == (meta.origin, meta.sensitivity, meta.importance)
    assert found.confidence == meta.confidence
    assert (found.harness, found.session_id) == next(
        ((each.harness, each.thread_id) for each in meta.sources), (Harness.MANUAL, None)
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"[]", "no note"),
        (b"\xff", "not UTF-8"),
        (b'{"body": "x"', "not JSON"),
        (b'{"id": "id__aaaaaa"}', "no note"),
        (b'{"id": "../x", "body": "x"}', "no id"),
        (b'{"id": "id__aaaaaa", "kind": "odd", "body": "x"}', "kind"),
        (b'{"id": "id__aaaaaa", "body": "\\ud800"}', "surrogate"),
        (b"[" * 100_000, "nested"),
    ],
)
def test_a_line_that_is_no_note_is_left_out(line: bytes, reason: str) -> None:
    found = json_record(line, "line 1")
    assert isinstance(found, LeftOut)
    assert reason.lower() in found.reason.lower()

"""What holds for the sessions of every harness: our own words are known (P23, P26), and nothing is lost between fetches (P25)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import evolve
from returns.result import Failure

import nine_harnesses as nine
from agent_memory.adapters.harness import SOURCES, turn_builder
from agent_memory.domain.history import History, Role, SessionMark
from agent_memory.domain.inbox_entry import Context, InboxEntry, retrieval_of
from agent_memory.domain.transcripts.own_marks import (
    CONTEXT_END,
    CONTEXT_START,
    MEMORY_OUTPUT_PLACEHOLDER,
    PROMPT_MARKER,
    SECTION_END,
    SECTION_START,
)
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import TranscriptRefused
from claude_transcripts import mark_after
from harness_surroundings import surroundings
from nine_harnesses import NINE, SHELL, WRITE, Exchange, Look

SECRET = "The port is 9191."


@pytest.fixture(params=NINE)
def harness(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def read(harness: str, home: Path, talk: Sequence[Exchange], mark: SessionMark | None = None) -> History:
    path = nine.keep(harness, home, talk)
    named = None if harness in ("amp", "opencode", "goose") else str(path)
    retrieval = retrieval_of(Harness(harness), nine.SESSIONS[harness], named)
    assert retrieval is not None
    source = SOURCES[retrieval.method](surroundings(home, PATH=f"{home}/bin:/usr/bin:/bin"))
    history: History = source.fetch(InboxEntry(0, Harness(harness), retrieval, Context()), mark).unwrap()
    return history


def test_a_session_that_begins_with_our_prompt_is_our_own_call(home: Path, harness: str) -> None:
    """P23"""
    found = read(harness, home, [Exchange(f"{PROMPT_MARKER}\nnonce: x\nConsolidate this.", "{}")])
    assert found.own_call
    assert found.turns == ()


def test_a_session_that_speaks_of_the_marker_later_is_a_persons(home: Path, harness: str) -> None:
    """P23: the positive control."""
    found = read(harness, home, [Exchange("Hello."), Exchange(f"What does {PROMPT_MARKER} mean?")])
    assert not found.own_call
    assert len(found.turns) == 4


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("memory search port", SECRET),
        ("cat ~/memories/topics/id__1abcde.md", SECRET),
        ("python -m agent_memory list", SECRET),
        ("tail notes.txt", f'---\nid: "id__1abcde"\n---\n{SECRET}'),
        ("cat AGENTS.md", f"Mine.\n{SECTION_START}\n{SECRET}\n{SECTION_END}"),
        ("head AGENTS.md", f"Mine.\n{SECTION_START}\n{SECRET}"),
    ],
)
def test_what_memory_printed_is_left_out(home: Path, harness: str, command: str, output: str) -> None:
    """P26"""
    found = read(harness, home, [Exchange("Look.", looks=[Look(SHELL, command, output), Look(SHELL, "ss", SECRET)])])
    of_memory, of_others = [turn.text for turn in found.turns if turn.role is Role.TOOL]
    assert SECRET not in of_memory
    assert MEMORY_OUTPUT_PLACEHOLDER in of_memory
    assert of_others == SECRET


def test_what_memory_injected_is_left_out_of_a_prompt(home: Path, harness: str) -> None:
    """P26"""
    found = read(harness, home, [Exchange(f"Hi. {CONTEXT_START}{SECRET}{CONTEXT_END} Which port?")])
    assert found.turns[0].text == f"Hi. {MEMORY_OUTPUT_PLACEHOLDER} Which port?"
    assert found.turns[0].role is Role.USER


def test_what_one_fetch_cannot_hold_comes_with_the_next_ones(
    home: Path, harness: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P25"""
    looks = [Look(SHELL, f"ls {at}", "y" * 300) for at in range(3)]
    talk = [
        Exchange(f"Question {at} " + "x" * 300, f"Answer {at}.", [*looks, Look(WRITE, "a.md", "ok")])
        for at in range(20)
    ]
    whole = read(harness, home, talk)
    monkeypatch.setattr(turn_builder, "MAX_KEPT_BYTES", 12_000)
    part = read(harness, home, talk)
    turns, fetches = list(part.turns), 1
    while part.remaining:
        part = read(harness, home, talk, mark_after(part))
        turns += part.turns
        fetches += 1
    assert fetches > 4
    assert [evolve(turn, record_id="") for turn in turns] == [evolve(turn, record_id="") for turn in whole.turns]


def test_after_any_turn_only_what_is_new_comes(home: Path, harness: str) -> None:
    talk = [Exchange("One.", "Two.", [Look(SHELL, "ls", "three")]), Exchange("Four.", "Five.")]
    whole = read(harness, home, talk)
    for at, turn in enumerate(whole.turns, 1):
        mark = evolve(mark_after(whole), last_record_id=turn.record_id, last_at_ms=turn.at_ms, turns_seen=turn.number)
        new = read(harness, home, talk, mark).turns
        assert new == whole.turns[at:] or new == whole.turns[at + 1 :]  # a call and its answer may be one record


@pytest.mark.parametrize("harness", [each for each in NINE if each != "amp"])
def test_a_transcript_outside_the_known_directories_is_refused(home: Path, tmp_path: Path, harness: str) -> None:
    """P27"""
    path = nine.keep(harness, home, [Exchange("Hello.")])
    outside = path.rename(tmp_path / re.sub(r"[^\w.-]", "", path.name))
    retrieval = retrieval_of(Harness(harness), nine.SESSIONS[harness], str(outside))
    assert retrieval is not None
    found = SOURCES[retrieval.method](surroundings(home)).fetch(InboxEntry(0, Harness(harness), retrieval), None)
    assert isinstance(found, Failure)
    assert harness == "opencode" or isinstance(found.failure(), TranscriptRefused)

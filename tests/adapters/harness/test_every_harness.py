"""What holds for the sessions of every harness: what is missing, ruined or on a failing disk is told (P6), our own words are
known (P23, P26), nothing is lost and nothing doubled between fetches (P25), and no other file is read (P27).

A harness that is new comes into `nine_harnesses`: the same talk as it keeps it.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import evolve
from returns.result import Failure, Result

import cursor_conversations as cursor
import goose_sessions as goose
import nine_harnesses as nine
import opencode_sessions as opencode
from agent_memory.adapters.harness import history_sources, turn_builder
from agent_memory.adapters.harness.cursor import CursorSessions
from agent_memory.adapters.harness.goose import GooseSessions
from agent_memory.adapters.harness.opencode import OpencodeSessions
from agent_memory.adapters.harness.transcripts import TranscriptRoots
from agent_memory.domain.history import History, Role, SessionMark
from agent_memory.domain.queue import (
    SESSION_METHODS,
    AmpThread,
    Context,
    FileSnapshot,
    InboxEntry,
    InlineNote,
    Retrieval,
    SessionFile,
    retrieval_of,
)
from agent_memory.domain.transcripts.own_marks import (
    CONTEXT_END,
    CONTEXT_START,
    MEMORY_OUTPUT_PLACEHOLDER,
    PROMPT_MARKER,
    SECTION_END,
    SECTION_START,
)
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable, TranscriptRefused
from agent_memory.ports import HistorySource
from claude_transcripts import mark_after, told
from faults import failing_at
from harness_surroundings import surroundings
from nine_harnesses import NINE, SHELL, WRITE, Exchange, Look

SECRET = "The port is 9191."


class Kept:
    """The home of a harness, in which it keeps one session."""

    def __init__(self, harness: str, home: Path) -> None:
        self.harness = harness
        self.home = home
        self.path: Path | None = None

    def keep(self, talk: Sequence[Exchange]) -> None:
        self.path = nine.keep(self.harness, self.home, talk)

    def fetch(self, mark: SessionMark | None = None, path: Path | None = None) -> Result[History, Error]:
        harness = Harness(self.harness)
        named = path or (None if self.harness in ("amp", "opencode", "goose") else self.path)
        retrieval = retrieval_of(harness, nine.SESSIONS[self.harness], str(named) if named else None)
        assert retrieval is not None
        source = history_sources(surroundings(self.home, PATH=f"{self.home}/bin:/usr/bin:/bin"))[retrieval.method]
        return source.fetch(InboxEntry(0, harness, retrieval, Context()), mark)

    def read(self, talk: Sequence[Exchange] = (), mark: SessionMark | None = None) -> History:
        if talk:
            self.keep(talk)
        history: History = self.fetch(mark).unwrap()
        return history


@pytest.fixture(params=NINE)
def kept(request: pytest.FixtureRequest, home: Path) -> Kept:
    return Kept(request.param, home)


TALK = (Exchange("Which port?", "I looked.", [Look(SHELL, "ss", "9090")]), Exchange("Use 9191."))
TOLD = ["user: Which port?", "agent: I look.", "tool: 9090", "agent: I looked.", "user: Use 9191.", "agent: Done."]


def test_a_session_is_the_same_turns_whatever_keeps_it(kept: Kept) -> None:
    history = kept.read(TALK)
    assert [*map(str.strip, told(history))] in (TOLD, [*TOLD[:1], "agent: I look.\n\nI looked.", *TOLD[2:3], *TOLD[4:]])
    assert [turn.number for turn in history.turns] == list(range(1, len(history.turns) + 1))
    assert (history.harness, history.session_id) == (Harness(kept.harness), nine.SESSIONS[kept.harness])
    assert (history.tools_answered_before, history.remaining) == (False, False)
    assert kept.read() == history


def test_a_missing_session_may_come(kept: Kept) -> None:
    absent = kept.fetch().failure()
    assert isinstance(absent, HistoryUnavailable)
    assert absent.is_missing != (kept.harness == "amp")  # whose commands are not there


def test_a_ruined_one_is_no_empty_one(kept: Kept) -> None:
    """P6"""
    kept.read(TALK)
    assert kept.path is not None
    kept.path.write_bytes(b"\x00\x01 no session " * 100)
    assert isinstance(kept.fetch().failure(), HistoryUnreadable | HistoryUnavailable)


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES, errno.EMFILE, errno.ESTALE])
def test_a_failing_disk_is_never_taken_for_an_empty_or_ruined_session(kept: Kept, number: int) -> None:
    """P5, P6"""
    if kept.harness == "amp":
        pytest.skip("what amp keeps is on its server")
    whole = kept.read(TALK)
    failures: list[Error] = []
    for k in range(1, 300):
        with failing_at(k, number, once=True) as counter:
            found = kept.fetch()
        if not counter.struck:
            break
        if isinstance(found, Failure):
            failures.append(found.failure())
        else:
            assert found.unwrap() == whole
    assert k < 299
    assert failures
    assert all(isinstance(failure, HistoryUnavailable) and not failure.is_missing for failure in failures)


def test_a_session_that_grew_goes_on_where_it_was(kept: Kept) -> None:
    first = kept.read(TALK[:1])
    second = kept.read(TALK, mark_after(first))
    assert [turn.text for turn in second.turns] == ["Use 9191.", "Done."]
    assert second.turns[0].number == first.turns[-1].number + 1
    assert second.tools_answered_before
    assert kept.read(mark=mark_after(second)).turns == ()
    if kept.harness != "opencode":  # whose parts all have the same time here
        assert kept.read(mark=evolve(mark_after(second), last_record_id="gone")).turns == ()


def test_a_session_that_begins_with_our_prompt_is_our_own_call(kept: Kept) -> None:
    """P23"""
    found = kept.read([Exchange(f"{PROMPT_MARKER}\nnonce: x\nConsolidate this.", "{}")])
    assert found.own_call
    assert found.turns == ()


def test_a_session_that_speaks_of_the_marker_later_is_a_persons(kept: Kept) -> None:
    """P23: the positive control."""
    found = kept.read([Exchange("Hello."), Exchange(f"What does {PROMPT_MARKER} mean?")])
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
def test_what_memory_printed_is_left_out(kept: Kept, command: str, output: str) -> None:
    """P26"""
    found = kept.read([Exchange("Look.", looks=[Look(SHELL, command, output), Look(SHELL, "ss", SECRET)])])
    of_memory, of_others = [turn.text for turn in found.turns if turn.role is Role.TOOL]
    assert SECRET not in of_memory
    assert MEMORY_OUTPUT_PLACEHOLDER in of_memory
    assert of_others == SECRET


def test_what_memory_injected_is_left_out_of_a_prompt(kept: Kept) -> None:
    """P26"""
    found = kept.read([Exchange(f"Hi. {CONTEXT_START}{SECRET}{CONTEXT_END} Which port?")])
    assert found.turns[0].text == f"Hi. {MEMORY_OUTPUT_PLACEHOLDER} Which port?"
    assert found.turns[0].role is Role.USER


def test_what_one_fetch_cannot_hold_comes_with_the_next_ones(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """P25"""
    looks = [Look(SHELL, f"ls {at}", "y" * 300) for at in range(3)]
    talk = [
        Exchange(f"Question {at} " + "x" * 300, f"Answer {at}.", [*looks, Look(WRITE, "a.md", "ok")])
        for at in range(20)
    ]
    whole = kept.read(talk)
    monkeypatch.setattr(turn_builder, "MAX_KEPT_BYTES", 12_000)
    part = kept.read(talk)
    turns, fetches = list(part.turns), 1
    while part.remaining:
        part = kept.read(talk, mark_after(part))
        turns += part.turns
        fetches += 1
    assert fetches > 4
    assert [evolve(turn, record_id="") for turn in turns] == [evolve(turn, record_id="") for turn in whole.turns]


def test_after_any_turn_only_what_is_new_comes(kept: Kept) -> None:
    talk = [Exchange("One.", "Two.", [Look(SHELL, "ls", "three")]), Exchange("Four.", "Five.")]
    whole = kept.read(talk)
    for at, turn in enumerate(whole.turns, 1):
        mark = evolve(mark_after(whole), last_record_id=turn.record_id, last_at_ms=turn.at_ms, turns_seen=turn.number)
        new = kept.read(talk, mark).turns
        assert new == whole.turns[at:] or new == whole.turns[at + 1 :]  # a call and its answer may be one record


@pytest.mark.parametrize("harness", [each for each in NINE if each != "amp"])
def test_a_transcript_outside_the_known_directories_is_refused(home: Path, tmp_path: Path, harness: str) -> None:
    """P27"""
    kept = Kept(harness, home)
    kept.keep(TALK)
    assert kept.path is not None
    found = kept.fetch(path=kept.path.rename(tmp_path / kept.path.name))
    assert isinstance(found, Failure)
    assert harness == "opencode" or isinstance(found.failure(), TranscriptRefused)


def _stores(directory: Path) -> dict[str, tuple[Path, HistorySource, InboxEntry]]:
    """The sessions that are kept in databases, with what reads them."""
    roots = TranscriptRoots((str(directory),))
    return {
        "goose": (
            goose.sample().write_rows(directory),
            GooseSessions(roots),
            InboxEntry(0, Harness.GOOSE, SessionFile("goose-session", goose.SESSION)),
        ),
        "opencode": (
            opencode.sample().write_rows(directory),
            OpencodeSessions(roots),
            InboxEntry(0, Harness.OPENCODE, SessionFile("opencode-session", opencode.SESSION)),
        ),
        "cursor": (
            cursor.sample_composer().write(directory),
            CursorSessions(roots),
            InboxEntry(0, Harness.CURSOR, SessionFile("cursor-session", cursor.SESSION)),
        ),
    }


@pytest.mark.parametrize("name", ["goose", "opencode", "cursor"])
def test_a_database_cut_or_overwritten_anywhere_is_an_error_or_what_is_left(tmp_path: Path, name: str) -> None:
    """P6"""
    path, source, entry = _stores(tmp_path)[name]
    whole = {turn.text for turn in source.fetch(entry, None).unwrap().turns}
    data = path.read_bytes()
    outcomes = set()
    for at in range(0, len(data), len(data) // 40):
        for broken in (data[:at], data[:at] + b"\xa5" * 60 + data[at + 60 :]):
            path.write_bytes(broken)
            found = source.fetch(entry, None)
            if isinstance(found, Failure):
                outcomes.add(type(found.failure()))
            else:
                assert {turn.text for turn in found.unwrap().turns} & whole or found.unwrap().skipped
    assert outcomes <= {HistoryUnreadable, HistoryUnavailable}
    assert HistoryUnreadable in outcomes


def test_every_method_listed_has_a_source_that_refuses_the_entries_of_others() -> None:
    sources = history_sources(surroundings("/nowhere"))
    assert sources.keys() == {*SESSION_METHODS, "amp-thread", "file", "inline"}
    entries = {method: _retrieval(method) for method in sources}
    for method, source in sources.items():
        for other, retrieval in entries.items():
            if other != method:
                with pytest.raises(TypeError):
                    source.fetch(InboxEntry(0, Harness.MANUAL, retrieval), None)


def _retrieval(method: str) -> Retrieval:
    for session_method in SESSION_METHODS:
        if method == session_method:
            return SessionFile(session_method, "s")
    others = (AmpThread("T-1"), FileSnapshot("inbox/x"), InlineNote("t", "b"))
    return next(retrieval for retrieval in others if retrieval.method == method)

"""How past sessions are found, with every harness's own layout of files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from returns.result import Failure, Success

from agent_memory.adapters.agent.child_process import Finished
from agent_memory.adapters.harness import SESSIONS, history_sources, session_finders
from agent_memory.adapters.harness.amp import AmpThreads
from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.queue import AmpThread, retrieval_of
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import HistoryUnavailable, StoreIo
from agent_memory.ports import SessionFinder
from harness_surroundings import NOT_FOUND, ScriptedCommand, finished, surroundings
from stand_ins.dict_finder import DictFinder

ONE = "11111111-2222-4333-8444-555555555555"
TWO = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
CHANGED_MS = 1_770_000_000_000

LAYOUTS: Mapping[Harness, tuple[str, str]] = {
    Harness.CLAUDE_CODE: (".claude/projects/-srv-x/{id}.jsonl", "{}"),
    Harness.CODEX: (
        ".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-{id}.jsonl",
        '{"type":"session_meta","payload":{"id":"x","source":"cli","thread_source":"user"}}',
    ),
    Harness.CURSOR: (".cursor/projects/srv-x/agent-transcripts/{id}/{id}.jsonl", "{}"),
    Harness.GEMINI: (".gemini/tmp/x/chats/session-2026-01-02T03-04-aaaa.jsonl", '{{"sessionId":"{id}"}}'),
    Harness.COPILOT: (".copilot/session-state/{id}/events.jsonl", "{}"),
    Harness.PI: (".pi/agent/sessions/--srv-x--/2026-01-02T03-04-05-678Z_{id}.jsonl", "{}"),
}
"""A file of one session below the home, and its content."""

NO_SESSIONS: Mapping[Harness, Mapping[str, str]] = {
    Harness.CLAUDE_CODE: {
        f".claude/projects/-srv-x/agent-{ONE}.jsonl": "a sub-agent of older versions",
        f".claude/projects/-srv-x/{TWO}/subagents/agent-1.jsonl": "a sub-agent",
        f".claude/projects/-srv-x/{TWO}/tool-results/{ONE}.jsonl": "a tool's output",
        ".claude/projects/-srv-x/memory/MEMORY.md": "its own notes",
        ".claude/projects/-srv-x/notes.jsonl": "no session's id",
    },
    Harness.CODEX: {
        f".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-{TWO}.jsonl": json.dumps(
            {"type": "session_meta", "payload": {"source": {"subagent": {"thread_spawn": {}}}}}
        ),
        f".codex/sessions/2026/01/03/rollout-2026-01-02T03-04-05-{TWO}.jsonl": json.dumps(
            {"type": "session_meta", "payload": {"source": "cli", "thread_source": "subagent"}}
        ),
        ".codex/sessions/history.jsonl": "{}",
    },
    Harness.CURSOR: {
        f".cursor/projects/srv-x/agent-transcripts/{TWO}/subagents/{ONE}.jsonl": "a sub-agent",
        f".cursor/projects/srv-x/agent-tools/{TWO}.txt": "a tool's output",
        ".cursor/projects/srv-x/.workspace-trusted": "{}",
    },
    Harness.GEMINI: {
        ".gemini/tmp/x/logs.json": "[]",
        f".gemini/tmp/x/chats/parent/session-{TWO}.jsonl": json.dumps({"sessionId": TWO, "kind": "subagent"}),
        ".gemini/tmp/x/chats/session-2026-01-02T03-04-bbbb.json": "no id in it",
    },
    Harness.COPILOT: {
        f".copilot/session-state/{TWO}/workspace.yaml": "id: x",
        ".copilot/session-state/x/events.jsonl": "",
    },
    Harness.PI: {".pi/agent/sessions/--srv-x--/notes.jsonl": "{}", f".pi/agent/sessions/{TWO}.jsonl": "no time in it"},
}


def put(home: Path, relative: str, text: str = "{}", changed_ms: int = CHANGED_MS) -> Path:
    path = home / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, ns=(changed_ms * 1_000_000, changed_ms * 1_000_000))
    return path


def finder(home: Path, harness: Harness, *roots: str, **environ: str) -> SessionFinder:
    return session_finders(surroundings(home, *roots, **environ))[harness]


def found_by(finder: SessionFinder, since_ms: int | None = None) -> list[FoundSession]:
    return [each.unwrap() for each in finder.find(since_ms)]


def ids(finder: SessionFinder, since_ms: int | None = None) -> list[str]:
    return sorted(each.session_id for each in found_by(finder, since_ms))


class FinderContract:
    """Missing, one, since, twice."""

    def finder(self, sessions: Sequence[tuple[str, int]]) -> SessionFinder:
        raise NotImplementedError

    def test_a_harness_that_was_never_used_has_no_sessions(self) -> None:
        assert ids(self.finder([])) == []

    def test_each_session_is_found_once_with_the_way_to_its_history(self) -> None:
        one, two = self.ids()
        sessions = found_by(self.finder([(one, CHANGED_MS), (two, CHANGED_MS + 1)]))
        assert {each.session_id: each.changed_at_ms for each in sessions} == {one: CHANGED_MS, two: CHANGED_MS + 1}
        for each in sessions:
            assert each.retrieval == retrieval_of(each.harness, each.session_id, each.path)

    def test_only_what_changed_since_then_is_found(self) -> None:
        one, two = self.ids()
        finder = self.finder([(one, CHANGED_MS), (two, CHANGED_MS + 1)])
        assert ids(finder, CHANGED_MS) == [one, two]
        assert ids(finder, CHANGED_MS + 1) == [two]
        assert ids(finder, CHANGED_MS + 2) == []

    def ids(self) -> tuple[str, str]:
        return ONE, TWO


class TestDictFinder(FinderContract):
    def finder(self, sessions: Sequence[tuple[str, int]]) -> SessionFinder:
        found = DictFinder()
        for session_id, changed_ms in sessions:
            retrieval = retrieval_of(Harness.CODEX, session_id)
            assert retrieval is not None
            found.put(FoundSession(Harness.CODEX, retrieval, changed_ms))
        return found


class TestTranscriptFinder(FinderContract):
    @pytest.fixture(autouse=True, params=sorted(LAYOUTS))
    def _layout(self, request: pytest.FixtureRequest, tmp_path: Path) -> None:
        self.harness: Harness = request.param
        self.home = tmp_path

    def finder(self, sessions: Sequence[tuple[str, int]]) -> SessionFinder:
        path, text = LAYOUTS[self.harness]
        for session_id, changed_ms in sessions:
            named = path.format(id=session_id).replace("aaaa.jsonl", f"{session_id[:8]}.jsonl")
            put(self.home, named, text.format(id=session_id) if "{id}" in text else text, changed_ms)
        return finder(self.home, self.harness)

    def test_what_is_no_session_of_a_persons_is_not_found(self) -> None:
        for path, text in NO_SESSIONS[self.harness].items():
            put(self.home, path, text)
        assert ids(self.finder([(ONE, CHANGED_MS)])) == [ONE]

    def test_links_and_special_files_are_passed_over(self) -> None:
        """P27"""
        path, _ = LAYOUTS[self.harness]
        found = self.finder([(ONE, CHANGED_MS)])
        real = self.home / path.format(id=ONE).replace("aaaa.jsonl", f"{ONE[:8]}.jsonl")
        other = self.home / path.format(id=TWO).replace("aaaa.jsonl", f"{TWO[:8]}.jsonl")
        other.parent.mkdir(parents=True, exist_ok=True)
        other.symlink_to(real)
        assert ids(found) == [ONE]
        other.unlink()
        os.mkfifo(other)
        assert ids(found) == [ONE]


def test_a_directory_that_cannot_be_listed_is_an_error_and_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P6"""
    put(tmp_path, f".claude/projects/open/{ONE}.jsonl")
    put(tmp_path, f".claude/projects/closed/{TWO}.jsonl")
    real = os.scandir

    def scandir(path: str) -> object:
        if path.endswith("/closed"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    results = list(finder(tmp_path, Harness.CLAUDE_CODE).find(None))
    assert sorted(isinstance(each, Success) for each in results) == [False, True]
    (error,) = [each.failure() for each in results if isinstance(each, Failure)]
    assert isinstance(error, StoreIo)
    assert error.errno_name == "EACCES"


def test_a_session_in_two_places_is_found_in_both(tmp_path: Path) -> None:
    """Resumed in another directory, each copy goes on by itself."""
    older = put(tmp_path, f".claude/projects/old-place/{ONE}.jsonl", changed_ms=CHANGED_MS)
    newest = put(tmp_path, f".claude/projects/new-place/{ONE}.jsonl", "{}\n{}", changed_ms=CHANGED_MS + 5)
    found = {
        each.path: (each.changed_at_ms, each.size_bytes) for each in found_by(finder(tmp_path, Harness.CLAUDE_CODE))
    }
    assert found == {str(older): (CHANGED_MS, older.stat().st_size), str(newest): (CHANGED_MS + 5, 5)}


def test_other_roots_of_the_person_are_looked_into(tmp_path: Path) -> None:
    put(tmp_path, f"elsewhere/projects/-srv-x/{ONE}.jsonl")
    put(tmp_path, f"archive/-srv-x/{TWO}.jsonl")
    assert ids(finder(tmp_path, Harness.CLAUDE_CODE, CLAUDE_CONFIG_DIR=str(tmp_path / "elsewhere"))) == [ONE]
    assert ids(finder(tmp_path, Harness.CLAUDE_CODE, str(tmp_path / "archive"))) == [TWO]


def test_one_root_may_hold_the_sessions_of_several_harnesses(tmp_path: Path) -> None:
    for path, text in LAYOUTS.values():
        put(tmp_path, f"all/{Path(path.format(id=ONE)).name}", text.format(id=ONE) if "{id}" in text else text)
    for harness in (Harness.CODEX, Harness.PI):
        (found,) = found_by(finder(tmp_path, harness, str(tmp_path / "all")))
        assert found.path is not None
        assert Path(found.path).name == Path(LAYOUTS[harness][0].format(id=ONE)).name


def test_what_is_found_can_be_read() -> None:
    sources = history_sources(surroundings("/nowhere"))
    for harness in SESSIONS:
        retrieval = retrieval_of(harness, "x")
        assert retrieval is not None
        assert retrieval.method in sources


# -- Amp --------------------------------------------------------------------------------------------------------------

THREAD, OTHER = "T-11111111-2222", "T-aaaaaaaa-bbbb"


def amp(outcome: Finished | StoreIo) -> AmpThreads:
    return AmpThreads(ScriptedCommand(outcome), lambda _: None)


def printed(text: str, status: int = 0, stderr: str = "") -> Finished:
    return finished(text.encode(), status, stderr.encode())


class TestAmpFinder(FinderContract):
    def finder(self, sessions: Sequence[tuple[str, int]]) -> SessionFinder:
        return amp(printed(json.dumps([{"id": id, "updatedAt": at} for id, at in sessions])))

    def ids(self) -> tuple[str, str]:
        return THREAD, OTHER


@pytest.mark.parametrize(
    "listed",
    [
        [{"id": THREAD, "created": CHANGED_MS - 5, "updated": CHANGED_MS}],
        [{"id": THREAD, "updatedAt": "2026-02-02T02:40:00.000Z"}, {"id": "../x"}, 7, {"id": None}],
        {"threads": [{"threadId": THREAD, "updatedAt": CHANGED_MS / 1000}]},
    ],
)
def test_threads_are_found_however_they_are_listed(listed: object) -> None:
    (found,) = found_by(amp(printed(json.dumps(listed))))
    assert found.retrieval == AmpThread(THREAD)
    assert found.changed_at_ms == found.ended_at_ms == CHANGED_MS


def test_without_the_command_there_are_no_threads() -> None:
    assert ids(amp(NOT_FOUND)) == []


@pytest.mark.parametrize(
    "answer",
    [
        printed("", 1, "Not logged in"),
        printed("Title  Visibility\n----"),
        printed("[" * 100_000),
        printed('{"error": "x"}'),
        StoreIo("amp", "run", "EMFILE", "Too many open files"),
    ],
)
def test_an_amp_that_does_not_tell_is_an_error_and_never_nothing(answer: Finished | StoreIo) -> None:
    """P6"""
    (error,) = amp(answer).find(None)
    assert isinstance(error.failure(), HistoryUnavailable)

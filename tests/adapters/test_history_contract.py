"""What every history source promises, real and in memory: the same turns, marks that lose and double nothing."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import pytest
from attrs import evolve
from returns.result import Failure, Success

from agent_memory.adapters.agent.child_process import Finished
from agent_memory.adapters.harness import SOURCES, Surroundings, history_sources
from agent_memory.adapters.harness.aider import AiderChats
from agent_memory.adapters.harness.amp import AmpThreads
from agent_memory.adapters.harness.captured_notes import FileSnapshots
from agent_memory.adapters.harness.claude_code import ClaudeCodeSessions
from agent_memory.adapters.harness.codex import CodexSessions
from agent_memory.adapters.harness.copilot import CopilotSessions
from agent_memory.adapters.harness.gemini import GeminiSessions
from agent_memory.adapters.harness.pi import PiSessions
from agent_memory.adapters.harness.transcripts import TranscriptRoots
from agent_memory.domain.history import History, Role, SessionMark, Turn
from agent_memory.domain.inbox_entry import (
    SESSION_METHODS,
    AmpThread,
    Context,
    FileSnapshot,
    InboxEntry,
    InlineNote,
    Retrieval,
    SessionFile,
    session_id_of,
)
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import HistoryUnavailable, HistoryUnreadable
from agent_memory.ports import HistorySource
from aider_chats import AiderChat, aider_entry
from claude_transcripts import SESSION, Conversation, calls
from codex_rollouts import THREAD, Rollout
from copilot_sessions import CopilotEvents, copilot_entry
from faults import failing_at
from gemini_chats import CHAT, Chat, tool
from harness_surroundings import finished
from pi_sessions import PI, Branching, tool_call
from stand_ins.dict_histories import DictHistories

TALK = (("user", "Which port?"), ("agent", "I look."), ("tool", "9090"), ("user", "Use 9191."), ("agent", "Done."))


class World(Protocol):
    """Somewhere that holds one session with the first `count` of the turns in TALK."""

    source: HistorySource
    entry: InboxEntry

    def hold(self, count: int) -> None: ...

    def corrupt(self) -> None: ...


class ClaudeWorld:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.source: HistorySource = ClaudeCodeSessions(TranscriptRoots((str(directory),)))
        self.entry = InboxEntry(0, Harness.CLAUDE_CODE, SessionFile("claude-code-session", SESSION))

    def hold(self, count: int) -> None:
        talk = Conversation()
        steps: tuple[Callable[[], str], ...] = (
            lambda: talk.user("Which port?"),
            lambda: talk.agent("I look.", calls("t1", "Bash", command="ss")),
            lambda: talk.result("t1", "9090"),
            lambda: talk.user("Use 9191."),
            lambda: talk.agent("Done."),
        )
        for step in steps[:count]:
            step()
        talk.write(self._directory)

    def corrupt(self) -> None:
        (self._directory / f"{SESSION}.jsonl").write_bytes(b"\x00\x01 no transcript\n")


class CodexWorld:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.source: HistorySource = CodexSessions(TranscriptRoots((str(directory),)))
        self.entry = InboxEntry(0, Harness.CODEX, SessionFile("codex-session", THREAD))

    def hold(self, count: int) -> None:
        rollout = Rollout()
        steps: tuple[Callable[[], object], ...] = (
            lambda: rollout.user("Which port?"),
            lambda: rollout.agent("I look.", ("t1", "shell", {"command": ["bash", "-lc", "ss"]})),
            lambda: rollout.output("t1", "9090"),
            lambda: rollout.user("Use 9191."),
            lambda: rollout.agent("Done."),
        )
        for step in steps[:count]:
            step()
        rollout.write(self._directory)

    def corrupt(self) -> None:
        (self._directory / f"rollout-1-{THREAD}.jsonl").write_bytes(b"\x00\x01 no rollout\n")
        for path in self._directory.glob("rollout-2*"):
            path.unlink()


class GeminiWorld:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.source: HistorySource = GeminiSessions(TranscriptRoots((str(directory),)))
        self.entry = InboxEntry(0, Harness.GEMINI, SessionFile("gemini-session", CHAT))

    def hold(self, count: int) -> None:
        chat = Chat()
        steps: tuple[Callable[[], object], ...] = (
            lambda: chat.user("Which port?"),
            lambda: chat.agent("I look.", tool("t1", "run_shell_command", command="ss")),
            lambda: chat.grow(chat.messages["m2"], tool("t1", "run_shell_command", "9090", command="ss")),
            lambda: chat.user("Use 9191."),
            lambda: chat.agent("Done."),
        )
        for step in steps[:count]:
            step()
        self.write(chat)

    def write(self, chat: Chat) -> None:
        chat.write(self._directory)

    def corrupt(self) -> None:
        (path,) = self._directory.glob("session-*")
        path.write_bytes(b"\x00\x01 no chat\n")


class GeminiDocumentWorld(GeminiWorld):
    def write(self, chat: Chat) -> None:
        chat.write_document(self._directory)


class PiWorld:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.source: HistorySource = PiSessions(TranscriptRoots((str(directory),)))
        self.entry = InboxEntry(0, Harness.PI, SessionFile("pi-session", PI))

    def hold(self, count: int) -> None:
        talk = Branching()
        steps: tuple[Callable[[], object], ...] = (
            lambda: talk.user("Which port?"),
            lambda: talk.agent("I look.", tool_call("t1", "bash", command="ss")),
            lambda: talk.result("t1", "9090"),
            lambda: talk.user("Use 9191."),
            lambda: talk.agent("Done."),
        )
        for step in steps[:count]:
            step()
        talk.write(self._directory)

    def corrupt(self) -> None:
        (path,) = self._directory.glob("*.jsonl")
        path.write_bytes(b"\x00\x01 no session\n")


class CopilotWorld:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.source: HistorySource = CopilotSessions(TranscriptRoots((str(directory),)))
        self.entry = copilot_entry(None)

    def hold(self, count: int) -> None:
        events = CopilotEvents()
        steps: tuple[Callable[[], object], ...] = (
            lambda: events.user("Which port?"),
            lambda: events.agent("I look.", ("t1", "bash", {"command": "ss"})),
            lambda: events.result("t1", "9090"),
            lambda: events.user("Use 9191."),
            lambda: events.agent("Done."),
        )
        for step in steps[:count]:
            step()
        self._path = events.write(self._directory)

    def corrupt(self) -> None:
        self._path.write_bytes(b"\x00\x01 no events\n")


class AiderWorld:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.source: HistorySource = AiderChats(str(directory))
        self.entry = evolve(aider_entry(None), context=Context(cwd=str(directory)))

    def hold(self, count: int) -> None:
        chat = AiderChat()
        steps: tuple[Callable[[], object], ...] = (
            lambda: chat.user("Which port?"),
            lambda: chat.agent("I look."),
            lambda: chat.note("9090"),
            lambda: chat.user("Use 9191."),
            lambda: chat.agent("Done."),
        )
        for step in steps[:count]:
            step()
        self._path = chat.write(self._directory)

    def corrupt(self) -> None:
        self._path.write_bytes(b"\x00\x01 no chat\n")


class AmpWorld:
    says_why_in_words = True

    def __init__(self, _: Path) -> None:
        self._printed: bytes | None = None
        self.source: HistorySource = AmpThreads(self._run, lambda _: None)
        self.entry = InboxEntry(0, Harness.AMP, AmpThread("T-1"))

    def _run(self, argv: Sequence[str], cwd: str) -> Finished:
        return finished(status=1, stderr=b"thread not found") if self._printed is None else finished(self._printed)

    def hold(self, count: int) -> None:
        call = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"cmd": "ss"}}
        answer = {"type": "tool_result", "toolUseID": "c", "run": {"status": "done", "result": "9090"}}
        messages = [
            {"role": "user", "content": "Which port?"},
            {"role": "assistant", "content": [{"type": "text", "text": "I look."}, call]},
            {"role": "user", "content": [answer]},
            {"role": "user", "content": "Use 9191."},
            {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
        ]
        self._printed = json.dumps({"id": "T-1", "messages": messages[:count]}).encode()

    def corrupt(self) -> None:
        self._printed = b'{"id": "T-1", "mess'


class DictWorld:
    def __init__(self, _: Path) -> None:
        self._histories = DictHistories()
        self.source: HistorySource = self._histories
        self.entry = InboxEntry(0, Harness.CODEX, SessionFile("codex-session", "s1"))

    def hold(self, count: int) -> None:
        turns = tuple(Turn(at, Role(role), text, f"r{at}", at) for at, (role, text) in enumerate(TALK[:count], 1))
        self._histories.put("s1", History(Harness.CODEX, "s1", turns))

    def corrupt(self) -> None:
        self._histories.put("s1", HistoryUnreadable("s1", "corrupt"))


@pytest.fixture(
    params=[
        AiderWorld,
        ClaudeWorld,
        CodexWorld,
        CopilotWorld,
        GeminiWorld,
        GeminiDocumentWorld,
        PiWorld,
        AmpWorld,
        DictWorld,
    ]
)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    made: World = request.param(tmp_path)
    return made


def history(world: World, mark: SessionMark | None = None) -> History:
    found: History = world.source.fetch(world.entry, mark).unwrap()
    return found


def mark_of(found: History) -> SessionMark:
    last = found.turns[-1]
    answered = found.tools_answered_before or any(turn.role is Role.TOOL for turn in found.turns)
    return SessionMark(found.harness, found.session_id, last.record_id, last.at_ms, last.number, answered, "builtin")


class TestHistorySource:
    def test_missing(self, world: World) -> None:
        absent = world.source.fetch(world.entry, None).failure()
        assert isinstance(absent, HistoryUnavailable)
        assert absent.is_missing != getattr(world, "says_why_in_words", False)

    def test_corrupt(self, world: World) -> None:
        world.hold(5)
        world.corrupt()
        assert isinstance(world.source.fetch(world.entry, None).failure(), HistoryUnreadable | HistoryUnavailable)

    def test_whole(self, world: World) -> None:
        world.hold(5)
        found = history(world)
        assert [(turn.number, turn.role.value, turn.text) for turn in found.turns] == [
            (at, *said) for at, said in enumerate(TALK, 1)
        ]
        assert (found.harness, found.session_id) == (world.entry.harness, session_id_of(world.entry))
        assert not found.tools_answered_before
        assert not found.remaining

    def test_twice(self, world: World) -> None:
        world.hold(5)
        assert history(world) == history(world)

    def test_nothing_new(self, world: World) -> None:
        world.hold(5)
        found = history(world)
        assert history(world, mark_of(found)).turns == ()

    @pytest.mark.parametrize("count", [1, 2, 3, 4])
    def test_grown(self, world: World, count: int) -> None:
        if count in getattr(world, "inseparable", ()):
            pytest.skip("a call and its answer are one record")
        world.hold(count)
        first = history(world)
        world.hold(5)
        second = history(world, mark_of(first))
        turns = (*first.turns, *second.turns)
        assert [(turn.number, turn.role.value, turn.text) for turn in turns] == [
            (at, *said) for at, said in enumerate(TALK, 1)
        ]
        assert second.tools_answered_before == (count >= 3)

    def test_a_mark_whose_record_is_gone(self, world: World) -> None:
        world.hold(5)
        lost = evolve(mark_of(history(world)), last_record_id="gone")
        assert history(world, lost).turns == ()


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES, errno.EMFILE, errno.ESTALE])
@pytest.mark.parametrize("kind", [ClaudeWorld, CodexWorld, GeminiWorld, GeminiDocumentWorld, PiWorld])
def test_a_failing_disk_is_never_taken_for_an_empty_or_ruined_transcript(
    tmp_path: Path, number: int, kind: Callable[[Path], World]
) -> None:
    """P5, P6"""
    world = kind(tmp_path)
    world.hold(5)
    whole = history(world)
    outcomes = []
    for k in range(1, 200):
        with failing_at(k, number, once=True) as counter:
            found = world.source.fetch(world.entry, None)
        if not counter.struck:
            break
        outcomes.append(found)
    failures = [found.failure() for found in outcomes if isinstance(found, Failure)]
    assert len(outcomes) < 199
    assert {isinstance(failure, HistoryUnavailable) and not failure.is_missing for failure in failures} == {True}
    assert all(found.unwrap() == whole for found in outcomes if isinstance(found, Success))


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES, errno.EMFILE])
def test_a_failing_disk_does_not_ruin_a_snapshot(tmp_path: Path, number: int) -> None:
    """P5, P6"""
    (tmp_path / "inbox" / "snapshots").mkdir(parents=True)
    (tmp_path / "inbox" / "snapshots" / "notes.md").write_text("# Ports")
    source = FileSnapshots(tmp_path)
    entry = InboxEntry(0, Harness.MANUAL, FileSnapshot("inbox/snapshots/notes.md"))
    failures = []
    for k in range(1, 40):
        with failing_at(k, number, once=True) as counter:
            found = source.fetch(entry, None)
        if not counter.struck:
            break
        if isinstance(found, Failure):
            failures.append(type(found.failure()))
    assert failures
    assert set(failures) == {HistoryUnavailable}


def test_an_inline_note_is_the_persons_at_a_terminal_and_the_agents_elsewhere() -> None:
    note = InlineNote("Ports", "The dev server listens on 9191.", thread_id="T-1")
    for source in (DictHistories(), history_sources(_nowhere())["inline"]):
        for harness, role in ((Harness.MANUAL, Role.USER), (Harness.CLAUDE_CODE, Role.AGENT)):
            found = source.fetch(InboxEntry(5, harness, note), None).unwrap()
            assert [(turn.role, turn.text) for turn in found.turns] == [
                (role, "Ports\n\nThe dev server listens on 9191.")
            ]
            assert (found.title, found.ended_at_ms) == ("Ports", 5)
            assert found.session_id != "T-1"


def test_every_method_listed_has_a_source_that_refuses_the_entries_of_others() -> None:
    sources = history_sources(_nowhere())
    assert sources.keys() == SOURCES.keys()
    entries = {method: _retrieval(method) for method in sources}
    for method, source in sources.items():
        for other, retrieval in entries.items():
            if other != method:
                with pytest.raises(TypeError):
                    source.fetch(InboxEntry(0, Harness.MANUAL, retrieval), None)


def test_sources_are_built_for_the_home_and_the_configured_roots(home: Path) -> None:
    project = home / ".claude" / "projects" / "-p"
    project.mkdir(parents=True)
    talk = Conversation()
    talk.user("Hello.")
    talk.write(project)
    given = Surroundings({}, str(home), home / "store", lambda _: None)
    entry = InboxEntry(0, Harness.CLAUDE_CODE, SessionFile("claude-code-session", SESSION))
    match history_sources(given)["claude-code-session"].fetch(entry, None):
        case Success(History() as found):
            assert [turn.text for turn in found.turns] == ["Hello."]
        case Failure(error):
            raise AssertionError(error)


def _retrieval(method: str) -> Retrieval:
    for session_method in SESSION_METHODS:
        if method == session_method:
            return SessionFile(session_method, "s")
    others = (AmpThread("T-1"), FileSnapshot("inbox/x"), InlineNote("t", "b"))
    return next(retrieval for retrieval in others if retrieval.method == method)


def _nowhere() -> Surroundings:
    return Surroundings({}, None, Path("nowhere"), lambda _: None)

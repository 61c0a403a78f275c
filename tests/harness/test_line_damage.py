"""Transcripts that were damaged anywhere are read as far as they can be; nothing raises."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from attrs import frozen
from returns.result import Failure, Success

from agent_memory.errors import HistoryUnavailable, HistoryUnreadable
from agent_memory.session.history import History
from agent_memory.session.windows import cut_windows
from claude_transcripts import SESSION, Conversation
from codex_rollouts import THREAD, Rollout
from gemini_chats import CHAT, Chat
from harness_surroundings import Talk, told
from pi_sessions import PI, Branching

FIXTURES = Path(__file__).parents[1] / "fixtures"
MEGABYTE = 1024 * 1024


@frozen
class Form:
    """One form of transcript: a small recording of it, and how it is read."""

    fixture: Path
    talk: type[Talk]
    session_id: str
    shared: str

    def read(self, path: Path) -> History | HistoryUnavailable | HistoryUnreadable:
        match self.talk.fetched(path, self.session_id):
            case Success(History() as history):
                assert all(turn.text.encode() is not None for turn in history.turns)
                assert [turn.number for turn in history.turns] == sorted({turn.number for turn in history.turns})
                return history
            case Failure(HistoryUnavailable() | HistoryUnreadable() as error):
                return error
            case other:
                raise AssertionError(other)

    def damaged(self, name: str = "damaged") -> Path:
        return Path(f"{name}{self.fixture.suffix}").absolute()


FORMS = {
    "claude-code": Form(
        FIXTURES / "claude-code" / "port-change.jsonl", Conversation, SESSION, "claude-code/**/*.jsonl"
    ),
    "codex": Form(FIXTURES / "codex" / "port-change.jsonl", Rollout, THREAD, "codex/*/*.jsonl"),
    "gemini": Form(FIXTURES / "gemini" / "port-change.jsonl", Chat, CHAT, "gemini-cli/*.json*"),
    "gemini document": Form(FIXTURES / "gemini" / "port-change.json", Chat, CHAT, "gemini-cli/*.json*"),
    "pi": Form(FIXTURES / "pi" / "port-change.jsonl", Branching, PI, "pi/*.jsonl"),
}
NUMBERS_SEEN = {"claude-code": 8, "codex": 10, "gemini": 12, "gemini document": 10, "pi": 12}


@pytest.fixture(params=list(FORMS))
def form(request: pytest.FixtureRequest) -> Form:
    return FORMS[request.param]


@pytest.mark.parametrize("name", list(FORMS))
def test_the_recording_is_read_whole(name: str) -> None:
    history = FORMS[name].read(FORMS[name].fixture)
    assert isinstance(history, History)
    middle = ("tool", "user", "agent") if name == "claude-code" else ("agent", "tool", "user", "user", "agent")
    assert [turn.role.value for turn in history.turns] == ["user", "agent", "tool", *middle, "user", "agent"]
    heard = [turn.text for turn in history.turns if turn.role.value == "user"]
    assert any(re.match("remember that port 9090|keep 9090 for the metrics", text, re.IGNORECASE) for text in heard)
    assert history.turns[-1].number == NUMBERS_SEEN[name]
    assert [call.path for turn in history.turns for call in turn.tool_calls if call.writes]


@pytest.mark.large
def test_a_transcript_cut_at_any_byte_gives_turns_of_the_whole(form: Form) -> None:
    path = form.damaged("cut")
    whole = form.fixture.read_bytes()
    expected = form.read(form.fixture)
    assert isinstance(expected, History)
    # What is taken back further on is still there.
    possible = {*told(expected), "user: Actually, make it 9292.", "agent: 9292 it is.", "agent: "}
    for cut in range(1, len(whole), 97):
        path.write_bytes(whole[:cut])
        history = form.read(path)
        if isinstance(history, History):
            assert set(told(history)) <= possible


def test_glued_lines_are_all_read(form: Form) -> None:
    path = form.damaged("glued")
    path.write_bytes(form.fixture.read_bytes().replace(b"}\n{", b"}{"))
    glued, whole = form.read(path), form.read(form.fixture)
    assert isinstance(glued, History)
    assert isinstance(whole, History)
    assert told(glued) == told(whole)


def test_what_is_no_transcript_is_unreadable_and_an_empty_one_is_not_there_yet(form: Form) -> None:
    path = form.damaged("binary")
    wide = [form.fixture.read_text().encode(encoding) for encoding in ("utf-16", "utf-16-le", "utf-16-be")]
    for content in (b"\x7fELF\x02\x01\x01\x00" * 500, b"\n\n{}\n", b"[]\n", b"null\n", b"hello\n", *wide):
        path.write_bytes(content)
        assert isinstance(form.read(path), HistoryUnreadable), content[:20]
    path.write_bytes(b"")
    assert isinstance(form.read(path), HistoryUnavailable)


@pytest.mark.large
def test_a_line_of_100_mb_is_skipped_and_counted_p25(form: Form) -> None:
    path = form.damaged("long")
    whole = form.fixture.read_bytes()
    long_string = b'{"type":"user","text":"'
    if path.suffix == ".json":
        before, after = whole.split(b'"messages": [', 1)
        before, after = before + b'"messages": [' + long_string, b'"},' + after
    else:
        first, rest = whole.split(b"\n", 1)
        before, after = first + b"\n" + long_string, b'"}\n' + rest
    with path.open("wb") as file:
        file.write(before)
        file.seek(100 * MEGABYTE, os.SEEK_CUR)
        file.write(after)
    history, expected = form.read(path), form.read(form.fixture)
    path.unlink()
    assert isinstance(history, History)
    assert isinstance(expected, History)
    assert told(history) == told(expected)
    assert history.skipped["line-too-long"] == 1


@pytest.mark.shared
def test_every_shared_transcript_is_read_and_fits_windows(shared: Path, form: Form) -> None:
    paths = sorted((shared / "fixtures").glob(form.shared))
    assert paths
    for path in paths:
        history = form.read(path)
        if path.name == "schema_drift.jsonl":
            assert isinstance(history, HistoryUnreadable)
            continue
        assert isinstance(history, History), path
        assert history.turns or path.name.startswith(("codex_05", "agent-")), path
        for window in cut_windows(history, 20_000):
            assert window.session_id == history.session_id

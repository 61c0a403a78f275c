"""Claude Code transcripts that were damaged anywhere are read as far as they can be, and nothing raises."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from returns.result import Failure, Success

from agent_memory.adapters.harness.claude_code import ClaudeCodeSessions, Record, read_record
from agent_memory.adapters.harness.transcripts import TranscriptRoots
from agent_memory.domain.history import History
from agent_memory.domain.transcripts.windows import cut_windows
from agent_memory.errors import HistoryUnavailable, HistoryUnreadable
from claude_transcripts import Conversation, calls, entry_for, history_at, told

FIXTURE = Path(__file__).parents[2] / "fixtures" / "claude-code" / "port-change.jsonl"

GARBAGE = (b"\x00\xff\xfe", b"{", b'{"type":"user"', b"null", b"[[[[", b'"', b"\\", b"\n\n", b'{"type": 3}', b"}" * 5)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "text", "content", "id", "name", "input", "prompt", "origin", "kind", "tool_use_id", "answers"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
RECORDS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["user", "assistant", "attachment", "queue-operation", "pr-link", "system", "summary", "other"]
        )
    },
    optional=dict.fromkeys(
        (
            "uuid",
            "parentUuid",
            "timestamp",
            "message",
            "attachment",
            "content",
            "operation",
            "toolUseResult",
            "isMeta",
            "retractedMessageUuids",
            "origin",
            "summary",
            "leafUuid",
            "prUrl",
        ),
        VALUES,
    ),
)


def read(path: Path) -> History | HistoryUnavailable | HistoryUnreadable:
    match ClaudeCodeSessions(TranscriptRoots((str(path.parent),))).fetch(entry_for(path), None):
        case Success(History() as history):
            assert all(turn.text.encode() is not None for turn in history.turns)
            assert [turn.number for turn in history.turns] == sorted({turn.number for turn in history.turns})
            return history
        case Failure(HistoryUnavailable() | HistoryUnreadable() as error):
            return error
        case other:
            raise AssertionError(other)


def damaged(data: bytes, seed: int) -> bytes:
    """The bytes with cuts, garbage, lost and doubled stretches at places drawn from the seed."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.randint(1, 400))
        match chance.randrange(4):
            case 0:
                data = data[:at] + data[end:]
            case 1:
                data = data[:end] + data[at:]
            case 2:
                data = data[:at] + chance.choice(GARBAGE) + data[at:]
            case _:
                data = data[:at] if at > len(data) // 2 else data
    return data


@settings(max_examples=200)
@given(value=RECORDS)
def test_a_record_of_any_shape_is_read_or_left_out(value: dict[str, object]) -> None:
    assert isinstance(read_record(value), Record)


@settings(max_examples=60)
@given(records=st.lists(RECORDS, max_size=8))
def test_a_transcript_of_records_of_any_shape_is_read(records: list[dict[str, object]]) -> None:
    path = Path("any.jsonl").absolute()
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    read(path)


@settings(max_examples=120)
@given(seed=st.integers(0, 2**32))
def test_a_damaged_transcript_is_read_as_far_as_it_can_be(seed: int) -> None:
    path = Path("damaged.jsonl").absolute()
    path.write_bytes(damaged(FIXTURE.read_bytes(), seed))
    read(path)


def test_a_transcript_cut_at_any_byte_gives_a_beginning_of_its_turns() -> None:
    talk = Conversation()
    talk.user("One, two.")
    talk.agent("Three.", calls("t1", "Bash", command="ls"))
    talk.result("t1", "four")
    path = Path("cut.jsonl").absolute()
    whole = b"\n".join(talk.lines) + b"\n"
    path.write_bytes(whole)
    expected = told(history_at(path))
    for cut in range(1, len(whole), 3):
        path.write_bytes(whole[:cut])
        history = read(path)
        if isinstance(history, History):
            assert told(history) == expected[: len(history.turns)]


def test_the_fixture_is_read_whole() -> None:
    history = history_at(FIXTURE, session_id="3b1f7c52-0a64-4c1d-9a2e-7d5b8e6f1a20")
    assert [turn.role.value for turn in history.turns] == [
        "user",
        "agent",
        "tool",
        "tool",
        "user",
        "agent",
        "user",
        "agent",
    ]
    assert history.turns[4].text == "keep 9090 for the metrics, the dev server moves to 9191"
    assert history.turns[6].text == "And note it in the README."
    assert (history.title, history.branch) == ("Move the dev server", "fix/port")
    assert history.skipped == {"command": 1, "meta": 1, "repeated-prompt": 1, "sidechain": 1}


def shared_transcripts(shared: Path) -> list[Path]:
    return sorted((shared / "fixtures" / "claude-code").rglob("*.jsonl"))


@pytest.mark.shared
def test_every_shared_transcript_is_read_and_fits_windows(shared: Path) -> None:
    paths = shared_transcripts(shared)
    assert len(paths) >= 20
    for path in paths:
        history = read(path)
        assert isinstance(history, History), path
        assert history.turns or "sidechain" in history.skipped, path
        for window in cut_windows(history, 20_000):
            assert window.session_id == history.session_id


@pytest.mark.shared
def test_the_shared_transcript_with_a_glued_line_loses_neither_record(shared: Path) -> None:
    (path,) = (shared / "fixtures" / "claude-code").glob("*bad-line*")
    history = read(path)
    assert isinstance(history, History)
    assert history.title == "Implement status command short/long output modes"
    assert "bad-line" not in history.skipped


@pytest.mark.shared
@pytest.mark.parametrize("seed", range(12))
def test_every_shared_transcript_is_read_when_damaged(shared: Path, tmp_path: Path, seed: int) -> None:
    path = tmp_path / "damaged.jsonl"
    for number, original in enumerate(shared_transcripts(shared)):
        data = original.read_bytes()
        path.write_bytes(damaged(data[: 400_000 + seed], seed * 1_000 + number))
        read(path)

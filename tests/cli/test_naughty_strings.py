"""Whatever is written as title, tag or body is stored, read back, or refused by name; nothing leaves the store (P21)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from returns.result import Failure, Success

from agent_memory.app import Memory as Opened, open_memory
from agent_memory.cli.arguments import tags_of
from agent_memory.cli.capture import put_note
from agent_memory.errors import EntryInvalid, InboxEntryInvalid, StateInvalid, UsageInvalid
from agent_memory.note.note import Harness
from agent_memory.note.note_format import parse_note
from agent_memory.rules.drafts import NoteDraft
from agent_memory.session.queue import InlineNote
from memory_process import Memory

OURS = {"topics", "archive", "inbox", "runs", "state", "usage", ".git", ".gitignore", ".cache", ".transaction"}

# A few of each sort, for where the corpora are not.
OWN = (
    "", "null", "0x0", "-rf", "--help", "$(touch /tmp/pwn)", "`id`", "'; DROP TABLE", "../../etc/passwd", "..", "/",
    "a/../../b", "C:\\con", "%2e%2e%2f", "\u202egnp.exe", "\u200b", "T\u0336e\u0301", "日本語", "😀", "a\x00b",
    "---\npinned: true", "- x: &a [*a]", "{{7*7}}", "<!-- agent-memory:end -->", "@~/.ssh/id_rsa", "x" * 5000,
    "\ud800", "id__111111", "[[id__111111]]", "# heading", "\t\n", "İıſK",
)  # fmt: skip


def opened(memory: Memory) -> Opened:
    return open_memory(memory.environment(), memory.home, lambda _: None).unwrap()


@pytest.fixture
def memory(home: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    memory = Memory(home)
    memory.configure(storage={"autoCommit": False})  # thousands of commits would test git
    for name, value in memory.environment().items():
        monkeypatch.setenv(name, value)
    return memory


def corpus(shared: Path) -> Iterator[str]:
    yield from json.loads((shared / "corpora/naughty-strings/blns.json").read_text())
    for path in sorted((shared / "corpora/payloads-att").glob("*.txt")):
        # One in a few of each list: most of its lines differ in the depth of a path alone.
        yield from path.read_text("utf-8", "replace").splitlines()[::7]


def stored_and_read_back(memory: Memory, texts: list[str]) -> None:
    service = opened(memory).service
    before = set(os.listdir(memory.home))
    kept = 0
    for number, text in enumerate(texts):
        draft = NoteDraft(f"Body {number}: {text}", title=text, description=text, tags=(text,))
        match service.remember(draft):
            case Success(remembered):
                kept += not remembered.existing
                entry = service.store.read(remembered.stored.meta.id).unwrap()
                assert entry == remembered.stored
                path = memory.root / entry.listed.path
                assert path.parent == memory.root / "topics"
                assert len(path.name.encode()) <= 200
                assert parse_note(path.read_bytes(), path.name, 0).unwrap().meta == entry.meta
                assert (entry.meta.pinned, entry.meta.promoted_by) == (False, None)
            case Failure(error):
                raise AssertionError((text, error))
    listing = service.store.list().unwrap()
    assert (len(listing.entries), listing.unreadable) == (kept, ())
    names = {os.path.basename(each.path).casefold() for each in listing.entries}
    assert len(names) == kept
    assert {path.name for path in memory.root.iterdir()} <= OURS
    assert set(os.listdir(memory.home)) <= before | {"memories", ".local"}
    assert not Path("/tmp/pwn").exists()


def captured_and_consolidated(memory: Memory, texts: list[str]) -> None:
    open_ = opened(memory)
    accepted = 0
    for number, text in enumerate(texts):
        with suppress(UsageInvalid, InboxEntryInvalid):
            put_note(open_, InlineNote(text or "t", f"Body {number}: {text}", tags_of(text)), Harness.MANUAL)
            accepted += 1
    assert accepted > len(texts) / 3
    run = open_.consolidate().unwrap()
    assert {each.outcome.verdict for each in run.settled} <= {"written", "skipped"}
    assert (run.quarantined, run.paused, memory.pending()) == ((), None, [])
    listing = open_.store.list().unwrap()
    assert listing.unreadable == ()
    assert len(listing.entries) >= accepted * 0.9
    assert {path.name for path in memory.root.iterdir()} <= OURS


def kept_as_state(memory: Memory, texts: list[str]) -> None:
    """Each as a key, and as a value under a key that is well."""
    state = opened(memory).state
    keys = memory.root / "state" / "keys"
    accepted = 0
    for number, text in enumerate(texts):
        match state.set(text, number):
            case Success(kept):
                accepted += 1
                assert kept.key == text
                got = opened(memory).state.get(text).unwrap()
                assert got is not None
                assert got.json == str(number)
            case Failure(error):
                assert isinstance(error, StateInvalid), (text, error)
                assert isinstance(state.get(text), Failure)
        match state.set("value", text):
            case Success(_):
                got = state.get("value").unwrap()
                assert got is not None
                assert json.loads(got.json) == text
            case Failure(error):
                assert isinstance(error, StateInvalid), (text, error)
    assert accepted
    assert {path for path in (memory.root / "state").rglob("*") if path.is_file()} == set(keys.iterdir())
    assert len(list(keys.iterdir())) <= accepted + 1
    assert {path.name for path in memory.root.iterdir()} <= OURS
    assert not Path("/tmp/pwn").exists()


WAYS = pytest.mark.parametrize("way", [kept_as_state, stored_and_read_back, captured_and_consolidated])


@WAYS
def test_our_own_strings(memory: Memory, way: Callable[[Memory, list[str]], None]) -> None:
    way(memory, list(OWN))


@pytest.mark.shared
@pytest.mark.slow
@WAYS
def test_the_corpora(memory: Memory, shared: Path, way: Callable[[Memory, list[str]], None]) -> None:
    way(memory, list(corpus(shared)))


@pytest.mark.parametrize("text", ["-rf", "$(touch /tmp/pwn)", "../../etc/passwd", "日本語 😀", "a\nb", "-"])
def test_as_a_process(memory: Memory, text: str) -> None:
    done = memory("remember", f"--title={text}", f"--tags={text}", "--", f"The body is {text}")
    if done.code == 2:
        assert "cannot be a tag" in done.err
        done = memory("remember", f"--title={text}", "--", f"The body is {text}")
    assert (done.code, done.err) == (0, "")
    (note,) = memory.notes()
    assert note["body"] == f"The body is {text}"
    assert not Path("/tmp/pwn").exists()


def test_an_empty_or_invisible_body_is_refused(memory: Memory) -> None:
    for text in ("", " ", "\u200b\u2060", "\x00"):
        assert isinstance(opened(memory).service.remember(NoteDraft(text)).failure(), EntryInvalid)

"""The search before every write, with and without an embedder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory import Memory, inject as injecting, open_memory
from agent_memory.errors import Error, StoreIo
from agent_memory.files.locks import Locks
from agent_memory.note.note import Listed, MemoryEntry, Meta, Origin, StoredEntry
from agent_memory.note.terms import QueryWord
from agent_memory.recall.hits import Matches, Mode, SearchAnswer, SearchHit, SearchRequest
from agent_memory.recall.known_notes import KnownNotes, Near
from agent_memory.recall.note_index import NoteIndex
from agent_memory.rules.change import Change
from agent_memory.rules.drafts import NoteDraft
from agent_memory.rules.similarity import Subject
from agent_memory.store.store_files import Store
from one_change import put
from static_vectors import small_embedder

REPO = "github.com/ada/lamp"
LOCK = "The queue's lock file holds PID@hostname and a time stamp, and a lock older than five minutes is taken over."
AGAIN = Subject(
    "Locks", "A lock file of the queue that is older than five minutes is taken over: it holds a time stamp."
)
BROKEN: Error = StoreIo("topics", "list", "EIO", "broken")


@pytest.fixture
def store(root: Path) -> Store:
    """Thirty notes: a word that only one of many has is worth more."""
    store = Store(root, Locks(root))
    notes = [
        MemoryEntry(
            Meta(f"id__matt{number:02d}".replace("0", "z"), f"Matter {number}", 1, 1, scope=REPO),
            f"The queue of shop{number} has a file for order{number}, and is drained at night.",
        )
        for number in range(30)
    ]
    store.apply([Change.of(each) for each in notes]).unwrap()
    return store


class SilentIndex(NoteIndex):
    def match(self, words: Sequence[QueryWord], limit: int, among: SearchRequest) -> Result[Matches, Error]:
        return Failure(BROKEN)


def near(known: KnownNotes, subject: Subject, scope: str) -> Near:
    (found,) = known.near_each([(subject, scope)]).unwrap()
    return found


def ids(known: KnownNotes, scope: str = REPO) -> list[str]:
    return [each.meta.id for each in near(known, AGAIN, scope).similar]


def test_an_index_that_cannot_answer_hinders_no_write(store: Store) -> None:
    put(store, "Lock file of the queue", LOCK, scope=REPO)
    assert ids(KnownNotes(store, SilentIndex(store.files))) == []


def test_meaning_finds_what_words_alone_do_not(store: Store, tmp_path: Path) -> None:
    wanted = put(
        store, "Stale locks", "The lock file holds PID@hostname; after five minutes anybody takes it over.", scope=REPO
    )
    embedder = small_embedder(tmp_path / "model", ("mutex", "lock"), ("grab", "takes"), ("host", "pid"))
    subject = Subject(
        "Mutex", "Once five minutes are over, the file of a mutex, which holds its host, is anybody's to grab."
    )
    index = NoteIndex(store.files)
    by_words, by_meaning = KnownNotes(store, index), KnownNotes(store, index, embedder)
    assert near(by_words, subject, REPO).similar == ()
    assert [each.meta.id for each in near(by_meaning, subject, REPO).similar] == [wanted]


# -- finding passages --------------------------------------------------------------------------------------------------


PROMPT = "Where does the zebra keep its lock file?"
UNREAD = "1 file was not searched, since it could not be read."


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def memory(tmp_path: Path, told: list[str]) -> Memory:
    environ = {"HOME": str(tmp_path), "AGENT_MEMORY_ROOT": str(tmp_path / "memories")}
    return open_memory(environ, tmp_path, told.append).unwrap()


def note(title: str, superseded_by: str | None = None) -> SearchHit:
    meta = Meta("id__zebra1", title, created_at_ms=1, updated_at_ms=1, origin=Origin.USER)
    entry = MemoryEntry(meta, "The zebra keeps its lock file beside the door.")
    stored = StoredEntry(Listed(meta, "topics/zebra.md", ""), entry.body)
    return SearchHit(stored, 1.0, superseded_by=superseded_by)


def answer(hits: tuple[SearchHit, ...], *notices: str) -> Success[SearchAnswer]:
    return Success(SearchAnswer(hits, Mode.BM25, notices))


@pytest.mark.parametrize("superseded", [(), (note("A zebra and its lock file", "id__newer1"),)])
def test_what_could_not_be_read_is_not_nothing_to_say_p6(
    memory: Memory, told: list[str], monkeypatch: pytest.MonkeyPatch, superseded: tuple[SearchHit, ...]
) -> None:
    monkeypatch.setattr(Memory, "search", lambda *_: answer(superseded))
    assert injecting.find_relevant(memory, PROMPT) == Success(())
    assert told == []
    monkeypatch.setattr(Memory, "search", lambda *_: answer(superseded, UNREAD))
    assert injecting.find_relevant(memory, PROMPT) == Success(())
    assert told == [UNREAD]


# -- a process that lives on, beside another one that writes to the same store -----------------------------------------


BERTH = "A berth of the north basin has a draught of two metres."


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[tuple[Memory, Memory]]:
    settings = tmp_path / ".config" / "agent-memory" / "config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"storage": {"autoCommit": False}}))
    environ = {"HOME": str(tmp_path), "AGENT_MEMORY_ROOT": str(tmp_path / "store"), "PATH": ""}
    first, second = (open_memory(environ, tmp_path, pytest.fail).unwrap() for _ in range(2))
    yield first, second
    for each in (first, second):
        each.index.close()


def test_what_another_process_stores_meanwhile_is_not_stored_twice(memories: tuple[Memory, Memory]) -> None:
    here, there = memories
    similar = here.service.remember(NoteDraft(BERTH)).unwrap().stored
    again = NoteDraft(f"{BERTH} It was measured at low tide.")
    stored = there.service.remember(again).unwrap()
    assert similar.meta.id in stored.stored.body

    class Before(KnownNotes):
        def near_each(self, subjects: Iterable[tuple[Subject, str]]) -> Result[tuple[Near, ...], Error]:
            return Success((Near((similar,), (similar,)),))

    service = evolve(here.service, known=lambda: Before(here.store, here.index))
    found = service.remember(again).unwrap()
    assert found.existing
    assert found.stored == stored.stored

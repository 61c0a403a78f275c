"""A process that lives on sees each change of the files at its next call, as one that has just begun does (P6)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from agent_memory.files.locks import Locks
from agent_memory.note.note import Listing
from agent_memory.note.terms import query_words
from agent_memory.recall.hits import SearchRequest
from agent_memory.recall.note_index import NoteIndex, note_index
from agent_memory.store import store_database
from agent_memory.store.store_files import Store
from topics_edits import EDITS, IDS, WORDS, Edit, write


@pytest.fixture(autouse=True)
def rested(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as rested at once, so that what is remembered of them is believed."""
    monkeypatch.setattr(store_database, "_GRAIN_NS", -(10**15))


@pytest.fixture
def topics(root: Path) -> Path:
    path = root / "topics"
    path.mkdir(parents=True)
    (root / "archive").mkdir()
    for id in IDS[:4]:
        write(path / f"note -- {id}.md", id, "zebra")
    return path


def listings(store: Store) -> tuple[Listing, Listing]:
    return store.list().unwrap(), store.list(archived=True).unwrap()


def new_store(root: Path) -> Store:
    """One that remembers nothing, and finds nothing remembered on disk."""
    (root / ".cache" / "store.db").unlink(missing_ok=True)
    return Store(root, Locks(root))


def found_by(index: NoteIndex) -> dict[str, list[str]]:
    """By word, where it stands."""
    index.refresh().unwrap()
    found: dict[str, list[str]] = {}
    for word in WORDS:
        scores = index.match(query_words(word, stretch=False), 20, SearchRequest("", archived=True)).unwrap()
        known = index.notes(tuple(scores.scores)).unwrap()
        found[word] = sorted(each.path for each in known.values())
    return found


def said_in_files(listed: tuple[Listing, Listing], root: Path) -> dict[str, list[str]]:
    entries = [*listed[0].entries, *listed[1].entries]
    return {word: sorted(each.path for each in entries if word in (root / each.path).read_text()) for word in WORDS}


@pytest.mark.parametrize("first", EDITS, ids=lambda edit: edit.__name__)
def test_a_living_store_and_index_show_what_new_ones_show_p6(root: Path, topics: Path, first: Edit) -> None:
    chance = random.Random(first.__name__)
    store = Store(root, Locks(root))
    living, other = note_index(root), note_index(root)
    assert found_by(living)["zebra"]
    for number, edit in enumerate((first, first, *chance.sample(EDITS, len(EDITS)), first)):
        edit(topics, chance)
        if number % 3 == 0:  # another process may be the first to see it
            other.refresh().unwrap()
        listed = listings(store)
        assert listed == listings(store) == listings(new_store(root)), edit.__name__
        expected = said_in_files(listed, root)
        assert found_by(living) == expected, edit.__name__
        assert found_by(note_index(root)) == expected, f"{edit.__name__}, in a new process"

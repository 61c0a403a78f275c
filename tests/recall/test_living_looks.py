"""A process that lives on sees each change of the files at its next call, as one that has just begun does (P6)."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_memory.files.locks import KernelLocks
from agent_memory.note.note import Listing
from agent_memory.note.terms import query_words
from agent_memory.recall.note_index import NoteIndex, note_index
from agent_memory.recall.search_values import SearchRequest
from agent_memory.store import store_database
from agent_memory.store.store_files import StoreFiles

WORDS = ("zebra", "camel", "otter", "llama", "koala")
IDS = tuple(f"id__{letter * 6}" for letter in "abcdef")
Edit = Callable[[Path, random.Random], None]


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


def write(path: Path, id: str, word: str) -> None:
    path.write_text(f"---\nid: {id}\ntitle: Title\ncreatedAt: 1771000205123\n---\nA {word}.\n")


def in_a_later_tick(path: Path, edit: Callable[[], object]) -> None:
    """What two edits within one tick of the clock do to the times of a file is why a fresh file is not believed."""
    before_ns = path.stat().st_ctime_ns
    edit()
    while path.exists() and path.lstat().st_ctime_ns == before_ns:
        os.chmod(path, 0o600)


def notes(topics: Path) -> list[Path]:
    shown = (each for each in topics.iterdir() if not each.name.startswith("."))
    return sorted(each for each in shown if each.is_file() and not each.is_symlink())


def rewrite_as_long_with_its_times(topics: Path, chance: random.Random) -> None:
    path = chance.choice(notes(topics))
    times = path.stat()
    text = path.read_text()
    word = next(word for word in chance.sample(WORDS, 5) if word not in text)
    old = next(word for word in WORDS if word in text)
    in_a_later_tick(path, lambda: path.write_text(text.replace(old, word)))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def rename(topics: Path, chance: random.Random) -> None:
    path = chance.choice(notes(topics))
    path.rename(topics / f"renamed {chance.random()} -- {path.name.rpartition(' -- ')[2]}")


def add(topics: Path, chance: random.Random) -> None:
    write(topics / f"new {chance.random()}.md", chance.choice(IDS), chance.choice(WORDS))


def add_with_the_directory_as_it_was(topics: Path, chance: random.Random) -> None:
    times = topics.stat()
    write(topics / f"new {chance.random()}.md", chance.choice(IDS), chance.choice(WORDS))
    os.utime(topics, ns=(times.st_atime_ns, times.st_mtime_ns))


def remove(topics: Path, chance: random.Random) -> None:
    if len(notes(topics)) > 2:
        chance.choice(notes(topics)).unlink()


def link_instead(topics: Path, chance: random.Random) -> None:
    if len(notes(topics)) > 2:
        path = chance.choice(notes(topics))
        moved = topics.parent / f"moved {chance.random()}.md"
        path.rename(moved)
        path.symlink_to(moved)


def swap(topics: Path, chance: random.Random) -> None:
    if len(notes(topics)) > 1:
        one, other = chance.sample(notes(topics), 2)
        one.rename(topics / "aside.md")
        other.rename(one)
        (topics / "aside.md").rename(other)


def put_away(topics: Path, chance: random.Random) -> None:
    if len(notes(topics)) > 2:
        path = chance.choice(notes(topics))
        path.rename(topics.parent / "archive" / path.name)


def make_a_directory(topics: Path, chance: random.Random) -> None:
    directory = topics / f"deeper {chance.randrange(3)}"
    directory.mkdir(exist_ok=True)
    if chance.random() < 0.5:
        write(directory / "lost.md", IDS[5], "zebra")


def hide(topics: Path, chance: random.Random) -> None:
    (topics / f".hidden {chance.random()}.md").write_text("of another program")


def damage(topics: Path, chance: random.Random) -> None:
    path = chance.choice(notes(topics))
    in_a_later_tick(path, lambda: path.write_text(f"---\nid: {path.name}\n: otter\n---\nA zebra.\n"))


EDITS: tuple[Edit, ...] = (
    rewrite_as_long_with_its_times,
    rename,
    add,
    add_with_the_directory_as_it_was,
    remove,
    link_instead,
    swap,
    put_away,
    make_a_directory,
    hide,
    damage,
)


def listings(store: StoreFiles) -> tuple[Listing, Listing]:
    return store.list().unwrap(), store.list(archived=True).unwrap()


def new_store(root: Path) -> StoreFiles:
    """One that remembers nothing, and finds nothing remembered on disk."""
    (root / ".cache" / "store.db").unlink(missing_ok=True)
    return StoreFiles(root, KernelLocks(root))


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
    store = StoreFiles(root, KernelLocks(root))
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


def test_who_looks_at_most_once_a_second_sees_what_comes_and_goes_and_what_it_wrote(topics: Path) -> None:
    """A name that comes or goes is seen at once, an edit in place when the look is old, or before anything is written."""
    store = StoreFiles(topics.parent, KernelLocks(topics.parent))
    store.files.max_age_seconds = 3_600.0
    id = IDS[0]
    assert id in {each.meta.id for each in store.list().unwrap().entries}
    path = topics / f"note -- {id}.md"
    in_a_later_tick(topics, lambda: write(topics / f"new -- {IDS[5]}.md", IDS[5], "otter"))
    assert IDS[5] in {each.meta.id for each in store.list().unwrap().entries}
    path.write_text(path.read_text().replace("title: Title", "title: Another"))
    assert "Another" not in {each.meta.title for each in store.list().unwrap().entries}
    store.files.relist()
    assert "Another" in {each.meta.title for each in store.list().unwrap().entries}

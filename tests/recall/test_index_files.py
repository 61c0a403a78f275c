"""What the index finds, and what it does when its file, the disk, or another process is in the way: it searches all the same."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from returns.result import Failure

from agent_memory.app import open_memory
from agent_memory.errors import StoreIo
from agent_memory.files.locks import Locks
from agent_memory.note.terms import query_words
from agent_memory.recall.hits import Mode, SearchRequest
from agent_memory.recall.note_index import MADE_ANEW, NoteIndex, note_index
from agent_memory.store import store_database
from agent_memory.store.note_files import read_image
from agent_memory.store.store_database import DIRECTORY, NAME
from agent_memory.store.store_files import Store

A, B = "id__aaaaaa", "id__bbbbbb"


@pytest.fixture
def topics(root: Path) -> Path:
    path = root / "topics"
    path.mkdir(parents=True)
    return path


def put(topics: Path, id: str, text: str, *, is_rested: bool = True, **keys: str) -> Path:
    path = topics / f"note -- {id}.md"
    front = "".join(f"{key}: {value}\n" for key, value in {"id": id, "title": "Title", **keys}.items())
    path.write_text(f"---\n{front}createdAt: 1771000205123\n---\n{text}\n")
    if is_rested:
        rest(path)
    return path


def rest(path: Path) -> None:
    """As if it had been written long ago; its other time, which cannot be set, is hidden by `rested`."""
    os.utime(path, ns=(1771000205123 * 10**6, path.stat().st_mtime_ns - 10**10))


@pytest.fixture
def rested(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as rested at once."""
    monkeypatch.setattr(store_database, "_GRAIN_NS", -(10**15))


def ranked(index: NoteIndex, query: str, among: SearchRequest | None = None) -> list[str]:
    """Ids, the best first."""
    renewals = -1
    while renewals != index.renewals:  # else numbers of one file are asked of its successor
        renewals = index.renewals
        scores = index.match(query_words(query), 10, among or SearchRequest("")).unwrap().scores
        notes = index.notes(list(scores)).unwrap()
    return [notes[number].meta.id for number in scores]


def found(index: NoteIndex, query: str) -> list[str]:
    return sorted(ranked(index, query))


def database(root: Path) -> Path:
    return root / DIRECTORY / NAME


def indexed(root: Path) -> NoteIndex:
    index = note_index(root)
    index.refresh().unwrap()
    return index


def test_a_file_that_was_just_written_is_looked_at_again_but_not_indexed_again(root: Path, topics: Path) -> None:
    path = put(topics, A, "zebra", is_rested=False)
    index = indexed(root)
    number = index.numbers_of([A]).unwrap()[A]
    index.refresh().unwrap()
    assert index.numbers_of([A]).unwrap() == {A: number}
    times = path.stat()
    path.write_text(path.read_text().replace("zebra", "camel"))  # as long as before
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    index.refresh().unwrap()
    assert found(index, "camel") == [A]


def test_a_shelf_that_cannot_be_listed_is_an_error_and_not_an_empty_index_p6(
    root: Path, topics: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(topics, A, "zebra")
    index = indexed(root)

    def refuse(*_: object) -> object:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    assert isinstance(index.refresh().failure(), StoreIo)
    assert found(index, "zebra") == [A]


# -- a ruined file ----------------------------------------------------------------------------------------------------


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def no_database(path: Path) -> None:
    path.write_bytes(b"This was never a database. " * 1000)


def newer(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()


def of_another_program(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (address TEXT)")
    connection.close()


def bad_terms(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE terms_data SET block = x'0105000000' WHERE id > 10")
    connection.close()


def bad_notes(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE files SET listed = '[1, 2'")
    connection.close()


def half_written(path: Path) -> None:
    """Every third block never reached the disk."""
    blocks = [path.read_bytes()[at : at + 4096] for at in range(0, path.stat().st_size, 4096)]
    path.write_bytes(b"".join(bytes(4096) if number % 3 == 1 else block for number, block in enumerate(blocks)))


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def a_pipe_beside_it(path: Path) -> None:
    """SQLite opens the journal as well, and would wait for somebody to write into it."""
    (path.parent / store_database.JOURNAL).unlink(missing_ok=True)
    os.mkfifo(path.parent / store_database.JOURNAL)


def linked(path: Path) -> None:
    other = path.with_name("other")
    path.rename(other)
    path.symlink_to(other)


RUINS: tuple[Callable[[Path], object], ...]
RUINS = (os.unlink, cut, no_database, newer, of_another_program, bad_terms, bad_notes, half_written)


@pytest.mark.parametrize(
    ("ruin", "is_open"),
    [*((each, False) for each in (*RUINS, linked, a_pipe, a_pipe_beside_it)), *((each, True) for each in RUINS)],
)
def test_whatever_becomes_of_the_file_the_notes_are_found(
    root: Path, topics: Path, rested: None, ruin: Callable[[Path], object], is_open: bool
) -> None:
    put(topics, A, "zebra")
    put(topics, B, "giraffe")
    index = indexed(root)
    assert found(index, "zebra") == [A]
    if not is_open:
        index.close()
        index = note_index(root)
    ruin(database(root))
    index.refresh().unwrap()
    assert found(index, "zebra") == [A]
    index.close()
    after = note_index(root)
    after.refresh().unwrap()
    assert found(after, "zebra giraffe") == [A, B]


@pytest.mark.parametrize("is_met", ["when it is brought up to date", "when it is asked"])
def test_that_it_was_damaged_is_told_once(root: Path, topics: Path, rested: None, is_met: str) -> None:
    put(topics, A, "zebra")
    indexed(root).close()
    if is_met == "when it is asked":
        bad_terms(database(root))
    else:
        cut(database(root))
    index = note_index(root)
    first = index.refresh().unwrap()
    assert found(index, "zebra") == [A]
    assert [*first, *index.refresh().unwrap()] == [MADE_ANEW]
    assert index.refresh().unwrap() == note_index(root).refresh().unwrap() == ()


def test_a_directory_in_its_place_is_left_and_the_index_kept_in_memory(root: Path, topics: Path) -> None:
    put(topics, A, "zebra")
    database(root).mkdir(parents=True)
    (database(root) / "kept").touch()
    index = note_index(root)
    assert "in memory" in index.refresh().unwrap()[0]
    assert found(index, "zebra") == [A]
    assert (database(root) / "kept").exists()


def test_a_link_on_the_way_to_it_is_not_followed_p21(root: Path, topics: Path, tmp_path: Path) -> None:
    put(topics, A, "zebra")
    (tmp_path / "elsewhere").mkdir()
    (root / ".cache").symlink_to(tmp_path / "elsewhere")
    index = note_index(root)
    assert "in memory" in index.refresh().unwrap()[0]
    assert found(index, "zebra") == [A]
    assert list((tmp_path / "elsewhere").iterdir()) == []


# -- a disk that does not take it -------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_known", [False, True], ids=["no index yet", "an older index"])
def test_on_a_read_only_disk_the_index_is_kept_in_memory(
    root: Path, topics: Path, rested: None, monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    put(topics, A, "zebra")
    if is_known:
        indexed(root).close()
    put(topics, B, "zebra")

    real = os.open

    def refuse(path: str, flags: int, *rest: int, **more: int) -> int:
        if flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT):
            raise OSError(errno.EROFS, "Read-only file system")
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)
    index = note_index(root)
    assert "in memory" in index.refresh().unwrap()[0]
    assert found(index, "zebra") == [A, B]


@contextmanager
def full(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every database on disk is as large as it can become."""
    real = store_database._connect

    def limited(path: str) -> sqlite3.Connection:
        connection = real(path)
        if path != ":memory:":
            connection.execute("PRAGMA max_page_count = 1")  # SQLite takes the size it has, if that is more
        return connection

    monkeypatch.setattr(store_database, "_connect", limited)
    yield


def test_a_full_disk_is_searched_p5(root: Path, topics: Path, rested: None, monkeypatch: pytest.MonkeyPatch) -> None:
    put(topics, A, "zebra")
    indexed(root).close()
    before = database(root).read_bytes()
    for number in range(200):
        put(topics, f"id__{number:06d}".replace("0", "z"), "giraffe " + " ".join(f"w{number}x{at}" for at in range(50)))
    with full(monkeypatch):
        index = note_index(root)
        assert "in memory" in index.refresh().unwrap()[0]
        assert len(index.without_vector("").unwrap()) == 201
        assert found(index, "zebra") == [A]
        assert len(found(index, "giraffe")) == 10
        assert index.put_vectors("m", {1: b"row"}).unwrap() is None
    assert database(root).read_bytes()[:4096] == before[:4096]
    monkeypatch.undo()


# -- other processes --------------------------------------------------------------------------------------------------


def test_while_another_process_writes_what_is_there_is_searched(
    root: Path, topics: Path, rested: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_database, "WAIT_SECONDS", 0.01)
    put(topics, A, "zebra")
    indexed(root).close()
    put(topics, B, "zebra")
    other = sqlite3.connect(database(root), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    index = note_index(root)
    assert index.refresh().unwrap()[0].startswith("1 changed file is not in the index yet")
    assert found(index, "zebra") == [A]
    assert isinstance(index.put_vectors("m", {1: b"row"}), Failure)
    other.execute("ROLLBACK")
    other.close()
    assert index.refresh().unwrap() == ()
    assert found(index, "zebra") == [A, B]


def test_an_unreadable_file_is_told_p6(root: Path, topics: Path, rested: None, monkeypatch: pytest.MonkeyPatch) -> None:
    put(topics, A, "zebra")
    put(topics, B, "zebra")

    def read(root: str, path: str, most: int) -> object:
        if A in path:
            raise StoreIo(path, "read", "EIO", "Input/output error")
        return real(root, path, most)

    real = read_image
    with monkeypatch.context() as patched:
        patched.setattr(store_database, "read_image", read)
        for _ in range(2):  # it is tried, and told, each time
            (told,) = note_index(root).refresh().unwrap()
            assert told.startswith("1 file was not searched, since it could not be read")
        assert found(note_index(root), "zebra") == [B]
    index = note_index(root)
    assert index.refresh().unwrap() == ()
    assert found(index, "zebra") == [A, B]


def test_no_word_of_a_note_is_left_in_the_file_once_it_is_secret_p20(root: Path, topics: Path, rested: None) -> None:
    path = put(topics, A, "The heronlike word.")
    put(topics, B, "zebra")
    index = indexed(root)
    assert found(index, "heronlike") == [A]
    assert b"heronlik" in database(root).read_bytes()
    path.write_text(path.read_text().replace("title: Title", "title: Ospreyish\nsensitivity: secret"))
    index.refresh().unwrap()
    assert found(index, "heronlike zebra") == [B]
    Store(root, Locks(root)).list().unwrap()
    index.close()
    for name in (NAME, store_database.JOURNAL):
        kept = (database(root).parent / name).read_bytes()
        assert not any(word in kept for word in (b"heronlik", b"spreyish"))


# -- what it finds -----------------------------------------------------------------------------------------------------


def test_what_only_resembles_a_word_never_outranks_the_word(root: Path, topics: Path) -> None:
    put(topics, A, "authentication " * 20, title="Authentication authentication")
    put(topics, B, "In a very long note, among much else that is not to the point at all, auth is said once. " * 3)
    assert ranked(indexed(root), "auth") == [B, A]


def test_a_slip_finds_the_word_only_where_no_note_has_the_slip(root: Path, topics: Path) -> None:
    put(topics, A, "kubernetes cluster")
    assert ranked(indexed(root), "kubernetse") == [A]
    put(topics, B, "kubernetse is how some write it")
    assert ranked(indexed(root), "kubernetse") == [B]


@pytest.mark.large
def test_a_note_of_a_megabyte_is_listed_and_found_by_its_last_word(home: Path, root: Path, topics: Path) -> None:
    for id, body in ((A, "zebra " * 170_000 + "last"), (B, "The lamp is lit.\n" * 60_000 + "giraffe")):
        assert len(body) > 1_000_000
        (topics / f"note -- {id}.md").write_text(f"---\nid: {id}\ntitle: N\n---\n{body}\n")
    memory = open_memory({"HOME": str(home), "AGENT_MEMORY_ROOT": str(root)}, home, print).unwrap()
    assert {each.meta.id for each in memory.store.list().unwrap().entries} == {A, B}
    for query, id in (("last", A), ("giraffe", B)):
        (hit,) = memory.search(SearchRequest(query, mode=Mode.BM25)).unwrap().hits
        assert hit.listed.meta.id == id
        assert query in hit.snippet.text

"""What the index on disk does when its file, the disk, or another process is in the way: it searches all the same."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from returns.result import Failure, Success

from agent_memory.adapters.disk import paths
from agent_memory.adapters.disk.directory_state import DirectoryLook
from agent_memory.adapters.disk.locks import KernelLocks
from agent_memory.adapters.index import file_batch, index_database, look_ahead, refreshing, shelf_look
from agent_memory.adapters.index.index_database import DIRECTORY, NAME
from agent_memory.adapters.index.index_files import IndexFiles
from agent_memory.adapters.index.refresh_notices import MADE_ANEW, pending_notice, unreadable_notice
from agent_memory.adapters.index.shelf_look import ShelfChanges, ShelvesLook
from agent_memory.adapters.store.entry_files import read_image
from agent_memory.adapters.store.store_files import StoreFiles
from agent_memory.domain.searching.indexed_note import Refreshed
from agent_memory.domain.searching.matching import NoteFilter, TermWeights
from agent_memory.domain.searching.query_words import query_words
from agent_memory.errors import StoreIo
from agent_memory.values import evolve

A, B, C = "id__aaaaaa", "id__bbbbbb", "id__cccccc"


@pytest.fixture
def topics(root: Path) -> Path:
    path = root / "topics"
    path.mkdir(parents=True)
    return path


def put(topics: Path, id: str, text: str, name: str = "note", *, is_rested: bool = True) -> Path:
    path = topics / f"{name} -- {id}.md"
    path.write_text(f"---\nid: {id}\ntitle: Title\ncreatedAt: 1771000205123\n---\n{text}\n")
    if is_rested:
        rest(path)
    return path


def rest(path: Path) -> None:
    """As if it had been written long ago; its other time, which cannot be set, is hidden by `rested`."""
    os.utime(path, ns=(1771000205123 * 10**6, path.stat().st_mtime_ns - 10**10))


@pytest.fixture
def rested(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as rested at once."""
    monkeypatch.setattr(file_batch, "believed_by", lambda image, _: image.known_by)


def found(index: IndexFiles, query: str) -> list[str]:
    scores = index.match(query_words(query), TermWeights(), 10, NoteFilter()).unwrap().scores
    notes = index.notes(list(scores)).unwrap()
    return sorted(notes[number].listed.meta.id for number in scores)


def database(root: Path) -> Path:
    return root / DIRECTORY / NAME


def indexed(root: Path) -> IndexFiles:
    index = IndexFiles(root)
    index.refresh().unwrap()
    return index


# -- keeping up -------------------------------------------------------------------------------------------------------


def test_a_missing_root_stays_missing(root: Path) -> None:
    index = IndexFiles(root)
    assert index.refresh().unwrap() == Refreshed(0)
    assert found(index, "zebra") == []
    assert not root.exists()


def test_what_has_not_changed_is_not_read_again(root: Path, topics: Path, rested: None) -> None:
    put(topics, A, "zebra")
    assert indexed(root).refresh().unwrap() == Refreshed(1)
    assert IndexFiles(root).refresh().unwrap() == Refreshed(1)
    put(topics, B, "zebra")
    assert IndexFiles(root).refresh().unwrap() == Refreshed(2, read=1)
    os.unlink(topics / f"note -- {A}.md")
    assert IndexFiles(root).refresh().unwrap() == Refreshed(1, removed=1)


def test_a_file_that_was_just_written_is_looked_at_again_but_not_indexed_again(root: Path, topics: Path) -> None:
    path = put(topics, A, "zebra", is_rested=False)
    index = indexed(root)
    number = index.numbers_of([A]).unwrap()[A]
    assert index.refresh().unwrap() == Refreshed(1)
    assert index.numbers_of([A]).unwrap() == {A: number}
    times = path.stat()
    path.write_text(path.read_text().replace("zebra", "camel"))  # as long as before
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    index.refresh().unwrap()
    assert found(index, "camel") == [A]


def test_a_file_that_was_only_touched_keeps_its_number(root: Path, topics: Path, rested: None) -> None:
    path = put(topics, A, "zebra")
    index = indexed(root)
    number = index.numbers_of([A]).unwrap()[A]
    os.utime(path)
    index.refresh().unwrap()
    assert index.numbers_of([A]).unwrap() == {A: number}
    assert index.refresh().unwrap() == Refreshed(1)


def test_a_new_name_is_seen_where_it_is_no_new_time_of_the_file(
    root: Path, topics: Path, rested: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a file system that keeps no time of change beside that of the content."""

    def look(mtime_ns: int, touched_ns: int, size_bytes: int, inode: int) -> int:
        return hash((mtime_ns, size_bytes, inode))

    def whole_look(path: str) -> DirectoryLook:
        seen = DirectoryLook()
        if os.path.isdir(path):
            seen.names = os.listdir(path)
            there = [os.lstat(f"{path}/{name}") for name in seen.names]
            seen.looks = [look(each.st_mtime_ns, 0, each.st_size, each.st_ino) for each in there]
            seen.state = sum(seen.looks) + os.lstat(path).st_mtime_ns
        return seen

    monkeypatch.setattr(look_ahead, "whole_look", whole_look)
    for module in (shelf_look, paths):
        monkeypatch.setattr(module, "look_of", look)
    put(topics, A, "zebra")
    moved = put(topics, B, "giraffe")
    index = indexed(root)
    assert index.refresh().unwrap() == Refreshed(2)
    moved.rename(topics / f"moved -- {B}.md")
    index.refresh().unwrap()
    (number,) = index.match(query_words("giraffe"), TermWeights(), 10, NoteFilter()).unwrap().scores
    assert index.notes([number]).unwrap()[number].listed.path == f"topics/moved -- {B}.md"
    assert index.refresh().unwrap() == Refreshed(2)


def test_what_is_no_note_is_passed_over(root: Path, topics: Path, rested: None) -> None:
    put(topics, A, "zebra")
    (topics / "directory.md").mkdir()
    (topics / "link.md").symlink_to(topics / f"note -- {A}.md")
    (topics / ".hidden.md").write_text("zebra")
    (topics / "picture.png").write_bytes(b"zebra")
    assert indexed(root).refresh().unwrap() == Refreshed(1)
    assert IndexFiles(root).refresh().unwrap() == Refreshed(1)


def test_a_note_that_moves_to_the_other_shelf_is_one_note(root: Path, topics: Path, rested: None) -> None:
    path = put(topics, A, "zebra")
    index = indexed(root)
    (root / "archive").mkdir()
    path.rename(root / "archive" / path.name)
    assert index.refresh().unwrap() == Refreshed(1, read=1, removed=1)
    assert found(index, "zebra") == []
    assert index.among(NoteFilter(archived=True)).unwrap() == frozenset(index.numbers_of([A]).unwrap().values())


def test_a_change_of_one_note_reads_and_writes_that_note_alone(
    root: Path, topics: Path, rested: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(200):
        put(topics, f"id__{number:06d}".replace("0", "z"), f"zebra w{number}q")
    index = indexed(root)
    put(topics, "id__zzzzz7", "zebra walrus")
    read = list[str]()

    def noted(root: str, path: str) -> object:
        read.append(path)
        return read_image(root, path)

    monkeypatch.setattr(file_batch, "read_image", noted)
    with sqlite3.connect(database(root)) as connection:
        before = set(connection.execute("SELECT number, seal FROM notes"))
        index.refresh().unwrap()
        after = set(connection.execute("SELECT number, seal FROM notes"))
    connection.close()
    assert [path for path in read if "zzzzz7" in path] == read != []
    assert (len(before - after), len(after - before)) == (1, 1)
    assert len(found(index, "walrus")) == 1


def test_of_two_files_with_one_id_the_note_is_found_and_the_other_when_it_goes(
    root: Path, topics: Path, rested: None
) -> None:
    put(topics, A, "zebra", "first")
    copy = topics / f"first -- {A} (conflicted copy).md"
    copy.write_text((topics / f"first -- {A}.md").read_text().replace("zebra", "giraffe"))
    index = indexed(root)
    listed = StoreFiles(root, KernelLocks(root)).list().unwrap()
    assert [each.path for each in listed.entries] == [f"topics/first -- {A}.md"]
    assert (found(index, "zebra"), found(index, "giraffe")) == ([A], [])
    assert index.refresh().unwrap() == Refreshed(1)
    os.unlink(topics / f"first -- {A}.md")
    index.refresh().unwrap()
    assert (found(index, "zebra"), found(index, "giraffe")) == ([], [A])


def test_many_changes_go_in_batch_by_batch_and_segments_stay_few(
    root: Path, topics: Path, rested: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_batch, "_FILES", 3)
    for number in range(100):
        put(topics, f"id__{number:06d}".replace("0", "z"), f"zebra w{number}q")
    index = indexed(root)
    assert index.refresh().unwrap() == Refreshed(100)
    assert len(found(index, "w77q")) == 1
    with sqlite3.connect(database(root)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM segments").fetchone()[0] < 10
    connection.close()


def test_with_little_time_what_is_there_is_searched_and_the_rest_is_counted(
    root: Path, topics: Path, rested: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for id in (A, B, C):
        put(topics, id, "zebra")
    index = IndexFiles(root)
    none = index.refresh(0.0).unwrap()
    assert (none.notes, none.pending) == (0, 3)
    assert "3 changed files are not in the index yet" in none.notices[0]
    assert found(index, "zebra") == []
    assert index.refresh(60.0).unwrap() == Refreshed(3, read=3)
    assert found(index, "zebra") == [A, B, C]


def test_what_is_waited_for_begins_when_all_files_have_been_looked_at(
    root: Path, topics: Path, rested: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for id in (A, B, C):
        put(topics, id, "zebra")
    now_seconds, changes = [0.0], ShelvesLook.changes

    def slowly(look: ShelvesLook, known: set[int]) -> ShelfChanges:
        now_seconds[0] += 60
        return changes(look, known)

    monkeypatch.setattr(ShelvesLook, "changes", slowly)
    monkeypatch.setattr(refreshing, "time", SimpleNamespace(monotonic=lambda: now_seconds[0]))
    assert IndexFiles(root).refresh(1.0).unwrap() == Refreshed(3, read=3)


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


def test_the_file_is_for_its_owner_alone_p22(root: Path, topics: Path) -> None:
    put(topics, A, "zebra")
    before = os.umask(0)
    try:
        indexed(root)
    finally:
        os.umask(before)
    assert stat.S_IMODE(database(root).stat().st_mode) == 0o600
    assert stat.S_IMODE(database(root).parent.stat().st_mode) == 0o700
    assert {path.name for path in database(root).parent.iterdir()} <= {NAME, index_database.JOURNAL}


# -- a ruined file ----------------------------------------------------------------------------------------------------


def zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def no_database(path: Path) -> None:
    path.write_bytes(b"This was never a database. " * 1000)


def scribbled(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)


def newer(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE about SET value = 'of a later version' WHERE name = 'signature'")
    connection.close()


def of_another_program(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (address TEXT)")
    connection.close()


def bad_postings(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE postings SET grouped = x'0105000000'")
    connection.close()


def bad_segments(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE segments SET lengths = x'01'")
    connection.close()


def bad_notes(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE notes SET listed = '[1, 2'")
    connection.close()


def lost(*tables: str) -> Callable[[Path], None]:
    """What makes an index that lost all rows of these tables."""

    def lose(path: Path) -> None:
        with sqlite3.connect(path) as connection:
            for table in tables:
                connection.execute(f"DELETE FROM {table}")
        connection.close()

    lose.__name__ = f"lost_{'_'.join(tables)}"
    return lose


def linked(path: Path) -> None:
    other = path.with_name("other")
    path.rename(other)
    path.symlink_to(other)


RUINS: list[Callable[[Path], None]]
RUINS = [zeros, cut, emptied, no_database, scribbled, newer, of_another_program, bad_postings, bad_segments, bad_notes]
RUINS += [*map(lost, ("about", "notes", "segments", "postings", "dead")), lost("postings", "vocabulary")]


@pytest.mark.parametrize("ruin", [*RUINS, os.unlink, linked])
def test_whatever_became_of_the_file_the_notes_are_found(root: Path, topics: Path, rested: None, ruin: object) -> None:
    put(topics, A, "zebra")
    put(topics, B, "giraffe")
    indexed(root).close()
    assert callable(ruin)
    ruin(database(root))
    index = indexed(root)
    assert found(index, "zebra") == [A]
    index.close()
    after = IndexFiles(root)
    assert after.refresh().unwrap() == Refreshed(2)
    assert found(after, "zebra giraffe") == [A, B]


@pytest.mark.parametrize("ruin", [*RUINS, os.unlink])
def test_whatever_becomes_of_the_file_while_it_is_open_the_notes_are_found(
    root: Path, topics: Path, rested: None, ruin: object
) -> None:
    put(topics, A, "zebra")
    index = indexed(root)
    assert found(index, "zebra") == [A]
    assert callable(ruin)
    ruin(database(root))
    index.refresh().unwrap()
    assert found(index, "zebra") == [A]


@pytest.mark.parametrize("is_met", ["when it is brought up to date", "when it is asked"])
def test_that_it_was_damaged_is_told_once(root: Path, topics: Path, rested: None, is_met: str) -> None:
    put(topics, A, "zebra")
    indexed(root).close()
    if is_met == "when it is asked":
        bad_postings(database(root))
    else:
        cut(database(root))
    index = IndexFiles(root)
    first = index.refresh().unwrap().notices
    assert found(index, "zebra") == [A]
    assert [*first, *index.refresh().unwrap().notices] == [MADE_ANEW]
    assert index.refresh().unwrap().notices == IndexFiles(root).refresh().unwrap().notices == ()


def test_an_index_of_another_version_is_made_anew_without_a_word(root: Path, topics: Path, rested: None) -> None:
    put(topics, A, "zebra")
    indexed(root).close()
    newer(database(root))
    index = IndexFiles(root)
    assert index.refresh().unwrap() == Refreshed(1, read=1)
    assert index.renewals == 1


def test_vectors_of_a_damaged_index_are_not_taken_for_those_of_the_next(root: Path, topics: Path, rested: None) -> None:
    put(topics, A, "zebra")
    put(topics, B, "giraffe")
    index = indexed(root)
    one, other = sorted(index.numbers_of([A, B]).unwrap().values())
    index.put_vectors("m", {one: b"row", other: b"row"}).unwrap()
    with sqlite3.connect(database(root)) as connection:
        connection.execute("UPDATE vectors SET rows = upper(rows)")
    connection.close()
    index.put_vectors("m", {one: b"new"}).unwrap()
    assert len(index.vectors("m").unwrap().rows) == 0
    assert index.numbers_of([A, B]).unwrap().keys() == {A, B}


def test_a_directory_in_its_place_is_left_and_the_index_kept_in_memory(root: Path, topics: Path) -> None:
    put(topics, A, "zebra")
    database(root).mkdir(parents=True)
    (database(root) / "kept").touch()
    index = IndexFiles(root)
    assert "in memory" in index.refresh().unwrap().notices[0]
    assert found(index, "zebra") == [A]
    assert (database(root) / "kept").exists()


def test_a_link_on_the_way_to_it_is_not_followed_p21(root: Path, topics: Path, tmp_path: Path) -> None:
    put(topics, A, "zebra")
    (tmp_path / "elsewhere").mkdir()
    (root / ".cache").symlink_to(tmp_path / "elsewhere")
    index = IndexFiles(root)
    assert "in memory" in index.refresh().unwrap().notices[0]
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
    index = IndexFiles(root)
    done = index.refresh().unwrap()
    assert "in memory" in done.notices[0]
    assert done.read == (1 if is_known else 2)
    assert found(index, "zebra") == [A, B]


def test_an_index_of_which_nothing_can_be_found_out_is_kept_in_memory(
    root: Path, topics: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(topics, A, "zebra")
    indexed(root).close()

    descriptor = os.open(root, os.O_RDONLY)
    os.close(descriptor)
    monkeypatch.setattr(index_database, "open_regular", lambda *_: Success(descriptor))
    index = IndexFiles(root)
    assert "Bad file descriptor" in index.refresh().unwrap().notices[0]
    assert found(index, "zebra") == [A]


def test_a_connection_that_was_never_opened_goes_without_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    with pytest.raises(sqlite3.OperationalError):
        index_database._connected(str(tmp_path / "nowhere" / "index.db"))
    gc.collect()
    assert told == []


@contextmanager
def full(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every database on disk is as large as it can become."""
    real = index_database._connected

    def limited(path: str) -> sqlite3.Connection:
        connection = real(path)
        if path != ":memory:":
            connection.execute("PRAGMA max_page_count = 1")  # SQLite takes the size it has, if that is more
        return connection

    monkeypatch.setattr(index_database, "_connected", limited)
    yield


def test_on_a_full_disk_what_is_there_is_searched_p5(
    root: Path, topics: Path, rested: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(topics, A, "zebra")
    indexed(root).close()
    before = database(root).read_bytes()
    for number in range(200):
        put(topics, f"id__{number:06d}".replace("0", "z"), "giraffe " + " ".join(f"w{number}x{at}" for at in range(50)))
    with full(monkeypatch):
        index = IndexFiles(root)
        done = index.refresh().unwrap()
        assert "in memory" in done.notices[0]
        assert done.notes == 201
        assert found(index, "zebra") == [A]
        assert len(found(index, "giraffe")) == 10
        assert index.put_vectors("m", {1: b"row"}).unwrap() is None
    assert database(root).read_bytes()[:4096] == before[:4096]
    monkeypatch.undo()


# -- other processes --------------------------------------------------------------------------------------------------


def test_while_another_process_writes_what_is_there_is_searched(
    root: Path, topics: Path, rested: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_database, "WAIT_SECONDS", 0.01)
    put(topics, A, "zebra")
    indexed(root).close()
    put(topics, B, "zebra")
    other = sqlite3.connect(database(root), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    index = IndexFiles(root)
    done = index.refresh().unwrap()
    assert (done.notes, done.pending) == (1, 1)
    assert found(index, "zebra") == [A]
    assert isinstance(index.put_vectors("m", {1: b"row"}), Failure)
    other.execute("ROLLBACK")
    other.close()
    assert index.refresh().unwrap() == Refreshed(2, read=1)
    assert found(index, "zebra") == [A, B]


def test_what_a_reader_kept_from_being_written_is_taken_in_later(
    root: Path, topics: Path, rested: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_database, "WAIT_SECONDS", 0.01)
    first = put(topics, A, "zebra")
    index = indexed(root)
    second = put(topics, B, "zebra")
    first.write_text(first.read_text().replace("zebra", "zebra lamp"))
    reader = sqlite3.connect(database(root), isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM about").fetchall()
    assert index.refresh().unwrap().pending == 2  # all was ready, and undone at the last moment
    reader.execute("ROLLBACK")
    reader.close()
    second.unlink()
    first.unlink()
    put(topics, C, "walrus, and a zebra")
    assert index.refresh().unwrap().notes == 1
    assert (found(index, "zebra"), found(index, "lamp")) == ([C], [])
    assert index.renewals == 0


def test_two_that_refresh_at_once_keep_each_note_once(root: Path, topics: Path, rested: None) -> None:
    one, other = indexed(root), indexed(root)
    put(topics, A, "zebra")
    assert one.refresh().unwrap() == Refreshed(1, read=1)
    assert other.refresh().unwrap() == Refreshed(1)
    os.unlink(topics / f"note -- {A}.md")
    assert other.refresh().unwrap() == Refreshed(0, removed=1)
    assert found(one, "zebra") == []


INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from agent_memory.adapters.index import file_batch, refreshing
from agent_memory.adapters.index.index_files import IndexFiles
from agent_memory.adapters.index.refresh_notices import MADE_ANEW
from agent_memory.adapters.index.shelf_look import ShelfChanges, ShelvesLook

file_batch._FILES = 5
at, where = int(sys.argv[2]), getattr(file_batch if sys.argv[3] != "merge_some" else refreshing, sys.argv[3])
count = 0

def killed(*arguments):
    global count
    count += 1
    if count == at:
        os.kill(os.getpid(), signal.SIGKILL)
    return where(*arguments)

setattr(file_batch if sys.argv[3] != "merge_some" else refreshing, sys.argv[3], killed)
IndexFiles(Path(sys.argv[1])).refresh().unwrap()
"""


@pytest.mark.parametrize(
    ("at", "where"), [(1, "note_terms"), (13, "note_terms"), (2, "write_segment"), (4, "merge_some")], ids=str
)
def test_a_process_that_is_killed_leaves_an_index_to_go_on_from(root: Path, topics: Path, at: int, where: str) -> None:
    ids = [f"id__{number:06d}".replace("0", "z") for number in range(20)]
    for number, id in enumerate(ids):
        put(topics, id, f"zebra w{number}q")
    killed = subprocess.run([sys.executable, "-c", INTERRUPTED, root, str(at), where], check=False)
    assert killed.returncode == -signal.SIGKILL
    index = indexed(root)
    assert index.refresh().unwrap().notes == 20
    assert [found(index, f"w{number}q") for number in range(20)] == [[id] for id in ids]


def test_a_file_that_cannot_be_read_is_told_and_found_once_it_can_p6(
    root: Path, topics: Path, rested: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(topics, A, "zebra")
    put(topics, B, "zebra")

    def read(root: str, path: str) -> object:
        return Failure(StoreIo(path, "read", "EIO", "Input/output error")) if A in path else real(root, path)

    real = read_image
    with monkeypatch.context() as patched:
        patched.setattr(file_batch, "read_image", read)
        for _ in range(2):  # it is tried, and told, each time
            refreshed = IndexFiles(root).refresh().unwrap()
            assert refreshed.unreadable == 1
            assert refreshed.notices[-1].startswith("1 file was not searched, since it could not be read")
        assert found(IndexFiles(root), "zebra") == [B]
    index = IndexFiles(root)
    assert index.refresh().unwrap().notices == ()
    assert found(index, "zebra") == [A, B]


# -- what was written here --------------------------------------------------------------------------------------------


@pytest.fixture
def written(root: Path, topics: Path, rested: None, monkeypatch: pytest.MonkeyPatch) -> tuple[StoreFiles, IndexFiles]:
    """A store, and an index that was in line with it a moment ago."""
    monkeypatch.setattr(index_database, "WAIT_SECONDS", 0.01)
    put(topics, A, "zebra")
    put(topics, B, "zebra")
    store = StoreFiles(root, KernelLocks(root))
    index = IndexFiles(root, lambda: store.looks)
    index.refresh(lately=True).unwrap()
    return store, index


def write(store: StoreFiles, text: str) -> None:
    stored = store.read(A).unwrap()
    store.write(evolve(stored.entry, body=f"{text}\n"), stored.listed.content_hash).unwrap()


def test_what_was_written_while_another_process_is_at_work_is_pending(
    root: Path, written: tuple[StoreFiles, IndexFiles]
) -> None:
    store, index = written
    write(store, "camel")
    with closing(sqlite3.connect(database(root), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        done = index.take_in_written().unwrap()
    assert (done.notes, done.read, done.pending) == (2, 0, 1)
    assert done.notices == (pending_notice(1),)
    assert found(index, "camel") == []
    assert index.take_in_written().unwrap().read == 1
    assert found(index, "camel") == [A]


def test_what_was_written_is_told_before_it_is_taken_in_and_what_cannot_be_read_after_it_p6(
    written: tuple[StoreFiles, IndexFiles], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, index = written
    write(store, "camel")
    failing = Failure(StoreIo("", "read", "EIO", "Input/output error"))
    monkeypatch.setattr(file_batch, "read_image", lambda *_: failing)
    told: list[int] = []
    done = index.take_in_written(told.append).unwrap()
    assert told == [1]
    assert (done.read, done.unreadable, done.notices) == (0, 1, (unreadable_notice(1),))


def test_damage_that_was_met_before_something_was_written_is_told_with_it(
    root: Path, written: tuple[StoreFiles, IndexFiles]
) -> None:
    store, index = written
    index.close()
    bad_postings(database(root))
    assert found(index, "zebra") == [A, B]
    write(store, "camel")
    assert index.take_in_written().unwrap().notices == (MADE_ANEW,)
    assert index.take_in_written().unwrap().notices == ()
    assert found(index, "camel") == [A]


def test_an_index_that_nothing_refers_to_any_more_is_closed_without_a_warning(
    root: Path, topics: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.13 warns of a connection that is not closed; in a circle of objects it may be the first to go."""
    put(topics, A, "zebra")
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    index = indexed(root)
    circle: list[object] = [index]
    circle.append(circle)
    there = weakref.ref(index)
    del index, circle
    gc.collect()
    assert there() is None
    assert told == []

"""What listing a directory of notes does with everything that may lie in one, and with the database."""

from __future__ import annotations

import errno
import os
import tracemalloc
from pathlib import Path

import pytest
from returns.result import Failure, Success

from agent_memory.adapters.disk.locks import KernelLocks
from agent_memory.adapters.store import store_database
from agent_memory.adapters.store.store_files import StoreFiles
from agent_memory.domain.entry import Listing, UnreadableFile
from agent_memory.errors import EntryNotFound, PathRefused, StoreIo

A, B, C = "id__aaaaaa", "id__bbbbbb", "id__cccccc"


def note(id: str, title: str = "Title", **keys: object) -> str:
    more = "".join(f"{key}: {value}\n" for key, value in keys.items())
    return f"---\nid: {id}\ntitle: {title}\ncreatedAt: 1771000205123\n{more}---\nText of {id}.\n"


@pytest.fixture
def topics(root: Path) -> Path:
    path = root / "topics"
    path.mkdir(parents=True)
    return path


def store(root: Path) -> StoreFiles:
    return StoreFiles(root, KernelLocks(root))


def ids(root: Path, *, archived: bool = False) -> list[str]:
    return [listed.meta.id for listed in store(root).list(archived=archived).unwrap().entries]


def unreadable(root: Path) -> dict[str, str]:
    return {file.path: file.problems[0] for file in store(root).list().unwrap().unreadable}


# -- the root ---------------------------------------------------------------------------------------------------------


def test_a_missing_root_is_empty_and_stays_missing(root: Path) -> None:
    assert store(root).list() == Success(Listing(()))
    assert store(root).list(archived=True) == Success(Listing(()))
    assert store(root).read(A) == Failure(EntryNotFound(A))
    assert not root.exists()


def test_a_root_that_is_a_file_is_refused(root: Path) -> None:
    root.write_text("x")
    assert store(root).list() == Failure(PathRefused(str(root), "it is not a directory"))


@pytest.mark.parametrize("call", ["scandir", "lstat"])
def test_a_directory_that_cannot_be_read_is_an_error_and_not_empty_p6(
    root: Path, topics: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    (topics / "a.md").write_text(note(A))
    assert ids(root) == [A]

    def refuse(*_: object, **__: object) -> object:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, call, refuse)
    refused = store(root).list().failure()
    assert isinstance(refused, StoreIo)
    assert refused.errno_name == "EACCES"
    assert isinstance(store(root).read(A).failure(), StoreIo)


def test_the_root_may_be_a_link_and_nothing_inside_it(root: Path, topics: Path, tmp_path: Path) -> None:
    (topics / "a.md").write_text(note(A))
    link = tmp_path / "linked root"
    link.symlink_to(root)
    assert ids(link) == [A]
    topics.rename(tmp_path / "elsewhere")
    topics.symlink_to(tmp_path / "elsewhere")
    assert isinstance(store(root).list().failure(), PathRefused)


def test_a_root_with_spaces_and_letters_of_all_kinds(home: Path) -> None:
    root = home / "Ünï côde 記憶 🧠"
    (root / "topics").mkdir(parents=True)
    (root / "topics/é ü.md").write_text(note(A))
    assert ids(root) == [A]


# -- what lies in topics/ ---------------------------------------------------------------------------------------------


def test_what_is_not_a_file_is_reported_and_never_opened_p21(
    root: Path, topics: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (topics / "a.md").write_text(note(A))
    (tmp_path / "secret.md").write_text(note(B))
    (topics / "link.md").symlink_to(tmp_path / "secret.md")
    (topics / "dangling.md").symlink_to(tmp_path / "nowhere")
    os.mkfifo(topics / "fifo.md")
    (topics / "directory.md").mkdir()
    opened = []
    really_open = os.open

    def spy(path: str, *rest: int) -> int:
        opened.append(os.path.basename(path))
        return really_open(path, *rest)

    monkeypatch.setattr(os, "open", spy)
    assert ids(root) == [A]
    assert "a.md" in opened
    assert not {"link.md", "dangling.md", "fifo.md", "directory.md", "secret.md"} & set(opened)
    assert unreadable(root) == {
        "topics/dangling.md": "it is a symbolic link, and links inside the store are not followed",
        "topics/directory.md": "it is a directory",
        "topics/fifo.md": "it is not a regular file",
        "topics/link.md": "it is a symbolic link, and links inside the store are not followed",
    }


def test_notes_in_a_directory_are_reported_and_other_directories_are_let_be(root: Path, topics: Path) -> None:
    for name in ("deeper", "pictures", ".obsidian"):
        (topics / name).mkdir()
    (topics / "deeper/b.md").write_text(note(B))
    (topics / ".obsidian/c.md").write_text(note(C))
    (topics / "pictures/x.png").write_bytes(b"x")
    assert ids(root) == []
    assert unreadable(root) == {"topics/deeper": "it is a directory, and the notes in it are not seen"}


def test_other_programs_files_are_ignored(root: Path, topics: Path) -> None:
    (topics / "a.md").write_text(note(A))
    for name in (".DS_Store", ".hidden.md", ".tmp-0123456789abcdef", "notes.txt", "a.md~", "a.md.swp"):
        (topics / name).write_text(note(B))
    (topics / ".#a.md").symlink_to("user@host.123")
    assert ids(root) == [A]
    assert unreadable(root) == {}


def test_a_bad_file_hides_no_other(root: Path, topics: Path) -> None:
    (topics / "a.md").write_text(note(A))
    (topics / "binary.md").write_bytes(b"\xff\xfe\x00")
    (topics / "open.md").write_text("---\ntitle: x\n")
    (topics / "huge.md").write_bytes(b"x" * (5 << 20))
    assert ids(root) == [A]
    assert sorted(unreadable(root)) == ["topics/binary.md", "topics/huge.md", "topics/open.md"]


def test_an_empty_file_is_a_note_without_words(root: Path, topics: Path) -> None:
    (topics / "nothing.md").write_text("")
    assert len(ids(root)) == 1


def test_a_file_whose_reading_fails_is_reported_and_not_missing_p6(
    root: Path, topics: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (topics / "a.md").write_text(note(A))
    (topics / f"b {B}.md").write_text(note(B))
    really_open = os.open

    def refuse_b(path: str, *rest: int) -> int:
        if path.endswith(f"b {B}.md"):
            raise OSError(errno.EIO, "Input/output error")
        return really_open(path, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse_b)
        assert ids(root) == [A]
        assert unreadable(root) == {f"topics/b {B}.md": "it cannot be read: Input/output error (EIO)"}
        unread = StoreIo(f"{topics}/b {B}.md", "open", "EIO", "Input/output error")
        assert store(root).read(B) == Failure(unread)
        assert store(root).read(C) == Failure(unread)  # who knows
        assert isinstance(store(root).read(A), Success)
    assert ids(root) == [A, B]


def test_of_two_files_with_one_id_the_first_is_the_entry_and_the_other_is_reported(root: Path, topics: Path) -> None:
    (topics / "a copy.md").write_text(note(A, "Copy"))
    (topics / "b.md").write_text(note(A, "Original"))
    assert store(root).read(A).unwrap().meta.title == "Copy"
    assert unreadable(root) == {"topics/b.md": f"it has the id {A}, as has topics/a copy.md"}


@pytest.mark.skipif(os.uname().sysname == "Darwin", reason="macOS has no such names")
def test_a_name_that_is_not_utf8_is_reported(root: Path, topics: Path) -> None:
    with open(os.fsencode(topics) + b"/\xff.md", "w") as file:
        file.write(note(A))
    assert ids(root) == []
    assert unreadable(root) == {"topics/�.md": "its name is not UTF-8"}


# -- the archive ------------------------------------------------------------------------------------------------------


def test_the_archive_lists_the_newest_file_of_each_id(root: Path, topics: Path) -> None:
    for path, text in {
        f"archive/retired {A}.md": note(A, "Retired"),
        f"archive/{A}/99999999999999.md": note(A, "Version of the retired"),
        f"archive/{B}/9.md": note(B, "Older"),
        f"archive/{B}/10.md": note(B, "Newer"),
        f"archive/{B}/11.txt": "x",
        "archive/other/x.md": note(C),
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    listing = store(root).list(archived=True).unwrap()
    assert [(each.meta.id, each.meta.title) for each in listing.entries] == [(B, "Newer"), (A, "Retired")]
    assert all(each.archived for each in listing.entries)
    assert [each.path for each in listing.unreadable] == ["archive/other"]
    assert store(root).read(B, archived=True).unwrap().meta.title == "Newer"


def test_a_version_without_an_id_of_its_own_has_that_of_its_directory(root: Path) -> None:
    (root / f"archive/{A}").mkdir(parents=True)
    (root / f"archive/{A}/5.md").write_text("Just words.\n")
    listed = store(root).read(A, archived=True).unwrap().listed
    assert (listed.meta.id, listed.provisional_id) == (A, False)


def test_a_version_that_cannot_be_read_is_reported_and_the_one_before_it_shown(root: Path) -> None:
    (root / f"archive/{A}").mkdir(parents=True)
    (root / f"archive/{A}/5.md").write_text(note(A))
    (root / f"archive/{A}/6.md").write_text(note(B))
    listing = store(root).list(archived=True).unwrap()
    assert [each.path for each in listing.entries] == [f"archive/{A}/5.md"]
    assert listing.unreadable == (UnreadableFile(f"archive/{A}/6.md", (f"it lies under {A} but says that it is {B}",)),)


# -- what is kept of it: see `test_living_looks` and `test_index_files`, too ---------------------------------------------


def test_a_listing_holds_no_body_p25(root: Path, topics: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_database, "_BATCH_CHARS", 1)
    body = "A long body. " * 5_000
    for number in range(50):
        id = f"id__{number:06}".translate(str.maketrans("0123456789", "abcdefghij"))
        (topics / f"note -- {id}.md").write_text(note(id) + body)
    store(root).list().unwrap()
    (root / ".cache/store.db").unlink()
    tracemalloc.start()
    try:
        listed = store(root).list().unwrap()
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(listed.entries) == 50
    assert len(body) < peak_bytes < 50 * len(body) / 2, peak_bytes / len(body)

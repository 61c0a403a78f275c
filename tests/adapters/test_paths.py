from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest
from returns.result import Failure, Success

from agent_memory.adapters.disk import paths
from agent_memory.adapters.disk.paths import is_plain_name, real_root
from agent_memory.errors import PathRefused, StoreIo
from agent_memory.results import as_result

inside, directory_inside = as_result(paths.path_in), as_result(paths.directory_in)
read_file = as_result(paths.read_image)
is_there, is_directory = as_result(paths.exists), as_result(paths.is_directory)


@pytest.mark.parametrize(
    "relative", ["topics/a.md", "archive/id__a1b2c3/12.md", "topics/ünï côde .md", "not/there/yet"]
)
def test_a_plain_path_is_inside(tmp_path: Path, relative: str) -> None:
    assert inside(str(tmp_path), relative) == Success(f"{tmp_path}/{relative}")


@pytest.mark.parametrize(
    "relative",
    [
        "../x.md",
        "topics/../../x",
        "/etc/passwd",
        "topics//x",
        "",
        ".",
        "topics/.",
        "a\x00b",
        "topics/\ud800",
        "x" * 256,
    ],
)
def test_what_is_no_plain_path_is_refused_p21(tmp_path: Path, relative: str) -> None:
    assert isinstance(inside(str(tmp_path), relative).failure(), PathRefused)


def test_a_link_on_the_way_is_refused_and_a_link_as_root_is_not_p21(tmp_path: Path) -> None:
    real, outside = tmp_path / "real", tmp_path / "outside"
    (real / "plain").mkdir(parents=True)
    outside.mkdir()
    (tmp_path / "root").symlink_to(real)
    (real / "link").symlink_to(outside)
    root = real_root(tmp_path / "root")
    assert inside(root, "plain/x.md") == Success(f"{real}/plain/x.md")
    assert isinstance(inside(root, "link/x.md").failure(), PathRefused)
    assert isinstance(directory_inside(root, "link").failure(), PathRefused)


def test_a_file_where_a_directory_belongs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "topics").write_text("x")
    assert inside(str(tmp_path), "topics/a.md") == Failure(PathRefused(f"{tmp_path}/topics", "it is not a directory"))
    assert inside(f"{tmp_path}/topics", "a.md") == Failure(PathRefused(f"{tmp_path}/topics", "it is not a directory"))


def test_reading_gives_bytes_or_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff\x00")
    image = read_file(f"{tmp_path}/a", 2).unwrap()
    assert image is not None
    assert (image.data, image.mtime_ns) == (b"\xff\x00", (tmp_path / "a").stat().st_mtime_ns)
    assert read_file(f"{tmp_path}/missing", 2) == Success(None)


def test_a_larger_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"123")
    assert isinstance(read_file(f"{tmp_path}/a", 2).failure(), PathRefused)


def test_special_files_are_refused_without_waiting_p21(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/etc/hostname")
    (tmp_path / "directory").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{tmp_path}/socket")
        reasons = {
            name: read_file(f"{tmp_path}/{name}", 99).failure() for name in ("fifo", "link", "directory", "socket")
        }
    assert all(isinstance(reason, PathRefused) for reason in reasons.values()), reasons
    assert isinstance(read_file("/dev/null", 99).failure(), PathRefused)


def test_a_read_error_is_not_a_missing_file_p6(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("x")

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    assert read_file(f"{tmp_path}/a", 9) == Failure(StoreIo(f"{tmp_path}/a", "open", "EACCES", "Permission denied"))


def test_plain_names() -> None:
    assert is_plain_name("a -- b.md")
    assert not any(map(is_plain_name, ["", ".", "..", "a/b", "\x00", "é" * 128]))


def test_whether_something_is_there_and_a_directory(tmp_path: Path) -> None:
    (tmp_path / "note.md").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "link").symlink_to(tmp_path)
    there = {
        name: is_there(f"{tmp_path}/{name}").unwrap() for name in ("note.md", "dangling", "loop", "no", "note.md/x")
    }
    assert there == {"note.md": True, "dangling": True, "loop": True, "no": False, "note.md/x": False}
    names = ("link", "note.md", "dangling", "loop", "note.md/x")
    assert [is_directory(f"{tmp_path}/{name}").unwrap() for name in names] == [True, False, False, False, False]


def test_what_cannot_be_looked_at_is_not_taken_for_missing_p6(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> os.stat_result:
        raise OSError(errno.EIO, "Input/output error", path)

    monkeypatch.setattr(os, "lstat", refuse)
    monkeypatch.setattr(os, "stat", refuse)
    found = [look(str(tmp_path)) for look in (is_there, is_directory)]
    monkeypatch.undo()
    assert found == [Failure(StoreIo(str(tmp_path), "look at", "EIO", "Input/output error"))] * 2

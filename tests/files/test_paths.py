"""Paths, files and directories under the root: what cannot be looked at is never taken for missing (P6)."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest
from returns.result import Failure, Success

from agent_memory.errors import PathRefused, StoreIo
from agent_memory.files import paths
from agent_memory.files.paths import real_root
from agent_memory.files.root import default_root, home_of, root_and_doubt, storage_root
from agent_memory.results import as_result
from agent_memory.setup.config_files import load_config
from faults import each_failure, failing_at, failing_on

inside, directory_inside = as_result(paths.path_in), as_result(paths.directory_in)
read_file = as_result(paths.read_image)
is_there, is_directory = as_result(paths.exists), as_result(paths.is_directory)


@pytest.mark.parametrize(
    "relative",
    [
        "../x.md", "topics/../../x", "/etc/passwd", "topics//x", "", ".", "topics/.", "a\x00b", "topics/\ud800",
        "x" * 256,
    ],
)  # fmt: skip
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


listed_names, names_inside = as_result(paths.names_in), as_result(paths.names_below)
directories_in, files_below = as_result(paths.subdirectories), as_result(paths.files_below)


# -- directories


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name in ("b.json", "a.json", "c.md"):
        (tmp_path / "there" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "there" / name).touch()
    return tmp_path / "there"


def test_one_that_cannot_be_listed_is_not_taken_for_an_empty_one_p6(directory: Path) -> None:
    with failing_at(1, errno.EMFILE, once=True) as counter:
        listed = listed_names(str(directory))
    assert counter.struck
    error = listed.failure()
    assert isinstance(error, StoreIo)
    assert (error.operation, error.errno_name, error.path) == ("list", "EMFILE", str(directory))
    assert isinstance(listed_names(f"{directory}/a.json").failure(), StoreIo)


def test_no_link_leads_out_of_the_root_p21(directory: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "out").symlink_to(directory)
    assert isinstance(names_inside(str(root), "out").failure(), PathRefused)
    assert names_inside(str(tmp_path), "there") == Success(("a.json", "b.json", "c.md"))


def test_directories_and_files_links_left_out(tmp_path: Path) -> None:
    (tmp_path / "b" / "deep").mkdir(parents=True)
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "b")
    for name in ("b/deep/one.json", "b/two.json", "three.json"):
        (tmp_path / name).touch()
    assert directories_in(str(tmp_path)) == Success(("a", "b"))
    assert sorted(files_below(str(tmp_path)).unwrap()) == [
        f"{tmp_path}/{name}" for name in ("b/deep/one.json", "b/two.json", "three.json")
    ]
    for nowhere in (directories_in, files_below):
        assert nowhere(f"{tmp_path}/none") == Success(())


def test_a_directory_that_cannot_be_listed_is_an_error_wherever_it_is(tmp_path: Path) -> None:
    (tmp_path / "b" / "deep").mkdir(parents=True)
    (tmp_path / "b" / "deep" / "one.json").touch()
    with failing_at(1, errno.EACCES, once=True):
        assert isinstance(directories_in(str(tmp_path)).failure(), StoreIo)
    whole, refused = files_below(str(tmp_path)), 0
    for _, failing in each_failure(errno.EACCES):
        with failing:
            found = files_below(str(tmp_path))
        refused += found != whole
        assert found == whole or isinstance(found.failure(), StoreIo)
    assert refused >= 3


# -- where the root is -------------------------------------------------------------------------------------------------


def test_the_commonplace_is_used_where_it_exists(home: Path) -> None:
    environ = {"HOME": str(home), "XDG_DATA_HOME": "/data"}
    assert default_root(environ) == "/data/agent-memory"
    (home / "commonplace").mkdir()
    assert default_root(environ) == f"{home}/commonplace/01_files/_utilities/agent-memories"


def test_the_data_directory_is_not_taken_for_a_commonplace_that_cannot_be_looked_at_p6(home: Path) -> None:
    environ = {"HOME": str(home)}
    (home / "commonplace").mkdir()
    with failing_on("/commonplace", "stat"):
        with pytest.raises(OSError, match="Input/output error"):
            default_root(environ)
        unread = StoreIo(f"{home}/commonplace", "look at", "EIO", "Input/output error")
        assert load_config(environ, None) == Failure(unread)
        root, doubt = root_and_doubt(environ)
    # A hook keeps what it was given all the same, and tells.
    assert (root, doubt) == (
        f"{home}/.local/share/agent-memory",
        f"{home}/commonplace cannot be looked at: Input/output error",
    )


def test_a_relative_variable_counts_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert storage_root({"HOME": "/home/me", "AGENT_MEMORY_ROOT": "m"}) == f"{tmp_path}/m"
    assert storage_root({"HOME": "/home/me"}, "m") == "/home/me/m"


def test_the_password_database_knows_a_home_where_the_environment_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry:
        pw_dir = "/home/from-database"

    monkeypatch.setattr("pwd.getpwuid", lambda _: Entry)
    assert home_of({}) == home_of({"HOME": ""}) == home_of({"HOME": "relative"}) == "/home/from-database"
    assert home_of({"HOME": "/x"}) == "/x"


def test_where_no_home_is_named_it_is_that_of_a_container(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert (home_of({}), storage_root({}, "~/x"), storage_root({}, "x")) == ("/", "/x", "/x")

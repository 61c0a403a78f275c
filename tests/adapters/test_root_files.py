"""Files under the root: read, put, dropped, listed. What cannot be looked at is never taken for missing (P6)."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from attrs import frozen
from returns.result import Failure, Success

from agent_memory.adapters.disk import paths
from agent_memory.adapters.disk.paths import JsonFile
from agent_memory.errors import PathRefused, StateCorrupt, StoreIo
from agent_memory.formats.json_codec import Format
from agent_memory.results import as_result
from faults import failing_at, failing_on

listed_names, names_inside = as_result(paths.names_in), as_result(paths.names_below)
directories_in, files_below = as_result(paths.subdirectories), as_result(paths.files_below)


@frozen
class Lamp:
    colour: str


@pytest.fixture
def lamp(tmp_path: Path) -> JsonFile[Lamp]:
    return JsonFile(tmp_path, "state/lamp.json", Format(Lamp))


def test_a_json_file_holds_what_was_written_until_it_is_removed(lamp: JsonFile[Lamp], tmp_path: Path) -> None:
    assert lamp.read() is None
    for colour in ("red", "half of it: \ud800"):
        lamp.write(Lamp(colour))
        assert lamp.read() == Lamp(colour)
    assert (tmp_path / "state/lamp.json").stat().st_mode & 0o777 == 0o600
    lamp.remove()
    lamp.remove()
    assert lamp.read() is None


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 1}', '{"version": 2, "colour": "red"}'])
def test_a_damaged_json_file_is_never_a_missing_one_p6(lamp: JsonFile[Lamp], tmp_path: Path, content: str) -> None:
    lamp.write(Lamp("red"))
    (tmp_path / "state/lamp.json").write_text(content)
    with pytest.raises(StateCorrupt) as refused:
        lamp.read()
    assert refused.value.path == f"{tmp_path}/state/lamp.json"


def test_a_json_file_that_cannot_be_read_or_is_a_link_is_an_error_p6_p21(lamp: JsonFile[Lamp], tmp_path: Path) -> None:
    lamp.write(Lamp("red"))
    with failing_on("lamp.json", "open"), pytest.raises(StoreIo):
        lamp.read()
    (tmp_path / "state/lamp.json").rename(tmp_path / "elsewhere")
    (tmp_path / "state/lamp.json").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PathRefused):
        lamp.read()


def test_a_full_disk_is_an_error_and_the_earlier_value_stays_private_p5_p22(
    lamp: JsonFile[Lamp], tmp_path: Path
) -> None:
    umask = os.umask(0)
    try:
        lamp.write(Lamp("red"))
        for k in range(1, 20):
            with failing_at(k, errno.ENOSPC, once=True) as counter:
                refused = as_result(lamp.write)(Lamp("green"))
            assert lamp.read() in ((Lamp("red"), Lamp("green")) if counter.struck else (Lamp("green"),))
            if not counter.struck:
                break
            assert not isinstance(refused, Failure) or isinstance(refused.failure(), StoreIo)
    finally:
        os.umask(umask)
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["lamp.json"]
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "state/lamp.json").stat().st_mode & 0o777 == 0o600


# -- directories


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name in ("b.json", "a.json", "c.md"):
        (tmp_path / "there" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "there" / name).touch()
    return tmp_path / "there"


def test_the_names_that_are_wanted_come_in_order(directory: Path) -> None:
    assert listed_names(str(directory)) == Success(("a.json", "b.json", "c.md"))
    assert listed_names(str(directory), lambda name: name.endswith(".json")) == Success(("a.json", "b.json"))


def test_a_directory_that_is_not_there_holds_nothing(directory: Path) -> None:
    assert listed_names(f"{directory}/not") == Success(())
    assert names_inside(str(directory), "not") == Success(())


def test_one_that_cannot_be_listed_is_not_taken_for_an_empty_one(directory: Path) -> None:
    """P6."""
    with failing_at(1, errno.EMFILE, once=True) as counter:
        listed = listed_names(str(directory))
    assert counter.struck
    error = listed.failure()
    assert isinstance(error, StoreIo)
    assert (error.operation, error.errno_name, error.path) == ("list", "EMFILE", str(directory))
    assert isinstance(listed_names(f"{directory}/a.json").failure(), StoreIo)


def test_no_link_leads_out_of_the_root(directory: Path, tmp_path: Path) -> None:
    """P21."""
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
    for k in range(1, 50):
        with failing_at(k, errno.EACCES, once=True) as counter:
            found = files_below(str(tmp_path))
        if not counter.struck:
            break
        refused += found != whole
        assert found == whole or isinstance(found.failure(), StoreIo)
    assert refused >= 3

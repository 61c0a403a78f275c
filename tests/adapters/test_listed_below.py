"""Directories and files below a directory: what cannot be listed is never passed over (P6)."""

from __future__ import annotations

import errno
from pathlib import Path

from returns.result import Success

from agent_memory.adapters.disk.root_files import directories_in, files_below
from agent_memory.errors import StoreIo
from faults import failing_at


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

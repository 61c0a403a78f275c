from __future__ import annotations

import errno
from pathlib import Path

import pytest
from returns.result import Success

from agent_memory.adapters.disk.root_files import listed_names, names_inside
from agent_memory.errors import PathRefused, StoreIo
from faults import failing_at


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

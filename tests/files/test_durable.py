"""Each call of a write fails once: the file holds its old or its new bytes, and nothing lies about (P2, P5)."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_memory.files.durable import claim_abandoned, close_quietly, create_file, replace_file
from faults import failing_on

WRITES: dict[str, Callable[[str], None]] = {
    "create": lambda path: create_file(path, b"new"),
    "replace": lambda path: replace_file(path, b"new"),
    "replace loosely": lambda path: replace_file(path, b"new", is_durable=False),
}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("call", ["open", "fchmod", "write", "fsync", "close", "link", "replace"])
@pytest.mark.parametrize("name", WRITES)
def test_a_failed_write_leaves_the_old_bytes_or_the_new_and_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, call: str, number: int
) -> None:
    path = tmp_path / "a"
    if name != "create":
        path.write_bytes(b"old")
    real, made = getattr(os, call), list[str]()

    def failing(*arguments: Any, **more: Any) -> Any:
        made.append(call)
        if len(made) == 1:
            raise OSError(number, os.strerror(number))
        return real(*arguments, **more)

    monkeypatch.setattr(os, call, failing)
    outcome = _written(name, path)
    monkeypatch.undo()
    # Without a hard link a new file is renamed.
    assert outcome in ((number,) if made and (name, call) != ("create", "link") else (None,))
    assert [each for each in os.listdir(tmp_path) if each != "a"] == []
    if path.exists() or name != "create":
        assert path.read_bytes() in (b"old", b"new")


def _written(name: str, path: Path) -> int | None:
    """The number of the error, None where there was none."""
    try:
        WRITES[name](str(path))
    except OSError as error:
        return error.errno
    return None


def test_a_name_that_is_taken_is_left_alone_and_nothing_lies_about(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(FileExistsError):
        create_file(str(path), b"new")
    assert (os.listdir(tmp_path), path.read_bytes()) == (["a"], b"old")


def test_without_hard_links_a_taken_name_is_left_alone_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    create_file(f"{tmp_path}/b", b"new")
    with pytest.raises(FileExistsError):
        create_file(f"{tmp_path}/b", b"newer")
    assert (os.listdir(tmp_path), (tmp_path / "b").read_bytes()) == (["b"], b"new")


def test_nor_where_nobody_can_tell_whether_it_is_taken_p6(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "link", refuse)
    with failing_on("/a", "lstat"), pytest.raises(OSError, match="Input/output error"):
        create_file(str(path), b"new")
    assert (os.listdir(tmp_path), path.read_bytes()) == (["a"], b"old")


_WRITER = """
import os
import sys
from agent_memory.files.durable import replace_file

write, begun = os.write, []


def waiting(descriptor, data):
    if begun:
        print(flush=True)
        sys.stdin.read()
        return write(descriptor, data)
    begun.append(descriptor)
    return write(descriptor, data[:4])


os.write = waiting
replace_file(sys.argv[1], b"half and half")
"""


@pytest.mark.parametrize("is_killed", [True, False])
def test_a_temporary_file_is_abandoned_once_its_writer_is_gone_p5(tmp_path: Path, is_killed: bool) -> None:
    path = tmp_path / "a"
    words = [sys.executable, "-c", _WRITER, str(path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"\n"
        (half,) = tmp_path.glob(".tmp-*")
        assert claim_abandoned(str(half)) is None
        if is_killed:
            process.kill()
        process.communicate()
    if is_killed:
        descriptor = claim_abandoned(str(half))
        assert descriptor is not None
        close_quietly(descriptor)
        assert not path.exists()
    else:
        assert path.read_bytes() == b"half and half"
        assert not half.exists()


@pytest.mark.parametrize("name", WRITES)
def test_a_writer_whose_new_file_was_taken_for_abandoned_makes_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    real, removed = os.lockf, list[str]()

    def late(*arguments: Any) -> None:
        if not removed:
            (half,) = tmp_path.glob(".tmp-*")
            half.unlink()
            removed.append(half.name)
        real(*arguments)

    monkeypatch.setattr(os, "lockf", late)
    assert _written(name, tmp_path / "a") is None
    assert removed
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("name", WRITES)
def test_a_file_system_without_locks_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def refused(*_: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(os, "lockf", refused)
    assert _written(name, tmp_path / "a") is None
    assert os.listdir(tmp_path) == ["a"]

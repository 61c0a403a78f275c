"""A file that was only read has been read, whatever the system says when it is closed (P5)."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from agent_memory.adapters.disk.durable import close_quietly
from agent_memory.adapters.surroundings.repository import read_repository


def test_what_was_only_read_is_closed_without_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = tmp_path / "lamp" / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text('[remote "origin"]\n\turl = https://github.com/ada/lamp.git\n')
    straight = read_repository(str(git.parent), {}, str(tmp_path))
    closed = []
    close = os.close

    def refused(descriptor: int) -> None:
        close(descriptor)
        closed.append(descriptor)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patched:
        patched.setattr(os, "close", refused)
        close_quietly(os.open(git / "HEAD", os.O_RDONLY))
        again = read_repository(str(git.parent), {}, str(tmp_path))
    assert (again.scope, again.branch) == (straight.scope, straight.branch) == ("github.com/ada/lamp", "main")
    assert len(closed) > 1

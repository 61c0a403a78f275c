"""Which remote is the store's, as git's own configuration of the repository has it."""

from __future__ import annotations

import os
import shlex

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import make_directories, replace_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.adapters.git.git_repository import GitRepository
from agent_memory.adapters.syncing.remote import Remote, checked_address, shown_address
from agent_memory.errors import Error, SyncRefused

_FIRST = "origin"
_DRIVER = "agent-memory"
_MERGED = ("topics/*.md", "archive/*.md", "state/**/*.json", "state/*.json", "usage/*.jsonl")


@frozen
class RemoteChoice:
    git: GitProcess
    program: str | None = None
    """Of `memory`, absolute: what git is to call to merge notes; None where it is not known."""

    def chosen(self, address: str | None) -> Result[Remote, Error]:
        """The remote that a person names, else `origin`, else the only one. SyncRefused where there is none."""
        return self._names().bind(lambda names: self._of(address, names))

    def _of(self, address: str | None, names: tuple[str, ...]) -> Result[Remote, Error]:
        if address is not None and address not in names:
            return checked_address(address).map(lambda good: Remote(self.git, good, shown_address(good)))
        name = address or (_FIRST if _FIRST in names else names[0] if len(names) == 1 else None)
        if name is None:
            many = f"it has several ({', '.join(names[:5])})" if names else "it has none"
            return Failure(SyncRefused(f"the store has no remote that could be meant: {many}", _HOW))
        asked = self.git.must("remote", "get-url", name)
        return asked.map(lambda url: Remote(self.git, name, shown_address(os.fsdecode(url).strip())))

    def keep(self, address: str, branch: str) -> Result[None, Error]:
        """From now on this is the store's remote, and git knows how to merge notes when a person pulls by hand."""

        def kept(names: tuple[str, ...]) -> Result[None, Error]:
            if address in names:
                return Success(None)
            words = ("set-url", _FIRST, address) if _FIRST in names else ("add", _FIRST, address)
            return self.git.must("remote", *words).bind(lambda _: self._followed(branch))

        return self._names().bind(kept).bind(lambda _: self._with_driver())

    def _followed(self, branch: str) -> Result[None, Error]:
        return (
            self.git.must("config", f"branch.{branch}.remote", _FIRST)
            .bind(lambda _: self.git.must("config", f"branch.{branch}.merge", f"refs/heads/{branch}"))
            .map(lambda _: None)
        )

    def _names(self) -> Result[tuple[str, ...], Error]:
        return self.git.must("remote").map(lambda listed: tuple(os.fsdecode(listed).splitlines()))

    def _with_driver(self) -> Result[None, Error]:
        """Which merge driver is for which files is in `info/attributes`, which no clone or commit brings along."""
        if self.program is None:
            return Success(None)
        program = f"{shlex.quote(self.program)} merge-driver"
        return (
            self.git.must("config", f"merge.{_DRIVER}.name", "agent-memory: notes field by field")
            .bind(lambda _: self.git.must("config", f"merge.{_DRIVER}.driver", f"{program} %O %A %B %P"))
            .bind(lambda _: GitRepository(self.git, lambda: 0.0, lambda _: None).directory())
            .bind(lambda directory: _with_attributes(str(directory / "info")))
        )


def _with_attributes(directory: str) -> Result[None, Error]:
    path = f"{directory}/attributes"
    try:
        text = _text_of(path)
        there = text.splitlines()
        missing = [line for each in _MERGED if (line := f"{each} merge={_DRIVER}") not in there]
        if missing:
            make_directories(directory)
            start = text if not text or text.endswith("\n") else f"{text}\n"
            lines = start + "".join(f"{line}\n" for line in missing)
            replace_file(path, lines.encode("utf-8", "surrogateescape"))
    except OSError as error:
        return Failure(store_io(error, "write", path))
    return Success(None)


def _text_of(path: str) -> str:
    """The file's; empty where there is none. Raises OSError: what a person wrote there is never taken for nothing (P6)."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read()
    except FileNotFoundError:
        return ""


_HOW = "Name one with `memory sync --remote URL`; an empty repository that only you can read will do."

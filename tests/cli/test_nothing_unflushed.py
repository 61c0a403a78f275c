"""What a command acknowledged would survive a power cut, by the calls it made: `make promises` really cuts (P1, P2, P3)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

from agent_memory.capture.hook import capture_hook
from agent_memory.cli.main import main
from agent_memory.files.durable import create_file, replace_file
from hook_calls import inbox_of, payload

Inode = tuple[int, int]


@define
class WatchedDisk:
    """The changes since it was watched, by path."""

    unwritten: dict[Inode, str] = field(factory=dict)
    """Files whose bytes are only in memory."""
    unnamed: dict[str, str] = field(factory=dict)
    """Names that are only in memory, each with the directory that keeps it."""
    named_too_early: list[str] = field(factory=list)
    """Names that were given to files whose bytes were not durable yet: a power cut would leave them empty (xfs)."""

    written: set[str] = field(factory=set)
    """Files that were written to, by the name that they had then."""
    removed: list[tuple[str, frozenset[str]]] = field(factory=list)
    """What was unlinked, and what of the disk was only in memory then."""

    def unflushed(self, root: str | os.PathLike[str]) -> set[str]:
        """Paths relative to the root, of what is there and would not be, or not whole, after a power cut now."""
        top = os.path.realpath(root)
        there = {path for path in self.unnamed if os.path.lexists(path)}
        there |= {path for inode, path in _paths_by_inode(top).items() if inode in self.unwritten}
        return {os.path.relpath(path, top) for path in there if path.startswith(f"{top}/")}

    def flush(self, descriptor: int) -> None:
        path = _path_of(descriptor)
        self.unwritten.pop(_inode(os.fstat(descriptor)), None)
        self.unnamed = {name: directory for name, directory in self.unnamed.items() if directory != path}

    def write(self, descriptor: int) -> None:
        path = _path_of(descriptor)
        self.unwritten[_inode(os.fstat(descriptor))] = path
        self.written.add(path)

    def remove(self, path: str) -> None:
        self.removed.append((path, frozenset((*self.unnamed, *self.unwritten.values()))))

    def name(self, source: str | None, target: str) -> None:
        """The target is a new name, of the source's file where one is given."""
        if source is not None and _inode(os.stat(source, follow_symlinks=False)) in self.unwritten:
            self.named_too_early.append(target)
        directory = os.path.realpath(os.path.dirname(target) or ".")
        self.unnamed[f"{directory}/{os.path.basename(target)}"] = directory


@contextmanager
def watched_disk() -> Iterator[WatchedDisk]:
    """Watch what this process does."""
    disk = WatchedDisk()
    real: dict[str, Callable[..., Any]] = {
        name: getattr(os, name) for name in ("open", "write", "fsync", "replace", "rename", "link", "mkdir", "unlink")
    }

    def opened(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        is_new = bool(flags & os.O_CREAT) and more.get("dir_fd") is None and not os.path.lexists(path)
        descriptor: int = real["open"](path, flags, *rest, **more)
        if is_new:
            disk.name(None, os.fspath(path))
        return descriptor

    def written(descriptor: int, data: Any) -> int:
        if _path_of(descriptor).startswith("/"):
            disk.write(descriptor)
        count: int = real["write"](descriptor, data)
        return count

    def made(path: Any, *rest: Any, **more: Any) -> None:
        real["mkdir"](path, *rest, **more)
        disk.name(None, os.fspath(path))

    def unlinked(path: Any, **more: Any) -> None:
        disk.remove(os.fspath(path))
        real["unlink"](path, **more)

    def renamed(name: str) -> Callable[..., None]:
        def call(source: Any, target: Any, **more: Any) -> None:
            disk.name(os.fspath(source), os.fspath(target))
            real[name](source, target, **more)

        return call

    watched = {"open": opened, "write": written, "fsync": disk.flush, "mkdir": made, "unlink": unlinked}
    watched |= {name: renamed(name) for name in ("replace", "rename", "link")}
    try:
        for name, function in watched.items():
            setattr(os, name, function)
        yield disk
    finally:
        for name, function in real.items():
            setattr(os, name, function)


def _inode(status: os.stat_result) -> Inode:
    return status.st_dev, status.st_ino


def _path_of(descriptor: int) -> str:
    return os.path.realpath(f"/proc/self/fd/{descriptor}")


def _paths_by_inode(top: str) -> dict[Inode, str]:
    paths = [f"{parent}/{name}" for parent, _, names in os.walk(top) for name in names]
    return {_inode(os.lstat(path)): path for path in paths}


DERIVED = re.compile(
    r"memories/(?:\.cache(?:/|$)|\.git/|usage/[^/]*\.jsonl$|runs/deliveries(?:/|$))|\.local/state/agent-memory/[0-9a-f]+\.(?:run|write)\.lock$"
    r"|\.local/state/agent-memory/sections/written$"
)
"""What may be missing after a power cut: what is made anew, the last reads, locks, which no process holds then, and which sections
were written here: without it one more copy of a section is kept."""


def lost(disk: WatchedDisk, home: Path) -> set[str]:
    return {path for path in disk.unflushed(home) if not DERIVED.match(path)}


def too_early(disk: WatchedDisk, home: Path) -> list[str]:
    relative = (os.path.relpath(path, home) for path in disk.named_too_early)
    return [path for path in relative if not DERIVED.match(path)]


@pytest.fixture
def store(home: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root beside a file that holds a managed section."""
    config = home / ".config" / "agent-memory" / "config.json"
    config.parent.mkdir(parents=True)
    (home / "AGENTS.md").write_text("# Mine\n")
    config.write_text(json.dumps({"agentsMd": {"targets": [str(home / "AGENTS.md")]}}))
    monkeypatch.chdir(home)
    return root


def ran(*words: str) -> WatchedDisk:
    with watched_disk() as disk:
        assert main(list(words)) == 0, words
    return disk


def id_in(root: Path) -> str:
    (note,) = (root / "topics").glob("*.md")
    return note.stem.split()[-1]


class TestWhatEachWriteIsMadeOf:
    def test_the_temporary_file_is_in_the_same_directory(self, tmp_path: Path) -> None:
        """P1: a rename from elsewhere may be a copy."""
        with watched_disk() as disk:
            create_file(f"{tmp_path}/a", b"A")
            replace_file(f"{tmp_path}/a", b"B")
        assert {os.path.dirname(path) for path in disk.written} == {str(tmp_path)}

    def test_what_is_only_written_would_be_lost(self, tmp_path: Path) -> None:
        """The control."""
        with watched_disk() as disk:
            descriptor = os.open(f"{tmp_path}/a", os.O_WRONLY | os.O_CREAT)
            os.write(descriptor, b"A")
            os.close(descriptor)
            os.replace(f"{tmp_path}/a", f"{tmp_path}/b")
        assert (disk.unflushed(tmp_path), disk.named_too_early) == ({"b"}, [f"{tmp_path}/b"])


class TestACapture:
    def test_by_a_hook_p1(self, home: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        asked, told = os.pipe()
        os.write(told, payload())
        os.close(told)
        kept = os.dup(0)
        os.dup2(asked, 0)
        try:
            with watched_disk() as disk:
                capture_hook(["--harness", "claude-code", "--hook"], os.environ)
        finally:
            os.dup2(kept, 0)
            for each in (asked, kept):
                os.close(each)
        assert len(inbox_of(root)) == 1
        assert (lost(disk, home), disk.named_too_early) == (set(), [])

    def test_of_a_note_and_of_a_file_p1(self, home: Path, store: Path) -> None:
        (home / "words.txt").write_text("Deploys run from main only.")
        for words in (("--title", "Deploys", "--body", "They run from main only."), ("--file", "words.txt")):
            disk = ran("capture", *words)
            assert (lost(disk, home), too_early(disk, home)) == (set(), [])
        assert len(inbox_of(store)) == 2


class TestACommandThatEndedWell:
    def test_leaves_nothing_that_a_power_cut_would_take(self, home: Path, store: Path) -> None:
        """P2: each of those that write notes, one after the other on one store."""
        ran("remember", "The api listens on 8080.")
        id = id_in(store)
        for words in (
            ("remember", "The lock keeper lives at 4, Canal Row.", "--kind", "preference", "--importance", "critical"),
            ("edit", id, "--body", "The api listens on 9090."),
            ("pin", id),
            ("unpin", id),
            ("read", id),
            ("promote", id),
            ("archive", id),
            ("restore", id),
            ("state", "set", "phase", "1"),
            ("tags", "accept", "deploy"),
            ("defrag",),
            ("undo",),
            ("generate-agents-md",),
            ("doctor", "--fix"),
            ("forget", id, "--yes", "--purge"),
        ):
            disk = ran(*words)
            assert (lost(disk, home), too_early(disk, home)) == (set(), []), words

    def test_an_entry_leaves_the_inbox_once_its_results_are_durable_p3(self, home: Path, store: Path) -> None:
        ran("capture", "--title", "Deploys", "--body", "They run from main only.")
        (entry,) = (store / "inbox").glob("*.json")
        disk = ran("consolidate")
        assert (lost(disk, home), too_early(disk, home)) == (set(), [])
        (pending,) = [in_memory for path, in_memory in disk.removed if path == str(entry)]
        assert {
            os.path.relpath(path, home) for path in pending if not DERIVED.match(os.path.relpath(path, home))
        } == set()
        assert id_in(store)

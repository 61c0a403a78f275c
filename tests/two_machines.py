"""Two machines and a bare remote between them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from memory_process import Memory


@frozen
class TwoMachines:
    one: Memory
    other: Memory
    remote: Path

    def joined(self) -> TwoMachines:
        """Both have the remote, and all that is there."""
        for machine in (self.one, self.other, self.one):
            synced(machine, "--remote", str(self.remote))
        return self

    def settled(self) -> dict[str, str]:
        """What both hold after as many syncs as it takes; asserts that it is the same, and that git finds nothing wrong."""
        for machine in (self.one, self.other, self.one):
            if not self._agree():
                synced(machine)
        assert self._agree()
        assert self.one.snapshot() == self.other.snapshot()
        for machine in (self.one, self.other):
            machine.git("fsck", "--no-progress", "--no-dangling")
        return self.one.snapshot()

    def _agree(self) -> bool:
        """Whether all is recorded and synced."""
        is_recorded = not any(machine.git("status", "--porcelain") for machine in (self.one, self.other))
        return is_recorded and self.remote_head() == head(self.one) == head(self.other)

    def remote_head(self) -> str:
        return in_git(self.remote, "rev-parse", "main").strip()

    def remote_holds(self, text: str) -> bool:
        """Whether any object of the remote that is reachable holds a text."""
        return holds(self.remote, text)


def two_machines(directory: Path, one: Memory | None = None) -> TwoMachines:
    """Two homes without a store (or one of them as it is), and an empty remote."""
    machines = [one or Memory(directory / "one"), Memory(directory / "other")]
    for machine in machines:
        machine.home.mkdir(exist_ok=True)
    remote = directory / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(remote)], check=True)
    return TwoMachines(machines[0], machines[1], remote)


def joined_machines(
    notes: tuple[tuple[str, str], ...], directory: Path, elsewhere: pytest.TempPathFactory
) -> tuple[TwoMachines, tuple[str, ...]]:
    """Two machines that have the same notes (title and text), and the ids of those. Made once a process, and copied."""
    if notes not in _made:
        first = two_machines(elsewhere.mktemp("joined"))
        ids = tuple(first.one.remembered(text, "--title", title) for title, text in notes)
        _made[notes] = first.joined(), ids
    first, ids = _made[notes]
    return _copied(first, directory), ids


_made: dict[tuple[tuple[str, str], ...], tuple[TwoMachines, tuple[str, ...]]] = {}


def _copied(machines: TwoMachines, directory: Path) -> TwoMachines:
    remote = directory / machines.remote.name
    shutil.copytree(machines.remote, remote)
    one, other = (
        Memory(Path(shutil.copytree(each.home, directory / each.home.name))) for each in (machines.one, machines.other)
    )
    for copy in (one, other):
        copy.git("remote", "set-url", "origin", str(remote))
    return TwoMachines(one, other, remote)


def synced(machine: Memory, *words: str) -> Any:
    """The document of a sync that went well."""
    done = machine("sync", "--json", *words)
    assert (done.code, done.err) == (0, ""), done
    return done.document


def edited(machine: Memory, id: str, change: Callable[[str], str]) -> None:
    """Change the file of a live note by hand."""
    path = file_of(machine, id)
    path.write_text(change(path.read_text()))


def file_of(machine: Memory, id: str) -> Path:
    return next((machine.root / "topics").glob(f"*{id}.md"))


def head(machine: Memory) -> str:
    return machine.git("rev-parse", "HEAD").strip()


def clean(machine: Memory) -> bool:
    """Whether git finds the repository whole, and everything recorded."""
    machine.git("fsck", "--no-progress", "--no-dangling")
    return machine.git("status", "--porcelain") == ""


def in_git(directory: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(directory), *words], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def holds(directory: Path, text: str) -> bool:
    """Whether anything that refs of a repository lead to holds a text, commit messages included."""
    listed = in_git(directory, "rev-list", "--objects", "--all").splitlines()
    ids = "".join(f"{line.split()[0]}\n" for line in listed)
    return text.encode() in _objects(directory, "--batch", asked=ids.encode())


def holds_in_any_object(directory: Path, text: str) -> bool:
    """Whether any object of a repository holds a text, also one that no ref leads to any more."""
    return text.encode() in _objects(directory, "--batch", "--batch-all-objects")


def _objects(directory: Path, *words: str, asked: bytes = b"") -> bytes:
    command = ["git", "-C", str(directory), "cat-file", *words]
    return subprocess.run(command, input=asked, capture_output=True, check=True).stdout

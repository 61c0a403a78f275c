"""The power goes at each call that changes the disk, on ext4 and xfs: what was acknowledged is there, nothing is torn, and
the next call gives what no cut would have given (P1, P2, P3)."""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import define, field

from conservation import violations
from disk_faults import KILL, NONE, Fault, calls_of, preloaded_library, struck
from fault_sweep import CHANGING, LITTER, MOST_SHOWN, kind_of, moments
from faults import snapshot
from memory_process import Done, Memory
from swept_calls import SCENES
from swept_scenes import Scene, busy_home

MAKERS = {"ext4": ("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0"), "xfs": ("mkfs.xfs", "-q", "-f")}
SIZES = {"ext4": "96M", "xfs": "320M"}
FS_IOC_SHUTDOWN = 0x8004587D
NO_LOG_FLUSH = 2
"""Not even the journal is written: `FS_SHUTDOWN_FLAGS_NOLOGFLUSH` of Linux' `fs.h`."""
TRIES = 50


def run(*words: str | Path) -> None:
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


@define
class LoopDisk:
    """One file system, mounted at `place` or not; `keep` takes a picture of it, `restore` goes back to that."""

    kind: str
    directory: Path

    @property
    def place(self) -> Path:
        return self.directory / "mounted"

    @property
    def _image(self) -> Path:
        return self.directory / "disk.img"

    @property
    def _kept(self) -> Path:
        return self.directory / "kept.img"

    @staticmethod
    def new(kind: str, directory: Path) -> LoopDisk:
        """An empty one, mounted. The test is skipped, with the reason, where that cannot be."""
        maker = shutil.which(MAKERS[kind][0])
        if not sys.platform.startswith("linux") or os.geteuid() or maker is None:
            pytest.skip(f"power is cut on a {kind} in a loop device: that takes Linux, root and {MAKERS[kind][0]}")
        disk = LoopDisk(kind, directory)
        disk.place.mkdir(parents=True)
        run("truncate", "-s", SIZES[kind], disk._image)
        run(maker, *MAKERS[kind][1:], disk._image)
        try:
            disk.mount()
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no {kind} can be mounted here: {error.stderr.decode().strip()}")
        return disk

    def mount(self) -> None:
        """As after switching on: the journal is played back."""
        run("mount", "-o", "loop", self._image, self.place)

    def unmount(self) -> None:
        """Also of a disk whose power was cut. Whoever still runs on it is waited for."""
        for _ in range(TRIES):
            if subprocess.run(["umount", str(self.place)], capture_output=True, check=False).returncode == 0:
                return
            time.sleep(0.1)
        run("umount", "--lazy", self.place)

    def keep(self) -> None:
        """Everything is on the disk, and a picture of it kept. It is mounted before and afterwards."""
        self.unmount()
        run("cp", "--sparse=always", self._image, self._kept)
        self.mount()

    def restore(self) -> None:
        """The disk of the picture, mounted."""
        self.unmount()
        run("cp", "--sparse=always", self._kept, self._image)
        self.mount()

    def cut_power(self) -> None:
        """What was not flushed is gone; the disk is mounted again."""
        descriptor = os.open(self.place, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(descriptor, FS_IOC_SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        finally:
            os.close(descriptor)
        self.unmount()
        self.mount()


pytestmark = pytest.mark.sweep

CUT = ("capture by a hook", "capture", "remember", "state set", "consolidate", "defrag", "undo", "search at first")
RESTED_SECONDS = 2.5
"""What was written a moment ago is not believed unread: the first call would make other disk calls than those that are cut."""


@pytest.fixture(scope="module", params=["ext4", "xfs"])
def disk(request: pytest.FixtureRequest) -> Iterator[LoopDisk]:
    """A disk of either kind with a home on it in which much has happened."""
    preloaded_library()
    memory_disk = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory_disk if memory_disk.is_dir() else None) as directory:
        disk = LoopDisk.new(request.param, Path(directory))
        try:
            busy_home(disk.place / "home")
            time.sleep(RESTED_SECONDS)
            disk.keep()
            yield disk
        finally:
            disk.unmount()


@pytest.fixture(scope="module")
def known(disk: LoopDisk) -> set[tuple[str, str]]:
    """The sorts of moments at which this disk lost its power before."""
    return set()


@define
class Cuts:
    """One scene, with the power cut at many a moment."""

    disk: LoopDisk
    scene: Scene
    known: set[tuple[str, str]] = field(factory=set)
    """The sorts of moments at which the power went before."""
    variables: dict[str, str] = field(factory=dict)
    outcomes: Counter[str] = field(factory=Counter)
    _before: object = field(init=False)
    _after: object = field(init=False)

    def complaints(self) -> list[str]:
        """What went wrong at each of the `moments` that change the disk, and after a call that ended well."""
        memory = self._fresh()
        self._before = self.scene.seen(memory)
        calls = calls_of(memory, self.scene)
        self._after = self.scene.seen(memory)
        changes = [at for at in moments(calls, self.known) if kind_of(calls[at - 1]).split()[0] in CHANGING]
        faults = [Fault(0, NONE), *(Fault(at, KILL) for at in changes)]
        return [f"{fault}, {calls[fault.at - 1]}: {wrong}" for fault in faults for wrong in self._wrong(fault)]

    def _fresh(self) -> Memory:
        self.disk.restore()
        memory = Memory(self.disk.place / "home")
        if self.scene.prepare is not None:
            self.scene.prepare(memory)
            os.sync()
        return memory

    def _wrong(self, fault: Fault) -> list[str]:
        memory = self._fresh()
        before = snapshot(memory.root)
        done = struck(memory, fault, self.scene, **self.variables)
        self.disk.cut_power()
        self.outcomes["acknowledged" if done.code == 0 else "killed"] += 1
        try:
            return [*self._after_the_cut(memory, done, before)]
        except (AssertionError, ValueError, OSError) as error:
            return [f"it cannot be understood any more: {error!r}"]

    def _after_the_cut(self, memory: Memory, done: Done, before: dict[str, bytes]) -> Iterator[str]:
        listed = memory("list", "--json")
        if listed.code or listed.document.get("unreadable"):
            yield f"list: {listed}"
        seen = self.scene.seen(memory)
        if done.code == 0 and seen != self._after:
            yield f"it was acknowledged, and is gone: {done}"
        if not self.scene.takes_away and (lost := violations(before, snapshot(memory.root))):
            yield f"lost: {lost}"
        if seen not in (
            self._before,
            self._after,
        ):  # between two steps: the next call goes on there, without a doctor (P3)
            again = self._again(memory)
            if again.code or self.scene.seen(memory) != self._after:
                yield f"neither as before nor as after, nor after the next call: {seen!r} {again}"
        fixed = memory("doctor", "--fix", "--json")
        if fixed.code not in (0, 1):
            yield f"doctor --fix: {fixed}"
        if litter := [str(path) for glob in LITTER for path in memory.root.glob(glob)]:
            yield f"left lying about: {litter}"
        if seen == self._before and self._before != self._after:
            again = self._again(memory)
            if again.code or self.scene.seen(memory) != self._after:
                yield f"another end the next time: {again}"

    def _again(self, memory: Memory) -> Done:
        return memory(*self.scene.words, data=self.scene.data(memory.home))


@pytest.mark.parametrize("name", CUT)
def test_a_power_cut_takes_nothing_that_was_acknowledged(
    disk: LoopDisk, known: set[tuple[str, str]], name: str, record_property: Callable[[str, object], None]
) -> None:
    cuts = Cuts(disk, SCENES[name], known)
    complaints = cuts.complaints()
    record_property(
        "figure",
        f"P1-P3 {name} on {disk.kind}: {cuts.outcomes.total()} power cuts, of these {cuts.outcomes['acknowledged']} "
        f"after success, {len(complaints)} complaints",
    )
    assert not complaints, "\n".join(each[:MOST_SHOWN] for each in complaints)


def test_without_fsync_a_power_cut_would_be_noticed(disk: LoopDisk) -> None:
    """The control: the same cuts, where fsync does nothing."""
    cuts = Cuts(disk, SCENES["capture by a hook"], variables={"DISK_SYNC": "lies"})
    assert any("it was acknowledged, and is gone" in each for each in cuts.complaints())

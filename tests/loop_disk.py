"""File systems in a file, whose power can be cut: what was not made durable is gone when they are mounted again.

Needs Linux, root, loop devices and the tools of the file system.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from attrs import define

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

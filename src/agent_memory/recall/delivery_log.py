"""The log of what was delivered: `runs/deliveries/log.jsonl`, and its predecessor once it is full. It belongs to this machine,
and git ignores it. Imports C modules only, since a hook uses it before every answer of every agent.

Whoever reads it in order to deliver holds the directory's lock until its own line is written, so that two hooks that are
told of one event do not both deliver. A damaged line is passed over; a lost log costs no more than a repetition.
"""

import fcntl
import os
import time

from agent_memory.files.durable import FILE_MODE, append_line, close_quietly, make_directories, make_room, read_loosely
from agent_memory.files.json_lite import json_object, scan_json
from agent_memory.recall.moment import Delivery, delivery_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

DELIVERIES = "runs/deliveries"
_LOG = "log.jsonl"
_PREVIOUS = "log.previous.jsonl"
MAX_BYTES = 512 * 1024
"""Of each of the two files; the older one is dropped when the newer one is full."""

LOCK_SECONDS = 1.0
_POLL_SECONDS = 0.01


class DeliveryLog:
    """The log of a real root. Every method may raise OSError."""

    def __init__(self, root: str) -> None:
        self._directory = f"{root}/{DELIVERIES}"
        self._descriptor: int | None = None

    def __enter__(self) -> "DeliveryLog":
        """Hold the lock; after a second without it go on all the same. It is let go with the process at the latest."""
        make_directories(self._directory)
        self._descriptor = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        deadline = time.monotonic() + LOCK_SECONDS
        while time.monotonic() < deadline:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_POLL_SECONDS)
            except OSError:  # a file system without locks
                break
            else:
                break
        return self

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            close_quietly(self._descriptor)
            self._descriptor = None

    def deliveries(self, mentioning: str = "") -> "Iterator[Delivery]":
        """Yields all that is known, oldest first, of lines that hold this text. What is not there, or damaged, is left out."""
        for name in (_PREVIOUS, _LOG):
            data = read_loosely(f"{self._directory}/{name}", 2 * MAX_BYTES)
            for line in data.decode("utf-8", "replace").split("\n"):
                try:
                    delivery = delivery_of(scan_json(line)) if line and mentioning in line else None
                except (ValueError, RecursionError):
                    continue
                if delivery is not None:
                    yield delivery

    def append(self, delivery: Delivery) -> None:
        """Add one line, in one write. OSError where the disk takes only a part of it, which is passed over later."""
        make_directories(self._directory)
        line = f"{json_object(delivery.members)}\n".encode("utf-8", "backslashreplace")
        path = f"{self._directory}/{_LOG}"
        make_room(path, f"{self._directory}/{_PREVIOUS}", len(line), MAX_BYTES)
        append_line(path, line, FILE_MODE)

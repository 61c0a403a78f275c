"""The files around injection: what was delivered, and what is ready to be. Imports nothing but C modules, since a hook uses them before
every answer of every agent.

The log of deliveries: `runs/deliveries/log.jsonl`, and its predecessor once it is full. Of this machine: git ignores it.

Whoever looks at it in order to deliver holds the directory's lock until its own line is written, so that two hooks that are
told of one event do not both deliver. A damaged line is passed over; a lost log costs no more than a repetition.

What is ready to be injected into sessions of one place: `.cache/inject/<place>`, derived. To list, read, judge and redact the
notes takes longer than a hook may: so what came of it is kept as long as everything that it was made from looks the same.
Layout: digest of the rest (16 bytes) · marshal of `(key, good until, budget, profiles, more, passages)`. The digest is checked first, since
marshal must not be fed damaged bytes.
"""

import fcntl
import marshal
import os
import time
from _blake2 import blake2b

from agent_memory.files.durable import (
    FILE_MODE,
    append_line,
    close_quietly,
    make_directories,
    make_room,
    read_loosely,
    replace_file,
)
from agent_memory.files.json_lite import json_object, scan_json
from agent_memory.recall.assembling import Passage
from agent_memory.recall.moment import Delivery, delivery_of
from agent_memory.text.json_shape import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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


# -- what is ready --------------------------------------------------------------------------------------------------------

SHELVES = ".cache/inject"
_LAYOUT = 3
_DIGEST_BYTES = 16
_MAX_SHELF_BYTES = 8 << 20
_MOST_PLACES = 64
_GRAIN_NS = 2_000_000_000
"""The coarsest times of a file system that we know (FAT)."""
_NEVER_NS = 1 << 63


class Shelf(Record):
    """Passages of one place, the best first, with the settings that go with them."""

    passages: tuple[Passage, ...]
    budget: int
    profiles: "Mapping[str, Mapping[str, int]]"
    """The person's own."""
    good_until_ms: int | None = None
    """When the first note runs out."""
    more: int = 0
    """Notes that might be told, too, and were not made ready."""


class Looks(Record):
    """What everything looked like that a shelf is made from."""

    place: str
    key: bytes
    touched_ns: int


def looks_of(root: str, place: str, others: "Iterable[str]", version: str) -> Looks:
    """Returns how things look now: `topics/` of a real root, and other files by path. OSError where `topics/` cannot be
    listed."""
    touched_ns = 0
    seen = [f"{_LAYOUT}\n{version}\n{root}\n{place}"]
    for path in others:
        try:
            status = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            seen.append(f"{path} -")
            continue
        except OSError:
            seen.append(f"{path} ?")
            touched_ns = _NEVER_NS  # nothing made from what may be there is kept (P6)
            continue
        seen.append(f"{path} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}")
        touched_ns = max(touched_ns, status.st_mtime_ns, status.st_ctime_ns)
    state, newest_ns = _state_of(f"{root}/topics")
    seen.append(str(state))
    key = blake2b("\n".join(seen).encode("utf-8", "surrogateescape"), digest_size=_DIGEST_BYTES)
    return Looks(place, key.digest(), max(touched_ns, newest_ns))


def _state_of(directory: str) -> tuple[int, int]:
    """Returns a number that is another one after any change of what is in the directory, and when the last of it was
    touched (epoch ns); zeros for a directory that is not there. A link is not followed.

    A sum has no order, so that nothing need be sorted. Names need not be in it: a new name is a new time of change of the
    file, and of its directory. The hash of whole numbers is the same in every process, other than that of texts.
    """
    try:
        # Through its descriptor each `stat` looks up one name, and not the whole path again.
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0, 0
    try:
        status = os.fstat(descriptor)
        state, newest_ns = hash((status.st_mtime_ns, status.st_ino)), status.st_mtime_ns
        with os.scandir(descriptor) as found:
            for entry in found:
                try:
                    each = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # gone meanwhile: the directory tells it the next time
                    continue
                state += hash((each.st_mtime_ns, each.st_ctime_ns, each.st_size, each.st_ino))
                newest_ns = max(newest_ns, each.st_ctime_ns)
    finally:
        close_quietly(descriptor)
    return state, newest_ns


def read_shelf(root: str, looks: Looks, now_ms: int) -> Shelf | None:
    """Returns what was kept, if it was made from just this and nothing in it has run out; None where it is to be made anew."""
    data = read_loosely(_path(root, looks), _MAX_SHELF_BYTES)
    if blake2b(data[_DIGEST_BYTES:], digest_size=_DIGEST_BYTES).digest() != data[:_DIGEST_BYTES]:
        return None
    key, good_until_ms, budget, profiles, more, passages = marshal.loads(data[_DIGEST_BYTES:])
    if key != looks.key or (good_until_ms is not None and good_until_ms <= now_ms):
        return None
    return Shelf(tuple(Passage(*each) for each in passages), budget, profiles, good_until_ms, more)


def keep_shelf(root: str, looks: Looks, shelf: Shelf, looked_at_ns: int) -> None:
    """Keep it for the next time. Not where a file was touched shortly before it was looked at: a later write within the
    clock's grain would look the same. Without it the next hook is slower, so no OSError leaves this."""
    if looks.touched_ns + _GRAIN_NS > looked_at_ns:
        return
    passages = [each.values for each in shelf.passages]
    profiles = {name: dict(shares) for name, shares in shelf.profiles.items()}
    content = marshal.dumps((looks.key, shelf.good_until_ms, shelf.budget, profiles, shelf.more, passages), 2)
    data = blake2b(content, digest_size=_DIGEST_BYTES).digest() + content
    try:
        directory = f"{root}/{SHELVES}"
        make_directories(directory)
        if len(names := os.listdir(directory)) >= _MOST_PLACES:
            for name in names:
                os.unlink(f"{directory}/{name}")
        replace_file(_path(root, looks), data, is_durable=False)
    except OSError:
        return


def _path(root: str, looks: Looks) -> str:
    # A name for any scope (P21); that it is the right one is told by the key.
    return f"{root}/{SHELVES}/{blake2b(looks.place.encode('utf-8', 'surrogateescape'), digest_size=8).hexdigest()}"

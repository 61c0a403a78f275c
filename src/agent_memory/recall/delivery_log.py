"""The log of what was delivered: `runs/deliveries/log.jsonl`, and its predecessor once it is full. It belongs to this
machine, and git ignores it. Imports C modules only, since a hook uses it before every answer of every agent.

Whoever reads it in order to deliver holds the directory's lock until its own line is written, so that two hooks that
are told of one event do not both deliver. A damaged line is skipped; a lost log costs no more than a repetition.

One line for each delivery, without a word of any note:

{"at_ms": 1771000205123, "harness": "codex", "session": "…", "event": "start", "ids": ["id__…"], "tokens": 812, "scope":
"github.com/owner/repo", "transcript": "/home/…"}

`event` is `start`, `prompt`, `command` (by `memory inject` itself), or `compact`: what was injected before is gone from
the session then. `"whole": […]` is added if not all of the notes were told whole, and `"held_out": 1` where the session
was told nothing on purpose (`is_held_out`).
"""

import fcntl
import os
import time
from _blake2 import blake2b

from agent_memory.files.durable import append_line, close_quietly, make_directories, make_room, read_loosely
from agent_memory.files.json_lite import json_object, scan_json
from agent_memory.recall.moment import COMPACTED
from agent_memory.text.json_shape import Record, is_list, is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DELIVERIES = "runs/deliveries"
_LOG = "log.jsonl"
_PREVIOUS = "log.previous.jsonl"
MAX_BYTES = 512 * 1024
"""The size limit of each of the two files; the older one is dropped when the newer one is full."""

LOCK_SECONDS = 1.0
COMMAND = "command"
"""A delivery by `memory inject` itself, not by a hook."""

RECOVERY_MS = 7 * 24 * 60 * 60 * 1000
SAME_MOMENT_MS = 10_000
"""Two hooks that are told of one event, as when Cursor runs its own and Claude Code's, are closer together than this.
"""


class Delivery(Record):
    """One line of the log."""

    at_ms: int
    harness: str
    session: str
    """Empty if none was named."""
    event: str
    ids: tuple[str, ...] = ()
    tokens: int = 0
    scope: str = ""
    transcript: str = ""
    """Path of the session's file, if the harness says so; else empty."""
    held_out: int = 0
    whole: tuple[str, ...] | None = None
    """Those of the notes that were told whole; None: all."""

    @property
    def members(self) -> "dict[str, object]":
        omitted = {"held_out": not self.held_out, "whole": self.whole in (None, self.ids)}
        return {name: getattr(self, name) for name in type(self).__annotations__ if not omitted.get(name)}


def delivery_of(members: object) -> Delivery | None:
    """Returns the delivery that a line records; None for any other line."""
    if not is_object(members):
        return None
    harness, session, event = (members.get(key) for key in ("harness", "session", "event"))
    scope, transcript = (str(members.get(key) or "") for key in ("scope", "transcript"))
    at_ms, tokens, ids = (members.get(key) for key in ("at_ms", "tokens", "ids"))
    if not (isinstance(harness, str) and isinstance(session, str) and isinstance(event, str)):
        return None
    if not (type(at_ms) is int and type(tokens) is int and is_list(ids)):
        return None
    told = tuple(each for each in ids if isinstance(each, str))
    held_out, whole = 1 if members.get("held_out") == 1 else 0, members.get("whole")
    of_them = tuple(each for each in told if each in whole) if is_list(whole) else None
    return Delivery(at_ms, harness, session, event, told, tokens, scope, transcript, held_out, of_them)


def is_held_out(session: str, every: int) -> bool:
    """Returns whether a session is one of those that are told nothing, one in `every`: by its id alone, so that it stays
    one. None is if `every` is 0 or it has no id."""
    digest = blake2b(session.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return bool(session and every) and int.from_bytes(digest, "big") % every == 0


class DeliveryLog:
    """The log of a real root. Every method may raise OSError."""

    def __init__(self, root: str) -> None:
        self._directory = f"{root}/{DELIVERIES}"
        self._descriptor: int | None = None

    def __enter__(self) -> "DeliveryLog":
        """Holds the lock; after a second without it, goes on without it. It is released with the process at the latest."""
        make_directories(self._directory)
        self._descriptor = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        deadline = time.monotonic() + LOCK_SECONDS
        while time.monotonic() < deadline:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.01)
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
        """Yields all deliveries on lines that hold this text, oldest first. A missing or damaged one is left out."""
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
        """Adds one line, in one write. OSError if the disk takes only a part of it, which is skipped later."""
        make_directories(self._directory)
        line = f"{json_object(delivery.members)}\n".encode("utf-8", "backslashreplace")
        path = f"{self._directory}/{_LOG}"
        make_room(path, f"{self._directory}/{_PREVIOUS}", len(line), MAX_BYTES)
        append_line(path, line)


def known_ids(
    deliveries: "Iterable[Delivery]", harness: str, session: str, now_ms: int, *, is_fresh: bool = False
) -> "dict[str, bool]":
    """Returns the notes that a session has in front of it, and whether whole. `is_fresh`: it has just lost what it had,
    except for what another hook gave it at this very moment."""
    known: dict[str, tuple[int, bool]] = {}
    for each in deliveries:
        if (each.harness, each.session) == (harness, session):
            if each.event == COMPACTED:
                known = _since(known, each.at_ms - SAME_MOMENT_MS)
            known |= {id: (each.at_ms, each.whole is None or id in each.whole) for id in each.ids}
    known = _since(known, now_ms - SAME_MOMENT_MS) if is_fresh else known
    return {id: is_whole for id, (_, is_whole) in known.items()}


def _since(known: "dict[str, tuple[int, bool]]", at_ms: int) -> "dict[str, tuple[int, bool]]":
    return {id: told for id, told in known.items() if told[0] >= at_ms}


def last_other_session(deliveries: "Iterable[Delivery]", scope: str, session: str, now_ms: int) -> Delivery | None:
    """Returns the newest delivery to another session of this place, if it is less than seven days old."""
    others = (
        each
        for each in deliveries
        if each.scope == scope and each.session not in ("", session) and now_ms - each.at_ms < RECOVERY_MS
    )
    return max(others, key=lambda each: each.at_ms, default=None)

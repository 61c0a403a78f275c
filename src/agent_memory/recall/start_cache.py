"""Caches for hooks, one file for each place, in `.cache/inject`. Imports C modules only.

Listing, reading, judging and redacting the notes takes longer than a hook may, so what a session is told at its start is
kept as long as everything from which it was made has the same fingerprint. What git said is kept too (`recall.grounding`).
Layout: digest of the rest (16 bytes) · marshal of a tuple. The digest is checked first, since marshal must not be fed
damaged bytes.
"""

import marshal
import os
from _blake2 import blake2b

from agent_memory.files.durable import close_quietly, make_directories, read_loosely, replace_file
from agent_memory.files.root import MOST_TEAM_FILES
from agent_memory.recall.assembling import Passage
from agent_memory.text.json_shape import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

CACHE = ".cache/inject"
UNMERGED = ".cache/unmerged.json"
"""Branches that are not merged (`recall.branches`)."""
_LAYOUT = 7
_DIGEST_BYTES = 16
_MOST_PLACES = 64
_GRAIN_NS = 2_000_000_000
"""The coarsest time stamps of a file system that we know (FAT)."""
_NEVER_NS = 1 << 63


class Prepared(Record):
    """The passages of one place, best first, with the settings that go with them."""

    passages: tuple[Passage, ...]
    budget: int
    profiles: "Mapping[str, Mapping[str, int]]"
    """The person's own profiles."""
    good_until_ms: int | None = None
    """When the first of the notes expires."""
    more: int = 0
    """How many other notes might be told that were not prepared."""
    hold_out: int = 0
    """`eval.holdOut`."""


class Fingerprint(Record):
    """The state of everything from which a cached result was made."""

    place: str
    key: bytes
    changed_ns: int


def fingerprint_of(root: str, place: str, others: "Iterable[str]", version: str, team: str = "") -> Fingerprint:
    """Returns the fingerprint of `topics/` in a real root, of other files by path, and of the directory of a team's notes,
    if there may be one. OSError where one of the directories cannot be listed."""
    changed_ns = 0
    seen = [f"{_LAYOUT}\n{version}\n{root}\n{place}"]
    for path in others:
        try:
            status = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            seen.append(f"{path} -")
            continue
        except OSError:
            seen.append(f"{path} ?")
            changed_ns = _NEVER_NS  # nothing made from what might be there is kept (P6)
            continue
        seen.append(f"{path} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}")
        changed_ns = max(changed_ns, status.st_mtime_ns, status.st_ctime_ns)
    state, newest_ns = _state_of(f"{root}/topics")
    seen.append(str(state))
    if team:
        try:
            state, touched_ns = _state_of(team, MOST_TEAM_FILES)
        except NotADirectoryError:  # a link, too: it is not read either
            state, touched_ns = 0, 0
        seen.append(str(state))
        newest_ns = max(newest_ns, touched_ns)
    key = blake2b("\n".join(seen).encode("utf-8", "surrogateescape"), digest_size=_DIGEST_BYTES)
    return Fingerprint(place, key.digest(), max(changed_ns, newest_ns))


def _state_of(directory: str, most: int = 1 << 62) -> tuple[int, int]:
    """Returns a number that changes with any change in the directory, and when the last of it was touched (epoch ns);
    zeros for a directory that does not exist, and for one with more than `most` files. Links are not followed.

    A sum has no order, so nothing need be sorted. Names need not be in it: a new name changes the times of the file and
    of its directory. Unlike those of texts, hashes of whole numbers are the same in every process.
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
            for number, entry in enumerate(found, 1):
                if number > most:
                    return 0, 0
                try:
                    each = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # gone meanwhile: the directory tells it the next time
                    continue
                state += hash((each.st_mtime_ns, each.st_ctime_ns, each.st_size, each.st_ino))
                newest_ns = max(newest_ns, each.st_ctime_ns)
    finally:
        close_quietly(descriptor)
    return state, newest_ns


def read_cached(root: str, fingerprint: Fingerprint, now_ms: int) -> Prepared | None:
    """Returns what was kept, if it was made from just this and nothing in it has run out; None where it is to be made anew."""
    kept = read_kept(root, fingerprint.place)
    if kept is None:
        return None
    key, good_until_ms, budget, profiles, more, hold_out, passages = kept
    if key != fingerprint.key or (good_until_ms is not None and good_until_ms <= now_ms):
        return None
    return Prepared(tuple(Passage(*each) for each in passages), budget, profiles, good_until_ms, more, hold_out)


def keep_cached(root: str, fingerprint: Fingerprint, prepared: Prepared, began_ns: int) -> None:
    """Keeps it for the next time. Not where a file was touched shortly before it was looked at: a later write within the
    clock's grain would look the same."""
    if fingerprint.changed_ns + _GRAIN_NS > began_ns:
        return
    passages = [tuple(each) for each in prepared.passages]
    profiles = {name: dict(shares) for name, shares in prepared.profiles.items()}
    settings = (prepared.budget, profiles, prepared.more, prepared.hold_out)
    keep(root, fingerprint.place, (fingerprint.key, prepared.good_until_ms, *settings, passages))


def read_kept(root: str, place: str) -> "tuple[Any, ...] | None":
    """Returns the tuple that was kept for a place; None if there is none, or it is damaged."""
    return opened(read_loosely(_path(root, place), 8 << 20))


def keep(root: str, place: str, values: "tuple[Any, ...]") -> None:
    """Keeps a tuple for a place, if there is a store. Without it the next hook is slower, so no OSError leaves this."""
    if not os.path.isdir(root):
        return
    try:
        directory = f"{root}/{CACHE}"
        make_directories(directory)
        if len(names := os.listdir(directory)) >= _MOST_PLACES:
            for name in names:
                os.unlink(f"{directory}/{name}")
        replace_file(_path(root, place), sealed(values), is_durable=False)
    except OSError:
        return


def sealed(values: "tuple[Any, ...]") -> bytes:
    """Returns a tuple of plain values as bytes, after their digest."""
    content = marshal.dumps(values, 2)
    return blake2b(content, digest_size=_DIGEST_BYTES).digest() + content


def opened(data: bytes) -> "tuple[Any, ...] | None":
    """Returns the tuple that was `sealed`; None where the bytes are damaged."""
    if blake2b(data[_DIGEST_BYTES:], digest_size=_DIGEST_BYTES).digest() != data[:_DIGEST_BYTES]:
        return None
    values: tuple[Any, ...] = marshal.loads(data[_DIGEST_BYTES:])
    return values


def _path(root: str, place: str) -> str:
    # A name for any scope (P21); that it is the right one is told by the key.
    return f"{root}/{CACHE}/{blake2b(place.encode('utf-8', 'surrogateescape'), digest_size=8).hexdigest()}"

"""Everything below the root as `lstat` sees it, and what is wrong with files as such."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress

from attrs import frozen

from agent_memory.adapters.disk.durable import TEMPORARY_PREFIX, claim_abandoned, close_quietly
from agent_memory.adapters.disk.paths import read_bytes
from agent_memory.adapters.store.entry_files import TOPICS
from agent_memory.domain import doctor as of
from agent_memory.domain.doctor import Finding, Severity, is_sync_conflict
from agent_memory.domain.instants import HOUR_MS
from agent_memory.domain.tagging import VOCABULARY_FILE
from agent_memory.domain.text.file_name import is_note_name
from agent_memory.domain.vocabulary import TIERS_FILE
from agent_memory.errors import Error, PathRefused, StateCorrupt
from agent_memory.formats.bookkeeping_json import SESSION_MARK

_LITTER = re.compile(r"\.tmp-[0-9a-f]{16}", re.ASCII)
"""Names of our own temporary files, and nobody else's."""
_STAGED = re.compile(r"\.transaction/\d+\.new", re.ASCII)
_STATE = re.compile(r"state/(?:.*/)?[^./][^/]*\.json|runs/[^./][^/]*\.json")
_READ_ELSEWHERE = (TIERS_FILE, VOCABULARY_FILE, "runs/spend.json")
"""Files of state that other checks read, and tell of."""
_MAX_BYTES = 64 << 20


@frozen
class Found:
    """One file, directory or other thing below the root, as `lstat` sees it."""

    path: str
    """Relative to the root, printable; the root itself is empty."""
    mode: int
    """`st_mode`."""
    owner: int
    """User id."""
    mtime_ms: int

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)

    @property
    def is_directory(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_temporary(self) -> bool:
        """It is a temporary file of ours: litter, unless a living process writes it."""
        return self.is_file and bool(_LITTER.fullmatch(self.name) or _STAGED.fullmatch(self.path))

    @property
    def is_loose(self) -> bool:
        """Others than the owner have a right to it."""
        return (self.is_file or self.is_directory) and bool(self.mode & 0o077)


def walk(root: str) -> Iterator[Found | OSError]:
    """The root and all below it, but what is git's business; directories before what is in them, by name. An error where
    something cannot be looked at."""
    if isinstance(found := _look(root, ""), FileNotFoundError):
        return
    yield found
    waiting = [""] if isinstance(found, Found) else []
    while waiting:
        directory = waiting.pop()
        try:
            names = sorted(os.listdir(f"{root}/{directory}"))
        except OSError as error:
            yield error
            continue
        for name in names:
            found = _look(root, f"{directory}/{name}" if directory else name)
            if isinstance(found, FileNotFoundError):
                continue
            yield found
            if isinstance(found, Found) and found.is_directory and not name.startswith(".git"):
                waiting.append(found.path)


def _look(root: str, path: str) -> Found | OSError:
    try:
        status = os.lstat(f"{root}/{path}" if path else root)
    except OSError as error:
        return error
    return Found(path, status.st_mode, status.st_uid, status.st_mtime_ns // 1_000_000)


@contextmanager
def unwritten(root: str, found: Found, now_ms: int) -> Generator[bool, None, None]:
    """Whether no living process writes this temporary file, and none will go on with it: a writer holds it locked. Where that
    cannot be told (a file system without locks, what a transaction stages) it is so after an hour."""
    descriptor, is_free = None, found.mtime_ms <= now_ms - HOUR_MS
    if found.name.startswith(TEMPORARY_PREFIX):
        with suppress(OSError):
            descriptor = claim_abandoned(f"{root}/{found.path}")
            is_free = descriptor is not None
    try:
        yield is_free
    finally:
        if descriptor is not None:
            close_quietly(descriptor)


def check_files(root: str, walked: Sequence[Found], now_ms: int) -> Iterator[Finding]:
    """Owners, modes, litter, what is no file, and copies that synchronising programs made."""
    # Behind a closed root nobody gets at a file that is open: that is worth a remark.
    is_open = not walked or walked[0].is_loose
    for each in walked:
        subject = each.path or "."
        if each.owner != os.getuid():
            words = f"It belongs to the user with the id {each.owner}; `chown` gives it back"
            yield of.FOREIGN_OWNER.found(subject, words)
        elif each.is_loose:
            mode = "0700" if each.is_directory else "0600"
            words = f"Its mode is {stat.S_IMODE(each.mode):04o}, it should be {mode}"
            yield of.LOOSE_PERMISSIONS.found(subject, words, None if is_open else Severity.NOTE)
        if each.is_temporary:
            with unwritten(root, each, now_ms) as is_free:
                if is_free:
                    yield of.LITTER.found(subject, "A write that was cut short left this temporary file")
        elif each.path.startswith(f"{TOPICS}/") and each.path.count("/") == 1 and is_note_name(each.name):
            continue  # the notes tell of it
        elif not (each.is_file or each.is_directory):
            yield of.ODD_FILE.found(subject, "It is neither file nor directory, and nothing in the store follows it")
        elif is_sync_conflict(each.name):
            words = "Two machines wrote the same file at once; keep one of both, and remove this name"
            yield of.SYNC_CONFLICT_FILE.found(subject, words)


def check_state(root: str, walked: Sequence[Found]) -> Iterator[Finding]:
    """Every file of state that cannot be understood."""
    for each in walked:
        if not _STATE.fullmatch(each.path) or each.path in _READ_ELSEWHERE:
            continue
        is_mark = each.path.startswith("state/sessions/")
        try:
            data = read_bytes(root, each.path, _MAX_BYTES)
            if data is not None:
                SESSION_MARK.parse(data, each.path) if is_mark else json.loads(data)
            continue
        except PathRefused as error:
            problem = error.reason
        except StateCorrupt as error:
            problem = "; ".join(error.problems)
        except Error as error:
            problem = str(error).rstrip(".")
        except (ValueError, RecursionError):
            problem = "It is not JSON"
        words = f"{problem}; restore it from git or a backup, or move it away"
        if is_mark:
            words = f"Its session cannot go on: {problem}; move it away to consolidate that session from its beginning"
        yield of.DAMAGED_STATE.found(each.path, words)

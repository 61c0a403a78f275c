"""Everything below the root as `lstat` sees it: what is wrong with files as such, and how that is repaired."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from attrs import define, field, frozen

from agent_memory.adapters.disk.durable import TEMPORARY_PREFIX, claim_abandoned, close_quietly
from agent_memory.adapters.disk.paths import store_io
from agent_memory.adapters.disk.root_files import read_bytes
from agent_memory.adapters.store.entry_files import TOPICS
from agent_memory.domain.doctor import catalogue as of
from agent_memory.domain.doctor.catalogue import Finding, Severity
from agent_memory.domain.doctor.note_checks import is_sync_conflict
from agent_memory.domain.instants import HOUR_MS
from agent_memory.domain.tagging import VOCABULARY_FILE
from agent_memory.domain.text.file_name import is_note_name
from agent_memory.domain.tiers import TIERS_FILE
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

    @property
    def tight_mode(self) -> int:
        """What its mode should be."""
        return 0o700 if self.is_directory else 0o600


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


# -- checks -----------------------------------------------------------------------------------------------------------


def check_files(root: str, walked: Sequence[Found], now_ms: int) -> Iterator[Finding]:
    """Owners, modes, litter, what is no file, and copies that synchronising programs made."""
    # Behind a closed root nobody gets at a file that is open: that is worth a remark.
    is_open = not walked or walked[0].is_loose
    for each in walked:
        subject = each.path or "."
        if each.owner != os.getuid():
            yield of.FOREIGN_OWNER.found(
                subject, f"It belongs to the user with the id {each.owner}; `chown` gives it back"
            )
        elif each.is_loose:
            words = f"Its mode is {stat.S_IMODE(each.mode):04o}, it should be {each.tight_mode:04o}"
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
            yield of.SYNC_CONFLICT_FILE.found(
                subject, "Two machines wrote the same file at once; keep one of both, and remove this name"
            )


def check_state(root: str, walked: Sequence[Found]) -> Iterator[Finding]:
    """Every file of state that cannot be understood."""
    for each in walked:
        if not _STATE.fullmatch(each.path) or each.path in _READ_ELSEWHERE:
            continue
        is_mark = each.path.startswith("state/sessions/")
        if problem := _problem_in(root, each.path, is_mark=is_mark):
            yield of.DAMAGED_STATE.found(
                each.path,
                f"Its session cannot go on: {problem}; move the file away to consolidate that session from its beginning"
                if is_mark
                else f"{problem}; restore it from git or a backup, or move it away",
            )


def _problem_in(root: str, path: str, *, is_mark: bool) -> str | None:
    try:
        data = read_bytes(root, path, _MAX_BYTES)
        if data is not None and is_mark:
            SESSION_MARK.parse(data, path)
        elif data is not None:
            json.loads(data)
    except PathRefused as error:
        return error.reason
    except StateCorrupt as error:
        return "; ".join(error.problems)
    except Error as error:
        return str(error).rstrip(".")
    except (ValueError, RecursionError):
        return "It is not JSON"
    return None


# -- repairs ----------------------------------------------------------------------------------------------------------


@define
class RepairLog:
    """What became of the repairs so far."""

    did: list[str] = field(factory=list[str])
    failed: list[str] = field(factory=list[str])
    touched: list[str] = field(factory=list[str])
    """Paths that were written or removed and that git is to be told of, relative to the root."""

    @contextmanager
    def tolerating(self) -> Generator[None, None, None]:
        """What goes wrong within is told, and stops nothing else."""
        try:
            yield
        except Error as error:
            self.failed.append(str(error))


def repair_files(root: str, found: Iterable[Found], now_ms: int, log: RepairLog) -> None:
    """Remove litter, and close what is open to others; a file that goes away meanwhile is no failure."""
    closed = 0
    for each in found:
        path = f"{root}/{each.path}" if each.path else root
        act = "remove" if each.is_temporary else "close"
        try:
            if each.is_temporary:
                with unwritten(root, each, now_ms) as is_free:
                    if is_free:
                        os.unlink(path)
                        log.did.append(f"{each.path}, a temporary file, is removed")
            elif each.is_loose and each.owner == os.getuid():
                _close(path, each.tight_mode)
                closed += 1
        except FileNotFoundError:
            continue
        except OSError as error:
            log.failed.append(str(store_io(error, act, path)))
    if closed:
        things = "file or directory is" if closed == 1 else "files and directories are"
        log.did.append(f"{closed} {things} closed to others")


def _close(path: str, mode: int) -> None:
    """Set the mode of the file itself, whatever a link of that name would lead to by now."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except PermissionError:  # it is closed to its owner too, and `is_loose` has seen that it is no link
        os.chmod(path, mode)
        return
    try:
        os.fchmod(descriptor, mode)
    finally:
        close_quietly(descriptor)

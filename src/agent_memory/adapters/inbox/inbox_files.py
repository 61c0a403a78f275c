"""The queue on disk: one JSON file an entry in `inbox/`, with `.processed/` and `.failed/` below it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from attrs import evolve, field, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.root_files import names_below, remove_file
from agent_memory.adapters.inbox.inbox_exit import Quarantine, bring_back, is_retired, leave, put_entry
from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.adapters.inbox.inbox_reading import (
    FAILED,
    PROCESSED,
    is_entry_name,
    pending_in,
    printable,
    retired_in,
)
from agent_memory.adapters.inbox.queue_troubles import QueueTroubles
from agent_memory.adapters.surroundings.places import known_places, repo_now
from agent_memory.domain.inbox_entry import UPGRADE_EVENT, InboxEntry
from agent_memory.domain.instants import iso_of
from agent_memory.domain.queue import KnownSessions, Loaded, Outcome, Pending, Quarantined, Trouble
from agent_memory.domain.queueing.fold import fold_queue, queue_key, session_key
from agent_memory.domain.queueing.redacted_entry import as_captured
from agent_memory.errors import Error, InboxEntryInvalid, PathRefused, StoreIo
from agent_memory.formats.inbox_json import entry_of, render_inbox_entry
from agent_memory.results import as_result, sealed, unwrap
from agent_memory.wording import describe

_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z", re.ASCII)

T = TypeVar("T")


@frozen
class InboxFiles:
    """`ports.Inbox` over files. Any number of processes may `put` and list; all else changes or takes away entries, and
    is for the holder of the run lock alone."""

    root: Path
    environ: Mapping[str, str] = field(factory=lambda: os.environ, repr=False)

    @as_result
    def put(self, entry: InboxEntry) -> str:
        """See the port. An entry that could not be read back is refused, with every problem; the branch is redacted."""
        entry = as_captured(entry)
        text = render_inbox_entry(entry)
        entry_of(text)
        return put_entry(str(self.root), entry, text)

    @as_result
    def names(self) -> tuple[str, ...]:
        """See the port. A name without a time stamp is sorted by the file's mtime."""
        return self._listed(INBOX)

    @as_result
    def load(self, limit: int | None, now_ms: int) -> Loaded:
        """See the port. Where the context has no repository, it is completed with that of the directory."""
        troubles = self._troubles.settled()
        quarantine = Quarantine(str(self.root), now_ms)
        queue = fold_queue(self._entries(self._listed(INBOX), quarantine), troubles, limit, now_ms)
        repo_of = cache(partial(repo_now, environ=self.environ, known=known_places(self.environ, str(self.root))))
        pending = tuple(_completed(one, repo_of) for one in queue.pending)
        waiting = queue.waiting + len(quarantine.left)
        return Loaded(pending, tuple(quarantine.taken), waiting, tuple(quarantine.left), queue.reason)

    @as_result
    def note(self, pending: Pending, trouble: Trouble) -> None:
        """See the port."""
        self._troubles.note(queue_key(pending.entry, pending.name), trouble)

    @as_result
    def retire(self, pending: Pending, outcome: Outcome) -> None:
        """See the port."""
        self._leave(pending, outcome, PROCESSED)

    @as_result
    def give_up(self, pending: Pending, outcome: Outcome) -> None:
        """See the port."""
        self._leave(pending, outcome, FAILED)

    @as_result
    def retry_failed(self) -> int:
        """See the port. What folds into one counts as one."""
        keys = bring_back(str(self.root), self._listed(FAILED))
        unwrap(self._troubles.clear(keys))
        return len(keys)

    @as_result
    def known(self) -> KnownSessions:
        """See the port. What is malformed is about nothing; a file that the operating system would not let us read is an
        error: what it asks for may be what the caller is about to ask for."""
        keys: set[str] = set()
        asked_again: set[str] = set()
        for name, entry in self._readable(INBOX, pending_in):
            key = queue_key(entry, name)
            keys.add(key)
            if entry.context.event == UPGRADE_EVENT:
                asked_again.add(key)
        given_up: dict[str, int] = {}
        for name, (entry, outcome) in self._readable(FAILED, retired_in):
            key = queue_key(entry, name)
            given_up[key] = max(outcome.at_ms, given_up.get(key, 0))
        return KnownSessions(frozenset(keys), frozenset(asked_again), given_up)

    def directories(self, most: int) -> Iterator[Result[str, Error]]:
        """Where the sessions were that wait, and of the newest `most` that were dealt with: the newest first, some more than
        once. Changes nothing; malformed files are left, and one that the operating system would not let us read is an error
        (P6)."""
        for relative, read in ((INBOX, pending_in), (PROCESSED, _retired_entry_in)):
            match sealed(as_result(self._listed)(relative)):
                case Failure(error):
                    yield Failure(error)
                case Success(names):
                    for name in names[: -most - 1 : -1]:
                        yield from _directory_in(f"{self.root}/{relative}/{name}", read)

    @property
    def _troubles(self) -> QueueTroubles:
        return QueueTroubles(str(self.root))

    def _leave(self, pending: Pending, outcome: Outcome, target: str) -> None:
        leave(str(self.root), pending, outcome, target)
        unwrap(self._troubles.clear([key_of(pending.entry, pending.name) for key_of in (queue_key, session_key)]))

    def _listed(self, relative: str) -> tuple[str, ...]:
        directory = f"{self.root}/{relative}"
        names = names_below(str(self.root), relative, is_entry_name)
        return tuple(sorted(names, key=lambda name: (_stamp(directory, name), name)))

    def _entries(self, names: tuple[str, ...], quarantine: Quarantine) -> Iterator[tuple[str, InboxEntry]]:
        for name in names:
            try:
                entry = self._pending_entry(name)
            except InboxEntryInvalid as malformed:
                quarantine.take(name, malformed.problems)
            except (StoreIo, PathRefused) as error:
                quarantine.left.append(Quarantined(printable(name), describe(error)))
            else:
                if entry is not None:
                    yield name, entry

    def _pending_entry(self, name: str) -> InboxEntry | None:
        """The entry, None where it was taken away since it was listed, or has been dealt with already (P3)."""
        if not name.isprintable():
            raise InboxEntryInvalid(("the file's name cannot be printed",))
        entry = pending_in(f"{self.root}/{INBOX}/{name}")
        if entry is not None and is_retired(str(self.root), name, entry):
            remove_file(str(self.root), f"{INBOX}/{name}")
            return None
        return entry

    def _readable(self, relative: str, read: Callable[[str], T | None]) -> Iterator[tuple[str, T]]:
        """The files that can be understood, by name."""
        for name in self._listed(relative):
            with suppress(InboxEntryInvalid):
                found = read(f"{self.root}/{relative}/{name}")
                if found is not None:
                    yield name, found


def _retired_entry_in(path: str) -> InboxEntry | None:
    found = retired_in(path)
    return None if found is None else found[0]


def _directory_in(path: str, read: Callable[[str], InboxEntry | None]) -> Iterator[Result[str, Error]]:
    try:
        entry = read(path)
    except InboxEntryInvalid:
        return
    except (StoreIo, PathRefused) as error:
        yield Failure(error)
        return
    if entry is not None and entry.context.cwd is not None:
        yield Success(entry.context.cwd)


def _stamp(directory: str, name: str) -> str:
    """The time stamp that the name begins with, else the file's mtime in the same form."""
    found = _TIMESTAMP.match(name)
    if found:
        return found[0]
    try:
        return iso_of(os.lstat(f"{directory}/{name}").st_mtime_ns // 1_000_000).replace(":", "-")
    except (OSError, ValueError, OverflowError):
        return ""


def _completed(pending: Pending, repo_of: Callable[[str, str | None], str | None]) -> Pending:
    context = pending.entry.context
    if context.cwd is None:
        return pending
    repo = repo_of(context.cwd, context.repo)
    return evolve(pending, entry=evolve(pending.entry, context=evolve(context, repo=repo)))

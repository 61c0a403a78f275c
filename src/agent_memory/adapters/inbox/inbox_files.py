"""The queue on disk: one JSON file an entry in `inbox/`, with `.processed/` and `.failed/` below it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path

from attrs import evolve, field, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.file_in_root import drop_file
from agent_memory.adapters.disk.listed_names import names_inside
from agent_memory.adapters.inbox.inbox_exit import FAILED, PROCESSED, bring_back, is_retired, leave, put_entry
from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.adapters.inbox.inbox_quarantine import REASON_ENDING, Quarantine
from agent_memory.adapters.inbox.inbox_texts import MAX_RETIRED_BYTES, entry_in, printable, retired_in, text_in
from agent_memory.adapters.inbox.queue_troubles import QueueTroubles, troubles_of
from agent_memory.adapters.surroundings.known_places import known_places, repo_now
from agent_memory.domain.inbox_entry import UPGRADE_EVENT, InboxEntry
from agent_memory.domain.instants import iso_of
from agent_memory.domain.queue import KnownSessions, Loaded, Outcome, Pending, Quarantined, Trouble
from agent_memory.domain.queueing.fold import fold_queue, queue_key, session_key
from agent_memory.domain.queueing.redacted_entry import as_captured
from agent_memory.errors import Error, InboxEntryInvalid, StoreIo
from agent_memory.formats.inbox_json import parse_inbox_entry, parse_retired_entry, render_inbox_entry
from agent_memory.results import sealed
from agent_memory.wording import describe

_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z", re.ASCII)


@frozen
class InboxFiles:
    """`ports.Inbox` over files. Any number of processes may `put` and list; all else changes or takes away entries, and
    is for the holder of the run lock alone."""

    root: Path
    environ: Mapping[str, str] = field(factory=lambda: os.environ, repr=False)

    def put(self, entry: InboxEntry) -> Result[str, Error]:
        """See the port. An entry that could not be read back is refused, with every problem; the branch is redacted."""
        entry = as_captured(entry)
        text = render_inbox_entry(entry)
        match sealed(parse_inbox_entry(text)):
            case Success(_):
                return put_entry(str(self.root), entry, text)
            case Failure(invalid):
                return Failure(invalid)

    def names(self) -> Result[tuple[str, ...], Error]:
        """See the port. A name without a time stamp is sorted by the file's mtime."""
        return self._listed(INBOX)

    def load(self, limit: int | None, now_ms: int) -> Result[Loaded, Error]:
        """See the port. Where the context has no repository, it is completed with that of the directory."""
        match sealed(self._troubles.settled()):
            case Success(troubles):
                return self.names().map(lambda names: self._loaded(names, troubles, limit, now_ms))
            case Failure(error):
                return Failure(error)

    def note(self, pending: Pending, trouble: Trouble) -> Result[None, Error]:
        """See the port."""
        return self._troubles.note(queue_key(pending.entry, pending.name), trouble)

    def retire(self, pending: Pending, outcome: Outcome) -> Result[None, Error]:
        """See the port."""
        return self._leave(pending, outcome, PROCESSED)

    def give_up(self, pending: Pending, outcome: Outcome) -> Result[None, Error]:
        """See the port."""
        return self._leave(pending, outcome, FAILED)

    def retry_failed(self) -> Result[int, Error]:
        """See the port. What folds into one counts as one."""
        match sealed(self._listed(FAILED).bind(lambda names: bring_back(str(self.root), list(names)))):
            case Success(keys):
                return self._troubles.clear(keys).map(lambda _: len(keys))
            case Failure(error):
                return Failure(error)

    def known(self) -> Result[KnownSessions, Error]:
        """See the port."""
        return self.names().bind(
            lambda waiting: self._listed(FAILED).bind(
                lambda given_up: known_sessions(str(self.root), waiting, given_up)
            )
        )

    def directories(self, most: int) -> Iterator[Result[str, Error]]:
        """Where the sessions were that wait, and of the newest `most` that were dealt with: the newest first, some more than
        once. Changes nothing; malformed files are left."""
        for relative, read in ((INBOX, entry_in), (PROCESSED, retired_in)):
            match sealed(self._listed(relative)):
                case Failure(error):
                    yield Failure(error)
                case Success(names):
                    newest = names[: -most - 1 : -1]
                    yield from directories_in((f"{self.root}/{relative}/{name}" for name in newest), read)

    @property
    def _troubles(self) -> QueueTroubles:
        return troubles_of(str(self.root))

    def _leave(self, pending: Pending, outcome: Outcome, target: str) -> Result[None, Error]:
        keys = [key_of(pending.entry, pending.name) for key_of in (queue_key, session_key)]
        return leave(str(self.root), pending, outcome, target).bind(lambda _: self._troubles.clear(keys))

    def _listed(self, relative: str) -> Result[tuple[str, ...], Error]:
        directory = f"{self.root}/{relative}"
        return names_inside(str(self.root), relative, is_entry_name).map(
            lambda names: tuple(sorted(names, key=lambda name: (_stamp(directory, name), name)))
        )

    def _loaded(
        self, names: tuple[str, ...], troubles: Mapping[str, Trouble], limit: int | None, now_ms: int
    ) -> Loaded:
        quarantine = Quarantine(str(self.root), INBOX, FAILED, now_ms)
        unreadable: list[Quarantined] = []
        queue = fold_queue(self._entries(names, quarantine, unreadable), troubles, limit, now_ms)
        repo_of = cache(partial(repo_now, environ=self.environ, known=known_places(self.environ, str(self.root))))
        pending = tuple(_completed(one, repo_of) for one in queue.pending)
        waiting = queue.waiting + len(unreadable)
        return Loaded(pending, tuple(quarantine.taken), waiting, tuple(unreadable), queue.reason)

    def _entries(
        self, names: tuple[str, ...], quarantine: Quarantine, unreadable: list[Quarantined]
    ) -> Iterator[tuple[str, InboxEntry]]:
        for name in names:
            match sealed(self._pending_entry(name)):
                case Success(entry):
                    if entry is not None:
                        yield name, entry
                case Failure(InboxEntryInvalid(problems)):
                    unreadable.extend(quarantine.take(name, problems))
                case Failure(error):
                    unreadable.append(Quarantined(printable(name), describe(error)))

    def _pending_entry(self, name: str) -> Result[InboxEntry | None, Error]:
        """The entry, None where it was taken away since it was listed, or has been dealt with already (P3)."""
        if not name.isprintable():
            return Failure(InboxEntryInvalid(("the file's name cannot be printed",)))
        match sealed(entry_in(f"{self.root}/{INBOX}/{name}")):
            case Success(entry):
                return Success(None) if entry is None else self._unless_retired(name, entry)
            case Failure(error):
                return Failure(error)

    def _unless_retired(self, name: str, entry: InboxEntry) -> Result[InboxEntry | None, Error]:
        match sealed(is_retired(str(self.root), name, entry)):
            case Success(True):
                return drop_file(str(self.root), f"{INBOX}/{name}").map(lambda _: None).alt(_as_error)
            case Success(_):
                return Success(entry)
            case Failure(error):
                return Failure(error)


def is_entry_name(name: str) -> bool:
    """Whether a file counts as an entry: `….json`, not hidden, not the reason beside a malformed one."""
    return name.endswith(".json") and not name.startswith(".") and not name.endswith(REASON_ENDING)


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


def _as_error(error: StoreIo) -> Error:
    return error


ReadsEntry = Callable[[str], Result[InboxEntry | None, Error]]


def directories_in(paths: Iterable[str], read: ReadsEntry) -> Iterator[Result[str, Error]]:
    """The working directory that each of these files names. What is malformed names none; one that the operating system
    would not let us read is an error (P6)."""
    for path in paths:
        match sealed(read(path)):
            case Success(entry):
                if entry is not None and entry.context.cwd is not None:
                    yield Success(entry.context.cwd)
            case Failure(InboxEntryInvalid()):
                continue
            case Failure() as failure:
                yield failure


def known_sessions(root: str, waiting: Iterable[str], given_up: Iterable[str]) -> Result[KnownSessions, Error]:
    """What these files of `inbox/` and of `inbox/.failed/` are about. What is malformed is about nothing; one that the
    operating system would not let us read is an error: what it asks for may be what the caller is about to ask for."""
    keys: set[str] = set()
    asked_again: set[str] = set()
    for name in waiting:
        match sealed(entry_in(f"{root}/{INBOX}/{name}")):
            case Success(entry):
                if entry is not None:
                    keys.add(queue_key(entry, name))
                    asked_again.update([queue_key(entry, name)] if entry.context.event == UPGRADE_EVENT else [])
            case Failure(InboxEntryInvalid()):
                continue
            case Failure(error):
                return Failure(error)
    at_ms: dict[str, int] = {}
    for name in given_up:
        match sealed(_given_up(f"{root}/{FAILED}/{name}", name)):
            case Success(found):
                if found is not None:
                    key, given_up_at_ms = found
                    at_ms[key] = max(given_up_at_ms, at_ms.get(key, 0))
            case Failure(error):
                return Failure(error)
    return Success(KnownSessions(frozenset(keys), frozenset(asked_again), at_ms))


def _given_up(path: str, name: str) -> Result[tuple[str, int] | None, Error]:
    """The queue key and when it was given up; None for what never was an entry."""
    match sealed(text_in(path, MAX_RETIRED_BYTES)):
        case Success(text):
            retired = None if text is None else parse_retired_entry(text).value_or(None)
            return Success(None if retired is None else (queue_key(retired[0], name), retired[1].at_ms))
        case Failure(InboxEntryInvalid()):
            return Success(None)
        case Failure(error):
            return Failure(error)

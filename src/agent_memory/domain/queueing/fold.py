"""The rules of the queue: what folds into what, in which order it is worked, and what trouble does to an entry.

Pure. Instants are epoch ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import define, evolve, frozen

from agent_memory.domain.history import transcript_key
from agent_memory.domain.inbox_entry import (
    BACKFILL_EVENT,
    UPGRADE_EVENT,
    AmpThread,
    Context,
    FileSnapshot,
    InboxEntry,
    InlineNote,
    SessionFile,
)
from agent_memory.domain.instants import DAY_MS, HOUR_MS
from agent_memory.domain.queue import Pending, Trouble
from agent_memory.domain.redaction import redact_path

MAX_ATTEMPTS = 3
TIMEOUTS_PER_ATTEMPT = 3
UNAVAILABLE_MS_PER_ATTEMPT = 7 * DAY_MS

FIRST_BACKOFF_MS = 10 * 60_000
MAX_BACKOFF_MS = 6 * HOUR_MS


# -- folding and order ------------------------------------------------------------------------------------------------


def queue_key(entry: InboxEntry, name: str) -> str:
    """What an entry is about: one transcript of a session, or the entry itself. Trouble is kept under it, and equal keys
    fold. A session may be in two files, of which each says something of its own: where one is named, it is in the key."""
    path = entry.retrieval.session_path if isinstance(entry.retrieval, SessionFile) else None
    return session_key(entry, name) + (f" {transcript_key(path)}" if path else "")


def session_key(entry: InboxEntry, name: str) -> str:
    """The session that an entry is about, whichever transcript it names, or the entry itself."""
    match entry.retrieval:
        case SessionFile(method, id) | AmpThread(id, method):
            return f"{method} {id}"
        case _:
            return f"entry {name}"


def is_same_work(entry: InboxEntry, name: str, pending: Pending) -> bool:
    """Whether an entry that lies under one of `pending`'s names still asks for what was worked on.

    A session's entries ask for the session, whatever else they say, unless they name another transcript of it; a note or a
    file asks for itself.
    """
    keys = (queue_key(pending.entry, name), session_key(pending.entry, name))
    if queue_key(entry, name) not in keys:
        return False
    if isinstance(entry.retrieval, FileSnapshot | InlineNote):
        return entry.retrieval == pending.entry.retrieval
    return True


@frozen
class Queue:
    """The folded entries that are due, in working order, and how many were left out."""

    pending: tuple[Pending, ...]
    waiting: int
    reason: str = ""
    """Why the first of those that wait for their time does so."""


@define
class _Folded:
    """The entries of one key so far. Slots only: there may be a hundred thousand of them."""

    entry: InboxEntry
    name: str
    names: list[str]

    def add(self, name: str, entry: InboxEntry, names: Sequence[str] = ()) -> None:
        self.names.extend(names or (name,))
        if (entry.at_ms, name) > (self.entry.at_ms, self.name):
            self.entry, self.name = folded_entry(self.entry, entry), name
        else:
            self.entry = folded_entry(entry, self.entry)


def fold_queue(
    entries: Iterable[tuple[str, InboxEntry]], troubles: Mapping[str, Trouble], limit: int | None, now_ms: int
) -> Queue:
    """The queue in working order: least attempted first, then what was captured as it happened before past sessions and
    those to look at again, then oldest by the newest entry of each session.

    Entries in their backoff are left out and counted as waiting, as are those beyond `limit`. `entries` is read once.
    """
    folded: dict[str, _Folded] = {}
    contexts: dict[Context, Context] = {}  # sessions of one directory share theirs, which halves the memory
    for name, one in entries:
        entry = evolve(one, context=contexts.setdefault(one.context, one.context))
        key = queue_key(entry, name)
        known = folded.get(key)
        if known is None:
            folded[key] = _Folded(entry, name, [name])
        else:
            known.add(name, entry)
    _fold_unnamed(folded)
    # Trouble of an entry that named no transcript, or of an earlier version, is under the session alone.
    none = Trouble()
    trouble_of = {
        key: troubles.get(key) or troubles.get(session_key(each.entry, each.name), none) for key, each in folded.items()
    }
    due = [key for key in folded if not is_waiting(trouble_of[key], now_ms)]
    due.sort(key=lambda key: (trouble_of[key].attempts, *_turn_of(folded[key])))
    chosen = due if limit is None else due[: max(limit, 0)]
    pending: list[Pending] = []
    for key in chosen:
        each = folded[key]
        older = sorted(name for name in each.names if name != each.name)
        pending.append(Pending(each.entry, each.name, (*older, each.name), trouble_of[key]))
    reason = next((trouble.message for trouble in trouble_of.values() if is_waiting(trouble, now_ms)), "")
    return Queue(tuple(pending), len(folded) - len(chosen), reason)


def _fold_unnamed(folded: dict[str, _Folded]) -> None:
    """Fold what names no transcript into the newest entry of its session that names one."""
    newest: dict[str, _Folded] = {}
    for key, each in folded.items():
        session = session_key(each.entry, each.name)
        if key != session and (session not in newest or newest[session].entry.at_ms <= each.entry.at_ms):
            newest[session] = each
    for session, named in newest.items():
        if (unnamed := folded.pop(session, None)) is not None:
            named.add(unnamed.name, unnamed.entry, unnamed.names)


def _turn_of(folded: _Folded) -> tuple[int, int, str]:
    # A year of past sessions takes weeks of calls; what is learnt today must not wait for them.
    leisure = (None, BACKFILL_EVENT, UPGRADE_EVENT)
    event = folded.entry.context.event
    return (leisure.index(event) if event in leisure else 0, folded.entry.at_ms, folded.name)


def folded_entry(older: InboxEntry, newer: InboxEntry) -> InboxEntry:
    """The newer entry, with what only the older one knows about the session: its file, its version, its directory, and
    that it is to be looked at again.

    Branch and commit belong to a moment, so they come along only with the directory that they were read in.
    """
    context = newer.context
    if context.cwd is None:
        context = evolve(
            older.context, event=context.event, reason=context.reason, harness_version=context.harness_version
        )
    if context.harness_version is None and older.context.harness_version is not None:
        context = evolve(context, harness_version=older.context.harness_version)
    if context.repo is None and context.cwd == older.context.cwd and older.context.repo is not None:
        context = evolve(context, repo=older.context.repo)
    if older.context.event == UPGRADE_EVENT:
        context = evolve(context, event=UPGRADE_EVENT)
    retrieval = newer.retrieval
    if isinstance(retrieval, SessionFile) and isinstance(older.retrieval, SessionFile):
        retrieval = evolve(retrieval, session_path=retrieval.session_path or older.retrieval.session_path)
    return evolve(newer, context=context, retrieval=retrieval)


# -- without secrets in its names (P20) -------------------------------------------------------------------------------


def as_captured(entry: InboxEntry) -> InboxEntry:
    """The entry as it waits. The branch finds nothing, so it is redacted at once; the directory and the transcript's path
    find the repository and the session, so they stay until the entry is consumed."""
    return evolve(entry, context=evolve(entry.context, branch=_redacted(entry.context.branch)))


def as_consumed(entry: InboxEntry) -> InboxEntry:
    """The entry once nothing is to be found by it any more. A transcript's path with a secret in it goes as a whole: a
    session is found by its id too, and by a wrong path never."""
    context, retrieval = entry.context, entry.retrieval
    if isinstance(retrieval, SessionFile) and retrieval.session_path != _redacted(retrieval.session_path):
        retrieval = evolve(retrieval, session_path=None)
    told = evolve(context, cwd=_redacted(context.cwd), repo=_redacted(context.repo), branch=_redacted(context.branch))
    return evolve(entry, context=told, retrieval=retrieval)


def _redacted(name: str | None) -> str | None:
    return None if name is None else redact_path(name)


# -- trouble ----------------------------------------------------------------------------------------------------------


def is_waiting(trouble: Trouble, now_ms: int) -> bool:
    """Whether the entry is in its backoff. One that would last longer than any backoff does is the work of a clock
    that was ahead, and does not count (P24)."""
    return now_ms < trouble.not_before_ms <= now_ms + MAX_BACKOFF_MS


def is_exhausted(trouble: Trouble) -> bool:
    """Whether the entry has had its attempts and is to be given up."""
    return trouble.attempts >= MAX_ATTEMPTS


def after_fault(trouble: Trouble, fingerprint: str, code: str, message: str, now_ms: int) -> Trouble:
    """After a fault of the session itself: one attempt more. It is due again at once, behind the less attempted."""
    known = _on_this_content(trouble, fingerprint)
    return evolve(
        known,
        attempts=known.attempts + 1,
        timeouts=0,
        unavailable_since_ms=None,
        not_before_ms=0,
        code=code,
        message=message,
    )


def after_timeout(trouble: Trouble, fingerprint: str, code: str, message: str, now_ms: int) -> Trouble:
    """After a time-out of the agent command: a growing backoff; the third in a row on this content is one attempt."""
    known = _on_this_content(trouble, fingerprint)
    timeouts = known.timeouts + 1
    counts = timeouts >= TIMEOUTS_PER_ATTEMPT
    return evolve(
        known,
        attempts=known.attempts + counts,
        timeouts=0 if counts else timeouts,
        unavailable_since_ms=None,
        not_before_ms=now_ms + min(FIRST_BACKOFF_MS * 3 ** (timeouts - 1), MAX_BACKOFF_MS),
        code=code,
        message=message,
    )


def after_unavailable(trouble: Trouble, code: str, message: str, now_ms: int) -> Trouble:
    """After a history that was not there: the backoff is as long as the waiting has been so far (which doubles it),
    within bounds; seven days of it are one attempt."""
    since_ms = trouble.unavailable_since_ms
    if since_ms is None or since_ms > now_ms:  # the second: the clock was set back
        since_ms = now_ms
    waited_ms = now_ms - since_ms
    counts = waited_ms >= UNAVAILABLE_MS_PER_ATTEMPT
    return evolve(
        trouble,
        attempts=trouble.attempts + counts,
        unavailable_since_ms=now_ms if counts else since_ms,
        not_before_ms=now_ms + min(max(waited_ms, FIRST_BACKOFF_MS), MAX_BACKOFF_MS),
        code=code,
        message=message,
    )


def _on_this_content(trouble: Trouble, fingerprint: str) -> Trouble:
    """The counts so far; none for content that was never tried."""
    return trouble if trouble.fingerprint == fingerprint else Trouble(fingerprint=fingerprint)

"""The queue's values: pending entries, their troubles, and their outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, ClassVar, Literal

from attrs import define, evolve, field, frozen

from agent_memory.note.note import Harness, Kind
from agent_memory.redaction.redact import redact_path
from agent_memory.session.history import transcript_key
from agent_memory.text.instants import DAY_MS, HOUR_MS, Instant
from agent_memory.text.plain_text import Count
from agent_memory.text.value_rules import (
    MAX_PATH_BYTES,
    commit_problem,
    id_problem,
    path_problem,
    ref_problem,
    shown,
    text_problem,
    version_problem,
    word_problem,
)

# -- one record -------------------------------------------------------------------------------------------------------
# The inbox entry: a pending record "look at this session".


MAX_TITLE_CHARS = 200
MAX_BODY_CHARS = 8_000
"""The limit for a note, so that it can always be stored whole."""
MAX_TAGS = 50
MAX_TAG_CHARS = 100

_SPARSE = {"sparse": True}

SESSION_METHODS = tuple(f"{each}-session" for each in Harness if each not in (Harness.AMP, Harness.MANUAL))


@frozen
class SessionFile:
    """A session in a file of its harness. JSON: `{method, sessionId, sessionPath?}`, the method one of `SESSION_METHODS`."""

    method: str
    session_id: Annotated[str, id_problem]
    session_path: Annotated[str, path_problem] | None = field(default=None, metadata=_SPARSE)


@frozen
class AmpThread:
    """JSON: `{method: "amp-thread", threadId}`."""

    thread_id: Annotated[str, id_problem]
    method: Literal["amp-thread"] = "amp-thread"
    session_path: ClassVar[None] = None

    @property
    def session_id(self) -> str:
        return self.thread_id


SNAPSHOTS = "inbox/snapshots"
"""The directory of copies made at capture. No entry may name another file: it may be a secret note (P27)."""


def snapshot_path_problem(value: object) -> str | None:
    """Returns what is wrong with the relative path of a file in the snapshot directory."""
    problem = text_problem(value, MAX_PATH_BYTES)
    if problem is not None or not isinstance(value, str):
        return problem
    if value.startswith("/"):
        return "is an absolute path, expected a copy inside the store; `memory capture --file` makes one"
    if any(part in ("", ".", "..") for part in value.split("/")):
        return f"is {shown(value)}, expected a plain path relative to the root"
    is_snapshot = value.rpartition("/")[0] == SNAPSHOTS
    return None if is_snapshot else f"is {shown(value)}, and only copies in {SNAPSHOTS}/ are read"


def _too_many_problem(tags: tuple[str, ...]) -> str | None:
    return f"has {len(tags):,} items, at most {MAX_TAGS} are allowed" if len(tags) > MAX_TAGS else None


@frozen
class FileSnapshot:
    """A redacted copy made at capture; `path` is in `SNAPSHOTS`, relative to the root. JSON: `{method: "file", path}`."""

    path: Annotated[str, snapshot_path_problem]
    method: Literal["file"] = "file"
    session_id: ClassVar[None] = None


@frozen
class InlineNote:
    """A note in the entry itself. JSON: `{method: "inline", title, body, tags?, kind?, threadId?}`."""

    title: Annotated[str, partial(text_problem, max_chars=MAX_TITLE_CHARS)]
    body: Annotated[str, partial(text_problem, max_chars=MAX_BODY_CHARS, lines=True)]
    tags: Annotated[tuple[Annotated[str, partial(text_problem, max_chars=MAX_TAG_CHARS)], ...], _too_many_problem] = (
        field(default=(), metadata=_SPARSE)
    )
    kind: Kind | None = field(default=None, metadata=_SPARSE)
    thread_id: Annotated[str, id_problem] | None = field(default=None, metadata=_SPARSE)
    method: Literal["inline"] = "inline"

    @property
    def session_id(self) -> str | None:
        return self.thread_id


Retrieval = SessionFile | AmpThread | FileSnapshot | InlineNote

SessionRetrieval = SessionFile | AmpThread
"""Retrieval of a session that its harness keeps."""

BACKFILL_EVENT = "backfill"
"""The event of an entry for a past session: it waits behind what was captured as it happened."""
UPGRADE_EVENT = "upgrade"
"""The event of an entry that asks to consolidate again, as a whole, a session that the built-in consolidated."""
WATCH_EVENT = "watch"
"""The event of an entry made because a transcript stopped changing."""


@frozen
class Context:
    """Where the session was at capture. JSON keys: camelCase of these names; absent if None."""

    cwd: Annotated[str, path_problem] | None = field(default=None, metadata=_SPARSE)
    repo: Annotated[str, ref_problem] | None = field(default=None, metadata=_SPARSE)
    branch: Annotated[str, ref_problem] | None = field(default=None, metadata=_SPARSE)
    commit: Annotated[str, commit_problem] | None = field(default=None, metadata=_SPARSE)
    event: Annotated[str, word_problem] | None = field(default=None, metadata=_SPARSE)
    reason: Annotated[str, word_problem] | None = field(default=None, metadata=_SPARSE)
    harness_version: Annotated[str, version_problem] | None = field(default=None, metadata=_SPARSE)


Verdict = Literal[
    "written", "skipped", "unchanged", "refused", "unavailable", "timed-out", "gave-up", "own-call", "paused", "planned"
]


@frozen
class Outcome:
    """The outcome of one pending session in one run; stored with the processed inbox entry."""

    verdict: Verdict
    run_id: Annotated[str, id_problem]
    at_ms: Instant
    entry_ids: tuple[Annotated[str, id_problem], ...] = field(default=(), metadata=_SPARSE)
    """Ids of created or updated notes."""
    reason: str = field(default="", metadata=_SPARSE)
    dropped: tuple[str, ...] = field(default=(), metadata=_SPARSE)


@frozen
class InboxEntry:
    """JSON, version 1: `{version, timestamp, harness, retrieval, context?, outcome?}`."""

    at_ms: Instant = field(metadata={"key": "timestamp"})
    harness: Harness
    retrieval: Retrieval
    context: Context = field(factory=Context, metadata=_SPARSE)
    outcome: Outcome | None = field(default=None, metadata=_SPARSE)
    """Set once it has left the inbox."""


def retrieval_of(harness: Harness, session_id: str, session_path: str | None = None) -> SessionRetrieval:
    """Returns how to get the history of a session of this harness, which is not `manual`: that has none."""
    if harness is Harness.AMP:
        return AmpThread(session_id)
    return SessionFile(f"{harness}-session", session_id, session_path)


def possible_retrievals(session_id: str, harness: Harness | None) -> Iterator[tuple[Harness, SessionRetrieval]]:
    """Yields how to get the session of this harness; of none in particular, of each that may have one with this id: Amp
    and opencode have their own form of ids."""
    begins = {Harness.AMP: "T-", Harness.OPENCODE: "ses"}
    for each in [harness] if harness else Harness:
        if each is not Harness.MANUAL and (harness or session_id.startswith(begins.get(each, ""))):
            yield each, retrieval_of(each, session_id)


@frozen
class Trouble:
    """The failures of an entry so far, stored outside its file (which never changes). A fresh entry has none."""

    attempts: Count = field(default=0, metadata=_SPARSE)
    """Faults of the session itself, with this `fingerprint`."""
    timeouts: Count = field(default=0, metadata=_SPARSE)
    """Time-outs in a row with this fingerprint; three count as one attempt."""
    unavailable_since_ms: Count | None = field(default=None, metadata=_SPARSE)
    """When the history was first missing; seven days count as one attempt."""
    not_before_ms: Count = field(default=0, metadata=_SPARSE)
    """Backoff: not tried before this time, and sorted behind the others until then."""
    fingerprint: str = field(default="", metadata=_SPARSE)
    """Of the content that was tried; new content resets the counts."""
    code: str = field(default="", metadata=_SPARSE)
    message: str = field(default="", metadata=_SPARSE)


@frozen
class Pending:
    """A session (or note) to consolidate: its newest entry, and the names of all entries folded into it."""

    entry: InboxEntry
    name: str
    """The newest entry's file name."""
    names: tuple[str, ...]
    """All file names, oldest first."""
    trouble: Trouble = Trouble()


@frozen
class Quarantined:
    """An invalid inbox file, moved to `inbox/.failed/` with its reason beside it."""

    name: str
    reason: str


@frozen
class Loaded:
    """The queue in working order: least attempted first, then oldest."""

    pending: tuple[Pending, ...]
    quarantined: tuple[Quarantined, ...] = ()
    waiting: int = 0
    """The number of entries left out because of their backoff."""
    unreadable: tuple[Quarantined, ...] = ()
    """Files that the operating system could not read; left in place, since they may be valid (P6)."""
    reason: str = ""
    """Why the first of those in their backoff will be retried later, as a sentence."""


@frozen
class KnownSessions:
    """The sessions in the inbox, by queue key (`queue_key`)."""

    waiting: frozenset[str] = frozenset()
    asked_again: frozenset[str] = frozenset()
    """Those to be consolidated again as a whole."""
    given_up_at_ms: dict[str, int] = field(factory=dict[str, int])
    """When each was last given up."""


# The rules of the queue: folding, order, and what trouble does to an entry. Pure; instants are epoch ms.


MAX_ATTEMPTS = 3
TIMEOUTS_PER_ATTEMPT = 3
UNAVAILABLE_MS_PER_ATTEMPT = 7 * DAY_MS

FIRST_BACKOFF_MS = 10 * 60_000
MAX_BACKOFF_MS = 6 * HOUR_MS


# -- folding and order ------------------------------------------------------------------------------------------------


def queue_key(entry: InboxEntry, name: str) -> str:
    """Returns the subject of an entry: one transcript of a session (which may have two with different turns), or the
    entry itself. Entries with equal keys fold, and trouble is stored by key."""
    path = entry.retrieval.session_path if isinstance(entry.retrieval, SessionFile) else None
    return session_key(entry, name) + (f" {transcript_key(path)}" if path else "")


def session_key(entry: InboxEntry, name: str) -> str:
    """Returns the session of an entry, whichever transcript it names, or the entry itself."""
    how = entry.retrieval
    return f"{how.method} {how.session_id}" if isinstance(how, SessionFile | AmpThread) else f"entry {name}"


def is_same_work(entry: InboxEntry, name: str, pending: Pending) -> bool:
    """Returns whether an entry that is now under one of `pending`'s names asks for the same work: a session's entry
    does unless it names another transcript; a note or a file stands for itself."""
    keys = (queue_key(pending.entry, name), session_key(pending.entry, name))
    if queue_key(entry, name) not in keys:
        return False
    if isinstance(entry.retrieval, FileSnapshot | InlineNote):
        return entry.retrieval == pending.entry.retrieval
    return True


@define
class _Folded:
    """The entries of one key so far. It has slots because there may be a hundred thousand."""

    entry: InboxEntry
    name: str
    names: list[str]

    def add(self, name: str, entry: InboxEntry, names: Sequence[str] = ()) -> None:
        self.names.extend(names or (name,))
        if (entry.at_ms, name) > (self.entry.at_ms, self.name):
            self.entry, self.name = folded_entry(self.entry, entry), name
        else:
            self.entry = folded_entry(entry, self.entry)


def fold_queue(entries: Iterable[tuple[str, InboxEntry]], troubles: Mapping[str, Trouble], now_ms: int) -> Loaded:
    """Returns the queue in working order: least attempted first, then live captures before past sessions and those to
    repeat, then by the newest entry of each session, oldest first.

    Entries in their backoff are left out and counted as waiting. `entries` is read once.
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
    # An entry without a transcript folds into the newest entry of its session that has one.
    newest: dict[str, _Folded] = {}
    for key, each in folded.items():
        session = session_key(each.entry, each.name)
        if key != session and (session not in newest or newest[session].entry.at_ms <= each.entry.at_ms):
            newest[session] = each
    for session, named in newest.items():
        if (unnamed := folded.pop(session, None)) is not None:
            named.add(unnamed.name, unnamed.entry, unnamed.names)
    # Trouble of an entry without a transcript is stored under the session alone.
    none = Trouble()
    trouble_of = {
        key: troubles.get(key) or troubles.get(session_key(each.entry, each.name), none) for key, each in folded.items()
    }
    due = [key for key in folded if not is_waiting(trouble_of[key], now_ms)]
    due.sort(key=lambda key: (trouble_of[key].attempts, *_working_order(folded[key])))
    pending: list[Pending] = []
    for key in due:
        each = folded[key]
        older = sorted(name for name in each.names if name != each.name)
        pending.append(Pending(each.entry, each.name, (*older, each.name), trouble_of[key]))
    reason = next((trouble.message for trouble in trouble_of.values() if is_waiting(trouble, now_ms)), "")
    return Loaded(tuple(pending), waiting=len(folded) - len(due), reason=reason)


def _working_order(folded: _Folded) -> tuple[int, int, str]:
    # A year of past sessions takes weeks of calls; today's sessions must not wait for them.
    leisure = (None, BACKFILL_EVENT, UPGRADE_EVENT)
    event = folded.entry.context.event
    return (leisure.index(event) if event in leisure else 0, folded.entry.at_ms, folded.name)


def folded_entry(older: InboxEntry, newer: InboxEntry) -> InboxEntry:
    """Returns the newer entry with what only the older one knows: the session's file, version and directory, and that
    it must be repeated. Branch and commit belong to a moment, so they come only with their directory."""
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


# -- without secrets in names (P20) -----------------------------------------------------------------------------------


def as_captured(entry: InboxEntry) -> InboxEntry:
    """Returns the entry as it is queued. The branch is redacted at once; the directory and the transcript's path are
    needed to find the repository and the session, so they stay until the entry is consumed."""
    return evolve(entry, context=evolve(entry.context, branch=_redacted(entry.context.branch)))


def as_consumed(entry: InboxEntry) -> InboxEntry:
    """Returns the entry once its paths are no longer needed. A transcript's path with a secret is removed whole: the
    session's id still finds it, and a redacted path never would."""
    context, retrieval = entry.context, entry.retrieval
    if isinstance(retrieval, SessionFile) and retrieval.session_path != _redacted(retrieval.session_path):
        retrieval = evolve(retrieval, session_path=None)
    told = evolve(context, cwd=_redacted(context.cwd), repo=_redacted(context.repo), branch=_redacted(context.branch))
    return evolve(entry, context=told, retrieval=retrieval)


def _redacted(name: str | None) -> str | None:
    return None if name is None else redact_path(name)


# -- trouble ----------------------------------------------------------------------------------------------------------


def is_waiting(trouble: Trouble, now_ms: int) -> bool:
    """Returns whether the entry is in its backoff; not if that is too long, since then a clock was ahead (P24)."""
    return now_ms < trouble.not_before_ms <= now_ms + MAX_BACKOFF_MS


def is_exhausted(trouble: Trouble) -> bool:
    return trouble.attempts >= MAX_ATTEMPTS


def after_fault(trouble: Trouble, fingerprint: str, code: str, message: str, now_ms: int) -> Trouble:
    """Returns the trouble after a fault of the session: one attempt more, due at once, behind less attempted ones."""
    attempts = _counts_for(trouble, fingerprint).attempts + 1
    return Trouble(attempts, fingerprint=fingerprint, code=code, message=message)


def after_timeout(trouble: Trouble, fingerprint: str, code: str, message: str, now_ms: int) -> Trouble:
    """Returns the trouble after a time-out of the agent: a growing backoff; the third on this content is one attempt."""
    known = _counts_for(trouble, fingerprint)
    timeouts = known.timeouts + 1
    counts = timeouts >= TIMEOUTS_PER_ATTEMPT
    not_before_ms = now_ms + min(FIRST_BACKOFF_MS * 3 ** (timeouts - 1), MAX_BACKOFF_MS)
    timeouts = 0 if counts else timeouts
    return Trouble(known.attempts + counts, timeouts, None, not_before_ms, fingerprint, code, message)


def after_unavailable(trouble: Trouble, code: str, message: str, now_ms: int) -> Trouble:
    """Returns the trouble after a missing history: a backoff as long as the waiting so far; seven days are one attempt."""
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


def _counts_for(trouble: Trouble, fingerprint: str) -> Trouble:
    """Returns the counts so far; fresh ones for new content."""
    return trouble if trouble.fingerprint == fingerprint else Trouble()


@frozen
class FailedEntry:
    """A file in `inbox/.failed/`."""

    name: str
    reason: str
    malformed: bool
    """True if it was never valid; False if it was given up, and can be retried."""

"""The trace of a session: its captures, what runs made of them, and the notes that name it. The fields of the values
are those of `--json`. Changes nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from attrs import field, frozen
from returns.result import Result

from agent_memory.capture.hook_files import FAILED, INBOX, PROCESSED, is_entry_name
from agent_memory.capture.inbox_files import MAX_RETIRED_BYTES, parse_inbox_entry, troubles_of
from agent_memory.care.session_list import Key, NamedNote, keys_of, named
from agent_memory.errors import EntryUnreadable, Error, UsageInvalid
from agent_memory.files.paths import names_below, read_image
from agent_memory.note.note import Listed, Listing
from agent_memory.recall.reading import Reading
from agent_memory.results import as_result, unwrap
from agent_memory.rules.change import Change, entries_written
from agent_memory.rules.run_log import MOST_RUNS, LoggedRun, short_id
from agent_memory.session.history import SessionMark
from agent_memory.session.queue import MAX_ATTEMPTS, InboxEntry, Trouble, queue_key
from agent_memory.session.resuming import resume_command
from agent_memory.store.run_files import RunLog
from agent_memory.text.instants import instant
from agent_memory.text.plain_text import counted, first_few

if TYPE_CHECKING:
    from agent_memory.store.bookkeeping import SessionMarks


def unread_notes(*listings: Listing) -> tuple[str, ...]:
    """Returns one sentence for each file that is not a note, or could not be read (P6)."""
    files = (each for listing in listings for each in listing.unreadable)
    return tuple(str(EntryUnreadable(each.path, each.problems)) for each in files)


def unread_runs(runs: Iterable[LoggedRun]) -> tuple[str, ...]:
    """Returns one sentence for each run of which it is not known what it did."""
    return tuple(
        f"What the run {short_id(run.run_id)} did is unknown: {'; '.join(run.problems)}" for run in runs if run.problems
    )


# -- a session --------------------------------------------------------------------------------------------------------

Place = Literal["waiting", "processed", "given-up"]
SessionState = Literal["pending", "processed", "failed", "never-captured"]


@frozen
class FoundCapture:
    """One inbox entry that named the session."""

    entry: InboxEntry
    place: Place
    name: str
    trouble: Trouble | None = None
    """The trouble of a capture that waits."""

    @property
    def key(self) -> tuple[str, str]:
        return self.entry.harness.value, self.entry.retrieval.session_id or ""


@frozen
class CaptureTrouble:
    attempts: int
    timeouts: int
    not_before_at_ms: int | None = field(metadata={"key": "notBefore"})
    code: str
    message: str


@frozen
class SessionOutcome:
    run: str
    machine: str
    at_ms: int
    verdict: str
    reason: str
    entries: tuple[str, ...]
    dropped: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """`2026-02-13 14:30 UTC: nothing of it was kept: … (run 4dbfbe)`."""
        why = f": {self.reason.rstrip('.')}" if self.reason else ""
        what = _VERDICTS.get(self.verdict, self.verdict)
        return f"{instant(self.at_ms)}: {what}{why} (run {short_id(self.run)})"


@frozen
class Capture:
    name: str
    place: Place
    at_ms: int
    cwd: str | None
    repo: str | None
    trouble: CaptureTrouble | None
    outcome: SessionOutcome | None


@frozen
class ReadUpTo:
    turn: int
    at_ms: int | None
    agent: str


@frozen
class SessionTrace:
    harness: str
    session_id: str
    state: SessionState
    words: tuple[str, ...]
    """Its present state, and what else is known in chronological order: one sentence each."""
    cwd: str | None
    """Its directory, by the newest capture that names it, else by its notes."""
    reopen: str | None
    captures: tuple[Capture, ...]
    """Newest first, as are the runs."""
    read_up_to: ReadUpTo | None
    runs: tuple[SessionOutcome, ...]
    entries: tuple[NamedNote, ...]
    """Live and archived notes that name the session as a source, or were recorded as made from it."""
    dropped: tuple[str, ...]
    """Parts of the agent's answers that were not applied, and why, each once, newest first."""
    deferred: tuple[str, ...]
    """Ids of notes with a change that waits for the next run because it was over a run's limit."""


@frozen
class FoundSessions:
    """The answer of `memory why --session`: the sessions that an id may mean (several harnesses may have the same), or
    none."""

    asked: str
    sessions: tuple[SessionTrace, ...]
    unopened_inbox_files: int = 0
    unread: tuple[str, ...] = ()
    """What could not be read, one sentence each: more may be unknown."""


_VERDICTS: Mapping[str, str] = {
    "written": "notes were made of it",
    "skipped": "nothing of it was kept",
    "unchanged": "it held nothing new since last time",
    "refused": "the agent's answer was refused",
    "unavailable": "its transcript was not there",
    "timed-out": "the agent gave no answer in time",
    "gave-up": "it was given up",
    "own-call": "it is one of memory's own calls to an agent, and nothing is learnt from those",
    "paused": "the run had to stop before it, or memory is paused",
    "planned": "it was only looked at, in a dry run",
}
NEVER_CAPTURED = (
    "Nothing is known about it: no capture of it has arrived. `memory status` shows captures that did not arrive; "
    "`memory capture --harness NAME --session ID --transcript PATH` captures it now."
)


def trace_session(
    key: tuple[str, str],
    found: Sequence[FoundCapture],
    runs: tuple[SessionOutcome, ...],
    notes: Iterable[Listed],
    mark: SessionMark | None = None,
    deferred: tuple[str, ...] = (),
) -> SessionTrace:
    """Returns the trace of a session (harness and id) from its captures and from what runs tell of it, both newest
    first. Its notes are those that name it as a source or were recorded as made from it."""
    captures = tuple(map(_capture, found))
    retired = sorted(
        ((each.outcome, each.place) for each in captures if each.outcome is not None), key=lambda each: -each[0].at_ms
    )
    outcomes = [*(outcome for outcome, _ in retired), *runs]
    recorded = {*(() if mark is None else mark.entry_ids), *(id for each in outcomes for id in each.entries)}
    own = [each for each in notes if each.meta.id in recorded or key in keys_of(each.meta)]
    own.sort(key=lambda each: (each.archived, -each.meta.created_at_ms, each.meta.id))
    sources = (source for each in own for source in each.meta.sources if source.thread_id == key[1])
    cwd = next(filter(None, (*(each.cwd for each in captures), *(source.cwd for source in sources))), None)
    # What waits counts before what was done, and the newest outcome before older ones.
    state: SessionState = "never-captured"
    first = "No capture of it has arrived, though notes name it." if own else NEVER_CAPTURED
    if any(each.place == "waiting" for each in captures):
        before = " It was read before, and has grown since." if mark is not None else ""
        state, first = "pending", f"It waits in the inbox; `memory consolidate` reads it.{before}"
    elif retired and retired[0][1] == "given-up":
        state, first = "failed", "It was given up; `memory consolidate --retry-failed` tries it again."
    elif retired or runs or mark is not None:
        state, first = "processed", "It has been read."
    words = [first]
    if captures:
        oldest, newest = instant(captures[-1].at_ms), instant(captures[0].at_ms)
        times = f"on {newest}" if len(captures) == 1 else f"{len(captures)} times, first on {oldest}, last on {newest}"
        words.append(f"It was captured {times}.")
    # What the inbox no longer tells, the runs do.
    told = [each.sentence for each in ([outcome for outcome, _ in retired] or runs)]
    words += reversed(tuple(dict.fromkeys(told))[:10])
    if mark is not None:
        when = f", of {instant(mark.last_at_ms)}" if mark.last_at_ms is not None else ""
        words.append(f"It has been read up to turn {mark.turns_seen}{when}, by {mark.agent_name}.")
    words += dict.fromkeys(_trouble_in_words(each.trouble) for each in found if each.trouble is not None)
    if deferred:
        words.append(f"What it changes of {', '.join(deferred)} waits for the next run: one run changes only so much.")
    return SessionTrace(
        *key,
        state=state,
        words=tuple(words),
        cwd=cwd,
        reopen=resume_command(*key, cwd),
        captures=captures,
        read_up_to=None if mark is None else ReadUpTo(mark.turns_seen, mark.last_at_ms, mark.agent_name),
        runs=runs,
        entries=named(own),
        dropped=tuple(dict.fromkeys(words for each in outcomes for words in each.dropped)),
        deferred=deferred,
    )


def _capture(found: FoundCapture) -> Capture:
    context, trouble, done = found.entry.context, found.trouble, found.entry.outcome
    told = outcome = None
    if trouble is not None:
        not_before_ms = trouble.not_before_ms or None
        told = CaptureTrouble(trouble.attempts, trouble.timeouts, not_before_ms, trouble.code, trouble.message)
    if done is not None:
        made = (done.verdict, done.reason, done.entry_ids, done.dropped)
        outcome = SessionOutcome(done.run_id, "consolidate", done.at_ms, *made)
    return Capture(found.name, found.place, found.entry.at_ms, context.cwd, context.repo, told, outcome)


def _trouble_in_words(trouble: Trouble) -> str:
    counts: list[str] = []
    if trouble.attempts:
        counts.append(f"{trouble.attempts} of {MAX_ATTEMPTS} attempts used up")
    if trouble.timeouts:
        counts.append(f"{counted(trouble.timeouts, 'time-out')} in a row")
    if trouble.unavailable_since_ms is not None:
        counts.append(f"its transcript was not there since {instant(trouble.unavailable_since_ms)}")
    if trouble.not_before_ms:
        counts.append(f"not before {instant(trouble.not_before_ms)}")
    why = f": {trouble.message.rstrip('.')}" if trouble.message else ""
    known = f" ({', '.join(counts)})" if counts else ""
    return f"Memory will retry it{known}{why}."


@as_result
def find_sessions(
    session_id: str,
    root: Path,
    reading: Reading,
    log: RunLog,
    marks: SessionMarks,
    deferred: Callable[[], Result[tuple[Change, ...], Error]],
) -> FoundSessions:
    """Returns the trace of the session with this id, for every harness that has one, or else of the one whose id begins
    with it; none if nothing is known of it. UsageInvalid where several begin with it."""
    captures, unopened, unread = captures_beginning_with(str(root), session_id)
    listings = unwrap(reading.store.listings())
    runs = unwrap(log.runs(MOST_RUNS))
    marked = {(each.harness.value, each.session_id): each for each in unwrap(marks.beginning_with(session_id, 100))}
    by_runs: dict[Key, list[SessionOutcome]] = defaultdict(list)
    for run in runs:
        for each in run.sessions:
            if each.session_id is not None and each.session_id.startswith(session_id):
                told = (each.verdict, each.reason, each.entry_ids, each.dropped)
                outcome = SessionOutcome(run.run_id, run.machine, run.started_at_ms, *told)
                by_runs[each.harness, each.session_id].append(outcome)
    notes = [each for listing in listings for each in reading.seen(listing.entries)]
    changed = [each.meta for each in entries_written(unwrap(deferred())).values()]
    noted = (key for each in notes for key in keys_of(each.meta) if key[1].startswith(session_id))
    keys = {*marked, *(each.key for each in captures), *by_runs, *noted}
    chosen = {key for key in keys if key[1] == session_id} or keys
    ids = sorted({id for _, id in chosen})
    if len(ids) > 1:
        count = f"{'at least ' if unopened else ''}{len(ids):,}"
        problem = f"{session_id} matches {count} sessions: {first_few(ids, 5)}"
        raise UsageInvalid(problem, "Give more of it.")
    traces = (
        trace_session(
            key,
            [each for each in captures if each.key == key],
            tuple(by_runs.get(key, ())),
            notes,
            marked.get(key),
            tuple(meta.id for meta in changed if key in keys_of(meta)),
        )
        for key in sorted(chosen)
    )
    unread = (*unread, *unread_notes(*listings), *unread_runs(runs))
    return FoundSessions(session_id, tuple(traces), unopened, unread)


MOST_OPENED = 100_000
"""Files in each directory, newest first: older captures are covered by the session's mark, its notes and the runs."""

_PLACES: tuple[tuple[str, Place], ...] = ((INBOX, "waiting"), (PROCESSED, "processed"), (FAILED, "given-up"))


def captures_beginning_with(root: str, session_id: str) -> tuple[tuple[FoundCapture, ...], int, tuple[str, ...]]:
    """Returns the captures of every session whose id begins like this, of any harness, newest first; how many files
    were not looked into; and what could not be read, one sentence each. `memory status` reports files that are not
    entries."""
    troubles = troubles_of(root)
    captures: list[FoundCapture] = []
    unread: list[str] = []
    unopened = 0
    for relative, place in _PLACES:
        # A name begins with the time of its capture.
        names = names_below(root, relative, is_entry_name)[::-1]
        unopened += max(0, len(names) - MOST_OPENED)
        for name in names[:MOST_OPENED]:
            try:
                image = read_image(f"{root}/{relative}/{name}", MAX_RETIRED_BYTES)
            except Error as error:
                unread.append(str(error))
                continue
            if image is None or session_id.encode("utf-8", "backslashreplace") not in image.data:
                continue
            entry = parse_inbox_entry(image.data.decode("utf-8", "replace")).value_or(None)
            named = None if entry is None else entry.retrieval.session_id
            if entry is not None and named is not None and named.startswith(session_id):
                trouble = troubles.get(queue_key(entry, name)) if place == "waiting" else None
                captures.append(FoundCapture(entry, place, name, trouble))
    return tuple(sorted(captures, key=lambda each: (-each.entry.at_ms, each.name))), unopened, tuple(unread)

"""What is known of a note, of a session, and of the links between notes: values whose fields are those of `--json`, and
the sentences in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from attrs import field, frozen

from agent_memory.errors import EntryUnreadable
from agent_memory.note.note import Listed, Listing, Meta, Source, Usage
from agent_memory.note.vocabulary import Harness, Kind, Origin, Status, Tier, resume_command
from agent_memory.rules.run_log import LoggedRun, Revision, short_id
from agent_memory.rules.score import why_not_nearer
from agent_memory.session.history import SessionMark
from agent_memory.session.queue import MAX_ATTEMPTS, InboxEntry, Trouble, session_id_of
from agent_memory.text.instants import day_of, has_passed, iso_of
from agent_memory.text.plain_text import counted, one_line

_LINE_CHARS = 300


def instant(at_ms: int) -> str:
    """Returns `2026-02-13 14:30 UTC`."""
    return f"{iso_of(at_ms)[:16].replace('T', ' ')} UTC"


@frozen
class NamedNote:
    """A note that another one, or a session, leads to."""

    id: str
    title: str
    archived: bool


def named(notes: Iterable[Listed]) -> tuple[NamedNote, ...]:
    return tuple(NamedNote(each.meta.id, each.meta.title, each.archived) for each in notes)


def unread_notes(*listings: Listing) -> tuple[str, ...]:
    """Returns one sentence for each file that is no note, or could not be read (P6)."""
    files = (each for listing in listings for each in listing.unreadable)
    return tuple(str(EntryUnreadable(each.path, each.problems)) for each in files)


def unread_runs(runs: Iterable[LoggedRun]) -> tuple[str, ...]:
    """Returns one sentence for each run of which it is not known what it did."""
    return tuple(
        f"What the run {short_id(run.run_id)} did is unknown: {'; '.join(run.problems)}" for run in runs if run.problems
    )


# -- a note: whose word it is -----------------------------------------------------------------------------------------


def said_by(meta: Meta) -> str:
    """Returns one or two sentences: who said it, and whether a person vouches for it."""
    if meta.origin is Origin.USER:
        wrote = not meta.sources or all(source.harness is Harness.MANUAL for source in meta.sources)
        who = "You wrote it." if wrote else "You said it in a session."
    elif meta.origin is Origin.AGENT:
        who = "An agent concluded it; no message of yours says it."
    else:
        who = "It comes from outside: what a tool, a page, another program or an import said."
    return f"{who} You vouched for it." if meta.is_vouched_for and meta.origin is not Origin.USER else who


@frozen
class ToldSource(Source):
    """A source of a note, with the command that opens its session again."""

    reopen: str | None = None

    @classmethod
    def of(cls, source: Source) -> ToldSource:
        told = (source.harness, source.thread_id, source.repo, source.cwd, source.agent, source.turns)
        return cls(*told, resume_command(source.harness, source.thread_id, source.cwd))


def source_in_words(source: Source) -> str:
    """Returns `claude-code session 5f2c…, turns 3 and 9, in /srv/shop (github.com/acme/shop), by builtin`."""
    words = "you, by hand" if source.harness is Harness.MANUAL and not source.thread_id else str(source.harness)
    if source.thread_id:
        words += f" session {one_line(source.thread_id, _LINE_CHARS)}"
    if source.turns:
        *before, last = map(str, source.turns)
        words += f", turns {', '.join(before)} and {last}" if before else f", turn {last}"
    if source.cwd:
        words += f", in {one_line(source.cwd, _LINE_CHARS)}"
    if source.repo:
        words += f" ({one_line(source.repo, _LINE_CHARS)})"
    if source.agent:
        words += f", by {one_line(source.agent, _LINE_CHARS)}"
    return words


# -- a note: what changed it ------------------------------------------------------------------------------------------


_DONE: Mapping[str, str] = {
    "create": "written",
    "replace": "changed",
    "retire": "archived",
    "restore": "brought back from the archive",
    "remove": "taken away",
    "merge": "merged",
    "split": "split",
    "rename": "renamed",
    "retag": "given other tags",
    "edit": "edited",
    "archive": "archived",
}


@frozen
class HistoryEvent:
    """One thing that a run did to the note."""

    at_ms: int
    run_id: str = field(metadata={"key": "run"})
    machine: str
    kind: str
    ids: tuple[str, ...]
    new_ids: tuple[str, ...]
    words: str
    undone_by: str | None

    @property
    def sentence(self) -> str:
        """`merged by defrag 4dbfbe: id__…, id__… into id__…`."""
        moved = f"{', '.join(self.ids)} into {', '.join(self.new_ids)}" if self.ids and self.new_ids else ""
        done = f"{_DONE.get(self.kind, self.kind)} by {self.machine} {short_id(self.run_id)}"
        told = f"{done}: {self.words or moved}".removesuffix(": ")
        return f"{told} (undone by {short_id(self.undone_by)})" if self.undone_by else told


def events_of(ids: frozenset[str], runs: Iterable[LoggedRun]) -> tuple[HistoryEvent, ...]:
    """Returns what the runs did to any of these notes, oldest first; `runs` come newest first."""
    found = [
        HistoryEvent(
            run.started_at_ms, run.run_id, run.machine, each.kind, each.ids, each.new_ids, each.words, run.undone_by
        )
        for run in runs
        for each in reversed(run.actions)
        if not ids.isdisjoint(each.all_ids)
    ]
    return tuple(reversed(found))


# -- a note: why it is in its tier ------------------------------------------------------------------------------------

_SHOWN: dict[Tier, str] = {
    Tier.HOT: "It is hot: the managed section shows it whole, if there is room.",
    Tier.WARM: "It is warm: the managed section shows one line of it, if there is room.",
    Tier.COLD: "It is cold: the managed section does not show it.",
}


@frozen
class TierStanding:
    """The tier of a note, and why it is in it."""

    tier: Tier
    best: Tier
    """The nearest tier that it may have by whose word it is."""
    pinned: bool
    reasons: tuple[str, ...]
    score: Mapping[str, float]
    """`total`, the factors of it, and what a pin adds, rounded to four digits."""


def tier_reasons(
    meta: Meta,
    tier: Tier,
    now_ms: int,
    *,
    is_decided: bool = True,
    is_seen: bool = True,
    weakest_hot: float | None = None,
) -> tuple[str, str]:
    """Returns why a live note is where it is: what the tier means, and what put it there. `is_decided`: there was a
    defrag; `is_seen`: there was one since the note was written; `weakest_hot` is the lowest score among the hot notes
    that are not pinned and share a section with it."""
    return _SHOWN[tier], _why(meta, tier, now_ms, is_decided, is_seen, weakest_hot)


def _why(meta: Meta, tier: Tier, now_ms: int, is_decided: bool, is_seen: bool, weakest_hot: float | None) -> str:
    if tier is Tier.HOT:
        if meta.pinned:
            return "You pinned it; `memory unpin` lets defrag decide again."
        if meta.best_tier is not Tier.HOT:
            return f"The next defrag takes it out: {why_not_nearer(meta)}."
        if meta.is_vouched_for:
            return "You vouched for it with `memory promote`."
        return "Defrag chose it. It stays until defrag leaves it out twice in a row, or a clearly better note needs the room."
    if has_passed(meta.expires_at_ms, now_ms):
        return f"It expired on {day_of(meta.expires_at_ms)}; the next defrag archives it."
    if meta.best_tier is not Tier.HOT:
        nearest = "It can be warm at most" if meta.best_tier is Tier.WARM else "No agent sees it unasked"
        return f"{nearest}: {why_not_nearer(meta)}."
    if not is_decided:
        return "No defrag has decided yet what is hot; `memory defrag` does."
    if not is_seen:
        return "It was written after the last defrag; the next one looks at it."
    if meta.valid_until_ms is not None and meta.valid_until_ms <= now_ms:
        return f"It stopped being true on {day_of(meta.valid_until_ms)}."
    weakest = "" if weakest_hot is None else f"; the lowest score among them is {weakest_hot:.2f}"
    return f"It could be hot, but others rank before it{weakest}. `memory pin` makes it hot for good."


@frozen
class NoteHistory:
    """The answer of `memory why ID`, without the body."""

    id: str
    asked: str
    """The id that was asked for; it may be an alias."""
    title: str
    kind: Kind
    status: Status
    scope: str
    path: str
    archived: bool
    origin: Origin
    promoted_by: str | None
    said_by: str
    created_at_ms: int
    updated_at_ms: int
    sources: tuple[ToldSource, ...]
    history: tuple[HistoryEvent, ...]
    """Oldest first."""
    commits: tuple[Revision, ...]
    """Newest first."""
    aliases: tuple[str, ...]
    merged: tuple[NamedNote, ...]
    supersedes: tuple[NamedNote, ...]
    superseded_by: tuple[NamedNote, ...]
    tier: TierStanding
    usage: Usage
    told: tuple[str, ...]
    """Where it is told, in sentences."""
    unread: tuple[str, ...]
    """What could not be read, one sentence each: there may be more to tell."""


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
    """Of one that waits."""

    @property
    def key(self) -> tuple[str, str]:
        """Harness and session id."""
        return self.entry.harness.value, session_id_of(self.entry) or ""


@frozen
class CaptureTrouble:
    attempts: int
    timeouts: int
    not_before_at_ms: int | None = field(metadata={"key": "notBefore"})
    code: str
    message: str


@frozen
class SessionOutcome:
    """What one run made of the session."""

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
    """One capture of the session."""

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
    """What became of one session of one harness."""

    harness: str
    session_id: str
    state: SessionState
    words: tuple[str, ...]
    """Where it stands, and what is known besides in the order in which it happened: one sentence each."""
    cwd: str | None
    """Where it took place, by its newest capture that says so, else by its notes."""
    reopen: str | None
    captures: tuple[Capture, ...]
    """Newest first, as are the runs."""
    read_up_to: ReadUpTo | None
    runs: tuple[SessionOutcome, ...]
    entries: tuple[NamedNote, ...]
    """Live and archived ones that name the session as a source, or that it was recorded to have made."""
    dropped: tuple[str, ...]
    """What of the agent's answers was not applied and why, each once, newest first."""
    deferred: tuple[str, ...]
    """Ids of notes of which a change waits for the next run, since it was over a run's limit."""


@frozen
class FoundSessions:
    """The answer of `memory why --session`: the sessions that an id means, of several harnesses that have the same, or
    none."""

    asked: str
    sessions: tuple[SessionTrace, ...]
    unopened_inbox_files: int = 0
    unread: tuple[str, ...] = ()
    """What could not be read, one sentence each: there may be more to tell."""


_MOST_OUTCOMES = 10
_VERDICTS: Mapping[str, str] = {
    "written": "notes were made of it",
    "skipped": "nothing of it was kept",
    "unchanged": "it held nothing new since last time",
    "refused": "the agent's answer was refused",
    "unavailable": "its transcript was not there",
    "timed-out": "the agent gave no answer in time",
    "gave-up": "it was given up",
    "own-call": "it is one of memory's own calls to an agent, and nothing is learnt from those",
    "paused": "the run had to stop before it",
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
    """Returns what became of a session (harness and id), of its captures and of what runs tell of it, both newest
    first. Of the notes those are its own that name it as a source or were recorded as made of it."""
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
    words += reversed(tuple(dict.fromkeys(told))[:_MOST_OUTCOMES])
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


def keys_of(meta: Meta) -> tuple[tuple[str, str], ...]:
    """Returns harness and id of each session that a note comes from."""
    return tuple((source.harness.value, source.thread_id) for source in meta.sources if source.thread_id)


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

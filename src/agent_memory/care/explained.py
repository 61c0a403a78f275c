"""What is known of a note and of a session, in plain sentences: whose word it is, what changed it, why it is in its tier; its
captures, what runs made of them, and the notes that name it. And what links to what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from attrs import field, frozen

from agent_memory.errors import EntryUnreadable
from agent_memory.note.note import Listed, Listing, Meta, Source, StoredEntry, Usage
from agent_memory.note.vocabulary import Harness, Origin, Tier
from agent_memory.rules.run_log import LoggedAction, LoggedRun, Revision, short_id
from agent_memory.rules.score import ScoreParts, is_ageless, score_parts, why_not_nearer
from agent_memory.session.history import SessionMark
from agent_memory.session.queue import MAX_ATTEMPTS, InboxEntry, Outcome, Trouble, session_id_of
from agent_memory.text.instants import DAY_MS, day_of, has_passed, iso_of
from agent_memory.text.plain_text import counted, one_line

_LINE_CHARS = 300

# -- whose word it is -------------------------------------------------------------------------------------------------


def said_by(meta: Meta) -> str:
    """One or two sentences: who said it, and whether a person vouches for it."""
    if meta.origin is Origin.USER:
        wrote = not meta.sources or all(source.harness is Harness.MANUAL for source in meta.sources)
        who = "You wrote it." if wrote else "You said it in a session."
    elif meta.origin is Origin.AGENT:
        who = "An agent concluded it; no message of yours says it."
    else:
        who = "It comes from outside: what a tool, a page, another program or an import said."
    return f"{who} You vouched for it." if meta.is_vouched_for and meta.origin is not Origin.USER else who


def source_in_words(source: Source) -> str:
    """`claude-code session 5f2c…, turns 3 and 9, in /srv/shop (github.com/acme/shop), written down by builtin`."""
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


# -- what changed it --------------------------------------------------------------------------------------------------


Chapter = tuple[LoggedRun, LoggedAction]
"""One thing that a run did to the note."""


def chapters_of(ids: frozenset[str], runs: Iterable[LoggedRun]) -> tuple[Chapter, ...]:
    """What the runs did to any of these notes, oldest first; `runs` come newest first."""
    found = [(run, each) for run in runs for each in reversed(run.actions) if not ids.isdisjoint(each.all_ids)]
    return tuple(reversed(found))


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


def chapter_in_words(chapter: Chapter) -> str:
    """`merged by defrag 4dbfbe: merge id__…, id__… into id__…`."""
    run, action = chapter
    is_move = action.ids and action.new_ids
    moved = f"{', '.join(action.ids)} into {', '.join(action.new_ids)}" if is_move else ""
    done = f"{_DONE.get(action.kind, action.kind)} by {run.machine} {short_id(run.run_id)}"
    told = f"{done}: {action.words or moved}".removesuffix(": ")
    return f"{told} (undone by {short_id(run.undone_by)})" if run.undone_by else told


# -- why it is in its tier --------------------------------------------------------------------------------------------

_SHOWN: dict[Tier, str] = {
    Tier.HOT: "It is hot: the managed section shows all of it, as far as there is room.",
    Tier.WARM: "It is warm: the managed section shows one line of it, as far as there is room.",
    Tier.COLD: "It is cold: the managed section does not show it.",
}


@frozen
class TierStanding:
    """All that an entry's tier depends on."""

    meta: Meta
    tier: Tier
    usage: Usage
    now_ms: int
    archived: bool = False
    tiers_decided: bool = True
    decided_since: bool = True
    weakest_hot: float | None = None
    """The lowest score among the hot entries that are not pinned and share a section with it, itself left out."""

    @property
    def parts(self) -> ScoreParts:
        return score_parts(self.meta, self.usage, self.now_ms)


def tier_reason(standing: TierStanding) -> tuple[str, ...]:
    """Why the entry is where it is, in sentences: first what the tier means, then what put it there."""
    if standing.archived:
        return ("It is archived.",)
    return _SHOWN[standing.tier], _why(standing)


def score_in_words(standing: TierStanding) -> str:
    """`Its score is 2.38: importance medium 2 × read 3 times 1.4 × last read or changed 45 days ago 0.85 × origin user 1.`"""
    meta, parts = standing.meta, standing.parts
    days = max(standing.now_ms - max(meta.updated_at_ms, standing.usage.last_at_ms or 0), 0) // DAY_MS
    ago = f"{counted(days, 'day')} ago" if days else "today"
    age = "what a person wants does not age" if is_ageless(meta) else f"last read or changed {ago}"
    factors = (
        f"importance {meta.importance} {parts.importance:g}",
        f"read {counted(standing.usage.count, 'time')} {parts.use:g}",
        f"{age} {parts.recency:.2g}",
        f"origin {meta.origin} {parts.origin:g}",
    )
    return f"Its score is {parts.total - parts.pin:.2f}: {' × '.join(factors)}."


def _why(standing: TierStanding) -> str:
    meta = standing.meta
    if standing.tier is Tier.HOT:
        if meta.pinned:
            return "You pinned it; `memory unpin` lets it compete for its place again."
        if meta.best_tier is not Tier.HOT:
            return f"The next defrag takes it out: {why_not_nearer(meta)}."
        if meta.is_vouched_for:
            return "You vouched for it with `memory promote`."
        return "Defrag chose it; it stays until it is left out twice in a row, or a clearly better note needs its room."
    if has_passed(meta.expires_at_ms, standing.now_ms):
        return f"It expired on {day_of(meta.expires_at_ms)}; the next defrag archives it."
    if meta.best_tier is not Tier.HOT:
        nearest = "It can be warm at most" if meta.best_tier is Tier.WARM else "It is shown to nobody unasked"
        return f"{nearest}: {why_not_nearer(meta)}."
    if not standing.tiers_decided:
        return "No defrag has decided yet what is hot; `memory defrag` does."
    if not standing.decided_since:
        return "It was written after the last defrag; the next one looks at it."
    if meta.valid_until_ms is not None and meta.valid_until_ms <= standing.now_ms:
        return f"It stopped being true on {day_of(meta.valid_until_ms)}."
    weakest = "" if standing.weakest_hot is None else f"; the lowest score among them is {standing.weakest_hot:.2f}"
    return f"It may be hot, and others are in front of it{weakest}. `memory pin` puts it in front and keeps it there."


# -- all of a note ----------------------------------------------------------------------------------------------------


@frozen
class NoteStory:
    """What `memory why ID` tells."""

    asked: str
    """The id that was asked for; it may be an alias."""
    stored: StoredEntry
    standing: TierStanding
    chapters: tuple[Chapter, ...] = ()
    """Oldest first."""
    revisions: tuple[Revision, ...] = ()
    """Newest first."""
    merged: tuple[Listed, ...] = ()
    supersedes: tuple[Listed, ...] = ()
    superseded_by: tuple[Listed, ...] = ()
    told: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def unread_notes(*listings: Listing) -> tuple[str, ...]:
    """One sentence for each file that is no note, or could not be read (P6)."""
    files = (each for listing in listings for each in listing.unreadable)
    return tuple(str(EntryUnreadable(each.path, each.problems)) for each in files)


def unread_runs(runs: Iterable[LoggedRun]) -> tuple[str, ...]:
    """One sentence for each run of which it is not known what it did."""
    return tuple(
        f"What the run {short_id(run.run_id)} did is not known: {'; '.join(run.problems)}"
        for run in runs
        if run.problems
    )


# -- of a session -----------------------------------------------------------------------------------------------------

Place = Literal["waiting", "processed", "given-up"]
SessionState = Literal["pending", "processed", "failed", "never-captured"]


@frozen
class Capture:
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
class SeenByRun:
    """What one run made of the session."""

    run_id: str = field(metadata={"key": "run"})
    at_ms: int
    machine: str
    verdict: str
    reason: str
    entry_ids: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


@frozen
class SessionTrace:
    """What `memory why --session` tells of one session of one harness."""

    harness: str
    session_id: str
    mark: SessionMark | None = None
    captures: tuple[Capture, ...] = ()
    """Newest first."""
    runs: tuple[SeenByRun, ...] = ()
    """Newest first."""
    entries: tuple[Listed, ...] = ()
    """Live and archived ones that name the session as a source, or that it was recorded to have made."""
    deferred: tuple[str, ...] = ()
    """Ids of entries of which a change waits for the next run, since it was over a run's limit."""

    @property
    def waiting(self) -> tuple[Capture, ...]:
        return tuple(each for each in self.captures if each.place == "waiting")

    @property
    def retired(self) -> tuple[tuple[Place, Outcome], ...]:
        """Where those with an outcome are, and the outcome, the newest first."""
        done: list[tuple[Place, Outcome]] = [
            (each.place, each.entry.outcome) for each in self.captures if each.entry.outcome is not None
        ]
        return tuple(sorted(done, key=lambda each: -each[1].at_ms))

    @property
    def outcomes(self) -> tuple[Outcome | SeenByRun, ...]:
        """What became of it, by its captures and then by the runs, the newest of each first."""
        return (*(outcome for _, outcome in self.retired), *self.runs)

    @property
    def dropped(self) -> tuple[str, ...]:
        """What of the agent's answers was not applied and why, each once, newest first."""
        return tuple(dict.fromkeys(words for each in self.outcomes for words in each.dropped))

    @property
    def recorded_ids(self) -> frozenset[str]:
        """The notes that were recorded as made of it."""
        marked = () if self.mark is None else self.mark.entry_ids
        return frozenset((*marked, *(id for each in self.outcomes for id in each.entry_ids)))

    @property
    def cwd(self) -> str | None:
        """Where it took place, by its newest capture that says so, else by its entries."""
        said = (each.entry.context.cwd for each in self.captures if each.entry.context.cwd)
        noted = (
            source.cwd
            for each in self.entries
            for source in each.meta.sources
            if source.thread_id == self.session_id and source.cwd
        )
        return next(iter((*said, *noted)), None)

    @property
    def state(self) -> SessionState:
        """What became of it: what waits counts before what was done, and the newest outcome before older ones."""
        if self.waiting:
            return "pending"
        if self.retired:
            return "failed" if self.retired[0][0] == "given-up" else "processed"
        return "processed" if self.mark is not None or self.runs else "never-captured"


@frozen
class FoundSessions:
    """The sessions that an id means: of several harnesses that have the same, or none."""

    traces: tuple[SessionTrace, ...]
    unopened: int = 0
    unread: tuple[str, ...] = ()
    """What could not be read, one sentence each: there may be more to tell."""


# -- in sentences -----------------------------------------------------------------------------------------------------

_MOST_OUTCOMES = 10
_VERDICTS: Mapping[str, str] = {
    "written": "notes were made of it",
    "skipped": "nothing of it was kept",
    "unchanged": "it held nothing new since the time before",
    "refused": "the agent's answer was refused",
    "unavailable": "its transcript was not there",
    "timed-out": "the agent gave no answer in time",
    "gave-up": "it was given up",
    "own-call": "it is one of memory's own calls to an agent, and nothing is learnt from those",
    "paused": "the run had to stop before it",
    "planned": "it was only looked at, in a dry run",
}


def state_in_words(trace: SessionTrace) -> str:
    """One sentence: where the session stands."""
    match trace.state:
        case "pending":
            before = " It was read before, and has grown since." if trace.mark is not None else ""
            return f"It waits in the inbox; `memory consolidate` reads it.{before}"
        case "failed":
            return "It was given up; `memory consolidate --retry-failed` tries it again."
        case "processed":
            return "It has been read."
        case "never-captured":
            return "No capture of it has arrived, though notes name it." if trace.entries else NEVER_CAPTURED


NEVER_CAPTURED = (
    "Nothing is known of it: no capture of it has arrived. `memory status` shows captures that did not arrive; "
    "`memory capture --harness NAME --session ID --transcript PATH` captures it now."
)


def facts_in_words(trace: SessionTrace) -> tuple[str, ...]:
    """What is known besides, one sentence each, in the order in which it happened."""
    facts: list[str] = []
    if captures := trace.captures:
        first, last = instant(captures[-1].entry.at_ms), instant(captures[0].entry.at_ms)
        times = f"on {last}" if len(captures) == 1 else f"{len(captures)} times, first on {first}, last on {last}"
        facts.append(f"It was captured {times}.")
    # What the inbox no longer tells, the runs do.
    told = map(_outcome_in_words, [outcome for _, outcome in trace.retired] or trace.runs)
    facts += reversed(tuple(dict.fromkeys(told))[:_MOST_OUTCOMES])
    if (mark := trace.mark) is not None:
        when = f", of {instant(mark.last_at_ms)}" if mark.last_at_ms is not None else ""
        facts.append(f"It has been read up to turn {mark.turns_seen}{when}, by {mark.agent_name}.")
    facts += dict.fromkeys(_trouble_in_words(each.trouble) for each in trace.waiting if each.trouble is not None)
    if trace.deferred:
        named = ", ".join(trace.deferred)
        facts.append(f"What it changes of {named} waits for the next run: one run changes only so much.")
    return tuple(facts)


def _outcome_in_words(outcome: Outcome | SeenByRun) -> str:
    """`2026-02-13 14:30 UTC: nothing of it was kept: … (run 4dbfbe)`."""
    why = f": {outcome.reason.rstrip('.')}" if outcome.reason else ""
    what = _VERDICTS.get(outcome.verdict, outcome.verdict)
    return f"{instant(outcome.at_ms)}: {what}{why} (run {short_id(outcome.run_id)})"


def instant(at_ms: int) -> str:
    """`2026-02-13 14:30 UTC`."""
    return f"{iso_of(at_ms)[:16].replace('T', ' ')} UTC"


def _trouble_in_words(trouble: Trouble) -> str:
    counts: list[str] = []
    if trouble.attempts:
        counts.append(f"{trouble.attempts} of {MAX_ATTEMPTS} attempts used up")
    if trouble.timeouts:
        counts.append(f"{counted(trouble.timeouts, 'time-out')} in a row")
    if trouble.unavailable_since_ms is not None:
        counts.append(f"its transcript was not there since {instant(trouble.unavailable_since_ms)}")
    if trouble.not_before_ms:
        counts.append(f"not tried again before {instant(trouble.not_before_ms)}")
    why = f": {trouble.message.rstrip('.')}" if trouble.message else ""
    known = f" ({', '.join(counts)})" if counts else ""
    return f"It was set back{known}{why}."

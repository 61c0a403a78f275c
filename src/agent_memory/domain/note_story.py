"""What is known of one note, in plain sentences: whose word it is, what changed it, why it is in its tier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import field, frozen

from agent_memory.domain.entry import Listed, Listing, Meta, Source, StoredEntry, Usage
from agent_memory.domain.instants import DAY_MS, has_passed, iso_of
from agent_memory.domain.run_log import LoggedRun, short_id
from agent_memory.domain.text.plain_text import counted, one_line
from agent_memory.domain.tiering.score import ScoreParts, is_ageless, score_parts, why_not_nearer
from agent_memory.domain.tiering.standing import best_tier, is_vouched_for
from agent_memory.domain.vocabulary import Harness, Origin, Tier
from agent_memory.errors import EntryUnreadable

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
    return f"{who} You vouched for it." if is_vouched_for(meta) and meta.origin is not Origin.USER else who


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


@frozen
class Revision:
    """One commit that touched the note's file."""

    commit: str
    """Abbreviated."""
    at: str
    """ISO 8601, of the author's clock."""
    author: str
    subject: str


@frozen
class Chapter:
    """One thing that a run did to the note."""

    at_ms: int
    run_id: str = field(metadata={"key": "run"})
    machine: str
    kind: str
    ids: tuple[str, ...]
    new_ids: tuple[str, ...]
    words: str
    undone_by: str | None = None


def chapters_of(ids: frozenset[str], runs: Iterable[LoggedRun]) -> tuple[Chapter, ...]:
    """What the runs did to any of these notes, oldest first; `runs` come newest first."""
    found = [
        Chapter(
            run.started_at_ms, run.run_id, run.machine, each.kind, each.ids, each.new_ids, each.words, run.undone_by
        )
        for run in runs
        for each in reversed(run.actions)
        if not ids.isdisjoint((*each.ids, *each.new_ids))
    ]
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
    is_move = chapter.ids and chapter.new_ids
    moved = f"{', '.join(chapter.ids)} into {', '.join(chapter.new_ids)}" if is_move else ""
    done = f"{_DONE.get(chapter.kind, chapter.kind)} by {chapter.machine} {short_id(chapter.run_id)}"
    told = f"{done}: {chapter.words or moved}".removesuffix(": ")
    return f"{told} (undone by {short_id(chapter.undone_by)})" if chapter.undone_by else told


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
    def best(self) -> Tier:
        return best_tier(self.meta)

    @property
    def parts(self) -> ScoreParts:
        return score_parts(self.meta, self.usage, self.now_ms)


def tier_reason(standing: TierStanding) -> tuple[str, ...]:
    """Why the entry is where it is, in sentences: first what the tier means, then what put it there."""
    if standing.archived:
        return ("It is archived.",)
    return _SHOWN[standing.tier], _why_hot(standing) if standing.tier is Tier.HOT else _why_not_hot(standing)


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


def _why_hot(standing: TierStanding) -> str:
    if standing.meta.pinned:
        return "You pinned it; `memory unpin` lets it compete for its place again."
    if standing.best is not Tier.HOT:
        return f"The next defrag takes it out: {why_not_nearer(standing.meta)}."
    if is_vouched_for(standing.meta):
        return "You vouched for it with `memory promote`."
    return "Defrag chose it; it stays until it is left out twice in a row, or a clearly better note needs its room."


def _why_not_hot(standing: TierStanding) -> str:
    meta = standing.meta
    if has_passed(meta.expires_at_ms, standing.now_ms):
        return f"It expired on {iso_of(meta.expires_at_ms)[:10]}; the next defrag archives it."
    if standing.best is not Tier.HOT:
        nearest = "It can be warm at most" if standing.best is Tier.WARM else "It is shown to nobody unasked"
        return f"{nearest}: {why_not_nearer(meta)}."
    if not standing.tiers_decided:
        return "No defrag has decided yet what is hot; `memory defrag` does."
    if not standing.decided_since:
        return "It was written after the last defrag; the next one looks at it."
    if meta.valid_until_ms is not None and meta.valid_until_ms <= standing.now_ms:
        return f"It stopped being true on {iso_of(meta.valid_until_ms)[:10]}."
    weakest = "" if standing.weakest_hot is None else f"; the lowest score among them is {standing.weakest_hot:.2f}"
    return f"It may be hot, and others are in front of it{weakest}. `memory pin` puts it in front and keeps it there."


# -- all of it --------------------------------------------------------------------------------------------------------


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

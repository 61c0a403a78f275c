"""Past sessions found where their harnesses keep them, and what to do about each."""

from __future__ import annotations

from collections import Counter
from typing import Literal, get_args

from attrs import evolve, frozen

from agent_memory.note.note import Harness
from agent_memory.session.history import SessionMark
from agent_memory.session.queue import InboxEntry, SessionRetrieval
from agent_memory.text.plain_text import counted


@frozen
class FoundSession:
    """A session as far as it is known without reading it. Instants are epoch ms."""

    harness: Harness
    retrieval: SessionRetrieval
    changed_at_ms: int
    size_bytes: int | None = None
    ended_at_ms: int | None = None
    """When its last turn was, if the harness itself records it. A file's time does not count: any touch changes it."""
    cwd: str | None = None
    shares_record_ids: bool = False
    """True if forks and resumed copies share their record ids with the original, and unrelated sessions never do."""

    @property
    def session_id(self) -> str:
        return self.retrieval.session_id

    @property
    def key(self) -> tuple[Harness, str]:
        return self.harness, self.session_id

    @property
    def looks(self) -> tuple[int, int | None, str | None]:
        """Returns values that change when the session does."""
        return self.changed_at_ms, self.size_bytes, self.path

    @property
    def path(self) -> str | None:
        """Returns its transcript, if it has a file of its own."""
        return self.retrieval.session_path


Sight = Literal[
    "new", "grown", "waiting", "done", "given-up", "forgotten",
    "own-call", "automated", "switched-off", "copy", "older", "empty", "unreadable",
]  # fmt: skip
SIGHTS: tuple[Sight, ...] = get_args(Sight)
"""`new`: never consolidated. `grown`: has new turns. `waiting`: in the inbox. `done`: nothing new. `copy`: all of it is
in another session, which it was resumed or forked from. `older`: its last turn was before the given time.
`switched-off`: memory stays out of its project."""

WANTED: tuple[Sight, ...] = ("new", "grown")
"""The sessions worth consolidating."""


@frozen
class Sighted:
    """A found session, and what to do about it."""

    found: FoundSession
    sight: Sight
    entry: InboxEntry | None = None
    """The entry to put into the inbox, if it is wanted."""
    chars: int = 0
    """The size of its new turns."""
    calls: int = 0
    """How many calls of the agent command it will take; 0 for the built-in."""
    is_partial: bool = False
    begins_at: SessionMark | None = None
    """How far another session covers this one, which continues it."""
    problem: str = ""

    @property
    def at_ms(self) -> int:
        """Returns when it last changed, or, if it is wanted, ended."""
        return self.found.changed_at_ms if self.entry is None else self.entry.at_ms


@frozen
class Backfill:
    """All sessions found, oldest first, and in words what could not be read."""

    sighted: tuple[Sighted, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def wanted(self) -> tuple[Sighted, ...]:
        """Returns the sessions to put into the inbox, oldest first."""
        return tuple(each for each in self.sighted if each.entry is not None)

    def any_in(self, directory: str) -> bool:
        """Returns whether one of them is in a file there, or may be, because it has no file of its own."""
        return any(each.found.path is None or each.found.path.startswith(f"{directory}/") for each in self.sighted)

    @property
    def harnesses(self) -> list[Harness]:
        return sorted({each.found.harness for each in self.sighted})

    def counts(self, harness: Harness | None = None) -> Counter[Sight]:
        return Counter(each.sight for each in self.sighted if harness in (None, each.found.harness))


def limited(backfill: Backfill, limit: int | None) -> Backfill:
    """Returns the same with at most `limit` wanted sessions: the oldest, since later notes may supersede earlier ones."""
    if limit is None:
        return backfill
    kept = frozenset(map(id, backfill.wanted[:limit]))
    sighted = (each if id(each) in kept else evolve(each, entry=None) for each in backfill.sighted)
    return evolve(backfill, sighted=tuple(sighted))


def sentence_of(backfill: Backfill, max_calls_per_day: int) -> str:
    """Returns `212 sessions found, 31 new, about 1.2 M characters, 31 agent calls`, and how many days these take."""
    wanted = backfill.wanted
    chars, calls = sum(each.chars for each in wanted), sum(each.calls for each in wanted)
    least = "at least" if any(each.is_partial for each in wanted) else "about"
    counts = backfill.counts()
    parts = [f"{counted(len(backfill.sighted), 'session')} found", f"{counts['new']:,} new"]
    if counts["grown"]:
        parts.append(f"{counts['grown']:,} that continued")
    if 0 < len(wanted) < sum(counts[sight] for sight in WANTED):
        parts.append(f"{len(wanted):,} of them now")
    if wanted:
        asked = counted(calls, "agent call") if calls else "no agent call (the built-in extractor makes none)"
        parts += [f"{least} {short_number(chars)} characters", asked]
    days = -(-calls // max_calls_per_day) if max_calls_per_day else 0
    return ", ".join(parts) + (f" over {days:,} days at {max_calls_per_day:,} a day" if days > 1 else "")


def short_number(number: int) -> str:
    """Returns `950`, `12 k` or `1.2 M`."""
    for size, sign in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= size:
            shown = number / size
            return f"{shown:.1f} {sign}" if shown < 10 else f"{shown:,.0f} {sign}"
    return str(number)


@frozen
class Rest:
    """How long a transcript must be unchanged to be captured, and to count as ended; None means never."""

    debounce_ms: int = 30_000
    idle_ms: int | None = 180_000

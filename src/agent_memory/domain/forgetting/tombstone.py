"""What is left of what was forgotten: enough to keep it from being learnt again, and none of its text (P28).

What a note states is compared line by line, by words, and kept as hashes where the words must not be kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve, field, frozen

from agent_memory.domain.change import Dropped
from agent_memory.domain.defragging.information import KEPT_SHARE, Line, claims_among, distinct_lines
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.history import History
from agent_memory.domain.instants import Instant
from agent_memory.domain.plan import ChangeSet, ProposedEntry, ProposedUpdate
from agent_memory.domain.text.ids import EntryId
from agent_memory.domain.text.terms import content_terms, coverage
from agent_memory.domain.vocabulary import Harness

SAME_SHARE = 0.6
"""Of a forgotten note's statements that must be in a text for it to say the same."""
MENTION_SHARE = 0.6
"""Of a note's statements that another one must hold to be told of."""

_HASH_DIGITS = 16
_TELLING_TERMS = 4
"""A line of fewer content words is no proof by itself that a text was made from it."""

REASON = "it was forgotten (`memory forget`)"


def statements_of(title: str, body: str) -> tuple[Line, ...]:
    """The lines of a body that state something; of an empty one its title."""
    return claims_among(distinct_lines([body])) or distinct_lines([title])


def statement_hashes(title: str, body: str) -> frozenset[str]:
    """A hash of the content words of each statement, whatever their order, case and endings."""
    return frozenset(_hash(line.terms) for line in statements_of(title, body))


def share_held(statements: Iterable[Line], text: str) -> float:
    """Which part of the statements is in a text, 0 to 1: a statement is when most of its content words are. Nothing is
    held of none."""
    lines = tuple(statements)
    said = content_terms(text)
    held = sum(coverage(line.terms, said) >= KEPT_SHARE for line in lines)
    return held / len(lines) if lines else 0.0


def holds_some(statements: Iterable[Line], text: str) -> bool:
    """Whether all content words of at least one telling statement are in a text."""
    said = content_terms(text)
    return any(len(line.terms) >= _TELLING_TERMS and line.terms <= said for line in statements)


def _hash(terms: frozenset[str]) -> str:
    return hashlib.sha256(" ".join(sorted(terms)).encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]


@frozen
class SessionTombstone:
    """A session that is not to be learnt from again."""

    session_id: str = field(metadata={"key": "session"})
    harness: Harness | None
    """None: of whatever harness."""
    at_ms: Instant
    """When it was forgotten."""


@frozen
class StateTombstone:
    """A state value that is not to come back from another machine; what was set after it is another value."""

    path: str = field(metadata={"key": "state"})
    """Of its file, relative to the root."""
    at_ms: Instant


@frozen
class EntryTombstone:
    """A note that is not to be learnt again from what was said before it was forgotten."""

    id: EntryId = field(metadata={"key": "entry"})
    at_ms: Instant
    statements: frozenset[str]
    """Hashes of what it last said (`statement_hashes`)."""

    def is_said_by(self, title: str, body: str) -> bool:
        """Whether most of what the note said is in this text."""
        said = statement_hashes(title, body)
        return bool(self.statements) and len(self.statements & said) >= SAME_SHARE * len(self.statements)


def forgotten_note(
    tombstones: Iterable[EntryTombstone], title: str, body: str, said_at_ms: int
) -> EntryTombstone | None:
    """The forgotten note that this text would bring back; None for one that says something else, and for what was said
    after the forgetting: who says it again wants it known again."""
    return next((each for each in tombstones if said_at_ms <= each.at_ms and each.is_said_by(title, body)), None)


# -- what a session would teach again ---------------------------------------------------------------------------------


def without_forgotten(
    change_set: ChangeSet,
    tombstones: Sequence[EntryTombstone],
    window: History,
    captured_at_ms: int,
    shown: Mapping[str, StoredEntry],
) -> ChangeSet:
    """The change set without what says again what a forgotten note said, and why as dropped items. The time of a proposal
    is that of its last cited turn, else that of the capture. With nothing left it says so as `skipped`."""
    if not tombstones:
        return change_set
    times = {turn.number: turn.at_ms for turn in window.turns}

    def forgotten(item: ProposedEntry | ProposedUpdate) -> bool:
        said = [at_ms for number in item.turns if (at_ms := times.get(number)) is not None]
        return (
            forgotten_note(tombstones, item.title or "", _added(item, shown), max(said, default=captured_at_ms))
            is not None
        )

    entries = tuple(each for each in change_set.entries if not forgotten(each))
    updates = tuple(each for each in change_set.updates if each.body is None or not forgotten(each))
    gone = [each for each in change_set.entries if each not in entries]
    gone_updates = [each for each in change_set.updates if each not in updates]
    dropped = (
        *(Dropped("a note", (REASON,)) for _ in gone),  # its title would be in the report for good
        *(Dropped(each.id, (REASON,)) for each in gone_updates),
    )
    if not dropped:
        return change_set
    skipped = change_set.skipped if entries or updates else "what it says was forgotten"
    return evolve(
        change_set, entries=entries, updates=updates, skipped=skipped, dropped=(*change_set.dropped, *dropped)
    )


def _added(item: ProposedEntry | ProposedUpdate, shown: Mapping[str, StoredEntry]) -> str:
    """The text that the proposal would add to the store."""
    if isinstance(item, ProposedEntry) or item.id not in shown:
        return item.body or ""
    before = set(shown[item.id].body.split("\n"))
    return "\n".join(line for line in (item.body or "").split("\n") if line not in before)

"""Which notes a filter lets through, segment by segment."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterator, Sequence

from agent_memory.adapters.index.seals import RuinedIndexError, check, seal
from agent_memory.adapters.index.segments import LiveNotes
from agent_memory.adapters.index.term_postings import AGENT, KIND, SCOPE, SLUG, TAG, TermPostings, label_term
from agent_memory.adapters.index.tie_questions import in_session
from agent_memory.domain.searching.matching import NoteFilter
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.values import frozen

MOST_MS = (1 << 63) - 1
"""The latest instant that is told from later ones."""


@frozen
class Through:
    """Of one segment."""

    among: frozenset[int] | None
    """The ordinals that the filter lets through; None for all."""
    out: frozenset[int]
    """Those that it keeps back all the same."""

    def of(self, scores: dict[int, float]) -> dict[int, float]:
        """Those of the notes that it lets through, by their ordinals."""
        if self.among is not None:
            return {ordinal: scores[ordinal] for ordinal in (self.among & scores.keys()) - self.out}
        out = self.out & scores.keys()
        if not out:
            return scores
        kept = dict(scores)
        for ordinal in out:
            del kept[ordinal]
        return kept


def let_through(postings: TermPostings, notes: NoteFilter) -> list[Through]:
    """What the filter lets through of each segment; dead notes may be among that."""
    wanted: list[frozenset[int] | None] = [None for _ in postings.live.segments]
    for one in _conditions(postings, notes):
        wanted = [some if known is None else known & some for known, some in zip(wanted, one, strict=True)]
    found: list[Through] = []
    for segment, among in zip(postings.live.segments, wanted, strict=True):
        out: frozenset[int] = frozenset() if notes.archived else segment.archived
        if Sensitivity.PRIVATE not in notes.sensitivities:
            out |= segment.private
        if Sensitivity.NORMAL not in notes.sensitivities:
            among = segment.private if among is None else among & segment.private
        found.append(Through(among, out))
    return found


def numbers_through(live: LiveNotes, through: Sequence[Through]) -> frozenset[int]:
    """The live notes among those."""
    found: set[int] = set()
    for segment, gone, each in zip(live.segments, live.gone, through, strict=True):
        out = gone | each.out
        if each.among is not None:
            found.update([segment.numbers[ordinal] for ordinal in each.among - out])
        elif out:
            found.update([number for ordinal, number in enumerate(segment.numbers) if ordinal not in out])
        else:
            found.update(segment.numbers)
    return frozenset(found)


def _conditions(postings: TermPostings, notes: NoteFilter) -> Iterator[Sequence[frozenset[int]]]:
    """The ordinals that meet each of the conditions, by segment."""
    labels: list[list[tuple[str, str]]] = []
    if notes.kind is not None:
        labels.append([(KIND, notes.kind)])
    if notes.scopes is not None:
        labels.append([(SCOPE, scope) for scope in sorted(notes.scopes)])
    if notes.tags:
        labels.append([(TAG if "__" in tag else SLUG, tag) for tag in notes.tags])
    if notes.agent is not None:
        labels.append([(AGENT, notes.agent)])
    for some in labels:
        yield list(postings.ordinals([label_term(*label) for label in some]))
    if notes.session is not None:
        yield in_session(postings.connection, postings.live, notes.session)
    if notes.since_ms is not None:
        since_ms = max(-MOST_MS, min(notes.since_ms, MOST_MS))
        times = [read_updates(postings.connection, segment.id) for segment in postings.live.segments]
        yield [frozenset([at for at, each_ms in enumerate(some) if each_ms >= since_ms]) for some in times]


def put_updates(connection: sqlite3.Connection, segment: int, at_ms: Sequence[int]) -> None:
    """Keep when each note of a segment was changed, epoch ms."""
    run = array("q", at_ms).tobytes()
    connection.execute("INSERT INTO updates VALUES (?, ?, ?)", (segment, run, seal(str(segment), run)))


def read_updates(connection: sqlite3.Connection, segment: int) -> array[int]:
    """What was kept. RuinedIndexError where it is not as it was written, or not there."""
    row = connection.execute("SELECT at_ms, seal FROM updates WHERE segment = ?", (segment,)).fetchone()
    if row is None:
        raise RuinedIndexError
    check(row[1], str(segment), row[0])
    found: array[int] = array("q")
    found.frombytes(row[0])
    return found

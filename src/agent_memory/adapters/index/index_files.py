"""The index of a root on disk: see `index_database` for the file, `segments` for what is in it.

Whatever is wrong with the file (damage, another version, a directory in its place), it is thrown away and made anew, once
a call; where it cannot be kept on disk it lives in memory, as long as this object.
"""

from __future__ import annotations

import sqlite3
import struct
from _thread import RLock
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import real_root
from agent_memory.adapters.index import note_questions
from agent_memory.adapters.index.index_database import (
    DIRECTORY,
    NAME,
    IndexDatabase,
    RuinedIndexError,
    discard_index,
    in_memory,
    is_busy,
    is_unwritable,
    open_index,
)
from agent_memory.adapters.index.look_ahead import has_looked_ahead
from agent_memory.adapters.index.refresh_notices import pending_notice, unreadable_notice
from agent_memory.adapters.index.segments import Segment, Segments
from agent_memory.adapters.index.shelf_state import shelf_state, shelf_times
from agent_memory.adapters.index.term_matching import TermMatching, best_of
from agent_memory.domain.results import sealed
from agent_memory.domain.searching.indexed_note import IndexedNote, NearNote, NoteLink, Place, Refreshed, Vectors
from agent_memory.domain.searching.matching import Matches, NoteFilter, TermPart, TermWeights
from agent_memory.domain.searching.query_words import QueryWord
from agent_memory.errors import Busy, Error
from agent_memory.values import evolve

if TYPE_CHECKING:
    from pathlib import Path

    from agent_memory.adapters.index.refreshing import KnownFiles
    from agent_memory.adapters.index.shelf_look import ShelfLook

Value = TypeVar("Value")

_RUINED = (
    *(sqlite3.DatabaseError, RuinedIndexError, ValueError, TypeError, LookupError, AttributeError, struct.error),
    *(OverflowError, MemoryError),
)
"""What reading a damaged index may end in. `sqlite3.DatabaseError` is told apart by its code."""
_RUINED_STILL = "its file is damaged and cannot be replaced"


class IndexFiles:
    """See the port. One object may be asked by several threads."""

    def __init__(self, root: Path | str) -> None:
        self._root = real_root(root)
        self._lock = RLock()
        self._database: IndexDatabase | None = None
        self._segments = Segments()
        self._last: tuple[tuple[int, int], TermMatching] | None = None
        self._known: KnownFiles | None = None
        self._times: tuple[int, ...] | None = None
        """`shelf_times` before the last look at all files."""
        self.renewals = 0
        """See the port."""

    def refresh(
        self, patience_seconds: float | None = None, left: Callable[[int], None] | None = None
    ) -> Result[Refreshed, Error]:
        """See the port. `left` is told, before each batch, how many changed files are still to be taken in."""
        with self._lock:
            match sealed(self._recovered(self._if_current)):
                case Failure(error):
                    return Failure(error)
                case Success(Refreshed() as current):
                    return Success(current)
                case Success(_):
                    return self._brought_into_line(patience_seconds, left)

    def match(
        self, words: Sequence[QueryWord], weights: TermWeights, limit: int, among: NoteFilter
    ) -> Result[Matches, Error]:
        """See the port."""

        def asked(connection: sqlite3.Connection) -> Matches:
            matching = self._matching(connection, weights)
            plans = matching.plan(words)
            found = _filtered(connection, matching.segments, matching.totals(plans), among)
            best = best_of(matching.segments, found, limit)
            return Matches(best, sum(map(len, found)), tuple(plan.matched for plan in plans))

        return self._asked(asked)

    def explain(
        self, words: Sequence[QueryWord], weights: TermWeights, numbers: Sequence[int]
    ) -> Result[Mapping[int, tuple[TermPart, ...]], Error]:
        """See the port."""

        def asked(connection: sqlite3.Connection) -> Mapping[int, tuple[TermPart, ...]]:
            matching = self._matching(connection, weights)
            there = note_questions.those_there(connection, numbers)
            return {number: tuple(parts) for number, parts in matching.parts(matching.plan(words), there).items()}

        return self._asked(asked)

    def among(self, notes: NoteFilter) -> Result[frozenset[int], Error]:
        """See the port."""
        return self._asked(lambda connection: note_questions.let_through(connection, notes))

    def notes(self, numbers: Sequence[int]) -> Result[Mapping[int, IndexedNote], Error]:
        """See the port."""

        def asked(connection: sqlite3.Connection) -> Mapping[int, IndexedNote]:
            found = note_questions.indexed_notes(connection, numbers)
            if gone := sorted(set(numbers) - found.keys()):
                self._segments.check_gone(connection, gone)
            return found

        return self._asked(asked)

    def numbers_of(self, ids: Sequence[str]) -> Result[Mapping[str, int], Error]:
        """See the port."""
        return self._asked(lambda connection: note_questions.numbers_of(connection, ids))

    def places(self, numbers: Sequence[int]) -> Result[tuple[Place, ...], Error]:
        """See the port."""
        return self._asked(lambda connection: note_questions.places_of(connection, numbers))

    def session(self, session: str) -> Result[tuple[Place, ...], Error]:
        """See the port."""
        return self._asked(lambda connection: note_questions.places_in(connection, session))

    def near(self, numbers: Sequence[int], reach: int) -> Result[Mapping[int, tuple[NearNote, ...]], Error]:
        """See the port."""
        return self._asked(lambda connection: note_questions.near_notes(connection, numbers, reach))

    def links(self, numbers: Sequence[int]) -> Result[tuple[NoteLink, ...], Error]:
        """See the port."""
        return self._asked(lambda connection: note_questions.links_of(connection, numbers))

    def vectors(self, model: str) -> Result[Vectors, Error]:
        """See the port."""
        return self._asked(lambda connection: note_questions.vectors_of(connection, model))

    def without_vector(self, model: str) -> Result[tuple[int, ...], Error]:
        """See the port."""
        return self._asked(lambda connection: note_questions.numbers_without_vector(connection, model))

    def put_vectors(self, model: str, vectors: Mapping[int, bytes]) -> Result[None, Error]:
        """See the port."""
        with self._lock:
            return self._recovered(lambda: self._written(model, vectors))

    def close(self) -> None:
        """Let go of the file; the next question opens it again."""
        with self._lock:
            if self._database is not None:
                self._database.close()
            self._database, self._segments, self._last = None, Segments(), None

    def _if_current(self) -> Refreshed | None:
        """How much is in the index, if it holds exactly what the files look like now."""
        database = self._opened()
        kept = dict(database.connection.execute("SELECT name, value FROM about WHERE name IN ('state', 'notes')"))
        times = shelf_times(self._root)
        if not has_looked_ahead(self._root) and (kept.get("state") is None or times != (self._times or times)):
            return None  # it cannot be: there is no need to look at every file for that
        state = shelf_state(self._root)
        if state is None or kept.get("state") != state:
            return None
        self._times = times
        return Refreshed(int(kept["notes"]), notices=_notices(database))

    def _brought_into_line(
        self, patience_seconds: float | None, left: Callable[[int], None] | None
    ) -> Result[Refreshed, Error]:
        # Most calls find nothing changed, and need none of it.
        from agent_memory.adapters.index.shelf_look import look_at_shelves

        self._times = shelf_times(self._root)
        return look_at_shelves(self._root).bind(
            lambda look: self._recovered(lambda: self._refreshed(look, patience_seconds, left))
        )

    def _refreshed(
        self, look: ShelfLook, patience_seconds: float | None, left: Callable[[int], None] | None
    ) -> Refreshed:
        from agent_memory.adapters.index.refreshing import KnownFiles, Refreshing

        database = self._opened()
        notices = _notices(database)
        self._known = self._known or KnownFiles()
        refreshing = Refreshing(self._root, database, self._segments, self._known, patience_seconds, left)
        try:
            done = refreshing.run(look.files, look.state)
        except sqlite3.Error as error:
            if not is_busy(error):
                raise
            done = refreshing.as_far_as_it_came(look.files)
        if done.pending:
            notices += (pending_notice(done.pending),)
        if done.unreadable:
            notices += (unreadable_notice(done.unreadable),)
        return evolve(done, notices=notices)

    def _written(self, model: str, vectors: Mapping[int, bytes]) -> None:
        with self._opened().writing() as connection:
            note_questions.put_vectors(connection, model, vectors)

    def _asked(self, ask: Callable[[sqlite3.Connection], Value]) -> Result[Value, Error]:
        def asked() -> Value:
            with self._opened().reading() as connection:
                return ask(connection)

        with self._lock:
            return self._recovered(asked, refresh_after=True)

    def _recovered(self, act: Callable[[], Value], *, refresh_after: bool = False) -> Result[Value, Error]:
        """What the act gives; where the index is ruined, or cannot be written, with one made anew, and else in memory."""
        for recover in (self._start_anew, self._go_to_memory):
            try:
                return Success(act())
            except _RUINED as error:
                if isinstance(error, sqlite3.Error) and is_busy(error):
                    return Failure(Busy(f"{self._root}/{DIRECTORY}/{NAME}"))
                recover(error)
            if refresh_after and isinstance(made := self.refresh(), Failure):
                return made
        return Success(act())

    def _start_anew(self, error: Exception) -> None:
        """Throw away what is ruined; nothing is wrong with what the disk only does not take."""
        if isinstance(error, sqlite3.Error) and is_unwritable(error):
            self._go_to_memory(error)
            return
        self.close()
        discard_index(self._root)
        self.renewals += 1

    def _go_to_memory(self, error: Exception) -> None:
        self.renewals += 1
        database, self._segments, self._last = self._database, Segments(), None
        is_whole = isinstance(error, sqlite3.Error) and is_unwritable(error)
        self._database = in_memory(str(error) or _RUINED_STILL, database.connection if database and is_whole else None)
        if database is not None:
            database.close()

    def _matching(self, connection: sqlite3.Connection, weights: TermWeights) -> TermMatching:
        """That of the last question, while the index is as it was then: what is matched is often explained."""
        version = connection.execute("PRAGMA data_version").fetchone()[0], connection.total_changes
        if self._last is None or self._last[0] != version or self._last[1].weights != weights:
            self._last = version, TermMatching.of(connection, self._segments, weights)
        return self._last[1]

    def _opened(self) -> IndexDatabase:
        if self._database is not None and not self._database.is_current():
            self.close()
            self.renewals += 1
        if self._database is None:
            self._database = open_index(self._root)
        return self._database


def _filtered(
    connection: sqlite3.Connection, segments: Sequence[Segment], totals: Sequence[dict[int, float]], among: NoteFilter
) -> Sequence[dict[int, float]]:
    kept_back = note_questions.kept_back(connection, among)
    if kept_back is None:
        through = sorted(note_questions.let_through(connection, among))
        return [
            {ordinal: scores[ordinal] for ordinal in segment.ordinals_of(through) & scores.keys()}
            for segment, scores in zip(segments, totals, strict=True)
        ]
    if not kept_back:
        return totals
    out = sorted(kept_back)
    return [_without(scores, segment.ordinals_of(out)) for segment, scores in zip(segments, totals, strict=True)]


def _without(scores: dict[int, float], out: frozenset[int]) -> dict[int, float]:
    kept = dict(scores)
    for ordinal in out & kept.keys():
        del kept[ordinal]
    return kept


def _notices(database: IndexDatabase) -> tuple[str, ...]:
    if database.why_in_memory is None:
        return ()
    return (f"The index is kept in memory only, and made anew each time: {database.why_in_memory}.",)

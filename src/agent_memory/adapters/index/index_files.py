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
from agent_memory.adapters.index import tie_questions
from agent_memory.adapters.index.facts import NOTES, STATE, fact
from agent_memory.adapters.index.index_database import (
    DIRECTORY,
    NAME,
    IndexDatabase,
    discard_index,
    in_memory,
    is_busy,
    is_unwritable,
    open_index,
)
from agent_memory.adapters.index.note_filtering import let_through, numbers_through
from agent_memory.adapters.index.note_questions import indexed_notes
from agent_memory.adapters.index.refresh_notices import MADE_ANEW, pending_notice, unreadable_notice
from agent_memory.adapters.index.seals import OtherLayoutError, RuinedIndexError
from agent_memory.adapters.index.segments import LiveNotes, Segments, index_version
from agent_memory.adapters.index.shelf_state import SeenShelves, see_shelves, state_ahead
from agent_memory.adapters.index.term_matching import TermMatching, best_of
from agent_memory.adapters.index.term_postings import TermPostings
from agent_memory.domain.results import sealed
from agent_memory.domain.searching.indexed_note import IndexedNote, NearNote, NoteLink, Place, Refreshed, Vectors
from agent_memory.domain.searching.matching import Matches, NoteFilter, TermPart, TermWeights
from agent_memory.domain.searching.query_words import QueryWord
from agent_memory.errors import Busy, Error
from agent_memory.values import evolve

if TYPE_CHECKING:
    from pathlib import Path

    from agent_memory.adapters.index.known_files import KnownFiles
    from agent_memory.adapters.index.shelf_look import ShelvesLook
    from agent_memory.adapters.store.shelf_looks import ShelfLooks

Value = TypeVar("Value")

_RUINED = (
    *(sqlite3.DatabaseError, RuinedIndexError, ValueError, TypeError, LookupError, AttributeError, struct.error),
    *(OverflowError, MemoryError),
)
"""What reading a damaged index may end in. `sqlite3.DatabaseError` is told apart by its code."""
_MOST_IN_HASTE = 2_000
"""Many times as many notes as a write waits for."""
_RUINED_STILL = "its file is damaged and cannot be replaced"


class IndexFiles:
    """See the port. One object may be asked by several threads."""

    def __init__(self, root: Path | str, looks: Callable[[], ShelfLooks] | None = None) -> None:
        """`looks` gives those of the store, for a refresh that says `lately`."""
        self._root = real_root(root)
        self._looks = looks
        self._lock = RLock()
        self._database: IndexDatabase | None = None
        self._segments = Segments()
        self._last: tuple[tuple[int, int], TermMatching] | None = None
        self._known: tuple[IndexDatabase, KnownFiles] | None = None
        self._is_damage_untold = False
        self.renewals = 0
        """See the port."""

    @property
    def edition(self) -> tuple[int, int, int] | None:
        """See the port."""

        def told() -> tuple[int, int]:
            with self._opened().reading() as connection:
                return index_version(connection)

        with self._lock:
            version = self._recovered(told).value_or(None)
            return None if version is None else (self.renewals, *version)

    def refresh(
        self,
        patience_seconds: float | None = None,
        left: Callable[[int], None] | None = None,
        *,
        lately: bool = False,
    ) -> Result[Refreshed, Error]:
        """See the port. `left` is told, before each batch, how many changed files are still to be taken in."""
        with self._lock:
            if lately and self._looks is not None:
                return self._refresh_lately(self._looks(), patience_seconds, left).map(self._told)
            return self._refresh(patience_seconds, left).map(self._told)

    def match(
        self, words: Sequence[QueryWord], weights: TermWeights, limit: int, among: NoteFilter
    ) -> Result[Matches, Error]:
        """See the port."""

        def asked(connection: sqlite3.Connection, live: LiveNotes) -> Matches:
            matching = self._matching(connection, live, weights)
            plans = matching.plan(words)
            through = let_through(matching.postings, among)
            found = [each.of(scores) for each, scores in zip(through, matching.totals(plans), strict=True)]
            best = best_of(matching.segments, found, limit)
            return Matches(best, sum(map(len, found)), tuple(plan.matched for plan in plans))

        return self._asked(asked)

    def explain(
        self, words: Sequence[QueryWord], weights: TermWeights, numbers: Sequence[int]
    ) -> Result[Mapping[int, tuple[TermPart, ...]], Error]:
        """See the port."""

        def asked(connection: sqlite3.Connection, live: LiveNotes) -> Mapping[int, tuple[TermPart, ...]]:
            matching = self._matching(connection, live, weights)
            there = live.those_among(sorted(numbers))
            return {number: tuple(parts) for number, parts in matching.parts(matching.plan(words), there).items()}

        return self._asked(asked)

    def among(self, notes: NoteFilter) -> Result[frozenset[int], Error]:
        """See the port."""
        return self._asked(
            lambda connection, live: numbers_through(live, let_through(TermPostings(connection, live), notes))
        )

    def notes(self, numbers: Sequence[int]) -> Result[Mapping[int, IndexedNote], Error]:
        """See the port."""
        return self._asked(lambda connection, live: indexed_notes(connection, live, numbers))

    def numbers_of(self, ids: Sequence[str]) -> Result[Mapping[str, int], Error]:
        """See the port."""
        return self._asked(lambda connection, live: tie_questions.numbers_of(connection, live, ids))

    def places(self, numbers: Sequence[int]) -> Result[tuple[Place, ...], Error]:
        """See the port."""
        return self._asked(lambda connection, live: tie_questions.places_of(connection, live, numbers))

    def session(self, session: str) -> Result[tuple[Place, ...], Error]:
        """See the port."""
        return self._asked(lambda connection, live: tie_questions.places_in(connection, live, session))

    def near(self, numbers: Sequence[int], reach: int) -> Result[Mapping[int, tuple[NearNote, ...]], Error]:
        """See the port."""
        return self._asked(lambda connection, live: tie_questions.near_notes(connection, live, numbers, reach))

    def links(self, numbers: Sequence[int]) -> Result[tuple[NoteLink, ...], Error]:
        """See the port."""
        return self._asked(lambda connection, live: tie_questions.links_of(connection, live, numbers))

    def vectors(self, model: str) -> Result[Vectors, Error]:
        """See the port."""
        from agent_memory.adapters.index.vector_blocks import vectors_of

        return self._asked(lambda connection, live: vectors_of(connection, live, model))

    def without_vector(self, model: str) -> Result[tuple[int, ...], Error]:
        """See the port."""
        from agent_memory.adapters.index.vector_blocks import numbers_without_vector

        return self._asked(lambda connection, live: numbers_without_vector(connection, live, model))

    def put_vectors(self, model: str, vectors: Mapping[int, bytes]) -> Result[None, Error]:
        """See the port."""
        with self._lock:
            renewals = self.renewals
            done = self._recovered(lambda: self._written(model, vectors))
            if self.renewals == renewals:
                return done
            # In an index made anew these numbers mean other notes: nothing was kept there, since it is filled only now.
            return done.bind(lambda _: self._refresh().map(lambda _: None))

    def close(self) -> None:
        """Let go of the file; the next question opens it again."""
        with self._lock:
            if self._database is not None:
                self._database.close()
            self._database, self._segments, self._last, self._known = None, Segments(), None, None

    def _refresh(
        self, patience_seconds: float | None = None, left: Callable[[int], None] | None = None
    ) -> Result[Refreshed, Error]:
        match sealed(self._recovered(self._if_current)):
            case Failure(error):
                return Failure(error)
            case Success(found):
                if isinstance(found, Refreshed):
                    return Success(found)
                return self._brought_into_line(found, patience_seconds, left)

    def _refresh_lately(
        self, looks: ShelfLooks, patience_seconds: float | None, left: Callable[[int], None] | None
    ) -> Result[Refreshed, Error]:
        """Where patience would not suffice for a part worth having, nothing is taken in: who waits for no index does
        without, and what changed of half a store takes up as much memory as a listing."""
        from agent_memory.adapters.index.shelf_look import look_lately

        def refreshed(look: ShelvesLook) -> Result[Refreshed, Error]:
            return self._recovered(lambda: self._as_kept(look.state) or self._if_few(look, patience_seconds, left))

        return look_lately(self._root, looks).bind(refreshed)

    def _if_few(
        self, look: ShelvesLook, patience_seconds: float | None, left: Callable[[int], None] | None
    ) -> Refreshed:
        if patience_seconds is not None:
            database = self._opened()
            with database.reading() as connection:
                unknown = look.count_unknown(self._known_to(database).looks())
                if unknown > _MOST_IN_HASTE:
                    return Refreshed(int(fact(connection, NOTES)), pending=unknown, notices=_notices(database))
        return self._refreshed(look, patience_seconds, left)

    def _known_to(self, database: IndexDatabase) -> KnownFiles:
        from agent_memory.adapters.index.known_files import KnownFiles

        if self._known is None or self._known[0] is not database:
            self._known = database, KnownFiles(database.connection)
        return self._known[1]

    def _as_kept(self, state: bytes | None) -> Refreshed | None:
        """How much is in the index, if it holds exactly what this is the state of."""
        database = self._opened()
        with database.reading() as connection:
            kept, notes = fact(connection, STATE), int(fact(connection, NOTES))
        return None if state is None or kept != state else Refreshed(notes, notices=_notices(database))

    def _told(self, refreshed: Refreshed) -> Refreshed:
        """With what was not told before."""
        if not self._is_damage_untold:
            return refreshed
        self._is_damage_untold = False
        return evolve(refreshed, notices=(MADE_ANEW, *refreshed.notices))

    def _if_current(self) -> Refreshed | SeenShelves | None:
        """How much is in the index, if it holds exactly what the files look like now; else what was seen, if anything was."""
        state, seen = state_ahead(self._root), None
        if state is None:
            seen = see_shelves(self._root)
            state = None if seen is None else seen.state
        return self._as_kept(state) or seen

    def _brought_into_line(
        self, seen: SeenShelves | None, patience_seconds: float | None, left: Callable[[int], None] | None
    ) -> Result[Refreshed, Error]:
        # Most calls find nothing changed, and need none of it.
        from agent_memory.adapters.index.shelf_look import look_at_shelves

        return look_at_shelves(self._root, seen).bind(
            lambda look: self._recovered(lambda: self._refreshed(look, patience_seconds, left))
        )

    def _refreshed(
        self, look: ShelvesLook, patience_seconds: float | None, left: Callable[[int], None] | None
    ) -> Refreshed:
        from agent_memory.adapters.index.refreshing import Refreshing

        database = self._opened()
        notices = _notices(database)
        known = self._known_to(database)
        refreshing = Refreshing(look, database, self._segments, known, patience_seconds, left)
        try:
            done = refreshing.run()
        except sqlite3.Error as error:
            if not is_busy(error):
                raise
            done = refreshing.as_far_as_it_came()
        if done.read > _MOST_IN_HASTE:
            database.connection.execute("PRAGMA shrink_memory")  # pages of what was written: no question needs so many
        if done.pending:
            notices += (pending_notice(done.pending),)
        if done.unreadable:
            notices += (unreadable_notice(done.unreadable),)
        return evolve(done, notices=notices)

    def _written(self, model: str, vectors: Mapping[int, bytes]) -> None:
        from agent_memory.adapters.index.vector_blocks import put_vectors

        with self._opened().writing() as connection:
            put_vectors(connection, self._segments.live(connection), model, vectors)

    def _asked(self, ask: Callable[[sqlite3.Connection, LiveNotes], Value]) -> Result[Value, Error]:
        def asked() -> Value:
            with self._opened().reading() as connection:
                return ask(connection, self._segments.live(connection))

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
            if refresh_after and isinstance(made := self._refresh(), Failure):
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
        self._is_damage_untold = not isinstance(error, OtherLayoutError)

    def _go_to_memory(self, error: Exception) -> None:
        self.renewals += 1
        database, self._segments, self._last = self._database, Segments(), None
        is_whole = isinstance(error, sqlite3.Error) and is_unwritable(error)
        self._database = in_memory(str(error) or _RUINED_STILL, database.connection if database and is_whole else None)
        if database is not None:
            database.close()

    def _matching(self, connection: sqlite3.Connection, live: LiveNotes, weights: TermWeights) -> TermMatching:
        """That of the last question, while the index is as it was then: what is matched is often explained."""
        version = index_version(connection)
        if self._last is None or self._last[0] != version or self._last[1].weights != weights:
            self._last = version, TermMatching.of(TermPostings(connection, live), weights)
        return self._last[1]

    def _opened(self) -> IndexDatabase:
        if self._database is not None and not self._database.is_current():
            self.close()
            self.renewals += 1
        if self._database is None:
            self._database = open_index(self._root)
        return self._database


def _notices(database: IndexDatabase) -> tuple[str, ...]:
    if database.why_in_memory is None:
        return ()
    return (f"The index is kept in memory only, and made anew each time: {database.why_in_memory}.",)

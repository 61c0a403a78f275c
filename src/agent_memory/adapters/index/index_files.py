"""The index of a root on disk: see `index_database` for the file, `segments` for what is in it, `kept_index` for what becomes of
a file that is ruined, `catching_up` for how it follows the files of the store."""

from __future__ import annotations

import sqlite3
from _thread import RLock
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from returns.result import Result

from agent_memory.adapters.disk.paths import real_root
from agent_memory.adapters.index import tie_questions
from agent_memory.adapters.index.catching_up import CatchingUp
from agent_memory.adapters.index.kept_index import KeptIndex
from agent_memory.adapters.index.note_filtering import let_through, numbers_through
from agent_memory.adapters.index.note_questions import indexed_notes
from agent_memory.adapters.index.segments import LiveNotes, index_version
from agent_memory.adapters.index.term_matching import TermMatching, best_of
from agent_memory.adapters.index.term_postings import TermPostings
from agent_memory.domain.searching.indexed_note import IndexedNote, NearNote, NoteLink, Place, Refreshed, Vectors
from agent_memory.domain.searching.matching import Matches, NoteFilter, TermPart, TermWeights
from agent_memory.domain.searching.query_words import QueryWord
from agent_memory.errors import Error

if TYPE_CHECKING:
    from pathlib import Path

    from agent_memory.adapters.store.shelf_looks import ShelfLooks

Value = TypeVar("Value")


class IndexFiles:
    """See the port. One object may be asked by several threads."""

    def __init__(self, root: Path | str, looks: Callable[[], ShelfLooks] | None = None) -> None:
        """`looks` gives those of the store, for a refresh that says `lately`."""
        self._lock = RLock()
        self._kept = KeptIndex(real_root(root))
        self._catching_up = CatchingUp(self._kept, looks)
        self._last: tuple[sqlite3.Connection, tuple[int, int], TermMatching] | None = None

    @property
    def renewals(self) -> int:
        """See the port."""
        return self._kept.renewals

    @property
    def edition(self) -> tuple[int, int, int] | None:
        """See the port."""

        def told() -> tuple[int, int]:
            with self._kept.opened().reading() as connection:
                return index_version(connection)

        with self._lock:
            version = self._kept.recovered(told).value_or(None)
            return None if version is None else (self._kept.renewals, *version)

    def refresh(
        self,
        patience_seconds: float | None = None,
        left: Callable[[int], None] | None = None,
        *,
        lately: bool = False,
    ) -> Result[Refreshed, Error]:
        """See the port. `left` is told, before each batch, how many changed files are still to be taken in."""
        with self._lock:
            return self._catching_up.refresh(patience_seconds, left, lately=lately)

    def take_in_written(self, left: Callable[[int], None] | None = None) -> Result[Refreshed, Error]:
        """As `refresh` with `lately`, for whoever has just written: what others have done since the last look may be left to
        the next one."""
        with self._lock:
            return self._catching_up.take_in_written(left)

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
            renewals = self._kept.renewals
            done = self._kept.recovered(lambda: self._written(model, vectors))
            if self._kept.renewals == renewals:
                return done
            # In an index made anew these numbers mean other notes: nothing was kept there, since it is filled only now.
            return done.bind(lambda _: self._catching_up.refilled().map(lambda _: None))

    def close(self) -> None:
        """Let go of the file; the next question opens it again."""
        with self._lock:
            self._kept.close()
            self._catching_up.forget()
            self._last = None

    def _written(self, model: str, vectors: Mapping[int, bytes]) -> None:
        from agent_memory.adapters.index.vector_blocks import put_vectors

        with self._kept.opened().writing() as connection:
            put_vectors(connection, self._kept.segments.live(connection), model, vectors)

    def _asked(self, ask: Callable[[sqlite3.Connection, LiveNotes], Value]) -> Result[Value, Error]:
        def asked() -> Value:
            with self._kept.opened().reading() as connection:
                return ask(connection, self._kept.segments.live(connection))

        with self._lock:
            return self._kept.recovered(asked, self._catching_up.refilled)

    def _matching(self, connection: sqlite3.Connection, live: LiveNotes, weights: TermWeights) -> TermMatching:
        """That of the last question, while the index is as it was then: what is matched is often explained."""
        version, last = index_version(connection), self._last
        if last is not None and last[0] is connection and last[1] == version and last[2].weights == weights:
            return last[2]
        matching = TermMatching.of(TermPostings(connection, live), weights)
        self._last = connection, version, matching
        return matching

"""An index brought into line with the files of its store, as far as whoever asks is patient."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING

from returns.result import Failure, Result, Success

from agent_memory.adapters.index.facts import NOTES, STATE, fact
from agent_memory.adapters.index.index_database import IndexDatabase, is_busy
from agent_memory.adapters.index.refresh_notices import MADE_ANEW, pending_notice, unreadable_notice
from agent_memory.adapters.index.shelf_state import SeenShelves, see_shelves
from agent_memory.domain.results import sealed
from agent_memory.domain.searching.indexed_note import Refreshed
from agent_memory.values import evolve

if TYPE_CHECKING:
    from agent_memory.adapters.index.kept_index import KeptIndex
    from agent_memory.adapters.index.known_files import KnownFiles
    from agent_memory.adapters.index.shelf_look import ShelvesLook
    from agent_memory.adapters.store.shelf_looks import ShelfLooks
    from agent_memory.errors import Error

Left = Callable[[int], None]
"""Told, before each batch, how many changed files are still to be taken in."""

_MOST_IN_HASTE = 2_000
"""Many times as many notes as a write waits for."""


class CatchingUp:
    """Of one index; what it knows of the files is remembered."""

    def __init__(self, kept: KeptIndex, looks: Callable[[], ShelfLooks] | None) -> None:
        """`looks` gives those of the store, for `lately`."""
        self._kept = kept
        self._looks = looks
        self._known: tuple[IndexDatabase, KnownFiles] | None = None

    def refresh(
        self, patience_seconds: float | None = None, left: Left | None = None, *, lately: bool = False
    ) -> Result[Refreshed, Error]:
        """See the port."""
        if lately and self._looks is not None:
            return self._refresh_lately(self._looks(), patience_seconds, left).map(self._told)
        return self.refilled(patience_seconds, left).map(self._told)

    def take_in_written(self, left: Left | None = None) -> Result[Refreshed, Error]:
        """The same as `refresh` with `lately`; where the index was in line a moment ago, only what was written here since is
        taken in, and no file is looked at but those: what others have done meanwhile the next refresh finds."""
        if self._looks is None:
            return self.refresh(left=left)
        from agent_memory.adapters.index.shelf_look import written_since

        found = written_since(self._looks())
        if found is None:
            return self.refresh(left=left, lately=True)
        match sealed(self._kept.recovered(lambda: self._with_written(*found, left))):
            case Failure(error):
                return Failure(error)
            case Success(done):
                return self.refresh(left=left, lately=True) if done is None else Success(self._told(done))

    def refilled(self, patience_seconds: float | None = None, left: Left | None = None) -> Result[Refreshed, Error]:
        """The same, without a word of what was made anew."""
        match sealed(self._kept.recovered(self._if_current)):
            case Failure(error):
                return Failure(error)
            case Success(found):
                if isinstance(found, Refreshed):
                    return Success(found)
                return self._brought_into_line(found, patience_seconds, left)

    def forget(self) -> None:
        """Let go of what is known of the files."""
        self._known = None

    def _refresh_lately(
        self, looks: ShelfLooks, patience_seconds: float | None, left: Left | None
    ) -> Result[Refreshed, Error]:
        """Where patience would not suffice for a part worth having, nothing is taken in: who waits for no index does
        without, and what changed of half a store takes up as much memory as a listing."""
        from agent_memory.adapters.index.shelf_look import look_lately

        def refreshed(look: ShelvesLook) -> Result[Refreshed, Error]:
            return self._kept.recovered(lambda: self._as_kept(look.state) or self._if_few(look, patience_seconds, left))

        return look_lately(self._kept.root, looks).bind(refreshed)

    def _if_few(self, look: ShelvesLook, patience_seconds: float | None, left: Left | None) -> Refreshed:
        if patience_seconds is not None:
            database = self._kept.opened()
            with database.reading() as connection:
                unknown = look.count_unknown(self._known_to(database).looks())
                if unknown > _MOST_IN_HASTE:
                    return Refreshed(int(fact(connection, NOTES)), pending=unknown, notices=_notices(database))
        return self._refreshed(look, patience_seconds, left)

    def _with_written(self, state: bytes, paths: frozenset[str], left: Left | None) -> Refreshed | None:
        """What the index holds with these, if it holds exactly what this is the state of, and no other process is at work on
        it; else None."""
        from agent_memory.adapters.index.refreshing import Refreshing
        from agent_memory.adapters.index.shelf_look import ShelvesLook

        if self._as_kept(state) is None:
            return None
        database = self._kept.opened()
        known, nothing_else = self._known_to(database), ShelvesLook(self._kept.root, (), None)
        refreshing = Refreshing(nothing_else, database, self._kept.segments, known, tell_left=left)
        try:
            return _ended(refreshing.run_with(sorted(paths)), database)
        except sqlite3.Error as error:
            if not is_busy(error):
                raise
            return None

    def _known_to(self, database: IndexDatabase) -> KnownFiles:
        from agent_memory.adapters.index.known_files import KnownFiles

        if self._known is None or self._known[0] is not database:
            self._known = database, KnownFiles(database.connection)
        return self._known[1]

    def _as_kept(self, state: bytes | None) -> Refreshed | None:
        """How much is in the index, if it holds exactly what this is the state of."""
        database = self._kept.opened()
        with database.reading() as connection:
            kept, notes = fact(connection, STATE), int(fact(connection, NOTES))
        return None if state is None or kept != state else Refreshed(notes, notices=_notices(database))

    def _told(self, refreshed: Refreshed) -> Refreshed:
        """With what was not told before."""
        if not self._kept.has_untold_damage():
            return refreshed
        return evolve(refreshed, notices=(MADE_ANEW, *refreshed.notices))

    def _if_current(self) -> Refreshed | SeenShelves | None:
        """How much is in the index, if it holds exactly what the files look like now; else what was seen, if anything was."""
        seen = see_shelves(self._kept.root)
        return self._as_kept(None if seen is None else seen.state) or seen

    def _brought_into_line(
        self, seen: SeenShelves | None, patience_seconds: float | None, left: Left | None
    ) -> Result[Refreshed, Error]:
        # Most calls find nothing changed, and need none of it.
        from agent_memory.adapters.index.shelf_look import look_at_shelves

        return look_at_shelves(self._kept.root, seen).bind(
            lambda look: self._kept.recovered(lambda: self._refreshed(look, patience_seconds, left))
        )

    def _refreshed(self, look: ShelvesLook, patience_seconds: float | None, left: Left | None) -> Refreshed:
        from agent_memory.adapters.index.refreshing import Refreshing

        database = self._kept.opened()
        known = self._known_to(database)
        refreshing = Refreshing(look, database, self._kept.segments, known, patience_seconds, left)
        try:
            done = refreshing.run()
        except sqlite3.Error as error:
            if not is_busy(error):
                raise
            done = refreshing.as_far_as_it_came()
        return _ended(done, database)


def _ended(done: Refreshed, database: IndexDatabase) -> Refreshed:
    """With what is to be said of it; memory that only writing needs is let go."""
    if done.read > _MOST_IN_HASTE:
        database.connection.execute("PRAGMA shrink_memory")  # pages of what was written: no question needs so many
    notices = _notices(database)
    if done.pending:
        notices += (pending_notice(done.pending),)
    if done.unreadable:
        notices += (unreadable_notice(done.unreadable),)
    return evolve(done, notices=notices)


def _notices(database: IndexDatabase) -> tuple[str, ...]:
    if database.why_in_memory is None:
        return ()
    return (f"The index is kept in memory only, and made anew each time: {database.why_in_memory}.",)

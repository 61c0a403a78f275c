"""Past sessions of opencode, from its databases and from the files of versions before 1.2."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.harness.database_finder import Row, instant_of, merged, sessions_in
from agent_memory.adapters.harness.opencode_database import is_opencode_database
from agent_memory.adapters.harness.read_only_database import Database, text_of
from agent_memory.adapters.harness.transcript_finder import TranscriptFinder
from agent_memory.adapters.harness.transcript_roots import TranscriptRoots
from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, HistoryUnreadable

_NEEDED = {"session": ("id", "parent_id", "time_updated"), "message": ("session_id",)}
_OF_SESSION = "SELECT 1 FROM message WHERE session_id ="


@frozen
class OpencodeFinder:
    """Asks the databases in the `roots`, and the one that is `named`; the files count where no database knows their
    session. A file tells when its session was last named or asked, not how large it is: its turns are in other ones."""

    roots: TranscriptRoots
    files: TranscriptFinder
    named: str | None = None
    """What `$OPENCODE_DB` says."""

    def find(self, since_ms: int | None) -> Iterator[Result[FoundSession, Error]]:
        """See `ports.SessionFinder`. A session in which nothing was said yet is none."""
        return merged(chain(self._in_databases(), map(_without_size, self.files.find(None))), since_ms)

    def _in_databases(self) -> Iterator[Result[FoundSession, Error]]:
        named = self.named if self.named is not None and self.named.startswith("/") else None
        if named is not None:
            yield from sessions_in(self.roots, named, Harness.OPENCODE, opencode_rows)
        for root in self.roots.roots:
            try:
                names = sorted(filter(is_opencode_database, os.listdir(root)))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                yield Failure(store_io(error, "list", root))
                continue
            for path in (f"{root}/{name}" for name in names):
                if path != named:
                    yield from sessions_in(self.roots, path, Harness.OPENCODE, opencode_rows)


def opencode_rows(database: Database) -> Result[tuple[Row, ...], Error]:
    """The sessions in a database of opencode's that are no sub-agent's."""
    if lacking := database.lacks(_NEEDED):
        return Failure(HistoryUnreadable(database.path, f"{lacking}; opencode seems to have changed: update memory"))
    created = "time_created" if "time_created" in database.columns("session") else "NULL"
    said = f"EXISTS ({_OF_SESSION} session.id)" if database.is_led_to(f"{_OF_SESSION} ?", "") else "1"
    rows = database.listed(f"SELECT id, time_updated, {created} FROM session WHERE parent_id IS NULL AND {said}")
    return Success(tuple(Row(text_of(id), instant_of(at), instant_of(began)) for id, at, began in rows))


def _without_size(found: Result[FoundSession, Error]) -> Result[FoundSession, Error]:
    return found.map(lambda session: evolve(session, size_bytes=None))

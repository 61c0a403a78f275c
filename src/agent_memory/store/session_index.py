"""What the database keeps of sessions: a row for each part of a kept history, and one for each turn in it that says
something, with its terms; and what the entries of the inbox and the reports of runs tell of sessions.

A part is one transaction: a killed process leaves whole ones, and the next continues. A turn's number is made of that of its
part and of its place in it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import frozen

from agent_memory.errors import Busy, PathRefused, StateCorrupt, StoreIo
from agent_memory.files.paths import as_store_io, directory_in
from agent_memory.results import as_result
from agent_memory.store.note_files import is_text
from agent_memory.store.store_database import StoreDatabase
from agent_memory.text.plain_text import counted

if TYPE_CHECKING:
    from agent_memory.store.kept_histories_files import IndexedTurns, KeptHistories

HISTORIES = "histories"
ENDING = ".jsonl.gz"


def is_part(name: str) -> bool:
    return name.endswith(ENDING) and not name.startswith(".")


def statuses_in(directory: str, is_wanted: Callable[[str], bool]) -> Iterator[tuple[str, os.stat_result]]:
    """Yields the wanted regular files of a directory; none if it does not exist."""
    with as_store_io("list", directory), suppress(FileNotFoundError), os.scandir(directory) as entries:
        for entry in entries:
            if is_wanted(entry.name) and entry.is_file(follow_symlinks=False):
                yield entry.name, entry.stat(follow_symlinks=False)


def history_looks(root: str) -> dict[str, int]:
    """Returns the files of all parts by name, each with a value that changes when the file does."""
    statuses = statuses_in(directory_in(root, HISTORIES), is_part)
    return {name: status.st_mtime_ns ^ status.st_size for name, status in statuses if is_text(name)}


PLACE_BITS = 20


@frozen
class IndexedPart:
    """One part of a session's kept history."""

    number: int
    name: str
    harness: str
    session_id: str
    branch: str | None
    ended_at_ms: int
    """When it was kept, if its harness does not say."""
    first_words: str
    """The person's first words in it."""
    _places: str

    @property
    def places(self) -> tuple[str, ...]:
        """Returns the directories in which the person spoke, the session's own first."""
        return tuple(json.loads(self._places))


@frozen
class SessionIndex:
    """What the database of one store keeps of sessions."""

    database: StoreDatabase
    open_kept: Callable[[], KeptHistories]
    """Returns the kept histories: reading them loads much, and most commands find nothing new."""

    @as_result
    def refresh(self, progress: Callable[[str], object] = str) -> tuple[str, ...]:
        """Brings the kept histories in it into line with the files; returns sentences about what is missing. `progress` is
        told of what takes longer than a second."""
        looks = history_looks(self.database.root)
        known = self.database.read(lambda connection: dict(connection.execute("SELECT name, look FROM histories")))
        problems, notices = list[str](), list[str]()
        new, quiet_until = [name for name, look in looks.items() if known.get(name) != look], time.monotonic() + 1
        try:
            if known.keys() - looks.keys():
                self.database.write(partial(_take_out_gone, looks=looks))
            for number, name in enumerate(new, 1):
                if time.monotonic() > quiet_until:
                    progress(f"indexing sessions: {number:,} of {len(new):,}")
                turns, problem = None, ""
                try:
                    turns = self.open_kept().indexed(name, looks[name])
                except StoreIo as error:  # it may be readable the next time
                    problems.append(str(error))
                    continue
                except (StateCorrupt, PathRefused) as error:
                    problem = str(error)
                self.database.write(partial(_put, name=name, look=looks[name], turns=turns, problem=problem))
        except Busy:
            notices.append("Another process is at the index; sessions may be missing.")
        sql = "SELECT problem FROM histories WHERE problem <> '' ORDER BY name"
        problems += [row[0] for row in self.database.read(lambda connection: connection.execute(sql).fetchall())]
        if problems:
            histories = counted(len(problems), "kept history", "kept histories")
            notices.append(f"{histories} cannot be searched: {problems[0]}")
        return tuple(notices)

    def told(self, files: Mapping[str, int], read: Callable[[str, str], list[Any] | None]) -> dict[str, list[Any]]:
        """Returns what these files tell of sessions, by path, given the `look_of` each: JSON arrays as `read` returns them for
        root and path. It is asked only about what is new, and returns None for a file that may tell more the next time."""
        root = self.database.root

        def known_files(connection: sqlite3.Connection) -> dict[str, tuple[int, list[Any]]]:
            rows = connection.execute("SELECT path, look, sessions FROM told").fetchall()
            return {path: (look, json.loads(sessions)) for path, look, sessions in rows}

        def put(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM told WHERE path = ?", [(path,) for path in known.keys() - now.keys()])
            rows = [(path, files[path], json.dumps(each)) for path, each in new.items() if is_text(path)]
            connection.executemany("INSERT OR REPLACE INTO told VALUES (?, ?, ?)", rows)

        known = dict[str, tuple[int, list[Any]]]()
        with suppress(Busy):
            known = self.database.read(known_files)
        now = {path: each for path, (look, each) in known.items() if files.get(path) == look}
        new = {path: each for path in files if path not in now and (each := read(root, path)) is not None}
        if new or len(now) < len(known):
            with suppress(Busy):  # another process writes: they are read again the next time
                self.database.write(put)
        return now | new

    def forget(self) -> None:
        """Takes out the parts whose files are gone, and all that files told, which are read again. Raises Busy."""
        looks = history_looks(self.database.root)

        def take_out(connection: sqlite3.Connection) -> None:
            _take_out_gone(connection, looks)
            connection.execute("DELETE FROM told")

        self.database.write(take_out)


def indexed_parts(connection: sqlite3.Connection) -> dict[int, IndexedPart]:
    """Returns the parts by number, those of one session in order."""
    columns = "number, name, harness, session, branch, ended_ms, first_words, places"
    rows = connection.execute(f"SELECT {columns} FROM histories WHERE harness IS NOT NULL ORDER BY name")
    return {row[0]: IndexedPart(*row) for row in rows}


def _put(connection: sqlite3.Connection, name: str, look: int, turns: IndexedTurns | None, problem: str) -> None:
    if connection.execute("SELECT 1 FROM histories WHERE name = ? AND look = ?", (name, look)).fetchone():
        return  # another process was first
    _take_out(connection, [name])
    sql = (
        "INSERT INTO histories (name, look, harness, session, branch, ended_ms, first_words, places, problem) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    about, terms = ((None,) * 6, []) if turns is None else turns
    problem = problem.encode(errors="replace").decode()
    base = (connection.execute(sql, (name, look, *about, problem)).lastrowid or 0) << PLACE_BITS
    connection.executemany("INSERT INTO turns VALUES (?, ?)", [(base + place, length) for place, length, _ in terms])
    connection.executemany("INSERT INTO said (rowid, text) VALUES (?, ?)", [(base + at, each) for at, _, each in terms])


def _take_out_gone(connection: sqlite3.Connection, looks: Mapping[str, int]) -> None:
    known = connection.execute("SELECT name FROM histories").fetchall()
    _take_out(connection, (name for (name,) in known if name not in looks))


def _take_out(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    for name in names:
        for (number,) in connection.execute("SELECT number FROM histories WHERE name = ?", (name,)).fetchall():
            turns = number << PLACE_BITS, (number + 1) << PLACE_BITS
            connection.execute("DELETE FROM histories WHERE number = ?", (number,))
            connection.execute("DELETE FROM said WHERE rowid >= ? AND rowid < ?", turns)
            connection.execute("DELETE FROM turns WHERE number >= ? AND number < ?", turns)

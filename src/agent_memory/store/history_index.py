"""The kept histories in the database: a row for each part, and one for each turn that says something, with its terms.

A part is one transaction: a killed process leaves whole ones, and the next continues. A turn's number is made of that of
its part and of its place in it.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice

from attrs import frozen

from agent_memory.errors import Busy, PathRefused, StateCorrupt, StoreIo
from agent_memory.note.terms import field_terms
from agent_memory.results import as_result
from agent_memory.session.history import History, Role, Turn
from agent_memory.session.own_marks import machine_text
from agent_memory.session.turns import excerpt
from agent_memory.store.index_batch import spelled
from agent_memory.store.kept_histories_files import KeptHistories
from agent_memory.store.note_files import is_text
from agent_memory.store.store_database import StoreDatabase
from agent_memory.text.instants import FIRST_MS, LAST_MS
from agent_memory.text.plain_text import counted, one_line

PLACE_BITS = 20
_TOOL_CHARS = 1_000
"""How much of a tool's output is searched, of both its ends: the rest is mostly files of the project."""
_FIRST_CHARS = 200


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
class HistoryIndex:
    """The kept histories of one store, for searching."""

    database: StoreDatabase
    kept: KeptHistories

    @as_result
    def refresh(self, progress: Callable[[str], object] = str) -> tuple[str, ...]:
        """Brings the index into line with the files; returns sentences about what is missing. `progress` is told of what
        takes longer than a second."""
        looks = {name: look for name, look in self.kept.looks().items() if is_text(name)}
        known = self.database.read(lambda connection: dict(connection.execute("SELECT name, look FROM histories")))
        problems, notices = list[str](), list[str]()
        new, quiet_until = [name for name, look in looks.items() if known.get(name) != look], time.monotonic() + 1
        try:
            if known.keys() - looks.keys():
                self.take_out_gone()
            for number, name in enumerate(new, 1):
                if time.monotonic() > quiet_until:
                    progress(f"indexing sessions: {number:,} of {len(new):,}")
                history, problem = None, ""
                try:
                    history = self.kept.part(name)
                except StoreIo as error:  # it may be readable the next time
                    problems.append(str(error))
                    continue
                except (StateCorrupt, PathRefused) as error:
                    problem = str(error)
                turns = [] if history is None else _terms_of(history.turns)
                self.database.write(
                    partial(_put, name=name, look=looks[name], history=history, turns=turns, problem=problem)
                )
        except Busy:
            notices.append("Another process is at the index; sessions may be missing.")
        sql = "SELECT problem FROM histories WHERE problem <> '' ORDER BY name"
        problems += [row[0] for row in self.database.read(lambda connection: connection.execute(sql).fetchall())]
        if problems:
            histories = counted(len(problems), "kept history", "kept histories")
            notices.append(f"{histories} cannot be searched: {problems[0]}")
        return tuple(notices)

    def take_out_gone(self) -> None:
        """Takes the parts out whose files are gone. Raises Busy."""
        looks = self.kept.looks()

        def take_out(connection: sqlite3.Connection) -> None:
            known = connection.execute("SELECT name FROM histories").fetchall()
            _take_out(connection, (name for (name,) in known if name not in looks))

        self.database.write(take_out)


def indexed_parts(connection: sqlite3.Connection) -> dict[int, IndexedPart]:
    """Returns the parts by number, those of one session in order."""
    columns = "number, name, harness, session, branch, ended_ms, first_words, places"
    rows = connection.execute(f"SELECT {columns} FROM histories WHERE harness IS NOT NULL ORDER BY name")
    return {row[0]: IndexedPart(*row) for row in rows}


def first_words(history: History) -> str:
    """Returns the person's first words."""
    typed = (turn.text for turn in history.turns if turn.role is Role.USER and machine_text(turn.text) is None)
    return next((line for text in typed if (line := one_line(_plain(text), _FIRST_CHARS))), "")


def words_of(turn: Turn) -> str:
    """Returns what was said in a turn, with a line for each use of a tool."""
    calls = (f"[{call.name}] {' '.join(filter(None, (call.path, call.brief)))}" for call in turn.tool_calls)
    return "\n".join(filter(None, (turn.text, *calls)))


def _terms_of(turns: Iterable[Turn]) -> list[tuple[int, int, str]]:
    """Returns place, length and terms of each turn that has any."""
    texts = (
        excerpt(turn.text, _TOOL_CHARS).text if turn.role is Role.TOOL else words_of(turn)
        for turn in islice(turns, 1 << PLACE_BITS)
    )
    terms = (field_terms(_plain(text)) for text in texts)
    return [(place, each.length, spelled(each)) for place, each in enumerate(terms) if each.counts]


def _put(
    connection: sqlite3.Connection,
    name: str,
    look: int,
    history: History | None,
    turns: list[tuple[int, int, str]],
    problem: str,
) -> None:
    if connection.execute("SELECT 1 FROM histories WHERE name = ? AND look = ?", (name, look)).fetchone():
        return  # another process was first
    _take_out(connection, [name])
    about: tuple[object, ...] = (None,) * 6
    if history is not None:
        places = [each for each in (history.cwd, *history.also_in) if each and is_text(each) and "\0" not in each]
        ended_ms = in_calendar(history.ended_at_ms) or look // 1_000_000  # the file's time, but for its last bits
        about = (
            history.harness.value,
            _plain(history.session_id),
            history.branch and _plain(history.branch),
            ended_ms,
            first_words(history),
            json.dumps(places),
        )
    sql = (
        "INSERT INTO histories (name, look, harness, session, branch, ended_ms, first_words, places, problem) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    base = (connection.execute(sql, (name, look, *about, _plain(problem))).lastrowid or 0) << PLACE_BITS
    connection.executemany("INSERT INTO turns VALUES (?, ?)", [(base + place, length) for place, length, _ in turns])
    connection.executemany(
        "INSERT INTO said (rowid, text) VALUES (?, ?)", [(base + at, terms) for at, _, terms in turns]
    )


def _take_out(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    for name in names:
        for (number,) in connection.execute("SELECT number FROM histories WHERE name = ?", (name,)).fetchall():
            turns = number << PLACE_BITS, (number + 1) << PLACE_BITS
            connection.execute("DELETE FROM histories WHERE number = ?", (number,))
            connection.execute("DELETE FROM said WHERE rowid >= ? AND rowid < ?", turns)
            connection.execute("DELETE FROM turns WHERE number >= ? AND number < ?", turns)


def _plain(text: str) -> str:
    """Returns the text without halves of surrogate pairs, which a damaged file may have and SQLite does not take."""
    return text.encode(errors="replace").decode()


def in_calendar(at_ms: int | None) -> int | None:
    """Returns an instant that a file tells; None for a number outside of the calendar."""
    return at_ms if at_ms is not None and FIRST_MS <= at_ms <= LAST_MS else None

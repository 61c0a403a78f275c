"""What is asked of the index beside words: filters, names, places, links, vectors. Each within a transaction of the caller."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from agent_memory.adapters.index.index_database import RuinedIndexError
from agent_memory.adapters.index.seals import note_seal
from agent_memory.domain.searching.indexed_note import IndexedNote, NearNote, NoteLink, Place, Relation, Vectors
from agent_memory.domain.searching.matching import OPEN_SENSITIVITIES, NoteFilter
from agent_memory.formats.listed_json import parse_listed

ID, ALIAS = 0, 1
"""Ranks of a name."""
TAG, SLUG, AGENT = "tag", "slug", "agent"
"""Sorts of labels; a slug is a tag without its prefix, and a harness counts as an agent."""
NO_TURN = -1
"""The turn of a source that names a session alone."""

_NUMBERS_AT_ONCE = 500
_SQLITE_MOST = (1 << 63) - 1

Rows = Iterator[tuple[Any, ...]]


def let_through(connection: sqlite3.Connection, notes: NoteFilter) -> frozenset[int]:
    """All notes that the filter lets through."""
    where, values = _conditions(notes)
    return frozenset(number for (number,) in connection.execute(f"SELECT number FROM notes WHERE {where}", values))


def kept_back(connection: sqlite3.Connection, notes: NoteFilter) -> frozenset[int] | None:
    """The few notes that a filter keeps back which lets nearly all through; None for any other filter."""
    if notes != NoteFilter(archived=notes.archived, sensitivities=notes.sensitivities):
        return None
    if notes.archived and notes.sensitivities >= OPEN_SENSITIVITIES:
        return frozenset()
    where, values = _conditions(notes)
    sql = f"SELECT number FROM notes WHERE (archived OR sensitivity <> 'normal') AND NOT ({where})"
    if "normal" not in notes.sensitivities:
        return None
    return frozenset(number for (number,) in connection.execute(sql, values))


def _conditions(notes: NoteFilter) -> tuple[str, list[Any]]:
    conditions = [f"sensitivity IN ({_marks(notes.sensitivities)})"]
    values: list[Any] = list(notes.sensitivities)
    if not notes.archived:
        conditions.append("NOT archived")
    if notes.kind is not None:
        conditions.append("kind = ?")
        values.append(notes.kind)
    if notes.scopes is not None:
        conditions.append(f"scope IN ({_marks(notes.scopes)})")
        values += map(sayable, notes.scopes)
    if notes.since_ms is not None:
        conditions.append("updated_at_ms >= ?")
        values.append(max(-_SQLITE_MOST, min(notes.since_ms, _SQLITE_MOST)))
    if notes.tags:
        labels = [(TAG if "__" in tag else SLUG, sayable(tag)) for tag in notes.tags]
        wanted = " OR ".join(["sort = ? AND label = ?"] * len(labels))
        conditions.append(f"number IN (SELECT number FROM labels WHERE {wanted})")
        values += [part for label in labels for part in label]
    if notes.session is not None:
        conditions.append("number IN (SELECT number FROM turns WHERE session = ?)")
        values.append(sayable(notes.session))
    if notes.agent is not None:
        conditions.append("number IN (SELECT number FROM labels WHERE sort = ? AND label = ?)")
        values += [AGENT, sayable(notes.agent)]
    return " AND ".join(conditions), values


def those_there(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[int]:
    """Those of the numbers that are notes, in their order."""
    known = {number for (number,) in _asked(connection, "SELECT number FROM notes WHERE number IN ({marks})", numbers)}
    return [number for number in numbers if number in known]


def indexed_notes(connection: sqlite3.Connection, numbers: Sequence[int]) -> Mapping[int, IndexedNote]:
    """What is known of these notes. RuinedIndexError for one that is not as it was written."""
    sql = """
        SELECT number, path, id, archived, kind, scope, sensitivity, updated_at_ms, terms, listed, seal
        FROM notes JOIN sheets USING (number) WHERE number IN ({marks})
    """
    found: dict[int, IndexedNote] = {}
    for number, *row, terms, listed, sealed in _asked(connection, sql, numbers):
        if sealed != note_seal(number, *row, terms, listed):
            raise RuinedIndexError
        one, two, three, four = map(int, terms.split())
        found[number] = IndexedNote(number, parse_listed(listed), (one, two, three, four))
    return found


def numbers_of(connection: sqlite3.Connection, ids: Sequence[str]) -> Mapping[str, int]:
    """The note of each id; see the port."""
    sql = """
        SELECT name, number FROM names JOIN notes USING (number) WHERE name IN ({marks})
        AND (rank = 0 OR NOT archived) ORDER BY archived DESC, rank DESC, number DESC
    """
    by_said = {sayable(id): id for id in ids}
    return {by_said[name]: number for name, number in _asked(connection, sql, list(by_said))}


def places_of(connection: sqlite3.Connection, numbers: Sequence[int]) -> tuple[Place, ...]:
    """Where these notes come from."""
    sql = "SELECT number, session, turn FROM turns WHERE number IN ({marks}) ORDER BY number, session, turn"
    return tuple(map(_place, _asked(connection, sql, numbers)))


def places_in(connection: sqlite3.Connection, session: str) -> tuple[Place, ...]:
    """All notes of a session."""
    sql = "SELECT number, session, turn FROM turns WHERE session = ? ORDER BY turn, number"
    return tuple(map(_place, connection.execute(sql, (sayable(session),))))


def _place(row: tuple[Any, ...]) -> Place:
    number, session, turn = row
    return Place(number, session, None if turn == NO_TURN else turn)


def near_notes(
    connection: sqlite3.Connection, numbers: Sequence[int], reach: int
) -> Mapping[int, tuple[NearNote, ...]]:
    """The neighbours of these notes; see the port."""
    reach = max(0, min(reach, 1 << 31))
    sql = f"""
        SELECT one.number, other.number, other.turn - one.turn FROM turns AS one JOIN turns AS other
        ON other.session = one.session AND other.turn BETWEEN one.turn - {reach} AND one.turn + {reach}
        WHERE one.number IN ({{marks}}) AND one.turn <> {NO_TURN} AND other.turn <> {NO_TURN} AND one.number <> other.number
    """
    found: dict[int, dict[int, int]] = {}
    for number, other, distance in _asked(connection, sql, numbers):
        near = found.setdefault(number, {})
        if other not in near or (abs(distance), distance) < (abs(near[other]), near[other]):
            near[other] = distance
    return {number: tuple(_nearest_first(near)) for number, near in found.items()}


def _nearest_first(near: Mapping[int, int]) -> Iterable[NearNote]:
    for other, distance in sorted(near.items(), key=lambda item: (abs(item[1]), item[1], item[0])):
        yield NearNote(other, distance)


def links_of(connection: sqlite3.Connection, numbers: Sequence[int]) -> tuple[NoteLink, ...]:
    """The links from and to these notes."""
    outgoing = "SELECT source, target, relation FROM links WHERE source IN ({marks})"
    incoming = (
        "SELECT source, target, relation FROM links WHERE target IN (SELECT name FROM names WHERE number IN ({marks}))"
    )
    rows = {*_asked(connection, outgoing, numbers), *_asked(connection, incoming, numbers)}
    resolved = numbers_of(connection, sorted({target for _, target, _ in rows}))
    wanted = set(numbers)
    found = {
        NoteLink(source, resolved[target], Relation(relation))
        for source, target, relation in rows
        if target in resolved and resolved[target] != source and wanted & {source, resolved[target]}
    }
    return tuple(sorted(found, key=lambda link: (link.source, link.target, link.relation)))


def vectors_of(connection: sqlite3.Connection, model: str) -> Vectors:
    """The vectors of a model."""
    sql = "SELECT number, row FROM vectors WHERE model = ? ORDER BY number"
    rows = connection.execute(sql, (sayable(model),)).fetchall()
    return Vectors(tuple(number for number, _ in rows), tuple(row for _, row in rows))


def numbers_without_vector(connection: sqlite3.Connection, model: str) -> tuple[int, ...]:
    """The notes that have no vector of this model."""
    sql = "SELECT number FROM notes WHERE number NOT IN (SELECT number FROM vectors WHERE model = ?) ORDER BY number"
    return tuple(number for (number,) in connection.execute(sql, (sayable(model),)))


def put_vectors(connection: sqlite3.Connection, model: str, vectors: Mapping[int, bytes]) -> None:
    """Keep these; see the port."""
    connection.execute("DELETE FROM vectors WHERE model <> ?", (sayable(model),))
    sql = "INSERT OR REPLACE INTO vectors SELECT ?, number, ? FROM notes WHERE number = ?"
    connection.executemany(sql, [(sayable(model), row, number) for number, row in vectors.items()])


def sayable(text: str) -> str:
    """The text, with what SQLite cannot be told (lone surrogates) replaced: no note has it."""
    return text.encode("utf-8", "replace").decode()


def _marks(values: Iterable[object]) -> str:
    return ",".join("?" for _ in values)


def _asked(connection: sqlite3.Connection, sql: str, values: Sequence[int] | Sequence[str]) -> Rows:
    """The rows for these values, some at a time; `{marks}` is where they go."""
    for start in range(0, len(values), _NUMBERS_AT_ONCE):
        some = values[start : start + _NUMBERS_AT_ONCE]
        # All of them at once: a cursor that is left halfway would outlive the connection of a ruined index.
        yield from connection.execute(sql.format(marks=_marks(some)), some).fetchall()

"""How notes are tied to each other: by their names, by the sessions and turns they come from, by their links."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from zlib import crc32

from agent_memory.adapters.index.number_rows import rows_of
from agent_memory.adapters.index.seals import RuinedIndexError, key_hash
from agent_memory.adapters.index.segments import MOST_RELATIONS, LiveNotes, Relations
from agent_memory.adapters.index.tie_pages import ARCHIVED_ALIAS, NAMES, NO_TURN, PLACES, TARGETS
from agent_memory.domain.searching.indexed_note import NearNote, NoteLink, Place, Relation

_MOST_REACH = 1 << 31
_render = json.JSONEncoder(separators=(",", ":")).encode
_parse = json.JSONDecoder().raw_decode
"""`json.loads` without looking for spaces."""
RELATIONS = tuple(Relation)
"""The value of a target is the position of its relation."""


def relations_row(number: int, relations: Relations) -> tuple[int, str, int]:
    """The row of a note."""
    every = relations.names, relations.places, relations.links
    said = _render(every)
    return number, said, _seal(number, said)


def _seal(number: int, said: str) -> int:
    # Of several hundred notes a question: nothing is put together for it.
    return crc32(said.encode(), number)


def _relations_of(
    connection: sqlite3.Connection, live: LiveNotes, numbers: Iterable[int]
) -> list[tuple[int, Relations]]:
    """What those of the numbers that are notes say, in order."""
    there = live.those_among(sorted(set(numbers)))
    known = live.relations
    if len(known) > MOST_RELATIONS:
        known.clear()
    unread = [number for number in there if number not in known]
    for number, said, sealed in rows_of(connection, "SELECT number, said, seal FROM relations", unread):
        if sealed != _seal(number, said):
            raise RuinedIndexError
        known[number] = Relations(*_parse(said)[0])
    return [(number, known[number]) for number in there]


def _tied(
    connection: sqlite3.Connection, live: LiveNotes, sort: int, hashes: Iterable[int]
) -> Iterator[tuple[int, int, int]]:
    """Of the live notes that have an entry with any of these hashes: the hash, their numbers, and the value."""
    wanted = tuple(hashes)
    for segment, gone in zip(live.segments, live.gone, strict=True):
        numbers = segment.numbers
        pages = live.pages.of(connection, segment.id, sort, segment.ties[sort], wanted)
        for hash, page in pages.items():
            for at in page.of(hash):
                if (ordinal := page.ordinals[at]) not in gone:
                    yield hash, numbers[ordinal], page.values[at]


def numbers_of(connection: sqlite3.Connection, live: LiveNotes, names: Iterable[str]) -> Mapping[str, int]:
    """The note of each name; see the port."""
    by_hash = {key_hash(name): name for name in names}
    found: dict[str, tuple[int, int]] = {}
    for hash, number, value in _tied(connection, live, NAMES, by_hash):
        name = by_hash[hash]
        if value != ARCHIVED_ALIAS and (name not in found or (value, number) < found[name]):
            found[name] = value, number
    return {name: number for name, (_, number) in found.items()}


def notes_called(connection: sqlite3.Connection, live: LiveNotes, name: str, value: int) -> Sequence[int]:
    """The notes that have this name in just this sense (`tie_pages.name_value`)."""
    found = _tied(connection, live, NAMES, (key_hash(name),))
    return [number for _, number, each in found if each == value]


def places_of(connection: sqlite3.Connection, live: LiveNotes, numbers: Sequence[int]) -> tuple[Place, ...]:
    """Where these notes come from."""
    found = _relations_of(connection, live, numbers)
    return tuple(_place(number, *each) for number, relations in found for each in sorted(relations.places))


def places_in(connection: sqlite3.Connection, live: LiveNotes, session: str) -> tuple[Place, ...]:
    """All notes of a session."""
    found = _tied(connection, live, PLACES, (key_hash(session),))
    return tuple(_place(number, session, turn) for turn, number in sorted((turn, number) for _, number, turn in found))


def in_session(connection: sqlite3.Connection, live: LiveNotes, session: str) -> list[frozenset[int]]:
    """The ordinals of the notes of a session, by segment; dead ones may be among them."""
    hash = key_hash(session)
    found: list[frozenset[int]] = []
    for segment in live.segments:
        page = live.pages.of(connection, segment.id, PLACES, segment.ties[PLACES], (hash,)).get(hash)
        found.append(frozenset([page.ordinals[at] for at in page.of(hash)] if page is not None else ()))
    return found


def _place(number: int, session: str, turn: int) -> Place:
    return Place(number, session, None if turn == NO_TURN else turn)


def near_notes(
    connection: sqlite3.Connection, live: LiveNotes, numbers: Sequence[int], reach: int
) -> Mapping[int, tuple[NearNote, ...]]:
    """The neighbours of these notes; see the port."""
    reach = max(0, min(reach, _MOST_REACH))
    by_session: dict[str, list[tuple[int, int]]] = {}
    for number, relations in _relations_of(connection, live, numbers):
        for session, turn in relations.places:
            if turn != NO_TURN:
                by_session.setdefault(session, []).append((number, turn))
    by_hash = {key_hash(session): asked for session, asked in by_session.items()}
    found: dict[int, dict[int, int]] = {}
    for segment, gone in zip(live.segments, live.gone, strict=True):
        pages = live.pages.of(connection, segment.id, PLACES, segment.ties[PLACES], by_hash)
        for hash, page in pages.items():
            there = page.of(hash)
            for number, turn in by_hash[hash] if there else ():
                near = found.setdefault(number, {})
                for ordinal, at in page.around(there, turn, reach):
                    other, distance = segment.numbers[ordinal], at - turn
                    if other == number or ordinal in gone or at == NO_TURN:
                        continue
                    if other not in near or (abs(distance), distance) < (abs(near[other]), near[other]):
                        near[other] = distance
    return {number: tuple(_nearest_first(near)) for number, near in found.items() if near}


def _nearest_first(near: Mapping[int, int]) -> Iterable[NearNote]:
    for other, distance in sorted(near.items(), key=lambda item: (abs(item[1]), item[1], item[0])):
        yield NearNote(other, distance)


def links_of(connection: sqlite3.Connection, live: LiveNotes, numbers: Sequence[int]) -> tuple[NoteLink, ...]:
    """The links from and to these notes."""
    said = _relations_of(connection, live, numbers)
    rows = {(number, target, relation) for number, relations in said for target, relation in relations.links}
    by_hash = {key_hash(name): name for _, relations in said for name in relations.names}
    found = _tied(connection, live, TARGETS, by_hash)
    rows |= {(source, by_hash[hash], RELATIONS[value].value) for hash, source, value in found}
    resolved = numbers_of(connection, live, {target for _, target, _ in rows})
    wanted = set(numbers)
    linked = {
        NoteLink(source, resolved[target], Relation(relation))
        for source, target, relation in rows
        if target in resolved and resolved[target] != source and wanted & {source, resolved[target]}
    }
    return tuple(sorted(linked, key=lambda link: (link.source, link.target, link.relation)))

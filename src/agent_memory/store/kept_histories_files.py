"""Kept histories on disk: `histories/<harness>_<session>.<first turn>-<hash>.jsonl.gz`, one file for each part.

A part never changes, and the same part always gets the same name; so a run killed after it kept a part overwrites it
with the same bytes. A file is gzip of JSON lines, version 1: one about the part, then one for each turn.

    {"version": 1, "harness": "claude-code", "sessionId": "…", "afterRecord": "…", "title": "…", "cwd": "…", "branch": "…",
     "agent": "…", "startedAt": 1771000205123, "endedAt": 1771000209000, "toolsAnsweredBefore": true, "remaining": true}
    {"number": 3, "role": "agent", "text": "…", "record": "…", "at": 1771000206000,
     "calls": [{"name": "Edit", "brief": "…", "path": "…", "writes": true}], "tool": "Bash", "failed": true, "clipped": 12}

Empty, false or unknown members are absent. Instants are epoch ms. The text is ASCII, with other characters escaped.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from attrs import evolve, frozen

from agent_memory.errors import StateCorrupt
from agent_memory.files.durable import fsync_directory, make_directories, replace_file
from agent_memory.files.paths import as_store_io, directory_in, names_in, read_image, real_root
from agent_memory.note.note import Harness
from agent_memory.note.terms import field_terms
from agent_memory.results import as_result
from agent_memory.session.history import History, Role, SessionMark, Turn
from agent_memory.session.own_marks import machine_text
from agent_memory.session.turns import KeptSession, excerpt, joined_history
from agent_memory.store.index_batch import spelled
from agent_memory.store.note_files import is_text
from agent_memory.store.session_index import ENDING, HISTORIES, PLACE_BITS, is_part, statuses_in
from agent_memory.text.ids import slug_of
from agent_memory.text.instants import FIRST_MS, LAST_MS
from agent_memory.text.json_codec import Format, InvalidValue, load_json, value_of, written
from agent_memory.text.json_shape import is_list, is_object
from agent_memory.text.plain_text import one_line

IndexedTurns: TypeAlias = tuple[tuple[object, ...], list[tuple[int, int, str]]]
"""The values of a part in the table `histories`, from `harness` to `places`; place, length and terms of each of its turns that
has any."""

_MAX_TEXT_BYTES = 256 << 20
"""The limit of a part, unpacked: a fetch returns about 16 MiB of turns, and escaping takes a few times as much."""


@frozen
class KeptHistories:
    """Keeps the redacted histories of consolidated sessions, so that a second look needs no transcript (P20, P28)."""

    root: Path
    cap_bytes: int

    @as_result
    def keep(self, history: History) -> None:
        """Keeps one more part of a session, as one fetch returned it; it must be redacted already. The same part twice is
        kept once. Above the cap, the sessions kept longest ago are dropped whole; a part larger than the cap is not
        kept, and pushes no other out."""
        if not history.turns:
            return
        # Without a time of its own, so that the same part has the same bytes.
        packed = gzip.compress("".join(render_history_lines(history)).encode("ascii"), 6, mtime=0)
        if len(packed) > self.cap_bytes:
            return
        directory, session = self._directory(), session_name(history.harness, history.session_id)
        first = history.turns[0]
        digest = sha256(first.record_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        path = f"{directory}/{session}.{first.number:08d}-{digest}{ENDING}"
        with as_store_io("write", path):
            make_directories(directory)
            replace_file(path, packed)
        # The sessions kept longest ago are removed until the rest fits; this one goes last.
        sessions = _sessions_in(directory)
        over = sum(each.size_bytes for each in sessions) - self.cap_bytes
        for each in sorted(sessions, key=lambda each: each.name == session):
            if over <= 0:
                break
            _remove(directory, each.name)
            over -= each.size_bytes

    @as_result
    def fetch(self, harness: Harness, session_id: str, mark: SessionMark | None) -> History | None:
        """Returns the kept turns after the mark, at most about 16 MiB of them (`remaining` is then set). None if there
        are none, or if, without a mark, the beginning is not kept. Raises StateCorrupt for a part that is invalid or
        another session's."""
        return joined_history(self._parts(harness, session_id), mark)

    @as_result
    def sessions(self) -> tuple[KeptSession, ...]:
        """Returns what is kept, oldest first, without opening it."""
        return _sessions_in(self._directory())

    @as_result
    def forget(self, harness: Harness, session_id: str) -> None:
        """Removes all that is kept of a session, if anything."""
        _remove(self._directory(), session_name(harness, session_id))

    def _directory(self) -> str:
        return directory_in(real_root(self.root), HISTORIES)

    def _parts(self, harness: Harness, session_id: str) -> Iterator[History]:
        for name in _parts_in(self._directory(), session_name(harness, session_id)):
            part = self.part(name)
            if part is None:  # it was dropped or forgotten since it was listed
                continue
            if (part.harness, part.session_id) != (harness, session_id):
                named = f"{part.harness} session {part.session_id}"
                raise StateCorrupt(f"{self._directory()}/{name}", (f"it is the history of {named}",))
            yield part

    def part(self, name: str) -> History | None:
        """Returns the part in a file; None if it is gone. Raises StateCorrupt for an invalid one."""
        path = f"{self._directory()}/{name}"
        image = read_image(path, 64 << 20)
        if image is None:
            return None
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(image.data)) as file:
                data = file.read(_MAX_TEXT_BYTES + 1)
        except (OSError, EOFError, zlib.error) as damaged:
            raise StateCorrupt(path, (f"it cannot be unpacked: {damaged}",)) from damaged
        if len(data) > _MAX_TEXT_BYTES:
            raise StateCorrupt(path, (f"unpacked it is larger than {_MAX_TEXT_BYTES >> 20} MiB",))
        return parse_history_lines(io.TextIOWrapper(io.BytesIO(data), "ascii", "replace"), path)

    def names(self) -> list[str]:
        """Returns the names of all parts, sorted."""
        return sorted(name for name, _ in statuses_in(self._directory(), is_part))

    def indexed(self, name: str, look: int) -> IndexedTurns | None:
        """Returns what the index holds of the part in a file, whose `look` it has when it does not say when it ended; None if it
        is gone."""
        part = self.part(name)
        if part is None:
            return None
        places = [each for each in (part.cwd, *part.also_in) if each and is_text(each) and "\0" not in each]
        about = (
            part.harness.value,
            _plain(part.session_id),
            part.branch and _plain(part.branch),
            in_calendar(part.ended_at_ms) or look // 1_000_000,  # the file's time, but for its last bits
            first_words(part),
            json.dumps(places),
        )
        return about, _terms_of(part.turns)


def session_name(harness: Harness, session_id: str) -> str:
    """Returns a session's name here: a dot follows it in the names of its parts, so that none begins another's."""
    return f"{harness}_{slug_of(session_id).replace('.', '~')}"


def _parts_in(directory: str, session: str) -> tuple[str, ...]:
    return names_in(directory, lambda name: name.startswith(f"{session}.") and is_part(name))


def _sessions_in(directory: str) -> tuple[KeptSession, ...]:
    found: dict[str, KeptSession] = {}
    for part, status in statuses_in(directory, is_part):
        name = part.partition(".")[0]
        known = found.get(name, KeptSession(name, 0, 0))
        kept_at_ms = max(known.kept_at_ms, status.st_mtime_ns // 1_000_000)
        found[name] = KeptSession(name, known.size_bytes + status.st_size, kept_at_ms)
    return tuple(sorted(found.values(), key=lambda each: (each.kept_at_ms, each.name)))


def _remove(directory: str, session: str) -> None:
    """Removes the parts of a session, first to last: what a crash leaves is never taken for a whole session."""
    names = _parts_in(directory, session)
    with as_store_io("remove", f"{directory}/{session}.*"):
        for name in names:
            with suppress(FileNotFoundError):
                os.unlink(f"{directory}/{name}")
        if names:
            fsync_directory(directory)


# -- the lines ----------------------------------------------------------------------------------------------------------


_HISTORY = Format(History)
_NOT_KEPT: Mapping[str, Any] = {"turns": (), "transcript": "", "automated": False, "own_call": False, "skipped": {}}


def render_history_lines(part: History) -> Iterator[str]:
    """Yields the lines of a part, with their line ends."""
    about = written(evolve(part, **_NOT_KEPT))
    for document in ({"version": 1, **about}, *map(written, part.turns)):
        yield json.dumps(document, separators=(",", ":")) + "\n"


def parse_history_lines(lines: Iterable[str], path: str) -> History:
    """Returns the rendered part. Raises StateCorrupt for anything else, never returns half of it (P6)."""
    about: History | None = None
    turns: list[Turn] = []
    for number, line in enumerate(lines, 1):
        try:
            if about is None:
                about = _HISTORY.value_of(load_json(line))
            else:
                document = load_json(line)
                if is_object(document) and is_list(document.get("answers")):
                    del document["answers"]  # an earlier version wrote the place of the call, not the call
                turns.append(value_of(document, Turn))
        except InvalidValue as damaged:
            raise StateCorrupt(path, (f"line {number}: {damaged}",)) from damaged
    if about is None:
        raise StateCorrupt(path, ("it is empty",))
    return evolve(about, turns=tuple(turns))


# -- the words of a part ---------------------------------------------------------------------------------------------


def first_words(history: History) -> str:
    typed = (turn.text for turn in history.turns if turn.role is Role.USER and machine_text(turn.text) is None)
    return next((line for text in typed if (line := one_line(_plain(text), 200))), "")


def words_of(turn: Turn) -> str:
    """Returns what was said in a turn, with a line for each use of a tool."""
    calls = (f"[{call.name}] {' '.join(filter(None, (call.path, call.brief)))}" for call in turn.tool_calls)
    return "\n".join(filter(None, (turn.text, *calls)))


def _terms_of(turns: Iterable[Turn]) -> list[tuple[int, int, str]]:
    """Returns place, length and terms of each turn that has any."""
    # Only both ends of a tool's output are searched: the rest is mostly files of the project.
    texts = (
        excerpt(turn.text, 1_000).text if turn.role is Role.TOOL else words_of(turn)
        for turn in islice(turns, 1 << PLACE_BITS)
    )
    terms = (field_terms(_plain(text)) for text in texts)
    return [(place, each.length, spelled(each)) for place, each in enumerate(terms) if each.counts]


def _plain(text: str) -> str:
    """Returns the text without halves of surrogate pairs, which a damaged file may have and SQLite does not take."""
    return text.encode(errors="replace").decode()


def in_calendar(at_ms: int | None) -> int | None:
    """Returns an instant that a file tells; None for a number outside of the calendar."""
    return at_ms if at_ms is not None and FIRST_MS <= at_ms <= LAST_MS else None

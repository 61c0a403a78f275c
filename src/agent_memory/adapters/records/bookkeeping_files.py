"""What is kept beside the notes, one JSON file each, replaced as a whole (P2): session marks, values by key, tags, spend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import path_in, real_root
from agent_memory.adapters.disk.root_files import (
    MAX_STATE_BYTES,
    JsonFile,
    names_below,
    names_in,
    read_bytes,
    remove_file,
    write_text,
)
from agent_memory.domain.agent_request import Spend, day_of, spend_on, with_added
from agent_memory.domain.history import SessionMark
from agent_memory.domain.note_draft import StateValue
from agent_memory.domain.tagging import VOCABULARY_FILE, TagVocabulary
from agent_memory.domain.text.slug import slug_beginning, slug_of
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, SpendExhausted, StateCorrupt
from agent_memory.formats.bookkeeping_json import (
    SESSION_MARK,
    parse_spend,
    parse_state_value,
    parse_tag_vocabulary,
    render_spend,
    render_state_value,
    render_tag_vocabulary,
)
from agent_memory.ports import Locks
from agent_memory.results import as_result, sealed, unwrap

_ENDING = ".json"


T = TypeVar("T")


def _is_kept(name: str) -> bool:
    return name.endswith(_ENDING) and not name.startswith(".")


def _each(names: Callable[[], tuple[str, ...]], read: Callable[[str], T | None]) -> Iterator[Result[T, Error]]:
    """What each of the files holds, or why it cannot be read; what is gone since it was listed is left out."""
    found = as_result(names)()
    for name in found.value_or(()):
        match sealed(as_result(read)(name)):
            case Failure(error):
                yield Failure(error)
            case Success(value):
                if value is not None:
                    yield Success(value)
    if isinstance(found, Failure):
        yield found


# -- session marks ----------------------------------------------------------------------------------------------------

_SESSIONS = "state/sessions"


class SessionMarksFiles:
    """`SessionMarks` in the directory `state/sessions` of a root: `<harness>_<session id>.json`."""

    def __init__(self, root: Path) -> None:
        self._root = real_root(root)

    @as_result
    def get(self, harness: Harness, session_id: str) -> SessionMark | None:
        """See the port."""
        file = self._file(_mark_name(harness, session_id))
        mark = file.read()
        if mark is not None and (mark.harness, mark.session_id) != (harness, session_id):
            said = f"it is the mark of {mark.harness} session {mark.session_id}"
            raise StateCorrupt(f"{self._root}/{file.path}", (said,))
        return mark

    @as_result
    def put(self, mark: SessionMark) -> None:
        """See the port."""
        self._file(_mark_name(mark.harness, mark.session_id)).write(mark)

    @as_result
    def remove(self, mark: SessionMark) -> str:
        """Let the session count as never seen; the path of its mark below the root. A mark that is gone counts as removed."""
        file = self._file(_mark_name(mark.harness, mark.session_id))
        file.remove()
        return file.path

    @staticmethod
    def path_of(mark: SessionMark) -> str:
        """Where the mark is, below the root."""
        return f"{_SESSIONS}/{_mark_name(mark.harness, mark.session_id)}"

    def all(self) -> Iterator[Result[SessionMark, Error]]:
        """See the port."""
        yield from _each(lambda: names_in(f"{self._root}/{_SESSIONS}", _is_kept), lambda name: self._file(name).read())

    @as_result
    def beginning_with(self, session_id: str, most: int) -> tuple[SessionMark, ...]:
        """The marks of all sessions, of any harness, whose id begins so: at most `most`, by file name."""
        beginnings = tuple(f"{harness}_{slug_beginning(session_id)}" for harness in Harness)
        marks: list[SessionMark] = []
        for name in names_in(f"{self._root}/{_SESSIONS}", lambda name: name.startswith(beginnings)):
            mark = self._file(name).read()
            if mark is not None and mark.session_id.startswith(session_id):
                marks.append(mark)
            if len(marks) == most:
                break
        return tuple(marks)

    def _file(self, name: str) -> JsonFile[SessionMark]:
        return JsonFile(self._root, f"{_SESSIONS}/{name}", SESSION_MARK)


def _mark_name(harness: Harness, session_id: str) -> str:
    return f"{harness}_{slug_of(session_id)}{_ENDING}"


# -- values by key ----------------------------------------------------------------------------------------------------

KEYS = "state/keys"
"""A directory of its own: no key can be taken for a file of ours in `state/`."""


class StateKeysFiles:
    """`StateKeys` in the directory `state/keys` of a root: `<key>.json`."""

    def __init__(self, root: Path) -> None:
        self._root = real_root(root)

    @as_result
    def get(self, key: str) -> StateValue | None:
        """See the port."""
        found = self._read(path_of(key), key)
        if found is not None and found.key != key:
            raise StateCorrupt(f"{self._root}/{path_of(key)}", (f"it holds the key {found.key}",))
        return found

    @as_result
    def put(self, value: StateValue) -> str:
        """See the port."""
        write_text(self._root, path_of(value.key), render_state_value(value))
        return path_of(value.key)

    @as_result
    def delete(self, key: str) -> str:
        """See the port."""
        path_in(self._root, path_of(key))
        remove_file(self._root, path_of(key))
        return path_of(key)

    def all(self) -> Iterator[Result[StateValue, Error]]:
        """See the port."""
        yield from _each(
            lambda: names_below(self._root, KEYS, _is_kept),
            lambda name: self._read(f"{KEYS}/{name}", name.removesuffix(_ENDING)),
        )

    def _read(self, path: str, key: str) -> StateValue | None:
        data = read_bytes(self._root, path, MAX_STATE_BYTES)
        return None if data is None else unwrap(parse_state_value(data, f"{self._root}/{path}", key))


def path_of(key: str) -> str:
    """Where the value of a key is kept, relative to the root."""
    return f"{KEYS}/{slug_of(key)}{_ENDING}"


# -- tags -------------------------------------------------------------------------------------------------------------


class TagVocabularyFile:
    """`KeptVocabulary` under a root: `state/project_tags.json`."""

    def __init__(self, root: Path) -> None:
        self._root = real_root(root)

    @as_result
    def get(self) -> TagVocabulary:
        """See the port."""
        data = read_bytes(self._root, VOCABULARY_FILE, MAX_STATE_BYTES)
        if data is None:
            return TagVocabulary()
        return unwrap(parse_tag_vocabulary(data, f"{self._root}/{VOCABULARY_FILE}"))

    @as_result
    def put(self, vocabulary: TagVocabulary) -> str:
        """See the port."""
        write_text(self._root, VOCABULARY_FILE, render_tag_vocabulary(vocabulary))
        return VOCABULARY_FILE


# -- spend ------------------------------------------------------------------------------------------------------------

LEDGER = "runs/spend.json"
MAX_LEDGER_BYTES = 1 << 20


class SpendLedgerFiles:
    """`SpendLedger` of one root: `runs/spend.json`, changed under the store's write lock. Calls are counted before they are
    made, durably: a crash can cost a call that was never made, and never hide one that was."""

    def __init__(self, root: Path, locks: Locks) -> None:
        self._root = real_root(root)
        self._locks = locks

    @as_result
    def reserve(self, at_ms: int, prompt_chars: int, max_calls_per_day: int) -> None:
        """See the port."""
        day = day_of(at_ms)

        def counted(spend: Spend) -> Spend:
            calls_today = spend_on(spend, day).calls
            if calls_today >= max_calls_per_day:
                raise SpendExhausted(calls_today, max_calls_per_day)
            return with_added(spend, day, calls=1, prompt_chars=prompt_chars)

        self._change(counted)

    @as_result
    def give_back(self, at_ms: int, prompt_chars: int) -> None:
        """See the port."""
        self._change(lambda spend: with_added(spend, day_of(at_ms), calls=-1, prompt_chars=-prompt_chars))

    @as_result
    def add_reply(self, at_ms: int, reply_chars: int) -> None:
        """See the port."""
        self._change(lambda spend: with_added(spend, day_of(at_ms), reply_chars=reply_chars))

    @as_result
    def days(self) -> Spend:
        """See the port."""
        return self._read()

    def _read(self) -> Spend:
        data = read_bytes(self._root, LEDGER, MAX_LEDGER_BYTES)
        return () if data is None else parse_spend(data, f"{self._root}/{LEDGER}")

    def _change(self, change: Callable[[Spend], Spend]) -> None:
        with self._locks.write() as held:
            unwrap(held)
            write_text(self._root, LEDGER, render_spend(change(self._read())))

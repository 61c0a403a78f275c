"""What is kept beside the notes, one JSON file each, replaced as a whole (P2): session marks, values by key, tags, spend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar, cast

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, SpendExhausted, StateCorrupt
from agent_memory.files.paths import JsonFile, names_below, real_root
from agent_memory.note.tagging import VOCABULARY_FILE, TagVocabulary
from agent_memory.note.vocabulary import Harness
from agent_memory.ports import Locks
from agent_memory.results import as_result
from agent_memory.rules.agent_request import DaySpend, Spend, with_added
from agent_memory.session.history import SessionMark
from agent_memory.store.bookkeeping_json import SESSION_MARK, SPEND, STATE_VALUE, TAG_VOCABULARY, StateValue
from agent_memory.text.ids import slug_beginning, slug_of
from agent_memory.text.instants import day_of

_ENDING = ".json"

T = TypeVar("T")


def _each(root: str, directory: str, read: Callable[[str], T | None]) -> Iterator[Result[T, Error]]:
    """Yields what each of the files holds, or why it cannot be read; what is gone since it was listed is left out."""
    names = as_result(names_below)(root, directory, lambda name: name.endswith(_ENDING) and not name.startswith("."))
    if isinstance(names, Failure):
        yield names
        return
    for name in names.unwrap():
        found = as_result(read)(name)
        if found != Success(None):
            yield cast("Result[T, Error]", found)


# -- session marks ----------------------------------------------------------------------------------------------------

_SESSIONS = "state/sessions"


class SessionMarksFiles:
    """`SessionMarks` in the directory `state/sessions` of a root: `<harness>_<session id>.json`."""

    def __init__(self, root: Path) -> None:
        self._root = real_root(root)

    @as_result
    def get(self, harness: Harness, session_id: str) -> SessionMark | None:
        file = self._file(_mark_name(harness, session_id))
        mark = file.read()
        if mark is not None and (mark.harness, mark.session_id) != (harness, session_id):
            said = f"it is the mark of {mark.harness} session {mark.session_id}"
            raise StateCorrupt(f"{self._root}/{file.path}", (said,))
        return mark

    @as_result
    def put(self, mark: SessionMark) -> None:
        self._file(_mark_name(mark.harness, mark.session_id)).write(mark)

    def all(self) -> Iterator[Result[SessionMark, Error]]:
        return _each(self._root, _SESSIONS, lambda name: self._file(name).read())

    @as_result
    def beginning_with(self, session_id: str, most: int) -> tuple[SessionMark, ...]:
        """Returns the marks of all sessions, of any harness, whose id begins so: at most `most`, by file name."""
        beginnings = tuple(f"{harness}_{slug_beginning(session_id)}" for harness in Harness)
        marks: list[SessionMark] = []
        for name in names_below(self._root, _SESSIONS, lambda name: name.startswith(beginnings)):
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
    """Small values by key, which programs overwrite, in the directory `state/keys` of a root: `<key>.json`. The caller holds
    the write lock where it changes something."""

    def __init__(self, root: Path) -> None:
        self._root = real_root(root)

    @as_result
    def get(self, key: str) -> StateValue | None:
        found = self._read(path_of(key), key)
        if found is not None and found.key != key:
            raise StateCorrupt(f"{self._root}/{path_of(key)}", (f"it holds the key {found.key}",))
        return found

    @as_result
    def put(self, value: StateValue) -> str:
        """Replace what its key holds; the path of its file, relative to the root."""
        self._file(path_of(value.key)).write(value)
        return path_of(value.key)

    @as_result
    def delete(self, key: str) -> str:
        """Remove the key; one that is not there counts as removed. The path that its file had."""
        self._file(path_of(key)).remove()
        return path_of(key)

    def all(self) -> Iterator[Result[StateValue, Error]]:
        return _each(self._root, KEYS, lambda name: self._read(f"{KEYS}/{name}", name.removesuffix(_ENDING)))

    def _read(self, path: str, key: str) -> StateValue | None:
        """Returns the value; of one that a person wrote the key is that of the file."""
        found = self._file(path).read()
        return found if found is None or found.key else evolve(found, key=key)

    def _file(self, path: str) -> JsonFile[StateValue]:
        return JsonFile(self._root, path, STATE_VALUE)


def path_of(key: str) -> str:
    """Returns where the value of a key is kept, relative to the root."""
    return f"{KEYS}/{slug_of(key)}{_ENDING}"


# -- tags -------------------------------------------------------------------------------------------------------------


class TagVocabularyFile:
    """The vocabulary of tags under a root: `state/project_tags.json`. The caller holds the write lock where it changes it."""

    def __init__(self, root: Path) -> None:
        self._file = JsonFile(root, VOCABULARY_FILE, TAG_VOCABULARY)

    @as_result
    def get(self) -> TagVocabulary:
        """Returns the vocabulary; an empty one where there is none yet."""
        return self._file.read() or TagVocabulary()

    @as_result
    def put(self, vocabulary: TagVocabulary) -> str:
        """Replace it; the path of its file, relative to the root."""
        self._file.write(vocabulary)
        return VOCABULARY_FILE


# -- spend ------------------------------------------------------------------------------------------------------------

LEDGER = "runs/spend.json"


class SpendLedgerFiles:
    """Calls to the agent command and their characters by UTC day (P10): `runs/spend.json`, changed under the store's write
    lock. Calls are counted before they are made, durably: a crash can cost a call that was never made, and never hide one
    that was."""

    def __init__(self, root: Path, locks: Locks) -> None:
        self._file = JsonFile(root, LEDGER, SPEND)
        self._locks = locks

    @as_result
    def reserve(self, at_ms: int, prompt_chars: int, max_calls_per_day: int) -> None:
        """One call more is counted; SpendExhausted, and nothing counted, once the day's calls are used up."""
        day = day_of(at_ms)

        def counted(spend: Spend) -> Spend:
            calls_today = spend.get(day, DaySpend()).calls
            if calls_today >= max_calls_per_day:
                raise SpendExhausted(calls_today, max_calls_per_day)
            return with_added(spend, day, calls=1, prompt_chars=prompt_chars)

        self._change(counted)

    @as_result
    def give_back(self, at_ms: int, prompt_chars: int) -> None:
        """Take back the reservation made at `at_ms`, of a call that could not be made."""
        self._change(lambda spend: with_added(spend, day_of(at_ms), calls=-1, prompt_chars=-prompt_chars))

    @as_result
    def add_reply(self, at_ms: int, reply_chars: int) -> None:
        """Count the characters of the reply to the call reserved at `at_ms`."""
        self._change(lambda spend: with_added(spend, day_of(at_ms), reply_chars=reply_chars))

    @as_result
    def days(self) -> Spend:
        """Returns what was spent on each of the last days, oldest first."""
        return self._file.read() or {}

    def _change(self, change: Callable[[Spend], Spend]) -> None:
        with self._locks.write():
            self._file.write(change(self._file.read() or {}))

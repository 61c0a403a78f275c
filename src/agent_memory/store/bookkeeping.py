"""The small files under `state/`: session marks, spend, tags, kept values, and their formats."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

from attrs import evolve, field, frozen
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, SpendExhausted, StateCorrupt, StateInvalid
from agent_memory.files.locks import Locks
from agent_memory.files.paths import JsonFile, names_below, real_root
from agent_memory.note.note import Harness
from agent_memory.note.tagging import VOCABULARY_FILE, TagVocabulary
from agent_memory.redaction.redact import redact
from agent_memory.results import as_result
from agent_memory.rules.change import FileState, Footprint
from agent_memory.rules.forgotten import EntryTombstone, ForgettingAtWork, SessionTombstone, StateTombstone
from agent_memory.rules.plan import DaySpend, Spend, with_added
from agent_memory.rules.run_log import Undoing, UndoneMark
from agent_memory.session.history import SessionMark
from agent_memory.text.ids import ID_PATTERN, normal_tag, slug_beginning, slug_of
from agent_memory.text.instants import Instant, day_of
from agent_memory.text.json_codec import Documents, Format, load_document, matching, written
from agent_memory.text.json_shape import Json
from agent_memory.text.plain_text import SomeText

_INSTANT: Any = Instant

SESSION_MARK = Format(SessionMark)
UNDONE = Format(dict[str, UndoneMark], member="runs")
UNDOING = Format(Undoing)


def _spend_problems(spend: Spend) -> Iterator[str]:
    odd = (day for day in spend if not re.fullmatch(r"\d{4}-\d\d-\d\d", day, re.ASCII))
    return (f"days.{day} is not a day" for day in odd)


SPEND = Format(dict[str, DaySpend], member="days", check=_spend_problems)

# -- tags: a person may write less ------------------------------------------------------------------------------------


def _vocabulary(document: Json) -> TagVocabulary:
    """Returns the vocabulary, tags in normal form. A person may write a list of tags, or an object with the list under
    `vocabulary` (as in agent-memory-store), also within `value`. A word without a prefix allows any prefix."""
    match document:
        case list(words):
            return TagVocabulary(_accepted(words))
        case {"vocabulary": list(words), "renamed": dict(renamed)}:
            return TagVocabulary(_accepted(words), _renamed(renamed))
        case {"vocabulary": list(words)}:
            return TagVocabulary(_accepted(words))
        case {"value": value}:
            return _vocabulary(value)
        case _:
            raise ValueError('it is no vocabulary: expected {"vocabulary": ["topic__x", …]}')


def _accepted(words: Iterable[object]) -> frozenset[str]:
    tags = ((word, normal_tag(word)) for word in words if isinstance(word, str))
    return frozenset(tag if "__" in word else tag.partition("__")[2] for word, tag in tags if tag is not None)


def _renamed(pairs: Mapping[str, object]) -> dict[str, str]:
    """Returns the pairs without chains and circles: a present name is never an earlier one."""
    normal = {normal_tag(old): normal_tag(new) for old, new in pairs.items() if isinstance(new, str)}
    present = set(normal.values())
    return {old: new for old, new in normal.items() if old is not None and new is not None and old not in present}


TAG_VOCABULARY = Documents[TagVocabulary](
    lambda tags: {"vocabulary": sorted(tags.accepted), "renamed": dict(sorted(tags.renamed.items()))}, _vocabulary
)
"""Has one tag a line, sorted, so that changes read well in git."""

# -- state values -----------------------------------------------------------------------------------------------------


MAX_KEY_CHARS = 128
MAX_VALUE_BYTES = 256 << 10

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]*", re.ASCII)


@frozen
class StateValue:
    key: str
    json: str
    """The value as JSON text."""
    updated_at_ms: int | None = None
    """Epoch ms; None in a file by a person that does not say."""


def key_problem(key: str) -> str | None:
    """Returns what is wrong with a key. Valid: 1 to 128 of the characters `A-Z a-z 0-9 . _ : / -`, the first a letter
    or digit, with no `..` and no empty part between slashes (P21)."""
    if not key:
        return "key: is empty"
    if len(key) > MAX_KEY_CHARS:
        return f"key: has {len(key):,} characters, at most {MAX_KEY_CHARS} are allowed"
    if not _KEY.fullmatch(key):
        return "key: may hold letters, digits and . _ : / - only, and begins with a letter or digit"
    parts = key.split("/")
    if "" in parts or any(part.startswith(".") for part in parts) or ".." in key:
        return "key: no part between slashes may be empty or begin with a dot, and .. is not allowed"
    return None


@as_result
def state_value(key: str, value: object, updated_at_ms: int) -> StateValue:
    """Returns a value that may be stored: JSON of at most 256 KiB, without secrets (P20). Raises StateInvalid."""
    if problem := key_problem(key):
        raise StateInvalid((problem,))
    if redact(key).found:
        raise StateInvalid(("key: holds what looks like a secret",))
    text = json_text(value)
    if text is None:
        raise StateInvalid(("value: is not JSON (a number that is none, half a character, or nested too deeply)",))
    size_bytes = len(text.encode())
    if size_bytes > MAX_VALUE_BYTES:
        raise StateInvalid((f"value: has {size_bytes:,} bytes, at most {MAX_VALUE_BYTES:,} are allowed",))
    return _without_secrets(StateValue(key, text, updated_at_ms))


def json_text(value: object) -> str | None:
    """Returns the value as JSON on one line; None if not every reader could parse it."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        load_document(text.encode())
    except (ValueError, TypeError, RecursionError):  # UnicodeEncodeError and NotJson are ValueErrors
        return None
    return text


def _state_value(document: Json) -> StateValue:
    """Returns the value; a person's file of another shape is the value as a whole. The key is set by the caller."""
    match document:
        case {"version": 1, "key": str(named), "value": value, "updatedAt": int(at_ms), **others} if not others:
            if key_problem(named) is not None:
                raise ValueError("its key is none")
            return StateValue(named, json_text(value) or "null", at_ms)
        case _:
            return StateValue("", json_text(document) or "null")


STATE_VALUE = Documents[StateValue](
    lambda kept: {"key": kept.key, "value": json.loads(kept.json), "updatedAt": kept.updated_at_ms}, _state_value
)


def _without_secrets(kept: StateValue) -> StateValue:
    """Returns the value redacted. The whole file is searched, where a key such as `password` marks its value; a secret
    that cannot be cut out of the JSON is refused."""
    for _ in range(3):
        cleaned = redact(STATE_VALUE.render(kept))
        if not cleaned.found:
            return kept
        try:
            found = STATE_VALUE.parse(cleaned.text.encode(), "")
        except StateCorrupt:
            break
        if (found.key, found.updated_at_ms) != (kept.key, kept.updated_at_ms):
            break
        kept = found
    raise StateInvalid(("value: holds what looks like a secret, and is not JSON without it",))


Tombstone = SessionTombstone | EntryTombstone | StateTombstone


def _tombstone(document: Any) -> Tombstone:
    classes = {"session": SessionTombstone, "entry": EntryTombstone, "state": StateTombstone}
    for key, cls in classes.items():
        if key in document:
            return Format[Tombstone](cls).value_of(document)
    raise ValueError("it does not tell of anything forgotten in version 1")


TOMBSTONE = Documents[Tombstone](written, _tombstone)


FORGETTING = Format(ForgettingAtWork)

# -- what a person decided --------------------------------------------------------------------------------------------

KEYS = "state/keys"
"""A directory of its own, so that no key can name a file of ours in `state/`."""
REVIEW, REJECTED = "state/review", "state/rejected"
MARKS = rf"{REVIEW}/[0-9a-f]+\.json|{REJECTED}/{ID_PATTERN}\.json|{KEYS}/[^/]+\.json|{re.escape(VOCABULARY_FILE)}"
"""A regular expression for the paths of both, of values by key, and of the vocabulary of tags."""


@frozen
class ReviewMark:
    """An item of `memory review` that a person decided."""

    act: str
    at_ms: Instant
    until_ms: Instant | None = field(default=None, metadata={"sparse": True})
    """When it is shown again; None for never."""


REVIEW_MARK = Format(ReviewMark, indent=None)


def review_path(key: str) -> str:
    return f"{REVIEW}/{key}.json"


def rejected_path(id: str) -> str:
    """Returns the path of the `EntryTombstone` of a rejected note."""
    return f"{REJECTED}/{id}.json"


def review_mark(root: str, key: str) -> ReviewMark | None:
    """Returns what was decided about an item, if anything was."""
    return JsonFile(root, review_path(key), REVIEW_MARK).read()


PURGE = Format[int](_INSTANT, member="at", indent=None)
"""Since when (epoch ms) no older copy of the history may be merged."""

_Commit = Annotated[str, matching(r"[0-9a-f]{40}|[0-9a-f]{64}", "is not a commit")]


@frozen
class SyncAtWork:
    """A merge whose files are on disk. It is written in one transaction with them, and exists until git knows them."""

    branch: Annotated[str, matching("refs/heads/.*", "is not a branch")]
    from_commit: _Commit | None = field(metadata={"key": "from"})
    """None in a store without a commit."""
    to_commit: _Commit = field(metadata={"key": "to"})


SYNCING = Format(SyncAtWork, indent=None)


SYNCED = Format[int | None](_INSTANT | None, member="purgedAt", indent=None)  # pyright: ignore[reportArgumentType] - a union is not a class
"""The last purge (epoch ms) that this machine has applied, or None."""


# -- footprints -------------------------------------------------------------------------------------------------------
# Changes on disk with the previous contents: the footprint of a run and the journal of a transaction; version 1.
#
# {"version": 1,
#  "files": [{"path": "topics/…", "before": {"data": "<base64>", "mtimeNs": 1}, "after": null}],
#  "sections": [{"path": "/home/…/AGENTS.md", "before": null, "after": "<!-- …", "separator": "\n", "created": false}]}
#
# {"version": 1, "steps": [{"path": "topics/…", "before": {"data": "<base64>", "mtimeNs": 1}, "afterHash": "…", "staged": "0.new"}]}
#
# `before`, `after`, `afterHash` and `staged` are null for no file or section; `mtimeNs` is null for what was written then. A
# step's new bytes are beside the journal in the file `staged`.


OVER = b"\n"
"""Appended to a journal that cannot be removed (one byte, so it is there or not): the journal is over, never undone or
finished again, and only waits to be removed."""

FOOTPRINT = Format(Footprint)
FOOTPRINT_NAME = re.compile(r"footprint-([1-9]\d{0,8})\.json", re.ASCII)
"""Matches the name of a footprint in the directory of its run: the number of its transaction."""


@frozen
class Step:
    """The change of one file from `before` to the bytes with `after_hash`, which wait in `staged`."""

    path: SomeText
    before: FileState | None
    after_hash: Annotated[str, matching("[0-9a-f]{64}", "is not a SHA-256")] | None
    staged: Annotated[str, matching(r"[0-9]{1,9}\.new", "is not the name of a staged file")] | None


def _journal_problems(steps: tuple[Step, ...]) -> Iterator[str]:
    for index, step in enumerate(steps):
        if (step.after_hash is None) != (step.staged is None):
            yield f"steps[{index}] is not a step"


_JOURNAL = Format(tuple[Step, ...], member="steps", indent=None, check=_journal_problems)


def render_journal(steps: tuple[Step, ...]) -> bytes:
    """Returns the journal of steps, in order."""
    return _JOURNAL.render(steps).rstrip("\n").encode("utf-8", "backslashreplace")


parse_journal = _JOURNAL.parse
"""Returns the rendered steps; raises StateCorrupt for anything else, since half a journal must not be acted on."""


_ENDING = ".json"

T = TypeVar("T")


def _each(root: str, directory: str, read: Callable[[str], T | None]) -> Iterator[Result[T, Error]]:
    """Yields the value of each file, or why it cannot be read; files gone since the listing are left out."""
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


class SessionMarks:
    """Keeps how far each session has been consolidated: `state/sessions/<harness>_<session id>.json` below a root."""

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
        """Returns at most `most` marks, of any harness, whose session id begins like this, by file name."""
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


class StateKeysFiles:
    """Small values by key in the directory `state/keys` of a root: `<key>.json`. Changes need the write lock."""

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
        """Stores the value; returns its file's path relative to the root."""
        self._file(path_of(value.key)).write(value)
        return path_of(value.key)

    @as_result
    def delete(self, key: str) -> str:
        """Removes the key, if it exists; returns the path of its file."""
        self._file(path_of(key)).remove()
        return path_of(key)

    def all(self) -> Iterator[Result[StateValue, Error]]:
        return _each(self._root, KEYS, lambda name: self._read(f"{KEYS}/{name}", name.removesuffix(_ENDING)))

    def _read(self, path: str, key: str) -> StateValue | None:
        found = self._file(path).read()
        return found if found is None or found.key else evolve(found, key=key)

    def _file(self, path: str) -> JsonFile[StateValue]:
        return JsonFile(self._root, path, STATE_VALUE)


def path_of(key: str) -> str:
    """Returns the path of a key's file, relative to the root."""
    return f"{KEYS}/{slug_of(key)}{_ENDING}"


class TagVocabularyFile:
    """The vocabulary of tags under a root: `state/project_tags.json`. Changes need the write lock."""

    def __init__(self, root: Path) -> None:
        self._file = JsonFile(root, VOCABULARY_FILE, TAG_VOCABULARY)

    @as_result
    def get(self) -> TagVocabulary:
        """Returns the vocabulary; empty if there is none yet."""
        return self._file.read() or TagVocabulary()

    @as_result
    def put(self, vocabulary: TagVocabulary) -> str:
        """Stores the vocabulary; returns its file's path relative to the root."""
        self._file.write(vocabulary)
        return VOCABULARY_FILE


class SpendLedgerFiles:
    """Calls to the agent command and their characters by UTC day (P10): `runs/spend.json`, changed under the write
    lock. Calls are counted durably before they are made: a crash can cost a call that was never made, and never hide
    one."""

    def __init__(self, root: Path, locks: Locks) -> None:
        self._file = JsonFile(root, "runs/spend.json", SPEND)
        self._locks = locks

    @as_result
    def reserve(self, at_ms: int, prompt_chars: int, max_calls_per_day: int) -> None:
        """Counts one more call; raises SpendExhausted, with nothing counted, once the day's calls are used up."""
        day = day_of(at_ms)

        def counted(spend: Spend) -> Spend:
            calls_today = spend.get(day, DaySpend()).calls
            if calls_today >= max_calls_per_day:
                raise SpendExhausted(calls_today, max_calls_per_day)
            return with_added(spend, day, calls=1, prompt_chars=prompt_chars)

        self._change(counted)

    @as_result
    def give_back(self, at_ms: int, prompt_chars: int) -> None:
        """Takes back the reservation of `at_ms` for a call that could not be made."""
        self._change(lambda spend: with_added(spend, day_of(at_ms), calls=-1, prompt_chars=-prompt_chars))

    @as_result
    def add_reply(self, at_ms: int, reply_chars: int) -> None:
        """Counts the characters of the reply to the call reserved at `at_ms`."""
        self._change(lambda spend: with_added(spend, day_of(at_ms), reply_chars=reply_chars))

    @as_result
    def days(self) -> Spend:
        """Returns what each of the last days cost, oldest first."""
        return self._file.read() or {}

    def _change(self, change: Callable[[Spend], Spend]) -> None:
        with self._locks.write():
            self._file.write(change(self._file.read() or {}))

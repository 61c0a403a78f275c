"""What we keep beside the notes, under `state/` and `runs/`: one JSON file each, version 1.

state/sessions/<harness>_<id>.json  {"harness", "sessionId", "lastRecordId", "lastAt" (epoch ms), "turnsSeen", "toolsAnswered",
                                    "agent", "handoffId", "entryIds", "usedIds", "transcript", "elsewhere"}
state/forgotten/….json              {"session", "harness", "at"}, {"entry", "at", "statements"} or {"state", "at"}
state/keys/<key>.json               {"key", "value", "updatedAt" (epoch ms)}; other JSON was written by a person: all of it is
                                    the value, and its key is that of the file's name
state/project_tags.json             {"vocabulary": ["topic__deploy"], "renamed": {"topic__deployment": "topic__deploy"}}
state/purge.json                    {"at"}
runs/spend.json                     {"days": {"2026-02-13": {"calls", "promptChars", "replyChars"}}}
runs/undone.json, undoing.json      {"runs": {"<run>": {"by", "fingerprints"}}}; {"run", "undoes", "startedAt"}
runs/forgetting.json                what is needed to find the rest of what is to go, its words included; it goes last
runs/syncing.json, synced.json      {"branch", "from", "to"}; {"purgedAt"}
trusted.json                        {"configs": [{"path", "sha256", "trustedAt"}]}
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from attrs import field, frozen

from agent_memory.errors import StateCorrupt, StateInvalid
from agent_memory.note.tagging import TagVocabulary
from agent_memory.redaction.redact import redact
from agent_memory.results import as_result
from agent_memory.rules.agent_request import DaySpend, Spend
from agent_memory.rules.change import FileState
from agent_memory.rules.forgotten import EntryTombstone, ForgettingAtWork, SessionTombstone, StateTombstone
from agent_memory.rules.run_log import Undoing, UndoneMark
from agent_memory.rules.undo_run import Footprint
from agent_memory.session.history import SessionMark
from agent_memory.text.ids import normal_tag
from agent_memory.text.instants import Instant
from agent_memory.text.json_codec import Documents, Format, load_document, matching, written
from agent_memory.text.json_shape import Json
from agent_memory.text.plain_text import SomeText

_INSTANT: Any = Instant

# -- sessions and undos -----------------------------------------------------------------------------------------------


SESSION_MARK = Format(SessionMark)
UNDONE = Format(dict[str, UndoneMark], member="runs")
UNDOING = Format(Undoing)

# -- spend ------------------------------------------------------------------------------------------------------------


def _spend_problems(spend: Spend) -> Iterator[str]:
    odd = (day for day in spend if not re.fullmatch(r"\d{4}-\d\d-\d\d", day, re.ASCII))
    return (f"days.{day} is not a day" for day in odd)


SPEND = Format(dict[str, DaySpend], member="days", check=_spend_problems)

# -- tags: a person may write less ------------------------------------------------------------------------------------


def _vocabulary(document: Json) -> TagVocabulary:
    """Returns every tag in its normal form. A person may write less: a list of tags, or an object with the list under
    `vocabulary` (as agent-memory-store has it), also within `value`. A word without a prefix is good for any prefix."""
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
    """Without chains and circles, whatever a person wrote: what is a present name is no earlier one."""
    normal = {normal_tag(old): normal_tag(new) for old, new in pairs.items() if isinstance(new, str)}
    present = set(normal.values())
    return {old: new for old, new in normal.items() if old is not None and new is not None and old not in present}


TAG_VOCABULARY = Documents[TagVocabulary](
    lambda tags: {"vocabulary": sorted(tags.accepted), "renamed": dict(sorted(tags.renamed.items()))}, _vocabulary
)
"""One tag a line, sorted, so that its changes read well in git."""

# -- state values -----------------------------------------------------------------------------------------------------


MAX_KEY_CHARS = 128
MAX_VALUE_BYTES = 256 << 10

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]*", re.ASCII)


@frozen
class StateValue:
    """What is kept under one key."""

    key: str
    json: str
    """The value, any JSON, as the text of it."""
    updated_at_ms: int | None = None
    """Epoch ms; None in a file that a person wrote without saying."""


def key_problem(key: str) -> str | None:
    """Returns why a key is none, or None: 1 to 128 of the characters `A-Z a-z 0-9 . _ : / -`, the first a letter or
    digit, with no `..` and no empty part between slashes (P21)."""
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
    """Returns a value fit to be kept: JSON of at most 256 KiB, without secrets (P20). StateInvalid with what is wrong."""
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
    """Returns the value as JSON on one line; None where it has none that every reader understands."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        load_document(text.encode())
    except (ValueError, TypeError, RecursionError):  # UnicodeEncodeError and NotJson are ValueErrors
        return None
    return text


def _state_value(document: Json) -> StateValue:
    """Returns what a person wrote in another shape is the value as a whole; its key, which only the file's name tells,
    is empty here."""
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
    """Returns the value whose file holds no secret. A secret is looked for in the whole file, where a key such as
    `password` says what its value is; one that cannot be cut out of the JSON is refused."""
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


# -- what was forgotten -----------------------------------------------------------------------------------------------

Tombstone = SessionTombstone | EntryTombstone | StateTombstone


def _tombstone(document: Any) -> Tombstone:
    classes = {"session": SessionTombstone, "entry": EntryTombstone, "state": StateTombstone}
    for key, cls in classes.items():
        if key in document:
            return Format[Tombstone](cls).value_of(document)
    raise ValueError("it does not tell of anything forgotten in version 1")


TOMBSTONE = Documents[Tombstone](written, _tombstone)


FORGETTING = Format(ForgettingAtWork)


PURGE = Format[int](_INSTANT, member="at", indent=None)
"""Since when (epoch ms) no other copy of the history may be mixed with this one."""

# -- sync -------------------------------------------------------------------------------------------------------------

_Commit = Annotated[str, matching(r"[0-9a-f]{40}|[0-9a-f]{64}", "is no commit")]


@frozen
class SyncAtWork:
    """A merge whose files are on disk. It is written in one transaction with them: it exists exactly while git does not know
    of them yet."""

    branch: Annotated[str, matching("refs/heads/.*", "is no branch")]
    from_commit: _Commit | None = field(metadata={"key": "from"})
    """None in a store that had no commit."""
    to_commit: _Commit = field(metadata={"key": "to"})


SYNCING = Format(SyncAtWork, indent=None)


SYNCED = Format[int | None](_INSTANT | None, member="purgedAt", indent=None)  # pyright: ignore[reportArgumentType] - a union is no class
"""The purge (epoch ms) that this machine has dealt with, None for none."""


# -- footprints -------------------------------------------------------------------------------------------------------
# What was changed on disk, with what was there before: the footprint of a run and the journal of a transaction; version 1.
#
# {"version": 1,
# "files": [{"path": "topics/…", "before": {"data": "<base64>", "mtimeNs": 1}, "after": null}],
# "sections": [{"path": "/home/…/AGENTS.md", "before": null, "after": "<!-- …", "separator": "\n", "created": false}]}
#
# {"version": 1, "steps": [{"path": "topics/…", "before": {"data": "<base64>", "mtimeNs": 1}, "afterHash": "…", "staged": "0.new"}]}
#
# `before` and `after` are null where there was, or will be, no file or no section, and so are `afterHash` and `staged`; `mtimeNs`
# is null for what was written then. The new bytes of a step lie beside the journal in the file named by `staged`.


OVER = b"\n"
"""Added to a journal that cannot be removed: one byte, so that it is there or not. A journal that ends with it is over: nothing
is undone or finished by it any more, and it only waits to be removed."""

FOOTPRINT = Format(Footprint)


@frozen
class Step:
    """One file's way from `before` to the bytes with `after_hash`, which wait in `staged`."""

    path: SomeText
    before: FileState | None
    after_hash: Annotated[str, matching("[0-9a-f]{64}", "is no SHA-256")] | None
    staged: Annotated[str, matching(r"[0-9]{1,9}\.new", "is no name of a staged file")] | None


def _journal_problems(steps: tuple[Step, ...]) -> Iterator[str]:
    for index, step in enumerate(steps):
        if (step.after_hash is None) != (step.staged is None):
            yield f"steps[{index}] is not a step"


_JOURNAL = Format(tuple[Step, ...], member="steps", indent=None, check=_journal_problems)


def render_journal(steps: tuple[Step, ...]) -> bytes:
    """Returns the steps in the order in which they are taken."""
    return _JOURNAL.render(steps).rstrip("\n").encode("utf-8", "backslashreplace")


parse_journal = _JOURNAL.parse
"""The steps that were rendered; StateCorrupt for anything else, since half a journal must not be acted on."""

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
.cache/past-sessions.json           what backfill has seen, by a hash of where each session is (derived)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated

from attrs import field, frozen

from agent_memory.domain.agent_request import DaySpend, Spend
from agent_memory.domain.defragging.information import lines_of
from agent_memory.domain.forgetting import EntryTombstone, SessionKey, SessionTombstone, StateTombstone, TraceWords
from agent_memory.domain.found_session import SeenSession
from agent_memory.domain.history import SessionMark
from agent_memory.domain.instants import Instant
from agent_memory.domain.json_shape import Json
from agent_memory.domain.note_draft import MAX_VALUE_BYTES, StateValue, key_problem
from agent_memory.domain.redaction import redact
from agent_memory.domain.run_log import Undoing, UndoneMark
from agent_memory.domain.tagging import TagVocabulary
from agent_memory.domain.text.tags import normal_tag
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import StateCorrupt, StateInvalid
from agent_memory.formats.json_codec import Format
from agent_memory.formats.strict_json import NotJson, load_document, load_json
from agent_memory.results import as_result

VERSION = 1

# -- sessions ---------------------------------------------------------------------------------------------------------


def _mark_problems(mark: SessionMark) -> Iterator[str]:
    members = {"sessionId": mark.session_id, "agent": mark.agent_name}
    yield from (f"{key} is empty" for key, text in members.items() if not text)
    if mark.turns_seen < 0:
        yield "turnsSeen is not a count"


SESSION_MARK = Format(SessionMark, check=_mark_problems)
render_session_mark = SESSION_MARK.render
parse_session_mark = as_result(SESSION_MARK.parse)


@frozen
class _Seen:
    format: int
    program: str
    sessions: dict[str, SeenSession] = field(factory=dict[str, SeenSession])


_SEEN = Format(_Seen, version=None, indent=None)
_SEEN_FORMAT = 2


def render_seen(program: str, sessions: Mapping[str, SeenSession]) -> bytes:
    """`program` is the version that read the transcripts, since another one may read them otherwise."""
    return _SEEN.render(_Seen(_SEEN_FORMAT, program, dict(sessions))).encode("utf-8", "backslashreplace")


def parse_seen(data: bytes, program: str) -> dict[str, SeenSession]:
    """What was rendered by the same version; nothing of anything else."""
    try:
        found = _SEEN.parse(data, "")
    except StateCorrupt:
        return {}
    return found.sessions if (found.format, found.program) == (_SEEN_FORMAT, program) else {}


# -- spend ------------------------------------------------------------------------------------------------------------

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


@frozen
class _Amounts:
    calls: int
    prompt_chars: int
    reply_chars: int


@frozen
class _SpendDays:
    days: dict[str, _Amounts]


def _spend_problems(spend: _SpendDays) -> Iterator[str]:
    for day, spent in spend.days.items():
        if not _DAY.fullmatch(day) or min(spent.calls, spent.prompt_chars, spent.reply_chars) < 0:
            yield f"days.{day} is not a day's spend"


_SPEND = Format(_SpendDays, check=_spend_problems)


def render_spend(spend: Spend) -> str:
    """The ledger, the days in order."""
    return _SPEND.render(
        _SpendDays({each.day: _Amounts(each.calls, each.prompt_chars, each.reply_chars) for each in spend})
    )


def parse_spend(data: bytes, path: str) -> Spend:
    """What `render_spend` wrote."""
    days = _SPEND.parse(data, path).days
    return tuple(DaySpend(day, each.calls, each.prompt_chars, each.reply_chars) for day, each in sorted(days.items()))


# -- undos ------------------------------------------------------------------------------------------------------------


@frozen
class Undone:
    """Which runs were undone, by their ids."""

    runs: dict[str, UndoneMark]


UNDONE = Format(Undone)
UNDOING = Format(Undoing)

# -- tags -------------------------------------------------------------------------------------------------------------

_SHAPE = 'it is no vocabulary: expected {"vocabulary": ["topic__x", …]}'


def render_tag_vocabulary(vocabulary: TagVocabulary) -> str:
    """One tag a line, sorted, so that its changes read well in git."""
    document = {
        "version": VERSION,
        "vocabulary": sorted(vocabulary.accepted),
        "renamed": dict(sorted(vocabulary.renamed.items())),
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


@as_result
def parse_tag_vocabulary(data: bytes, path: str) -> TagVocabulary:
    """The vocabulary, every tag in its normal form; StateCorrupt for what is none (P6).

    A person may write less: a list of tags, or an object with the list under `vocabulary` (as agent-memory-store has it), also
    within `value`. A word without a prefix is good for any prefix.
    """
    found = _vocabulary(_loaded(data, path))
    if found is None:
        raise StateCorrupt(path, (_SHAPE,))
    return found


def _vocabulary(document: Json) -> TagVocabulary | None:
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
            return None


def _accepted(words: Iterable[object]) -> frozenset[str]:
    tags = ((word, normal_tag(word)) for word in words if isinstance(word, str))
    return frozenset(tag if "__" in word else tag.partition("__")[2] for word, tag in tags if tag is not None)


def _renamed(pairs: Mapping[str, object]) -> dict[str, str]:
    """Without chains and circles, whatever a person wrote: what is a present name is no earlier one."""
    normal = {normal_tag(old): normal_tag(new) for old, new in pairs.items() if isinstance(new, str)}
    present = set(normal.values())
    return {old: new for old, new in normal.items() if old is not None and new is not None and old not in present}


# -- state values -----------------------------------------------------------------------------------------------------


@as_result
def state_value(key: str, value: object, updated_at_ms: int) -> StateValue:
    """A value fit to be kept: JSON of at most 256 KiB, without secrets (P20). StateInvalid with what is wrong."""
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
    """The value as JSON on one line; None where it has none that every reader understands."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        load_document(text.encode())
    except (ValueError, TypeError, RecursionError):  # UnicodeEncodeError and NotJson are ValueErrors
        return None
    return text


def render_state_value(kept: StateValue) -> str:
    """The file of one key."""
    document = {
        "version": VERSION,
        "key": kept.key,
        "value": json.loads(kept.json),
        "updatedAt": kept.updated_at_ms,
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


@as_result
def parse_state_value(data: bytes, path: str, key: str) -> StateValue:
    """What was rendered, or a person's own JSON under `key`; what is no JSON is StateCorrupt, never a missing value (P6)."""
    match _loaded(data, path):
        case {"version": 1, "key": str(named), "value": value, "updatedAt": int(at_ms), **others} if not others:
            if key_problem(named) is not None:
                raise StateCorrupt(path, ("its key is none",))
            return StateValue(named, json_text(value) or "null", at_ms)
        case document:
            return StateValue(key, json_text(document) or "null")


def _without_secrets(kept: StateValue) -> StateValue:
    """The value whose file holds no secret. A secret is looked for in the whole file, where a key such as `password` says
    what its value is; one that cannot be cut out of the JSON is refused."""
    for _ in range(3):
        cleaned = redact(render_state_value(kept))
        if not cleaned.found:
            return kept
        try:
            document = load_json(cleaned.text)
        except NotJson:
            break
        match document:
            case {"version": 1, "key": kept.key, "value": value, "updatedAt": kept.updated_at_ms}:
                kept = StateValue(kept.key, json_text(value) or "null", kept.updated_at_ms)
            case _:
                break
    raise StateInvalid(("value: holds what looks like a secret, and is not JSON without it",))


def _loaded(data: bytes, path: str) -> Json:
    try:
        document: Json = load_document(data)
    except NotJson as error:
        raise StateCorrupt(path, (str(error),)) from error
    return document


# -- what was forgotten -----------------------------------------------------------------------------------------------

Tombstone = SessionTombstone | EntryTombstone | StateTombstone

_TOMBSTONES: Mapping[str, Format[SessionTombstone] | Format[EntryTombstone] | Format[StateTombstone]] = {
    "session": Format(SessionTombstone),
    "entry": Format(EntryTombstone),
    "state": Format(StateTombstone),
}


def render_tombstone(tombstone: Tombstone) -> str:
    """The file of what was forgotten; the hashes in order."""
    match tombstone:
        case SessionTombstone():
            return Format(SessionTombstone).render(tombstone)
        case EntryTombstone():
            return Format(EntryTombstone).render(tombstone)
        case StateTombstone():
            return Format(StateTombstone).render(tombstone)


def parse_tombstone(data: bytes, path: str) -> Tombstone:
    """What `render_tombstone` wrote; StateCorrupt for anything else, never "nothing was forgotten" (P6)."""
    document = _loaded(data, path)
    for key, format in _TOMBSTONES.items():
        if isinstance(document, dict) and key in document:
            return format.parse(data, path)
    raise StateCorrupt(path, (f"it does not tell of anything forgotten in version {VERSION}",))


@frozen
class ForgettingAtWork:
    """A forgetting that was begun: all that is to be carried out to its end."""

    at_ms: int
    purge: bool
    words: TraceWords
    session: SessionKey | None = None
    touched_ids: frozenset[str] = field(default=frozenset())
    paths: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    inbox: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    histories: tuple[tuple[Harness, str], ...] = ()


@frozen
class _Forgetting:
    """The same as it stands in its file."""

    at_ms: Instant
    session: str | None
    harness: Harness | None
    purge: bool
    ids: frozenset[str]
    touched: frozenset[str]
    paths: tuple[str, ...]
    titles: frozenset[str]
    statements: tuple[str, ...]
    runs: tuple[str, ...]
    inbox: tuple[str, ...]
    marks: tuple[str, ...]
    histories: tuple[tuple[Harness, str], ...]


_FORGETTING = Format(_Forgetting)


def render_forgetting(work: ForgettingAtWork) -> str:
    """The journal of a forgetting."""
    return _FORGETTING.render(
        _Forgetting(
            at_ms=work.at_ms,
            session=None if work.session is None else work.session.session_id,
            harness=None if work.session is None else work.session.harness,
            purge=work.purge,
            ids=work.words.ids,
            touched=work.touched_ids,
            paths=work.paths,
            titles=work.words.titles,
            statements=tuple(line.text for line in work.words.statements),
            runs=work.runs,
            inbox=work.inbox,
            marks=work.marks,
            histories=work.histories,
        )
    )


def parse_forgetting(data: bytes, path: str) -> ForgettingAtWork:
    """What `render_forgetting` wrote."""
    kept = _FORGETTING.parse(data, path)
    lines = tuple(line for text in kept.statements for line in lines_of(text))
    return ForgettingAtWork(
        at_ms=kept.at_ms,
        purge=kept.purge,
        words=TraceWords(kept.ids, kept.session, kept.titles, lines),
        session=None if kept.session is None else SessionKey(kept.session, kept.harness),
        touched_ids=kept.touched,
        paths=kept.paths,
        runs=kept.runs,
        inbox=kept.inbox,
        marks=kept.marks,
        histories=kept.histories,
    )


@frozen
class _Purge:
    at_ms: Instant


_PURGE = Format(_Purge, indent=None)


def render_purge(at_ms: int) -> str:
    """The mark of a purge: since when no other copy of the history may be mixed with this one."""
    return _PURGE.render(_Purge(at_ms))


def parse_purge(data: bytes, path: str) -> int:
    """The time (epoch ms) that `render_purge` wrote; StateCorrupt for anything else, never "no purge" (P6)."""
    return _PURGE.parse(data, path).at_ms


# -- sync -------------------------------------------------------------------------------------------------------------

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}", re.ASCII)


def _commit_problem(value: object) -> str | None:
    return None if isinstance(value, str) and _COMMIT.fullmatch(value) else "is no commit"


def _branch_problem(value: object) -> str | None:
    return None if isinstance(value, str) and value.startswith("refs/heads/") else "is no branch"


@frozen
class SyncAtWork:
    """A merge whose files are on disk. It is written in one transaction with them: it exists exactly while git does not know
    of them yet."""

    branch: Annotated[str, _branch_problem]
    from_commit: Annotated[str, _commit_problem] | None = field(metadata={"key": "from"})
    """None in a store that had no commit."""
    to_commit: Annotated[str, _commit_problem] = field(metadata={"key": "to"})


_SYNCING = Format(SyncAtWork, indent=None)
parse_at_work = _SYNCING.parse


def render_at_work(work: SyncAtWork) -> bytes:
    """The mark of a merge at work."""
    return _SYNCING.render(work).encode()


@frozen
class _Synced:
    """Which purge this machine has dealt with."""

    purged_at_ms: Instant | None


_SYNCED = Format(_Synced, indent=None)


def render_synced(purged_at_ms: int | None) -> str:
    """The purge that was dealt with."""
    return _SYNCED.render(_Synced(purged_at_ms))


def parse_synced(data: bytes, path: str) -> int | None:
    """The purge that was dealt with (epoch ms), None for none; StateCorrupt for anything else, never "dealt with" (P6)."""
    return _SYNCED.parse(data, path).purged_at_ms

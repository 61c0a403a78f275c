"""The inbox entry: a pending record "look at this session"."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal, get_args

from attrs import field, frozen

from agent_memory.domain.inbox_rules import (
    MAX_PATH_BYTES,
    commit_problem,
    id_problem,
    path_problem,
    ref_problem,
    shown,
    text_problem,
    version_problem,
    word_problem,
)
from agent_memory.domain.instants import Instant
from agent_memory.domain.vocabulary import Harness, Kind

MAX_TITLE_CHARS = 200
MAX_BODY_CHARS = 8_000
"""As long as a memory entry may be, so that a note can always be stored whole."""
MAX_TAGS = 50
MAX_TAG_CHARS = 100

_SPARSE = {"sparse": True}

SessionMethod = Literal[
    "opencode-session",
    "claude-code-session",
    "codex-session",
    "cursor-session",
    "gemini-session",
    "copilot-session",
    "pi-session",
    "goose-session",
    "aider-session",
]
SESSION_METHODS: tuple[SessionMethod, ...] = get_args(SessionMethod)


@frozen
class SessionFile:
    """A session that its harness keeps in a file. JSON: `{method, sessionId, sessionPath?}`."""

    method: SessionMethod
    session_id: Annotated[str, id_problem]
    session_path: Annotated[str, path_problem] | None = field(default=None, metadata=_SPARSE)


@frozen
class AmpThread:
    """JSON: `{method: "amp-thread", threadId}`."""

    thread_id: Annotated[str, id_problem]
    method: Literal["amp-thread"] = "amp-thread"


SNAPSHOTS = "inbox/snapshots"
"""Where the copies lie that were made at capture. No entry may name another file: it may be a secret note (P27)."""


def snapshot_path_problem(value: object) -> str | None:
    """The path, relative to the root, of a file in the directory of the snapshots."""
    problem = text_problem(value, MAX_PATH_BYTES)
    if problem is not None or not isinstance(value, str):
        return problem
    if value.startswith("/"):
        return "is an absolute path, expected a copy inside the store; `memory capture --file` makes one"
    if any(part in ("", ".", "..") for part in value.split("/")):
        return f"is {shown(value)}, expected a plain path relative to the root"
    is_snapshot = value.rpartition("/")[0] == SNAPSHOTS
    return None if is_snapshot else f"is {shown(value)}, and only copies in {SNAPSHOTS}/ are read"


def _too_many_problem(tags: tuple[str, ...]) -> str | None:
    return f"has {len(tags):,} items, at most {MAX_TAGS} are allowed" if len(tags) > MAX_TAGS else None


@frozen
class FileSnapshot:
    """A redacted copy made at capture; `path` is that of a file in `SNAPSHOTS`, relative to the root. JSON: `{method: "file", path}`."""

    path: Annotated[str, snapshot_path_problem]
    method: Literal["file"] = "file"


@frozen
class InlineNote:
    """A note in the entry itself. JSON: `{method: "inline", title, body, tags?, kind?, threadId?}`."""

    title: Annotated[str, partial(text_problem, max_chars=MAX_TITLE_CHARS)]
    body: Annotated[str, partial(text_problem, max_chars=MAX_BODY_CHARS, lines=True)]
    tags: Annotated[tuple[Annotated[str, partial(text_problem, max_chars=MAX_TAG_CHARS)], ...], _too_many_problem] = (
        field(default=(), metadata=_SPARSE)
    )
    kind: Kind | None = field(default=None, metadata=_SPARSE)
    thread_id: Annotated[str, id_problem] | None = field(default=None, metadata=_SPARSE)
    method: Literal["inline"] = "inline"


Retrieval = SessionFile | AmpThread | FileSnapshot | InlineNote

SessionRetrieval = SessionFile | AmpThread
"""Of a session that its harness keeps."""

BACKFILL_EVENT = "backfill"
"""The event of an entry that was made for a past session: it waits behind what was captured as it happened."""
UPGRADE_EVENT = "upgrade"
"""The event of an entry that asks to look again, and as a whole, at a session that the built-in consolidated."""
WATCH_EVENT = "watch"
"""The event of an entry that was made because a transcript came to rest."""


@frozen
class Context:
    """Where the session was, as known at capture. JSON keys: camelCase of these names; absent when None."""

    cwd: Annotated[str, path_problem] | None = field(default=None, metadata=_SPARSE)
    repo: Annotated[str, ref_problem] | None = field(default=None, metadata=_SPARSE)
    branch: Annotated[str, ref_problem] | None = field(default=None, metadata=_SPARSE)
    commit: Annotated[str, commit_problem] | None = field(default=None, metadata=_SPARSE)
    event: Annotated[str, word_problem] | None = field(default=None, metadata=_SPARSE)
    reason: Annotated[str, word_problem] | None = field(default=None, metadata=_SPARSE)
    harness_version: Annotated[str, version_problem] | None = field(default=None, metadata=_SPARSE)


@frozen
class InboxEntry:
    """JSON, version 1: `{version, timestamp, harness, retrieval, context?}`."""

    at_ms: Instant = field(metadata={"key": "timestamp"})
    harness: Harness
    retrieval: Retrieval
    context: Context = field(factory=Context, metadata=_SPARSE)


def retrieval_of(harness: Harness, session_id: str, session_path: str | None = None) -> SessionRetrieval | None:
    """How to get the history of a session of this harness; None for what has no sessions (`manual`)."""
    if harness is Harness.AMP:
        return AmpThread(session_id)
    for method in SESSION_METHODS:
        if method.removesuffix("-session") == harness:
            return SessionFile(method, session_id, session_path)
    return None


def session_id_of(entry: InboxEntry) -> str | None:
    """The harness's own id of the session, if the entry names one."""
    match entry.retrieval:
        case SessionFile(_, session_id):
            return session_id
        case AmpThread(thread_id):
            return thread_id
        case InlineNote(thread_id=thread_id):
            return thread_id
        case FileSnapshot():
            return None

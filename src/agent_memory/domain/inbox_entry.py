"""The inbox entry: a pending record "look at this session"."""

from __future__ import annotations

from typing import Literal, get_args

from attrs import field, frozen

from agent_memory.domain.vocabulary import Harness, Kind

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
    session_id: str
    session_path: str | None = None


@frozen
class AmpThread:
    """JSON: `{method: "amp-thread", threadId}`."""

    thread_id: str
    method: Literal["amp-thread"] = "amp-thread"


SNAPSHOTS = "inbox/snapshots"
"""Where the copies lie that were made at capture. No entry may name another file: it may be a secret note (P27)."""


@frozen
class FileSnapshot:
    """A redacted copy made at capture; `path` is that of a file in `SNAPSHOTS`, relative to the root. JSON: `{method: "file", path}`."""

    path: str
    method: Literal["file"] = "file"


@frozen
class InlineNote:
    """A note in the entry itself. JSON: `{method: "inline", title, body, tags?, kind?, threadId?}`."""

    title: str
    body: str
    tags: tuple[str, ...] = ()
    kind: Kind | None = None
    thread_id: str | None = None
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

    cwd: str | None = None
    repo: str | None = None
    branch: str | None = None
    commit: str | None = None
    event: str | None = None
    """The hook event (`SessionEnd`)."""
    reason: str | None = None
    harness_version: str | None = None


@frozen
class InboxEntry:
    """Version 1. JSON: `{version, timestamp, harness, retrieval, context}`; `timestamp` is `at_ms` in ISO 8601."""

    at_ms: int
    harness: Harness
    retrieval: Retrieval
    context: Context = field(factory=Context)
    version: Literal[1] = 1


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

"""A session in one normal form: a history of turns."""

from __future__ import annotations

from enum import StrEnum
from hashlib import sha256
from typing import Any

from attrs import evolve, field, frozen

from agent_memory.note.note import Harness
from agent_memory.text.ids import EntryId
from agent_memory.text.plain_text import Count, SomeText

UNKNOWN_TYPE = "unknown-type:"
"""Prefix of the reasons in `History.skipped` for kinds of records that we do not know."""


class Role(StrEnum):
    """The author of a turn. `tool` is everything from neither the person nor the agent: results, pages, files."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"


@frozen
class ToolCall:
    """One use of a tool inside an agent turn."""

    name: str
    """The harness's name for it: `Bash`, `Edit`, `mcp__x__y`."""
    brief: str
    """The request on one line: the command, query or path, at most 400 characters; or what it wrote and what that
    replaced, about 250 characters of code or 2,000 of a document."""
    path: str | None = field(default=None, metadata={"sparse": True})
    writes: bool = field(default=False, metadata={"sparse": True})


@frozen
class Turn:
    """One utterance. The blocks of one assistant message are one turn; each tool result is its own. The metadata are
    for storage (`store.kept_histories_files`)."""

    number: int
    """Counted from 1 over the whole session, whatever part of it this history holds."""
    role: Role
    text: str
    record_id: str = field(metadata={"key": "record"})
    """The harness's id of the (last) record of the turn: the unit of the session mark."""
    at_ms: int | None = field(default=None, metadata={"sparse": True})
    tool_calls: tuple[ToolCall, ...] = field(default=(), metadata={"key": "calls", "sparse": True})
    """For agent turns."""
    tool_name: str | None = field(default=None, metadata={"key": "tool", "sparse": True})
    """For tool turns: the tool that answered, if known."""
    failed: bool = field(default=False, metadata={"sparse": True})
    """For tool turns: the tool reported an error."""
    clipped_chars: int = field(default=0, metadata={"key": "clipped", "sparse": True})
    """How many characters of the original are missing in `text`."""
    answers: ToolCall | None = field(default=None, metadata={"sparse": True})
    """For tool turns: the call that is answered, None if unknown. It may have been made before the first turn here."""


def _sparse(default: Any = None) -> Any:
    return field(default=default, metadata={"sparse": True})


@frozen
class History:
    """The turns of one session after its mark, in order; may be empty. `remaining` says that the source stopped at its
    size limit and has more turns; the caller marks these and asks again."""

    harness: Harness
    session_id: str
    turns: tuple[Turn, ...] = _sparse(())
    title: str | None = _sparse()
    cwd: str | None = _sparse()
    also_in: tuple[str, ...] = _sparse(())
    """Other directories in which the person spoke: a session continued in another checkout belongs to both."""
    branch: str | None = _sparse()
    agent: str | None = _sparse()
    started_at_ms: int | None = _sparse()
    """The start of the whole session, not of this part."""
    ended_at_ms: int | None = _sparse()
    """The time of the last turn here."""
    tools_answered_before: bool = _sparse(False)
    """Whether the session had tool output before the first turn here."""
    remaining: bool = _sparse(False)
    after_record: str | None = _sparse()
    """The record before these turns; None at the beginning of the session."""
    transcript: str = _sparse("")
    """The session's file that this was read from (`transcript_key`); empty if it is not in a file."""
    automated: bool = _sparse(False)
    """True if no person took part: a scheduled or scripted run."""
    own_call: bool = _sparse(False)
    """True if the session is one of our own agent calls (recognised by the prompt marker)."""
    skipped: dict[str, int] = field(factory=dict[str, int], hash=False, metadata={"sparse": True})
    """Counts of what could not be read, by reason (`unknown-type:foo`, `bad-line`, `line-too-long`), without what a
    reader leaves out on purpose, such as a harness's own texts."""

    @property
    def tools_answered(self) -> bool:
        """Returns whether the session had tool output before or among these turns."""
        return self.tools_answered_before or any(turn.role is Role.TOOL for turn in self.turns)

    @property
    def unknown_records(self) -> int:
        """Returns the number of records of unknown kinds; many of them mean that the harness's format has changed."""
        return sum(count for reason, count in self.skipped.items() if reason.startswith(UNKNOWN_TYPE))


@frozen
class TranscriptEnd:
    """How far one of a session's several files has been consolidated; the members are those of `SessionMark`."""

    transcript: str
    last_record_id: str
    last_at_ms: int | None = field(metadata={"sparse": True})
    turns_seen: int


COPY = "copy"
"""The agent name in the mark of a session that only repeats another session."""


@frozen
class SessionMark:
    """How far a session has been consolidated: one JSON file for each session in `state/sessions/`."""

    harness: Harness
    session_id: SomeText
    last_record_id: str
    last_at_ms: int | None = field(metadata={"sparse": True})
    """The time of that record: if its id is gone (a rewritten transcript), later records are new."""
    turns_seen: Count
    """The number of the last turn consolidated; numbering continues from here."""
    tools_answered: bool
    agent_name: SomeText = field(metadata={"key": "agent"})
    """The agent that consolidated it (`builtin`, a preset, or `command:<hash>`)."""
    handoff_id: EntryId | None = field(default=None, metadata={"sparse": True})
    """The id of the session's handoff note, which is updated as the session grows."""
    entry_ids: tuple[EntryId, ...] = ()
    used_ids: tuple[EntryId, ...] = field(default=(), metadata={"sparse": True})
    """Notes whose use in the session is in the usage ledger."""
    transcript: str = field(default="", metadata={"sparse": True})
    """The record's file (`transcript_key`). Without one, the mark counts for every file of the session."""
    elsewhere: tuple[TranscriptEnd, ...] = field(default=(), metadata={"sparse": True})
    """The ends in its other files: a session resumed in another directory, or copied, continues in each separately."""

    @property
    def ends(self) -> tuple[TranscriptEnd, ...]:
        """Returns where consolidation stopped in each file, the latest first."""
        return (TranscriptEnd(self.transcript, self.last_record_id, self.last_at_ms, self.turns_seen), *self.elsewhere)

    def within(self, transcript: str) -> SessionMark | None:
        """Returns the mark for one of the session's files, or None if nothing of it was consolidated."""
        end = next((end for end in self.ends if end.transcript == transcript), None)
        if end is None:
            return None if transcript and (self.transcript or self.elsewhere) else self
        others = tuple(other for other in self.ends if other is not end)
        return evolve(
            self,
            transcript=transcript,
            last_record_id=end.last_record_id,
            last_at_ms=end.last_at_ms,
            turns_seen=end.turns_seen,
            elsewhere=others,
        )


def transcript_key(path: str) -> str:
    """Returns a short key for a transcript; its path would say more than the store should keep."""
    return sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:16]

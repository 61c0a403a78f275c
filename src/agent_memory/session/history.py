"""A session, normalised: a history of turns."""

from __future__ import annotations

from enum import StrEnum
from hashlib import sha256

from attrs import evolve, field, frozen

from agent_memory.note.note import Harness
from agent_memory.text.ids import EntryId
from agent_memory.text.plain_text import Count, SomeText

UNKNOWN_TYPE = "unknown-type:"
"""How the reasons in `History.skipped` begin that stand for records of a kind not known to us."""


class Role(StrEnum):
    """Who a turn comes from. `tool` is everything that neither the person nor the agent said: results, pages, files."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"


@frozen
class ToolCall:
    """One use of a tool inside an agent turn."""

    name: str
    """The harness's name of it: `Bash`, `Edit`, `mcp__x__y`."""
    brief: str
    """What it was asked to do on one line: the command, the query, the path, at most 400 characters; or what it wrote
    and in place of what, about 250 characters of code or 2,000 of a document."""
    path: str | None = field(default=None, metadata={"sparse": True})
    writes: bool = field(default=False, metadata={"sparse": True})


@frozen
class Turn:
    """One utterance. Blocks of one assistant message are one turn; each tool result is a turn of its own. The metadata say how a
    turn is kept (`records.kept_histories_files`)."""

    number: int
    """From 1, over the whole session, whatever part of it this history holds."""
    role: Role
    text: str
    record_id: str = field(metadata={"key": "record"})
    """The harness's id of the (last) record behind the turn: the unit of the session mark."""
    at_ms: int | None = field(default=None, metadata={"sparse": True})
    tool_calls: tuple[ToolCall, ...] = field(default=(), metadata={"key": "calls", "sparse": True})
    """Of an agent turn."""
    tool_name: str | None = field(default=None, metadata={"key": "tool", "sparse": True})
    """Of a tool turn: which tool answered, when known."""
    failed: bool = field(default=False, metadata={"sparse": True})
    """Of a tool turn: the tool reported an error."""
    clipped_chars: int = field(default=0, metadata={"key": "clipped", "sparse": True})
    """How many characters of the original are not in `text`."""


@frozen
class History:
    """The turns of one session after its mark, in order.

    `turns` may be empty: nothing new. `remaining` says that the source stopped at its size bound and holds more turns
    after the last one; the caller marks these and asks again.
    """

    harness: Harness
    session_id: str
    turns: tuple[Turn, ...]
    title: str | None = None
    cwd: str | None = None
    also_in: tuple[str, ...] = ()
    """Other directories in which the person spoke: a session that went on in another checkout is at home in both."""
    branch: str | None = None
    agent: str | None = None
    started_at_ms: int | None = None
    """Of the whole session, not of this part."""
    ended_at_ms: int | None = None
    """Time of the last turn here."""
    tools_answered_before: bool = False
    """Whether the session had tool output before the first turn here."""
    remaining: bool = False
    transcript: str = ""
    """Which of the files that the session may be in this was read from (`transcript_key`); empty where it is in none."""
    automated: bool = False
    """No person took part: a scheduled or scripted run."""
    own_call: bool = False
    """The session is one of our own agent calls (recognised by the prompt marker)."""
    skipped: dict[str, int] = field(factory=dict[str, int])
    """What could not be read, counted by reason (`unknown-type:foo`, `bad-line`, `line-too-long`). What a reader leaves out by
    intent, such as a harness's own texts, is not counted."""

    @property
    def tools_answered(self) -> bool:
        """Tells whether the session had tool output before or among these turns."""
        return self.tools_answered_before or any(turn.role is Role.TOOL for turn in self.turns)

    @property
    def unknown_records(self) -> int:
        """Tells how many records were of kinds not known to us: many of them, and the harness's format has changed."""
        return sum(count for reason, count in self.skipped.items() if reason.startswith(UNKNOWN_TYPE))


@frozen
class TranscriptEnd:
    """How far one of several files of a session has been consolidated; the members are those of `SessionMark`."""

    transcript: str
    last_record_id: str
    last_at_ms: int | None = field(metadata={"sparse": True})
    turns_seen: int


COPY = "copy"
"""The agent name in the mark of a session of which all that it was looked at for is in another session."""


@frozen
class SessionMark:
    """How far a session has been consolidated. One JSON file a session in `state/sessions/`."""

    harness: Harness
    session_id: SomeText
    last_record_id: str
    last_at_ms: int | None = field(metadata={"sparse": True})
    """Time of that record: where the id is gone (a rewritten transcript), later records are new."""
    turns_seen: Count
    """Turn number of the last turn consolidated; numbering goes on from here."""
    tools_answered: bool
    agent_name: SomeText = field(metadata={"key": "agent"})
    """The agent command that consolidated it (`builtin`, a preset, or `command:<hash>`)."""
    handoff_id: EntryId | None = field(default=None, metadata={"sparse": True})
    """The session's handoff entry, updated in place as the session grows."""
    entry_ids: tuple[EntryId, ...] = ()
    used_ids: tuple[EntryId, ...] = field(default=(), metadata={"sparse": True})
    """Entries whose use in the session is in the usage ledger."""
    transcript: str = field(default="", metadata={"sparse": True})
    """The file that the record is in (`transcript_key`). A mark without one counts for every file of the session."""
    elsewhere: tuple[TranscriptEnd, ...] = field(default=(), metadata={"sparse": True})
    """The ends in its other files: a session that was resumed in another directory, or copied, goes on in each by itself."""

    @property
    def ends(self) -> tuple[TranscriptEnd, ...]:
        """Tells where consolidation stopped in each file, the latest first."""
        return (
            TranscriptEnd(self.transcript, self.last_record_id, self.last_at_ms, self.turns_seen),
            *self.elsewhere,
        )

    def within(self, transcript: str) -> SessionMark | None:
        """Returns the mark as it stands in one of the session's files; None in one of which nothing was consolidated so
        far."""
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
    """Returns a short name of a transcript: its path says more than the store is to keep."""
    return sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:16]

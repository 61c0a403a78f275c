"""What one record of a Claude Code transcript says."""

from __future__ import annotations

from attrs import field, frozen

from agent_memory.adapters.harness.turn_drafts import Asked


@frozen
class Said:
    """A text that is not the agent's. `source` is None for the person; else it names what sent it, and the text counts as a
    tool's. `queued` marks the copies of a prompt that was typed while the agent worked."""

    text: str
    raw: str = ""
    """As recorded, for recognising our own prompts."""
    source: str | None = None
    queued: bool = False
    prompt: bool = True
    """It begins a branch of the conversation where it has siblings."""


@frozen
class Answered:
    """A part of an assistant message: Claude Code writes one record for each content block."""

    message_id: str | None
    text: str
    asked: tuple[Asked, ...] = ()


@frozen
class Returned:
    """What a tool answered."""

    text: str
    tool_use_id: str | None
    tool_name: str | None = None
    failed: bool = False
    answers: str = ""
    """What the person chose or typed in answer to AskUserQuestion."""
    rejection: str = ""
    """What the person said when refusing the call."""
    rejection_sure: bool = False
    """The harness itself says that the person refused; else the tool could have printed those words."""


@frozen
class QueueStep:
    """A change to the prompts waiting while the agent works: `enqueue`, `dequeue`, `remove`."""

    operation: str
    text: str
    reason: str = ""


@frozen
class LeftOut:
    """A part that is not kept, and why."""

    reason: str


Part = Said | Answered | Returned | QueueStep | LeftOut


@frozen
class Record:
    """What one line says."""

    id: str
    has_own_id: bool
    """False where the id was made from the content."""
    known: bool = True
    """Of a type that some version of Claude Code writes."""
    parts: tuple[Part, ...] = ()
    parent_id: str | None = None
    session_id: str | None = None
    at_ms: int | None = None
    cwd: str | None = None
    relocated_cwd: str | None = None
    branch: str | None = None
    model: str | None = None
    entrypoint: str | None = None
    sidechain: bool = False
    human: bool = False
    """`origin.kind` says that a person typed it: the one sure sign."""
    scheduled: bool = False
    title: str | None = None
    title_rank: int = 0
    """A person's title (3) before the harness's (2) before a summary (1)."""
    title_leaf_id: str | None = None
    """A summary belongs to the session that holds this record: files begin with summaries of other sessions."""
    retracted_ids: tuple[str, ...] = field(default=())

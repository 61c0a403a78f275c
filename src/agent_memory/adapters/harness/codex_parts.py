"""What the lines of a Codex rollout say."""

from __future__ import annotations

from attrs import frozen

from agent_memory.adapters.harness.codex_texts import Printed
from agent_memory.adapters.harness.turn_drafts import Asked
from agent_memory.domain.history import Role


@frozen
class Spoken:
    """Words of the person's or the agent's. Codex logs each message up to three times; `carrier` says as what: an `event`,
    an `item`, a `record` for the model, the end of a `task`."""

    role: Role
    text: str
    carrier: str
    raw: str = ""
    """As recorded, for recognising our own prompts."""


@frozen
class Called:
    """A call of a tool."""

    call: Asked


@frozen
class Returned:
    """What a tool answered to a call recorded before."""

    call_id: str
    output: Printed


@frozen
class Finished:
    """A call with its answer, which is recorded elsewhere too, unless it was made inside another call."""

    call: Asked
    output: Printed
    by_person: bool = False


@frozen
class Searched:
    """A search of the web, recorded as a `record` and as an `event`."""

    query: str
    results: str
    carrier: str


@frozen
class Patched:
    """Files that were changed by a call; they may be known from the call."""

    call_id: str
    calls: tuple[Asked, ...]


@frozen
class Reported:
    """What a sub-agent or a review answered."""

    source: str
    text: str


@frozen
class LeftOut:
    """A part that is not kept, and why."""

    reason: str


Part = Spoken | Called | Returned | Finished | Searched | Patched | Reported | LeftOut


@frozen
class Origin:
    """What a `session_meta` says."""

    id: str
    root_id: str | None = None
    """Of a sub-agent's thread: the session it belongs to."""
    forked_from_id: str | None = None
    started_at_ms: int | None = None
    cwd: str | None = None
    branch: str | None = None
    scripted: bool = False
    """No person types in it: `codex exec`, a server's client, a sub-agent."""


@frozen
class Record:
    """What one line says."""

    id: str
    """Made from its content; empty for a line that says nothing."""
    known: bool = True
    """Of a kind that some version of Codex writes."""
    kind: str = ""
    at_ms: int | None = None
    parts: tuple[Part, ...] = ()
    origin: Origin | None = None
    turn_id: str | None = None
    """Of a record that begins a turn of the model's; empty where it has none."""
    cwd: str | None = None
    model: str | None = None
    title: str | None = None
    rolled_back: int = 0
    """How many of the person's turns, with all that followed, were taken back."""

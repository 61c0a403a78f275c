"""What both pipelines share: the one driver, which is the one place where an exception becomes a value, and the asking of an agent."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import TypeVar

from returns.result import Failure, Result, Success

from agent_memory.domain.agent_request import AgentRequest
from agent_memory.domain.redaction import redact
from agent_memory.domain.run import KeptReply
from agent_memory.errors import Defect, Error
from agent_memory.machines import Pipeline
from agent_memory.ports import Agent, Replies
from agent_memory.results import unwrap

C = TypeVar("C")
Step = Callable[[C], Result[C, Error]]
Checkpoint = Callable[[str, C], Result[None, Error]]
Rescue = Callable[[str, C, Defect], Result[C, Error]]
Report = Callable[[C, Error | None], Result[None, Error]]


def drive(
    machine: Pipeline[C], steps: Mapping[str, Step[C]], checkpoint: Checkpoint[C], rescue: Rescue[C]
) -> Result[C, Error]:
    """The context in which the machine completed, or the error with which it failed.

    Before each step `checkpoint` is told the state and the context: a machine started anew with these two goes on from
    there. A bug in a step goes to `rescue`, which may know a context to go on with. The context at a failure stays in
    `machine.model.context`.
    """
    while not machine.is_terminated:
        state, context = str(machine.current_state_value), machine.model.context
        taken = _take(steps, checkpoint, rescue, state, context)
        if isinstance(taken, Failure):
            machine.fail(error=taken.failure())
        else:
            machine.advance(context=taken.unwrap())
    return Success(machine.model.context) if machine.model.error is None else Failure(machine.model.error)


def drive_and_report(
    machine: Pipeline[C],
    steps: Mapping[str, Step[C]],
    checkpoint: Checkpoint[C],
    rescue: Rescue[C],
    report: Report[C],
) -> C:
    """As `drive`, with what it fails with raised; `report` is told of the end, whatever it was. Its own failure is that of a run
    that completed."""
    ended = drive(machine, steps, checkpoint, rescue)
    reported = report(machine.model.context, ended.failure() if isinstance(ended, Failure) else None)
    context = unwrap(ended)
    unwrap(reported)
    return context


def _take(
    steps: Mapping[str, Step[C]], checkpoint: Checkpoint[C], rescue: Rescue[C], state: str, context: C
) -> Result[C, Error]:
    try:
        kept = checkpoint(state, context)
        return kept if isinstance(kept, Failure) else steps[state](context)
    except Exception as bug:  # noqa: BLE001 - a bug in a step must end as a named value, with nothing lost
        return rescue(state, context, Defect(state, repr(bug)))


def answered(agent: Agent, records: Replies, run_id: str, key: str, request: AgentRequest) -> KeptReply:
    """A stored reply to the same question about the same entries, which was paid for, else a new one: redacted, and durable
    before anybody looks at it. Each keeps the nonce of its own prompt."""
    shown = {each.meta.id: each.listed.content_hash for each in request.shown}
    kept = unwrap(records.find_reply(key))
    if kept is not None and kept.shown == shown:
        return kept
    text = redact(unwrap(agent.answer(request)).text).text
    prompt_hash = hashlib.sha256(request.prompt.encode("utf-8", "surrogatepass")).hexdigest()
    reply = KeptReply(text, request.nonce, prompt_hash, shown)
    unwrap(records.keep_reply(run_id, key, reply))
    return reply

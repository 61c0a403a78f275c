"""The two machines: graphs of states and transitions, and nothing else. A chart holds no effects.

Consolidate: inbox → history → agent → checked → topics → commit, one session at a time.
Defrag: topics → analysis → agent → checked → topics → managed sections → commit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from attrs import define
from returns.result import Failure, Result, Success
from statemachine import Event, State, StateChart

from agent_memory.errors import Defect, Error
from agent_memory.ports import Agent
from agent_memory.redaction.redact import redact
from agent_memory.results import unwrap
from agent_memory.rules.plan import AgentRequest
from agent_memory.rules.run import DefragRun, KeptReply, Run
from agent_memory.store.run_files import RunRecords

C = TypeVar("C")


@define
class Model(Generic[C]):
    """The state of a machine: the context of its run, its state, and the error that ended it."""

    context: C
    state: str | None = None
    error: Error | None = None


class Pipeline(StateChart[Model[C]]):
    """A chart with two events: `advance` carries the context that a step returned, `fail` its error.

    An unknown event, an event without a transition and an exception in a guard all raise.
    """

    allow_event_without_transition = False
    catch_errors_as_events = False
    atomic_configuration_update = True

    advance: Event
    fail: Event

    def on_advance(self, context: C) -> None:
        self.model.context = context

    def on_fail(self, error: Error) -> None:
        self.model.error = error


class Consolidate(Pipeline[Run]):
    """Guards read the context that the step has just returned."""

    load_queue = State(initial=True)
    fetch_history = State()
    run_agent = State()
    parse_output = State()
    write_entries = State()
    mark_processed = State()
    commit_changes = State()
    completed = State(final=True)
    failed = State(final=True)

    advance = Event(
        load_queue.to(completed, cond="drained")
        | load_queue.to(fetch_history)
        | fetch_history.to(mark_processed, cond="settled")
        | fetch_history.to(run_agent)
        | run_agent.to(mark_processed, cond="settled")
        | run_agent.to(parse_output)
        | parse_output.to(mark_processed, cond="settled")
        | parse_output.to(run_agent, cond="windows_left")
        | parse_output.to(write_entries)
        | write_entries.to(mark_processed)
        | mark_processed.to(commit_changes)
        | commit_changes.to(completed, cond="drained")
        | commit_changes.to(fetch_history)
    )
    fail = Event(
        failed.from_(load_queue, fetch_history, run_agent, parse_output, write_entries, mark_processed, commit_changes)
    )

    def drained(self, context: Run) -> bool:
        """Returns whether no session is left to take in hand."""
        return context.is_drained

    def settled(self, context: Run) -> bool:
        """Returns whether the outcome of the session in hand is known and there is nothing to write."""
        return context.work is None or context.work.outcome is not None

    def windows_left(self, context: Run) -> bool:
        """The session in hand has a window that the agent has not seen."""
        return context.work is not None and context.work.window_index < len(context.work.windows)


class Defrag(Pipeline[DefragRun]):
    """The guard reads the context that the step has just returned."""

    scan_entries = State(initial=True)
    analyze_structure = State()
    run_agent = State()
    apply_changes = State()
    generate_agents_md = State()
    commit_changes = State()
    completed = State(final=True)
    failed = State(final=True)

    advance = Event(
        scan_entries.to(analyze_structure)
        | analyze_structure.to(run_agent)
        | run_agent.to(completed, cond="planned_only")
        | run_agent.to(apply_changes)
        | apply_changes.to(generate_agents_md)
        | generate_agents_md.to(commit_changes)
        | commit_changes.to(completed)
    )
    fail = Event(
        failed.from_(scan_entries, analyze_structure, run_agent, apply_changes, generate_agents_md, commit_changes)
    )

    def planned_only(self, context: DefragRun) -> bool:
        return context.dry_run


# -- the driver -------------------------------------------------------------------------------------------------------
# Shared by both pipelines: the one driver, which is the one place where an exception becomes a value, and asking an agent.


Step = Callable[[C], Result[C, Error]]
Checkpoint = Callable[[str, C], Result[None, Error]]
Rescue = Callable[[str, C, Defect], Result[C, Error]]


def no_rescue(_state: str, _context: C, defect: Defect) -> Result[C, Error]:
    return Failure(defect)


def drive(
    machine: Pipeline[C], steps: Mapping[str, Step[C]], checkpoint: Checkpoint[C], rescue: Rescue[C] = no_rescue
) -> Result[C, Error]:
    """Returns the context in which the machine completed, or the error with which it failed.

    Before each step `checkpoint` is given the state and the context: a machine started anew with these two continues
    from there. A bug in a step goes to `rescue`, which may return a context to go on with. The context at a failure
    stays in `machine.model.context`.
    """
    while not machine.is_terminated:
        state, context = str(machine.current_state_value), machine.model.context
        try:
            kept = checkpoint(state, context)
            taken = kept if isinstance(kept, Failure) else steps[state](context)
        except Exception as bug:  # noqa: BLE001 - a bug in a step must end as a named value, with nothing lost
            taken = rescue(state, context, Defect(state, repr(bug)))
        if isinstance(taken, Failure):
            machine.fail(error=taken.failure())
        else:
            machine.advance(context=taken.unwrap())
    return Success(machine.model.context) if machine.model.error is None else Failure(machine.model.error)


def run_machine(
    machine: Pipeline[C], steps: Mapping[str, Step[C]], records: RunRecords[C, Any], rescue: Rescue[C] = no_rescue
) -> C:
    """Runs `drive` and raises its failure; the report of the run is written in any case. If that fails, a completed run
    fails with it."""
    ended = drive(machine, steps, records.checkpoint, rescue)
    reported = records.finish(machine.model.context, ended.failure() if isinstance(ended, Failure) else None)
    context = unwrap(ended)
    unwrap(reported)
    return context


def finish_run(
    chart: type[Pipeline[C]], steps: Mapping[str, Step[C]], records: RunRecords[C, Any], rescue: Rescue[C] = no_rescue
) -> C | None:
    """Finishes a run that crashed after it had begun to write, from where it stood; None where there is none."""
    found = unwrap(records.unfinished())
    return None if found is None else run_machine(chart(Model(found[1]), start_value=found[0]), steps, records, rescue)


def answered(agent: Agent, records: RunRecords[Any, Any], run_id: str, key: str, request: AgentRequest) -> KeptReply:
    """Returns a stored reply to the same question about the same notes, which was paid for, else a new one: redacted,
    and durable before anybody looks at it. Each keeps the nonce of its own prompt."""
    shown = {each.meta.id: each.listed.content_hash for each in request.shown}
    kept = unwrap(records.find_reply(key))
    if kept is not None and kept.shown == shown:
        return kept
    given = unwrap(agent.answer(request))
    prompt_hash = hashlib.sha256(request.prompt.encode("utf-8", "surrogatepass")).hexdigest()
    reply = KeptReply(redact(given.text).text, request.nonce, prompt_hash, shown, given.prompt_chars)
    unwrap(records.keep_reply(run_id, key, reply))
    return reply

"""The two machines: graphs of states and transitions, and nothing else. A chart holds no effects.

Consolidate: inbox → history → agent → checked → topics → commit, one session at a time.
Defrag: topics → analysis → agent → checked → topics → managed sections → commit.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from attrs import define
from statemachine import Event, State, StateChart

from agent_memory.domain.defrag_run import DefragRun
from agent_memory.domain.run import Run
from agent_memory.errors import Error

C = TypeVar("C")


@define
class Model(Generic[C]):
    """Where a machine stands: the context of its run, its state, and the error that ended it."""

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
        """No session is left to look at, or the run is paused."""
        return not context.queue or context.paused is not None

    def settled(self, context: Run) -> bool:
        """What becomes of the session in hand is known, and nothing is to be written."""
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
        """The plan is what was asked for."""
        return context.dry_run

"""The graph of consolidate: inbox → history → agent → checked → topics → commit, one session at a time."""

from __future__ import annotations

from statemachine import Event, State

from agent_memory.domain.run import Run
from agent_memory.machines.pipeline import Pipeline


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

"""The graph of defrag: topics → analysis → agent → checked → topics → managed sections → commit."""

from __future__ import annotations

from statemachine import Event, State

from agent_memory.domain.defrag_run import DefragRun
from agent_memory.machines.pipeline import Pipeline


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

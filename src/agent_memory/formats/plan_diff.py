"""A plan as a diff, for `--dry-run`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import assert_never

from agent_memory.domain.change import Change, Create, Replace, Restore, Retire
from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.plan import Plan
from agent_memory.domain.text.file_name import file_name_of
from agent_memory.formats.note import render_note


def replaced_ids(plan: Plan) -> tuple[str, ...]:
    """The live entries whose present text the diff needs."""
    return tuple(_id_of(change) for change in plan.changes if not isinstance(change, Create))


def render_plan_diff(plan: Plan, before: Mapping[str, MemoryEntry]) -> str:
    """One unified diff over all files of the plan; what was dropped follows as comment lines."""
    parts = [_diff(change, before) for change in plan.changes]
    parts += [f"# not applied: {each.subject}: {'; '.join(each.reasons)}" for each in plan.dropped]
    if plan.skipped:
        parts.append(f"# nothing kept: {plan.skipped}")
    return "\n".join(part for part in parts if part)


def _diff(change: Change, before: Mapping[str, MemoryEntry]) -> str:
    old = before.get(_id_of(change))
    match change:
        case Create(entry):
            return _between(None, entry, "/dev/null", _topic(entry))
        case Replace(entry, _):
            return _between(old, entry, _topic(old), _topic(entry))
        case Retire(id, _, _):
            return f"rename {_topic(old) if old else id}\n    to {_topic(old, 'archive') if old else 'archive'}"
        case Restore(id):
            return f"restore {id}"
        case _ as never:
            assert_never(never)


def _between(old: MemoryEntry | None, new: MemoryEntry, old_name: str, new_name: str) -> str:
    before = [] if old is None else render_note(old, None).splitlines()
    return "\n".join(difflib.unified_diff(before, render_note(new, None).splitlines(), old_name, new_name, lineterm=""))


def _topic(entry: MemoryEntry | None, directory: str = "topics") -> str:
    return "/dev/null" if entry is None else f"{directory}/{file_name_of(entry.meta)}"


def _id_of(change: Change) -> str:
    match change:
        case Create(entry) | Replace(entry, _):
            return entry.meta.id
        case Retire(id, _, _) | Restore(id):
            return id
        case _ as never:
            assert_never(never)

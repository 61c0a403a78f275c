"""The modules that `Memory` needs only now and then, loaded when they are first asked for: type checkers read the imports below,
and so does `__getattr__`."""

# ruff: noqa: F401
# mypy: implicit-reexport
# pyright: reportUnusedImport=false

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING

from agent_memory import homes_in

if TYPE_CHECKING:
    from agent_memory import harness, ports
    from agent_memory.acts import keeping, review, service, switching
    from agent_memory.agent import agent_command
    from agent_memory.capture import inbox_files
    from agent_memory.care import (
        checks,
        doctor,
        forgetter,
        health,
        repairer,
        session_list,
        statistics,
        tombstones,
        use,
        why_note,
        why_session,
    )
    from agent_memory.extraction import handoff
    from agent_memory.git import git_history, git_process
    from agent_memory.imports import base, bootstrap, exporting, importing, skills
    from agent_memory.note import tagging
    from agent_memory.pipelines import backfill, consolidate, defrag, handing_over, undo
    from agent_memory.prompt import prompt
    from agent_memory.recall import embedding, hits, known_notes, note_index, searching, session_search
    from agent_memory.rules import change, drafts, forgotten, run, run_log
    from agent_memory.section import publishing, targets
    from agent_memory.session import found_session, history, queue, windows
    from agent_memory.setup import installation, plan, scheduling
    from agent_memory.store import bookkeeping, diffs, kept_histories_files, recorded_writes, run_files, session_index
    from agent_memory.sync import remote, sharing, synchroniser
else:
    _homes = cache(partial(homes_in, __file__))

    def __getattr__(name: str) -> object:
        if name not in _homes():
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(f"{_homes()[name]}.{name}")

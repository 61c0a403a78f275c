"""How it is told where an entry comes from, and what a run changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import evolve
from returns.result import Result

from agent_memory.adapters.explaining.entry_stories import EntryStories
from agent_memory.adapters.explaining.session_traces import SessionTraces
from agent_memory.adapters.git.file_history import revisions_of
from agent_memory.bootstrap.injecting import told_where
from agent_memory.domain.entry import Listing
from agent_memory.domain.explaining.entry_story import EntryStory
from agent_memory.domain.explaining.session_trace import FoundSessions
from agent_memory.domain.footprint import Footprint
from agent_memory.domain.forgetting.sources import SessionKey
from agent_memory.domain.run_log import LoggedRun
from agent_memory.domain.vocabulary import Harness, Sensitivity
from agent_memory.errors import Error
from agent_memory.formats import footprint_diff
from agent_memory.formats.footprint_diff import DiffPart
from agent_memory.pipelines.undo_choice import chosen, footprint_of, newest_kept

if TYPE_CHECKING:
    from agent_memory.bootstrap.memory import Memory


def why_entry(memory: Memory, id: str) -> Result[EntryStory, Error]:
    """As `Memory.why_entry` has it."""
    stories = EntryStories(
        memory.store,
        memory.ledger,
        memory.log,
        memory.clock,
        memory.caller,
        lambda path, most: revisions_of(memory.git_process, path, most),
    )
    return stories.story(id).bind(
        lambda story: told_where(memory, story.stored.listed).map(lambda told: evolve(story, told=told))
    )


def why_session(memory: Memory, session_id: str) -> Result[FoundSessions, Error]:
    """As `Memory.why_session` has it."""
    deferred = memory.run_records.deferred
    return SessionTraces(memory.root, memory.store, memory.log, memory.marks, deferred, memory.caller).find(session_id)


def find_session(memory: Memory, session_id: str) -> Result[tuple[SessionKey, ...], Error]:
    """As `Memory.find_session` has it."""
    return why_session(memory, session_id).map(
        lambda found: tuple(SessionKey(each.session_id, Harness(each.harness)) for each in found.traces)
    )


def run_diff(
    memory: Memory, name: str | None, *, backwards: bool
) -> Result[tuple[LoggedRun, tuple[DiffPart, ...]], Error]:
    """As `Memory.run_diff` has it."""

    def parts(footprint: Footprint, titles: Mapping[str, str]) -> tuple[DiffPart, ...]:
        directed = footprint_diff.backwards(footprint) if backwards else footprint
        return footprint_diff.diff_parts(directed, titles)

    run = newest_kept(memory.log) if name is None else chosen(memory.log, name)
    return run.bind(
        lambda run: footprint_of(memory.log, run).bind(
            lambda footprint: memory.store.list().map(lambda live: (run, parts(footprint, _titles_of(live))))
        )
    )


def _titles_of(listing: Listing) -> Mapping[str, str]:
    return {
        each.meta.id: each.meta.title for each in listing.entries if each.meta.sensitivity is not Sensitivity.SECRET
    }

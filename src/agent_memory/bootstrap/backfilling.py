"""How past sessions are found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from returns.result import Result, Success

from agent_memory import __version__
from agent_memory.adapters.agent.prompt_templates import load_prompt_template
from agent_memory.adapters.harness import history_sources
from agent_memory.adapters.harness.seen_sessions_files import SeenSessionsFiles
from agent_memory.adapters.harness.session_finders import session_finders, watched_finders
from agent_memory.adapters.surroundings.own_calls import is_marked
from agent_memory.adapters.surroundings.project_directories import MAX_DIRECTORIES, project_directories
from agent_memory.adapters.surroundings.repository import read_repository
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.domain.backfill import Backfill
from agent_memory.domain.history import History
from agent_memory.domain.transcripts.windows import cut_windows
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error
from agent_memory.formats.prompt import plan_prompt_budget
from agent_memory.pipelines.backfill import plan_backfill as plan_backfill_with, put_backfill as put_backfill_with
from agent_memory.pipelines.backfill_io import BackfillIo

if TYPE_CHECKING:
    from agent_memory.bootstrap.memory import Memory


def plan_backfill(
    memory: Memory, harnesses: Sequence[Harness], since_ms: int | None, progress: Callable[[str], None]
) -> Result[Backfill, Error]:
    """As `Memory.plan_backfill` has it."""
    return backfill_io(memory, progress).bind(lambda io: plan_backfill_with(io, harnesses, since_ms))


def put_backfill(memory: Memory, backfill: Backfill) -> Result[Backfill, Error]:
    """As `Memory.put_backfill` has it."""
    return backfill_io(memory).bind(lambda io: put_backfill_with(io, backfill))


def backfill_io(
    memory: Memory, progress: Callable[[str], None] = lambda _: None, *, watching: bool = False
) -> Result[BackfillIo, Error]:
    """For backfill and watch; `watching` leaves out the harnesses whose sessions no file tells of."""

    def known_directories() -> Iterable[Result[str, Error]]:
        # A watch looks every few seconds: it is not to read the inbox and the store each time.
        return () if watching else project_directories(memory.inbox.directories(MAX_DIRECTORIES), memory.store.list())

    surroundings = memory.surroundings(known_directories)
    return _calls_for(memory).map(
        lambda asking: BackfillIo(
            finders=watched_finders(surroundings) if watching else session_finders(surroundings),
            histories=history_sources(surroundings),
            inbox=memory.inbox,
            marks=memory.marks,
            clock=memory.clock,
            calls_for=asking[0],
            asked=asking[1],
            seen=None if watching else SeenSessionsFiles(memory.root, __version__),
            repo_of=lambda directory: read_repository(directory, memory.environ, home_of(memory.environ)).repo,
            is_private=is_marked,
            tombstones=memory.tombstones,
            progress=progress,
        )
    )


def _calls_for(memory: Memory) -> Result[tuple[Callable[[History], int], str], Error]:
    """How often the agent command is asked about a history, with the notes there are now; and what that depends on."""
    # One that cannot be run now will be asked just as often once it can.
    most_chars = memory.agent().map(lambda agent: agent.max_prompt_chars).value_or(memory.config.llm.max_prompt_chars)
    if most_chars is None:
        return Success((lambda _: 0, "nobody"))
    return load_prompt_template("consolidate").bind(
        lambda template: memory.store.list().bind(
            lambda live: plan_prompt_budget(template, most_chars, live.entries).map(
                lambda budget: (
                    lambda history: len(cut_windows(history, budget.window_chars(budget.shown_chars))),
                    f"{budget.window_chars(budget.shown_chars)} characters",
                )
            )
        )
    )

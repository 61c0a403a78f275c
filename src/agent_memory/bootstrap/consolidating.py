"""How a consolidation is put together."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from returns.result import Result, Success

from agent_memory.adapters.agent.prompt_templates import load_prompt_template
from agent_memory.adapters.harness import history_sources
from agent_memory.bootstrap.tagging import kept_vocabulary
from agent_memory.bootstrap.unfinished import finish_defrag, finish_others
from agent_memory.domain.run import Run
from agent_memory.domain.vocabulary import Status
from agent_memory.errors import Error
from agent_memory.pipelines.consolidate import consolidate as consolidate_with
from agent_memory.pipelines.consolidate_io import ConsolidateIo
from agent_memory.pipelines.upgrading import Upgrades, ask_again, plan_upgrades

if TYPE_CHECKING:
    from agent_memory.bootstrap.memory import Memory
    from agent_memory.ports import Agent


def consolidate(
    memory: Memory,
    *,
    limit: int | None,
    dry_run: bool,
    retry_failed: bool,
    upgrade: bool,
    progress: Callable[[str], None],
) -> Result[Run, Error]:
    """As `Memory.consolidate` has it."""
    with memory.locks.run() as held:
        finished = held.bind(lambda _: finish_others(memory, dry_run, finish_defrag))
        retried = finished.bind(lambda _: memory.inbox.retry_failed() if retry_failed else Success(0))
        asked = retried.bind(lambda _: _asked_again(memory) if upgrade and not dry_run else Success(None))
        return (
            asked.bind(lambda _: memory.agent())
            .bind(lambda agent: consolidate_io(memory, agent, progress, dry_run=dry_run))
            .bind(lambda io: consolidate_with(io, _new_run(memory, limit, dry_run)))
        )


def upgrades(memory: Memory) -> Result[Upgrades, Error]:
    """As `Memory.upgrades` has it."""

    def planned(agent: Agent) -> Result[Upgrades, Error]:
        if agent.status is not Status.CONSOLIDATED:
            return Success(Upgrades())
        return plan_upgrades(memory.inbox, memory.marks, memory.store, memory.clock)

    return memory.agent().bind(planned)


def _asked_again(memory: Memory) -> Result[None, Error]:
    return upgrades(memory).bind(lambda found: ask_again(memory.inbox, found))


def _new_run(memory: Memory, limit: int | None, dry_run: bool) -> Run:
    now_ms = memory.clock.now_ms()
    return Run(memory.new_run_id(now_ms), now_ms, limit, dry_run)


def consolidate_io(
    memory: Memory, agent: Agent, progress: Callable[[str], None], *, dry_run: bool = False
) -> Result[ConsolidateIo, Error]:
    """All that a consolidation acts on."""
    return load_prompt_template("consolidate").map(
        lambda template: ConsolidateIo(
            inbox=memory.inbox,
            histories=history_sources(memory.surroundings()),
            places=memory.places if dry_run else memory.arriving,
            store=memory.store,
            agent=agent,
            marks=memory.marks,
            recorder=memory.recorder,
            runs=memory.run_records,
            clock=memory.clock,
            prompt_template=template,
            random_word=lambda: secrets.token_hex(16),
            handoff_days=memory.config.limits.handoff_days,
            tombstones=memory.tombstones,
            kept=memory.kept_histories if memory.config.storage.keep_histories else None,
            ledger=memory.ledger,
            known=memory.known,
            vocabulary=lambda: kept_vocabulary(memory),
            progress=progress,
        )
    )

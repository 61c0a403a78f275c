"""How a defrag is put together."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from returns.result import Failure, Result, Success

from agent_memory.adapters.agent.prompt_templates import load_prompt_template
from agent_memory.adapters.agent.unusable_agent import UnusableAgent
from agent_memory.adapters.disk.derived_file import remove_former
from agent_memory.adapters.git.git_upkeep import pack_history
from agent_memory.adapters.records.run_pruning import RunPruning
from agent_memory.bootstrap.publishing import publish, section_budget
from agent_memory.bootstrap.unfinished import finish_consolidate, finish_others
from agent_memory.domain.defrag_run import DefragRun
from agent_memory.errors import Error
from agent_memory.pipelines.defrag import defrag as defrag_with
from agent_memory.pipelines.defrag_io import DefragIo

if TYPE_CHECKING:
    from agent_memory.bootstrap.memory import Memory
    from agent_memory.ports import Agent


def defrag(memory: Memory, *, dry_run: bool, force: bool, progress: Callable[[str], None]) -> Result[DefragRun, Error]:
    """As `Memory.defrag` has it. Where no agent may be called, only what needs none is done."""
    now_ms = memory.clock.now_ms()
    run = DefragRun(memory.new_run_id(now_ms), now_ms, dry_run, force)
    configured = memory.agent()
    agent = UnusableAgent(configured.failure()) if isinstance(configured, Failure) else configured.unwrap()

    def told(ended: DefragRun) -> Result[DefragRun, Error]:
        return configured.map(lambda _: ended) if ended.trouble is None else Success(ended)

    with memory.locks.run() as held:
        return (
            held.bind(lambda _: finish_others(memory, dry_run, finish_consolidate))
            .bind(lambda _: defrag_io(memory, agent, progress))
            .bind(lambda io: defrag_with(io, run))
            .bind(told)
        )


def defrag_io(memory: Memory, agent: Agent, progress: Callable[[str], None]) -> Result[DefragIo, Error]:
    """All that a defrag acts on."""
    limits = memory.config.limits
    return load_prompt_template("defrag").map(
        lambda template: DefragIo(
            store=memory.store,
            agent=agent,
            ledger=memory.ledger,
            recorder=memory.recorder,
            records=memory.defrag_records,
            log=memory.log,
            locks=memory.locks,
            clock=memory.clock,
            publish=lambda keep: publish(memory, None, dry_run=False, keep=keep),  # as the run saw the notes
            prompt_template=template,
            random_word=lambda: secrets.token_hex(16),
            budget=section_budget(memory),
            stale_days=limits.stale_days,
            max_entries=limits.max_entries,
            max_chars=limits.max_chars,
            tidy_up=lambda: _tidy_up(memory),
            progress=progress,
        )
    )


def _tidy_up(memory: Memory) -> Result[None, Error]:
    """Compact what grows with every run: the usage ledger, the records of old runs, the repository. What earlier versions
    kept goes."""
    remove_former(memory.root)
    with memory.locks.write() as held:
        return (
            held.bind(lambda _: memory.ledger.compact())
            .bind(lambda _: RunPruning(memory.root, memory.clock).prune())
            .bind(lambda _: _pack_history(memory))
        )


def _pack_history(memory: Memory) -> Result[None, Error]:
    return pack_history(memory.root, memory.environ) if memory.config.storage.auto_commit else Success(None)

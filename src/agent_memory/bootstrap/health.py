"""How `memory status` comes to know what waits and what went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from returns.result import Failure, Result

from agent_memory.adapters.records.health_files import HealthFiles
from agent_memory.domain.health import Health
from agent_memory.errors import Error
from agent_memory.wording import describe

if TYPE_CHECKING:
    from agent_memory.bootstrap.memory import Memory


def health(memory: Memory) -> Result[Health, Error]:
    """As `Memory.health` has it."""
    configured = memory.agent()
    name = configured.map(lambda agent: agent.name).value_or("not usable")
    warnings = (describe(configured.failure()),) if isinstance(configured, Failure) else ()
    return HealthFiles(
        memory.root,
        memory.environ,
        memory.inbox,
        memory.store,
        memory.spend,
        memory.clock,
        name,
        memory.config.llm.max_calls_per_day,
    ).read(warnings)

"""How the store is examined and repaired."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from returns.result import Result

from agent_memory.adapters.doctor.doctor import Doctor
from agent_memory.adapters.doctor.repairer import Repairer
from agent_memory.adapters.doctor.secrets import search_secrets as search_secrets_in
from agent_memory.adapters.doctor.state import false_copies
from agent_memory.adapters.harness.session_finders import FINDERS
from agent_memory.bootstrap.publishing import publish
from agent_memory.bootstrap.unfinished import finish_runs
from agent_memory.domain.doctor.catalogue import DoctorReport, Repair, SecretSearch
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error

if TYPE_CHECKING:
    from agent_memory.bootstrap.memory import Memory


def examine(memory: Memory, progress: Callable[[str], None]) -> DoctorReport:
    """As `Memory.examine` has it."""
    return _doctor(memory, progress).examine()


def repair(memory: Memory, progress: Callable[[str], None]) -> Result[Repair, Error]:
    """As `Memory.repair` has it."""
    return Repairer(
        _doctor(memory, progress),
        memory.locks,
        memory.recorder,
        publish=memory.publish,
        finish_runs=lambda: finish_runs(memory),
    ).repair()


def search_secrets(memory: Memory, progress: Callable[[str], None]) -> SecretSearch:
    """As `Memory.search_secrets` has it."""
    return search_secrets_in(memory.real_root, memory.git_process, progress)


def _doctor(memory: Memory, progress: Callable[[str], None]) -> Doctor:
    return Doctor(
        memory.root,
        memory.environ,
        memory.config,
        memory.clock,
        memory.store,
        memory.inbox,
        memory.ledger,
        memory.spend,
        memory.log,
        dry_publish=lambda: publish(memory, None, dry_run=True),
        scopes=memory.scopes.list,
        false_copies=lambda: false_copies(
            memory.marks.all(), FINDERS[Harness.CLAUDE_CODE](memory.surroundings()).find(None)
        ),
        warnings=memory.effective.warnings,
        names_secret=not memory.caller.is_agent,
        progress=progress,
    )

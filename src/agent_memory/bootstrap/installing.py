"""How memory is set up in harnesses, and taken out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.git.committed import may_be_committed
from agent_memory.adapters.setup.detection import memory_program
from agent_memory.adapters.setup.installation import Installation
from agent_memory.adapters.setup.settings_files import SettingsFiles
from agent_memory.adapters.setup.setup_planning import SetupPlanning
from agent_memory.adapters.setup.setup_state import SetupState
from agent_memory.adapters.setup.skill_text import load_skill_text
from agent_memory.adapters.surroundings.config_documents import parse_config
from agent_memory.adapters.surroundings.config_files import DEFAULT, load_config
from agent_memory.adapters.surroundings.root import config_path, home_of
from agent_memory.adapters.targets.chosen_targets import chosen_targets
from agent_memory.domain.installing.ground import Ground, asked_for, ground_of
from agent_memory.errors import Error, HomeUnknown, UsageInvalid

if TYPE_CHECKING:
    from agent_memory.app import Memory


def installation(memory: Memory) -> Result[Installation, Error]:
    """As `Memory.installation` has it."""
    home, program = home_of(memory.environ), memory_program(memory.environ)
    if home is None:
        return Failure(HomeUnknown())
    if program is None:
        return Failure(UsageInvalid("There is no command `memory` on PATH", "Install agent-memory, then try again."))
    ground = _existing(ground_of(home, program, memory.environ))
    return load_skill_text().bind(
        lambda skill: ground.map(
            lambda known: Installation(_setup_planning(memory, evolve(known, skill=skill)), memory.environ, memory.root)
        )
    )


def _existing(ground: Ground) -> Result[Ground, Error]:
    """With what is there of what a setup depends on. That nobody can look is an error: else another file than the person's
    own would be written (P6)."""
    try:
        return Success(evolve(ground, existing=frozenset(filter(lies_there, asked_for(ground)))))
    except OSError as error:
        return Failure(store_io(error, "look at", error.filename or ground.home))


def _setup_planning(memory: Memory, ground: Ground) -> SetupPlanning:
    home = ground.home
    path = config_path(home)

    def section_of(path: str, in_repository: bool) -> Result[str, Error]:
        (target,) = chosen_targets((path,), home, memory.places, lambda path: may_be_committed(path, memory.environ))
        return memory.publisher.render(evolve(target, in_repository=in_repository)).map(lambda section: section.text)

    return SetupPlanning(
        ground=ground,
        environ=memory.environ,
        files=SettingsFiles(memory.targets),
        state=SetupState(home),
        config=memory.config,
        config_path=path,
        config_root=_configured_root(home),
        section_of=section_of,
        check_config=lambda data: parse_config(data, path),
    )


def _configured_root(home: str) -> str | None:
    """`storage.root` as the person's own config has it, whatever the environment says."""
    found = load_config({"HOME": home}, None).value_or(None)
    if found is None or found.source_of("storage.root") == DEFAULT:
        return None
    return found.config.storage.root

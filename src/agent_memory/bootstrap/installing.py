"""How memory is set up in harnesses, and taken out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.git.git_history import may_be_committed
from agent_memory.adapters.setup.detection import memory_program
from agent_memory.adapters.setup.installation import Installation
from agent_memory.adapters.setup.settings_files import SettingsFiles
from agent_memory.adapters.setup.setup_state import SetupState
from agent_memory.adapters.surroundings.config_files import DEFAULT, load_config, parse_config
from agent_memory.adapters.surroundings.root import config_path, home_of
from agent_memory.adapters.surroundings.shipped_files import places_of, read_shipped
from agent_memory.adapters.targets import chosen_targets
from agent_memory.domain.installing.context import Context, context_of
from agent_memory.errors import HomeUnknown, UsageInvalid
from agent_memory.results import as_result, unwrap

if TYPE_CHECKING:
    from agent_memory.app import Memory

_PLUGINS = ("memory", "amp", "opencode", "pi")


@as_result
def installation(memory: Memory) -> Installation:
    """As `Memory.installation` has it."""
    home, program = home_and_program(memory)
    path = config_path(home)

    def section_of(path: str, in_repository: bool) -> str:
        (target,) = chosen_targets((path,), home, memory.places, lambda path: may_be_committed(path, memory.environ))
        return unwrap(memory.publisher.render(evolve(target, in_repository=in_repository))).text

    return Installation(
        context=with_shipped_texts(evolve(context_of(home, program, memory.environ), exists=lies_there)),
        environ=memory.environ,
        root=memory.root,
        files=SettingsFiles(memory.targets),
        state=SetupState(home),
        config=memory.config,
        config_path=path,
        config_root=_configured_root(home),
        section_of=section_of,
        check_config=lambda data: parse_config(data, path),
    )


def home_and_program(memory: Memory) -> tuple[str, str]:
    """The person's home, and the `memory` that others are to call."""
    home, program = home_of(memory.environ), memory_program(memory.environ)
    if home is None:
        raise HomeUnknown()
    if program is None:
        raise UsageInvalid("There is no command `memory` on PATH", "Install agent-memory, then try again.")
    return home, program


def with_shipped_texts(context: Context) -> Context:
    """With the skill and the plugins that are shipped with the code."""
    skill = read_shipped("agent-memory/SKILL.md", places_of("skills"))
    plugins = {name: read_shipped(f"{name}.ts", places_of("plugins")) for name in _PLUGINS}
    return evolve(context, skill=skill, plugins=plugins)


def _configured_root(home: str) -> str | None:
    """`storage.root` as the person's own config has it, whatever the environment says."""
    found = load_config({"HOME": home}, None).value_or(None)
    if found is None or found.source_of("storage.root") == DEFAULT:
        return None
    return found.config.storage.root

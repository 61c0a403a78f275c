"""How memory is set up in harnesses and in the machine's scheduler, and taken out of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from attrs import evolve
from returns.result import Success

from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.git.git_history import may_be_committed
from agent_memory.adapters.scheduling.schedule_state import ScheduleState, interval_hours
from agent_memory.adapters.scheduling.scheduling import Scheduling
from agent_memory.adapters.setup.installation import Installation
from agent_memory.adapters.setup.settings_files import SettingsFiles
from agent_memory.adapters.setup.setup_state import SetupState
from agent_memory.adapters.surroundings.config_files import DEFAULT, load_config, parse_config
from agent_memory.adapters.surroundings.root import ROOT_VARIABLE, config_path, home_of
from agent_memory.adapters.surroundings.shipped_files import memory_program, places_of, read_shipped
from agent_memory.adapters.targets import chosen_targets
from agent_memory.domain.command.presets import PRESETS
from agent_memory.domain.installing.harnesses import Context, context_of
from agent_memory.domain.scheduling import Place, cadence_of
from agent_memory.errors import HomeUnknown, UsageInvalid
from agent_memory.formats.schedulers import parse_schedule_source
from agent_memory.results import as_result, unwrap

if TYPE_CHECKING:
    from agent_memory.app import Memory

_PLUGINS = ("memory", "amp", "opencode", "pi")


@as_result
def installation(memory: Memory) -> Installation:
    """As `Memory.installation` has it."""
    home, program = _home_and_program(memory)
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


def _home_and_program(memory: Memory) -> tuple[str, str]:
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


def scheduling(memory: Memory) -> Scheduling:
    """For `memory install-cron` and `memory uninstall-cron`."""
    home, program = _home_and_program(memory)
    plists = places_of("plists")
    source = parse_schedule_source(read_shipped("jobs.json", plists))
    hours = {f"{name}IntervalHours": each for name, each in interval_hours(memory.config.schedule).items()}
    keys = {name: source.interval_key(name) for name in source.jobs}
    jobs = tuple(source.job(name, cadence_of(hours[key], key)) for name, key in keys.items())
    state = ScheduleState(home)
    configured = memory.environ.get("XDG_CONFIG_HOME", "")
    return Scheduling(
        source=source,
        templates={job.name: read_shipped(f"{job.label}.plist", plists).encode() for job in jobs},
        jobs=jobs,
        place=Place(home, program, _environment(memory, home), state.directory),
        config_directory=configured if configured.startswith("/") else f"{home}/.config",
        files=SettingsFiles(memory.targets),
        state=state,
        setup=SetupState(home),
        clock=memory.clock,
        root=memory.real_root,
        environ=memory.environ,
    )


def unscheduled_variables(memory: Memory) -> tuple[str, ...]:
    """Variables of the agent command's vendor that this shell has, and a scheduled run will not: keys are not written into
    files of a scheduler."""
    llm = memory.config.llm
    preset = PRESETS.get(llm.preset) if llm.command is None else None
    names = (*(preset.variables if preset is not None else ()), *llm.pass_env)
    return tuple(name for name in dict.fromkeys(names) if memory.environ.get(name))


def _environment(memory: Memory, home: str) -> dict[str, str]:
    """What a scheduler has to say where the person's own config does not lead to the same root."""
    there = load_config({"HOME": home}, None).map(lambda effective: effective.config.storage.root or "")
    same = isinstance(there, Success) and os.path.realpath(there.unwrap()) == memory.real_root
    return {"PATH": memory.environ.get("PATH", os.defpath), **({} if same else {ROOT_VARIABLE: memory.real_root})}

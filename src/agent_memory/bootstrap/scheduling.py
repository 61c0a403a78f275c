"""How the jobs are put into the machine's scheduler, and run by it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from returns.result import Success

from agent_memory.adapters.scheduling.schedule_state import ScheduleState
from agent_memory.adapters.scheduling.scheduling import Scheduling
from agent_memory.adapters.setup.settings_files import SettingsFiles
from agent_memory.adapters.setup.setup_state import SetupState
from agent_memory.adapters.surroundings.config_files import load_config
from agent_memory.adapters.surroundings.root import ROOT_VARIABLE
from agent_memory.adapters.surroundings.shipped_files import places_of, read_shipped
from agent_memory.bootstrap.installing import home_and_program
from agent_memory.bootstrap.job_healths import interval_hours
from agent_memory.domain.command.presets import PRESETS
from agent_memory.domain.scheduling import Place, cadence_of
from agent_memory.formats.schedulers import parse_schedule_source

if TYPE_CHECKING:
    from agent_memory.app import Memory


def scheduling(memory: Memory) -> Scheduling:
    """For `memory install-cron` and `memory uninstall-cron`."""
    home, program = home_and_program(memory)
    plists = places_of("plists")
    source = parse_schedule_source(read_shipped("jobs.json", plists))
    hours = {f"{name}IntervalHours": each for name, each in interval_hours(memory).items()}
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

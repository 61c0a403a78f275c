"""How the jobs are put into the machine's scheduler, run by it, and watched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from returns.result import Failure, Result, Success

from agent_memory.adapters.scheduling.programs import Programs
from agent_memory.adapters.scheduling.schedule_state import ScheduleState
from agent_memory.adapters.scheduling.schedules import Schedules
from agent_memory.adapters.scheduling.scheduling import Scheduling
from agent_memory.adapters.setup.detection import memory_program
from agent_memory.adapters.setup.settings_files import SettingsFiles
from agent_memory.adapters.setup.setup_state import SetupState
from agent_memory.adapters.surroundings.config_files import load_config
from agent_memory.adapters.surroundings.root import ROOT_VARIABLE, home_of
from agent_memory.adapters.surroundings.shipped_files import places_of, read_shipped
from agent_memory.config import Config
from agent_memory.domain.command.presets import PRESETS
from agent_memory.domain.scheduling.cadence import cadence_of
from agent_memory.domain.scheduling.job import Job, Place
from agent_memory.errors import Error, HomeUnknown, UsageInvalid
from agent_memory.formats.schedule_source import ScheduleSource, parse_schedule_source
from agent_memory.results import sealed

if TYPE_CHECKING:
    from agent_memory.app import Memory

_PLACES = places_of("plists")


def scheduling(memory: Memory) -> Result[Scheduling, Error]:
    """For `memory install-cron` and `memory uninstall-cron`."""
    home, program = home_of(memory.environ), memory_program(memory.environ)
    if home is None:
        return Failure(HomeUnknown())
    if program is None:
        return Failure(UsageInvalid("There is no command `memory` on PATH", "Install agent-memory, then try again."))
    state = ScheduleState(home)
    place = Place(home, program, _environment(memory, home), state.directory)
    return load_schedule_source().bind(
        lambda source: _jobs(source, memory.config).bind(
            lambda jobs: _schedules(memory, source, jobs, place).map(
                lambda schedules: Scheduling(
                    schedules=schedules,
                    files=SettingsFiles(memory.targets),
                    state=state,
                    setup=SetupState(home),
                    clock=memory.clock,
                    root=memory.real_root,
                    programs_of=lambda scheduler: Programs(scheduler.value, memory.environ),
                )
            )
        )
    )


def load_schedule_source() -> Result[ScheduleSource, Error]:
    """`plists/jobs.json` as it is shipped."""
    return read_shipped("jobs.json", _PLACES).map(parse_schedule_source)


def unscheduled_variables(memory: Memory) -> tuple[str, ...]:
    """Variables of the agent command's vendor that this shell has, and a scheduled run will not: keys are not written into
    files of a scheduler."""
    llm = memory.config.llm
    preset = PRESETS.get(llm.preset) if llm.command is None else None
    names = (*(preset.variables if preset is not None else ()), *llm.pass_env)
    return tuple(name for name in dict.fromkeys(names) if memory.environ.get(name))


def _environment(memory: Memory, home: str) -> tuple[tuple[str, str], ...]:
    """What a scheduler has to say where the person's own config does not lead to the same root."""
    there = load_config({"HOME": home}, None).map(lambda effective: effective.config.storage.root or "")
    same = isinstance(there, Success) and os.path.realpath(there.unwrap()) == memory.real_root
    root = () if same else ((ROOT_VARIABLE, memory.real_root),)
    return (("PATH", memory.environ.get("PATH", os.defpath)), *root)


def _jobs(source: ScheduleSource, config: Config) -> Result[tuple[Job, ...], Error]:
    hours = {
        "consolidateIntervalHours": config.schedule.consolidate_interval_hours,
        "defragIntervalHours": config.schedule.defrag_interval_hours,
    }
    jobs: list[Job] = []
    for name in source.jobs:
        key = source.interval_key(name)
        match sealed(cadence_of(hours[key], key)):
            case Failure(error):
                return Failure(error)
            case Success(cadence):
                jobs.append(source.job(name, cadence))
    return Success(tuple(jobs))


def _schedules(memory: Memory, source: ScheduleSource, jobs: tuple[Job, ...], place: Place) -> Result[Schedules, Error]:
    templates: dict[str, bytes] = {}
    for job in jobs:
        match sealed(read_shipped(f"{job.label}.plist", _PLACES)):
            case Failure(error):
                return Failure(error)
            case Success(text):
                templates[job.name] = text.encode()
    configured = memory.environ.get("XDG_CONFIG_HOME", "")
    directory = configured if configured.startswith("/") else f"{place.home}/.config"
    return Success(Schedules(source, templates, jobs, place, directory))

"""What install-cron and uninstall-cron have in common: who may, and the lock."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

from returns.result import Failure, Result, Success

from agent_memory.adapters.agent.agent_environment import only_for_a_person
from agent_memory.adapters.scheduling.scheduling import Scheduling
from agent_memory.app import Memory
from agent_memory.bootstrap.scheduling import scheduling
from agent_memory.errors import Error
from agent_memory.results import sealed
from agent_memory.surfaces.cli.opening import with_memory
from agent_memory.surfaces.console import Console


def run_scheduling(
    act: str, arguments: argparse.Namespace, console: Console, planned: Callable[[Memory, Scheduling], int]
) -> int:
    """Plan and carry out a change of the schedule, under its lock; the exit code. Refused inside a harness, but for a dry
    run: what runs by itself is for a person to decide."""
    refused: Result[None, Error] = Success(None) if arguments.dry_run else only_for_a_person(act, os.environ)
    if isinstance(refused, Failure):
        return console.fail(refused.failure())

    def run(memory: Memory) -> int:
        match sealed(scheduling(memory)):
            case Failure(error):
                return console.fail(error)
            case Success(found):
                if arguments.dry_run:
                    return planned(memory, found)
                with found.state.locked() as held:
                    return console.fail(held.failure()) if isinstance(held, Failure) else planned(memory, found)

    return with_memory(console, run)

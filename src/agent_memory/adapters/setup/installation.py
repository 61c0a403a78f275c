"""Memory in the harnesses of one person: what is installed, what would be, and the doing of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from returns.result import Result, Success

from agent_memory.adapters.setup.detection import detected
from agent_memory.adapters.setup.plan_execution import PlanExecution
from agent_memory.adapters.setup.playing import Playing
from agent_memory.adapters.setup.removal_planning import RemovalPlanning
from agent_memory.adapters.setup.repository_file import repository_targets, tracking_note
from agent_memory.adapters.setup.setup_planning import SetupPlanning
from agent_memory.adapters.surroundings.config_files import load_config
from agent_memory.adapters.surroundings.root import ROOT_VARIABLE
from agent_memory.domain.installing.plans import FileOutcome, InstallPlan, Played, Wish
from agent_memory.domain.installing.receipt import Receipt
from agent_memory.errors import Error
from agent_memory.values import evolve, frozen


@frozen
class Installation:
    """Setup and uninstall. Hold `locked()` from the plan to its end."""

    planning: SetupPlanning
    environ: Mapping[str, str]
    root: Path

    def locked(self) -> AbstractContextManager[Result[None, Error]]:
        """One at a time; Busy at once while another is at work."""
        return self.planning.state.locked()

    def detected(self) -> tuple[str, ...]:
        """The harnesses that are on this machine."""
        return detected(self.planning.ground, self.environ)

    def installed(self) -> Result[Receipt, Error]:
        """What setup has put where."""
        return self.planning.state.receipt()

    def plan(self, wish: Wish) -> Result[InstallPlan, Error]:
        """What setting up would do; nothing is written."""

        def told(plan: InstallPlan) -> InstallPlan:
            if wish.repository is None:
                return plan
            paths = repository_targets(wish.repository, wish.harnesses)
            notes = (tracking_note(wish.repository, path, self.environ) for path in paths)
            return evolve(plan, notes=(*notes, *plan.notes))

        return self.planning.plan(wish).map(told)

    def install(self, plan: InstallPlan) -> Result[tuple[FileOutcome, ...], Error]:
        """Carry out a plan of `plan`; what became of each file."""
        return self._execution.install(plan)

    def play(self, plan: InstallPlan) -> tuple[Played, ...]:
        """Call memory as each harness of the plan will, and see whether it arrives in the inbox."""
        playing = Playing(self._scheduled_environment(), self.planning.ground.home, self.root)
        return tuple(playing.play(harness, play) for harness, play in plan.plays)

    def plan_removal(self, harnesses: frozenset[str] | None) -> Result[InstallPlan, Error]:
        """What uninstalling would do, of these harnesses or of everything; nothing is written."""
        return RemovalPlanning(self.planning.files, self.planning.state).plan(harnesses)

    def uninstall(self, plan: InstallPlan) -> Result[tuple[FileOutcome, ...], Error]:
        """Carry out a plan of `plan_removal`; what became of each file."""
        return self._execution.uninstall(plan)

    @property
    def _execution(self) -> PlanExecution:
        return PlanExecution(self.planning.files, self.planning.state)

    def _scheduled_environment(self) -> dict[str, str]:
        """This environment without the shell's own word for the root, as a schedule or a desktop would have it, where the
        config alone leads to the same root by now."""
        bare = {name: value for name, value in self.environ.items() if name != ROOT_VARIABLE}
        there = load_config(bare, None).map(lambda effective: effective.config.storage.root or "")
        same = isinstance(there, Success) and os.path.realpath(there.unwrap()) == str(self.root)
        return bare if same else dict(self.environ)

"""Old runs lose their details, and in the end their reports: what `prune_runs` decides, carried out under `runs/`."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import fsync_directory, replace_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import directory_inside, is_there, real_root
from agent_memory.adapters.records.run_log_files import DEFRAG_CHECKPOINT, PRUNED, RUNS, RunLogFiles
from agent_memory.domain.instants import ms_of
from agent_memory.domain.retention import KEEP_DAYS, KEEP_RUNS, KeptRun, prune_runs
from agent_memory.errors import Error
from agent_memory.ports import Clock
from agent_memory.results import sealed

_RUN_ID = re.compile(r"(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3}Z)_[0-9a-f]+", re.ASCII)
_CHECKPOINTS = ("checkpoint.json", DEFRAG_CHECKPOINT)
_REPORT = "report.json"


class RunPruning:
    """`prune()` under a root. The caller holds the run lock. What is no directory of a run is never touched."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self._root = real_root(root)
        self._clock = clock
        self._log = RunLogFiles(root)

    def prune(self, *, keep_runs: int = KEEP_RUNS, keep_days: int = KEEP_DAYS) -> Result[int, Error]:
        """The number of runs of which something went. On an error the rest stays for the next time."""

        def carried_out(kept: tuple[KeptRun, ...]) -> Result[int, Error]:
            pruning = prune_runs(kept, self._clock.now_ms(), keep_runs=keep_runs, keep_days=keep_days)
            count = 0
            for run_id in (*pruning.whole, *pruning.details):
                gone = self._without(run_id, keep_report=run_id in pruning.details)
                if isinstance(gone, Failure):
                    return gone
                count += gone.unwrap()
            return Success(count)

        return (
            self._log.undoing()
            .bind(
                lambda undoing: self._runs(
                    frozenset() if undoing is None else frozenset((undoing.run_id, undoing.undoes))
                )
            )
            .bind(carried_out)
        )

    def _runs(self, at_work: frozenset[str]) -> Result[tuple[KeptRun, ...], Error]:
        match sealed(directory_inside(self._root, RUNS)):
            case Failure(refused):
                return Failure(refused)
            case Success(directory):
                try:
                    with os.scandir(directory) as found:
                        names = [each.name for each in found if each.is_dir(follow_symlinks=False)]
                except FileNotFoundError:
                    return Success(())
                except OSError as error:
                    return Failure(store_io(error, "list", directory))
                runs = (
                    KeptRun(name, started, self._is_unfinished(name, at_work))
                    for name in names
                    if (started := _ms(name))
                )
                return Success(tuple(runs))

    def _is_unfinished(self, name: str, at_work: frozenset[str]) -> bool:
        directory = f"{self._root}/{RUNS}/{name}"
        seen = (is_there(f"{directory}/{each}") for each in _CHECKPOINTS)
        return name in at_work or any(found != Success(False) for found in seen)

    def _without(self, run_id: str, *, keep_report: bool) -> Result[bool, Error]:
        directory = f"{self._root}/{RUNS}/{run_id}"
        path = directory
        try:
            there = os.listdir(directory)
            going = [name for name in there if name not in (PRUNED, _REPORT)]
            if going:
                path = f"{directory}/{PRUNED}"
                replace_file(path, b"")  # a footprint without some of its parts must never pass for the whole
            for name in going:
                path = f"{directory}/{name}"
                _remove(path)
            fsync_directory(directory)
            if not keep_report or _REPORT not in there:
                _remove(directory)
                return Success(True)
        except OSError as error:
            return Failure(store_io(error, "remove", path))
        return Success(bool(going))


def _remove(path: str) -> None:
    """A file, or a directory of files as `replies/` is."""
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        os.unlink(path)
        return
    for name in os.listdir(path):
        os.unlink(f"{path}/{name}")
    os.rmdir(path)


def _ms(name: str) -> int | None:
    """When the run of this name began; None for what is no run."""
    found = _RUN_ID.fullmatch(name)
    return ms_of(f"{found[1]}{found[2]}:{found[3]}:{found[4]}") if found else None

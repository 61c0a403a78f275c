"""Run records on disk: `runs/<run-id>/{checkpoint,plan,report}.json` and `runs/<run-id>/replies/<key>.json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import move_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import is_there
from agent_memory.adapters.records.replies_files import RepliesFiles
from agent_memory.adapters.records.run_files import files_of_runs
from agent_memory.adapters.records.run_log_files import RunLogFiles
from agent_memory.domain.change import Change
from agent_memory.domain.footprint_fold import fold_files
from agent_memory.domain.run import Run, leaves_something_half_done
from agent_memory.domain.run_log import LoggedAction
from agent_memory.errors import Error
from agent_memory.formats.note_changes import logged_changes, note_changes
from agent_memory.formats.run_json import (
    parse_changes,
    parse_checkpoint,
    plan_document,
    render_changes,
    render_checkpoint,
    render_report,
)
from agent_memory.ports import Clock
from agent_memory.results import sealed


class RunRecordsFiles(RepliesFiles):
    """`RunRecords` in the directory `runs` of a root."""

    def __init__(self, root: Path, clock: Clock) -> None:
        super().__init__(root)
        self._clock = clock
        self._log = RunLogFiles(root)

    def checkpoint(self, state: str, run: Run) -> Result[None, Error]:
        """See the port. The plan is written once, beside the first checkpoint of its session."""
        if not leaves_something_half_done(state, run):
            return Success(None)
        directory = self._runs / run.id
        if state == "write_entries" and (work := run.work) is not None:
            plan = json.dumps(plan_document(work.plan), ensure_ascii=False, indent=1)
            stored = self.write(directory / f"plan-{len(run.settled) + 1}.json", plan)
            if isinstance(stored, Failure):
                return stored
        return self.write(directory / "checkpoint.json", render_checkpoint(state, run))

    def unfinished(self) -> Result[tuple[str, Run] | None, Error]:
        """See the port."""
        try:
            paths = files_of_runs(self._runs, "checkpoint.json")
            if not paths:
                return Success(None)
            text = paths[0].read_bytes().decode("utf-8", "replace")
        except OSError as error:
            return Failure(store_io(error, "read", str(self._runs)))
        match sealed(parse_checkpoint(text, str(paths[0]))):
            case Success(state_and_run):
                return Success(state_and_run)
            case Failure(_):
                try:
                    move_file(str(paths[0]), str(paths[0].with_name("checkpoint.unreadable.json")))
                except OSError as error:
                    return Failure(store_io(error, "move aside", str(paths[0])))
                return self.unfinished()

    def deferred(self) -> Result[tuple[Change, ...], Error]:
        """See the port: `runs/deferred.json`."""
        path = self._runs / "deferred.json"
        try:
            text = path.read_bytes().decode("utf-8", "replace")
        except FileNotFoundError:
            return Success(())
        except OSError as error:
            return Failure(store_io(error, "read", str(path)))
        match sealed(parse_changes(text, str(path))):
            case Success(changes):
                return Success(changes)
            case Failure(corrupt):
                return Failure(corrupt)

    def put_deferred(self, changes: Sequence[Change]) -> Result[None, Error]:
        """See the port."""
        path = self._runs / "deferred.json"
        if changes:
            return self.write(path, render_changes(changes))
        kept = is_there(str(path))
        return kept.bind(lambda is_kept: self.write(path, render_changes(())) if is_kept else Success(None))

    def finish(self, run: Run, error: Error | None) -> Result[None, Error]:
        """See the port. A run that did nothing at all leaves no report."""
        directory = self._runs / run.id
        if run.dry_run or not (run.settled or run.taken_up or run.quarantined or run.warnings or run.paused or error):
            return Success(None)
        earlier = self._done_before(run) if run.resumed else ()
        written = self.write(directory / "report.json", render_report(run, self._clock.now_ms(), error, earlier))
        if isinstance(written, Failure) or error is not None:
            return written
        try:
            (directory / "checkpoint.json").unlink(missing_ok=True)
        except OSError as refused:
            return Failure(store_io(refused, "remove", str(directory / "checkpoint.json")))
        return Success(None)

    def _done_before(self, run: Run) -> tuple[LoggedAction, ...]:
        """What the run had done before it was interrupted: its checkpoint holds only the session in hand."""
        done = {each.id for settled in run.settled if settled.receipt for each in settled.receipt.applied}
        match sealed(self._log.footprint(run.id)):
            case Failure(_):  # the report says what it can
                return ()
            case Success(footprint):
                actions = logged_changes(note_changes(fold_files(footprint.files).files))
                return tuple(each for each in actions if done.isdisjoint((*each.ids, *each.new_ids)))

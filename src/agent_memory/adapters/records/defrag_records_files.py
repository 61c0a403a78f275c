"""Defrag records on disk: `runs/<run-id>/{defrag,report}.json`, replies, `runs/deferred-actions.json`, `runs/tiering.json`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import fsync_directory, move_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import is_there
from agent_memory.adapters.records.replies_files import RepliesFiles
from agent_memory.adapters.records.run_files import files_of_runs
from agent_memory.adapters.surroundings.root import is_directory
from agent_memory.domain.defrag_plan import Deferred
from agent_memory.domain.defrag_report import is_worth_a_report, leaves_something_half_done, logged
from agent_memory.domain.defrag_run import DefragRun, TieringMemo
from agent_memory.errors import Error
from agent_memory.formats.defrag_json import (
    parse_deferred,
    parse_defrag_checkpoint,
    parse_tiering,
    render_deferred,
    render_defrag_checkpoint,
    render_tiering,
)
from agent_memory.formats.report_json import render_report_document
from agent_memory.ports import Clock
from agent_memory.results import sealed

CHECKPOINT = "defrag.json"


class DefragRecordsFiles(RepliesFiles):
    """`DefragRecords` in the directory `runs` of a root."""

    def __init__(self, root: Path, clock: Clock) -> None:
        super().__init__(root)
        self._clock = clock

    def checkpoint(self, state: str, run: DefragRun) -> Result[None, Error]:
        """See the port."""
        if not leaves_something_half_done(state, run):
            return Success(None)
        return self.write(self._runs / run.id / CHECKPOINT, render_defrag_checkpoint(state, run))

    def unfinished(self) -> Result[tuple[str, DefragRun] | None, Error]:
        """See the port. A checkpoint that cannot be understood is moved aside: the store's transaction is whole or
        undone, and the next run decides everything anew."""
        try:
            paths = files_of_runs(self._runs, CHECKPOINT)
            if not paths:
                return Success(None)
            text = paths[0].read_bytes().decode("utf-8", "replace")
        except OSError as error:
            return Failure(store_io(error, "read", str(self._runs)))
        match sealed(parse_defrag_checkpoint(text, str(paths[0]))):
            case Success(state_and_run):
                return Success(state_and_run)
            case Failure(_):
                try:
                    move_file(str(paths[0]), str(paths[0].with_name("defrag.unreadable.json")))
                except OSError as error:
                    return Failure(store_io(error, "move aside", str(paths[0])))
                return self.unfinished()

    def finish(self, run: DefragRun, error: Error | None) -> Result[None, Error]:
        """See the port. A run that found nothing to do leaves no report, and no directory."""
        directory = self._runs / run.id
        failed = error is not None
        if is_worth_a_report(run, failed):
            text = render_report_document(logged(run, self._clock.now_ms(), failed), error)
            written = self.write(directory / "report.json", text)
            if isinstance(written, Failure):
                return written
        is_half_done = failed and error != run.trouble
        return Success(None) if is_half_done else self._without_checkpoint(directory)

    def _without_checkpoint(self, directory: Path) -> Result[None, Error]:
        try:
            (directory / CHECKPOINT).unlink(missing_ok=True)
            if is_directory(str(directory)):
                fsync_directory(str(directory))
                if not any(directory.iterdir()):
                    directory.rmdir()
        except OSError as refused:
            return Failure(store_io(refused, "remove", str(directory / CHECKPOINT)))
        return Success(None)

    def deferred(self) -> Result[tuple[Deferred, ...], Error]:
        """See the port."""
        path = self._runs / "deferred-actions.json"
        match sealed(self._text_of(path)):
            case Failure(error):
                return Failure(error)
            case Success(None):
                return Success(())
            case Success(text):
                return parse_deferred(text or "", str(path)).alt(lambda corrupt: corrupt)

    def put_deferred(self, deferred: Sequence[Deferred]) -> Result[None, Error]:
        """See the port."""
        path = self._runs / "deferred-actions.json"
        if deferred:
            return self._put(path, render_deferred(deferred))
        kept = is_there(str(path))
        return kept.bind(lambda is_kept: self._put(path, render_deferred(())) if is_kept else Success(None))

    def tiering(self) -> Result[TieringMemo, Error]:
        """See the port."""
        path = self._runs / "tiering.json"
        return self._text_of(path).map(
            lambda text: TieringMemo() if text is None else parse_tiering(text, str(path)).value_or(TieringMemo())
        )

    def put_tiering(self, memo: TieringMemo) -> Result[None, Error]:
        """See the port. One that says the same is not written again."""
        return self._put(self._runs / "tiering.json", render_tiering(memo))

    def _put(self, path: Path, text: str) -> Result[None, Error]:
        return self._text_of(path).bind(lambda present: Success(None) if present == text else self.write(path, text))

    def _text_of(self, path: Path) -> Result[str | None, Error]:
        try:
            return Success(path.read_bytes().decode("utf-8", "replace"))
        except FileNotFoundError:
            return Success(None)
        except OSError as error:
            return Failure(store_io(error, "read", str(path)))

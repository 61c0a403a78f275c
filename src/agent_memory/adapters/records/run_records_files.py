"""What is kept of runs under `runs/`: `<run-id>/{checkpoint,defrag,plan-<n>,report}.json`, replies, and what waits for the next run."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from agent_memory.adapters.disk.durable import fsync_directory, make_directories, move_file, replace_file
from agent_memory.adapters.disk.paths import as_store_io, exists, lies_there
from agent_memory.adapters.records.run_log_files import DEFRAG_CHECKPOINT, RunLogFiles
from agent_memory.adapters.surroundings.root import is_directory
from agent_memory.domain.actions import Deferred
from agent_memory.domain.change import Change
from agent_memory.domain.defrag_run import (
    DefragRun,
    TieringMemo,
    is_worth_a_report,
    leaves_something_half_done as is_half_done,
    logged,
)
from agent_memory.domain.run import KeptReply, Run, leaves_something_half_done
from agent_memory.domain.run_log import LoggedAction
from agent_memory.domain.undo_run import fold_files
from agent_memory.errors import Error, StateCorrupt
from agent_memory.formats.footprint_diff import logged_changes, note_changes
from agent_memory.formats.run_json import (
    parse_changes,
    parse_checkpoint,
    parse_deferred,
    parse_defrag_checkpoint,
    parse_reply_record,
    parse_tiering,
    plan_document,
    render_changes,
    render_checkpoint,
    render_deferred,
    render_defrag_checkpoint,
    render_reply,
    render_report,
    render_report_document,
    render_tiering,
)
from agent_memory.ports import Clock
from agent_memory.results import as_result, unwrap

T = TypeVar("T")

CHECKPOINT = "checkpoint.json"
_REPORT = "report.json"


# -- files ------------------------------------------------------------------------------------------------------------


def files_of_runs(runs: Path, relative: str) -> list[Path]:
    """`runs/<run-id>/<relative>` of every run that has it, oldest run first. Raises OSError: what cannot be looked at is never
    taken for missing (P6), as the globs of `pathlib` do where permission is denied."""
    try:
        with os.scandir(runs) as found:
            names = sorted(each.name for each in found if each.is_dir(follow_symlinks=False))
    except FileNotFoundError:
        return []
    return [path for path in (runs / name / relative for name in names) if lies_there(str(path))]


@as_result
def some_run_has(root: Path, relative: str) -> bool:
    """Whether the directory of any run has such a file."""
    runs = root / "runs"
    with as_store_io("look through", str(runs)):
        return bool(files_of_runs(runs, relative))


def _read(path: Path) -> str | None:
    with as_store_io("read", str(path)):
        try:
            return path.read_bytes().decode("utf-8", "replace")
        except FileNotFoundError:
            return None


def _write(path: Path, text: str) -> None:
    with as_store_io("write", str(path)):
        make_directories(str(path.parent))
        replace_file(str(path), text.encode("utf-8", "replace"))


def _write_if_other(path: Path, text: str) -> None:
    if _read(path) != text:
        _write(path, text)


def _first_checkpoint(runs: Path, name: str, parse: Callable[[str, str], T]) -> T | None:
    """The checkpoint of the oldest run that has one. One that cannot be understood is moved aside: the store's transaction is
    whole or undone, what it was about is still pending, and the next run decides everything anew."""
    with as_store_io("read", str(runs)):
        paths = files_of_runs(runs, name)
    for path in paths:
        try:
            return parse(_read(path) or "", str(path))
        except StateCorrupt:
            with as_store_io("move aside", str(path)):
                move_file(str(path), str(path.with_suffix(".unreadable.json")))
    return None


# -- replies ----------------------------------------------------------------------------------------------------------


class RepliesFiles:
    """`Replies` in the directory `runs` of a root: `<run-id>/replies/<key>.json`, and `<key>.spent.json` once they were applied
    or refused."""

    def __init__(self, root: Path) -> None:
        self._runs = root / "runs"

    @as_result
    def find_reply(self, key: str) -> KeptReply | None:
        """See the port. The newest, should there be several."""
        while True:
            with as_store_io("read", str(self._runs)):
                paths = self._kept(key, ".json")
                if not paths:
                    return None
                text = paths[-1].read_bytes().decode("utf-8", "replace")
            try:
                return parse_reply_record(text, str(paths[-1]))
            except StateCorrupt:
                self._spend(key)

    @as_result
    def keep_reply(self, run_id: str, key: str, reply: KeptReply) -> None:
        """See the port."""
        _write(self._runs / run_id / "replies" / f"{_slug(key)}.json", render_reply(reply))

    @as_result
    def spend_reply(self, key: str) -> None:
        """See the port: the file becomes `<key>.spent.json`."""
        self._spend(key)

    @as_result
    def drop_reply(self, key: str) -> None:
        """See the port."""
        with as_store_io("remove", str(self._runs)):
            for path in (*self._kept(key, ".json"), *self._kept(key, ".spent.json")):
                path.unlink(missing_ok=True)
                fsync_directory(str(path.parent))

    def _spend(self, key: str) -> None:
        with as_store_io("move", str(self._runs)):
            for path in self._kept(key, ".json"):
                move_file(str(path), str(path.with_suffix(".spent.json")))

    def _kept(self, key: str, ending: str) -> list[Path]:
        return files_of_runs(self._runs, f"replies/{_slug(key)}{ending}")


def _slug(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]


# -- consolidate ------------------------------------------------------------------------------------------------------


class RunRecordsFiles(RepliesFiles):
    """`RunRecords` in the directory `runs` of a root."""

    def __init__(self, root: Path, clock: Clock) -> None:
        super().__init__(root)
        self._clock = clock
        self._log = RunLogFiles(root)
        self._deferred = self._runs / "deferred.json"

    @as_result
    def checkpoint(self, state: str, run: Run) -> None:
        """See the port. The plan is written once, beside the first checkpoint of its session."""
        if not leaves_something_half_done(state, run):
            return
        directory = self._runs / run.id
        if state == "write_entries" and (work := run.work) is not None:
            plan = json.dumps(plan_document(work.plan), ensure_ascii=False, indent=1)
            _write(directory / f"plan-{len(run.settled) + 1}.json", plan)
        _write(directory / CHECKPOINT, render_checkpoint(state, run))

    @as_result
    def unfinished(self) -> tuple[str, Run] | None:
        """See the port."""
        return _first_checkpoint(self._runs, CHECKPOINT, parse_checkpoint)

    @as_result
    def deferred(self) -> tuple[Change, ...]:
        """See the port: `runs/deferred.json`."""
        text = _read(self._deferred)
        return () if text is None else unwrap(parse_changes(text, str(self._deferred)))

    @as_result
    def put_deferred(self, changes: Sequence[Change]) -> None:
        """See the port."""
        if changes or exists(str(self._deferred)):
            _write(self._deferred, render_changes(changes))

    @as_result
    def finish(self, run: Run, error: Error | None) -> None:
        """See the port. A run that did nothing at all leaves no report."""
        directory = self._runs / run.id
        if run.dry_run or not (run.settled or run.taken_up or run.quarantined or run.warnings or run.paused or error):
            return
        earlier = self._done_before(run) if run.resumed else ()
        _write(directory / _REPORT, render_report(run, self._clock.now_ms(), error, earlier))
        if error is None:
            with as_store_io("remove", str(directory / CHECKPOINT)):
                (directory / CHECKPOINT).unlink(missing_ok=True)

    def _done_before(self, run: Run) -> tuple[LoggedAction, ...]:
        """What the run had done before it was interrupted, as far as that is known: its checkpoint holds only the session in
        hand."""
        done = {each.id for settled in run.settled if settled.receipt for each in settled.receipt.applied}
        files = self._log.footprint(run.id).map(lambda footprint: footprint.files).value_or(())
        actions = logged_changes(note_changes(fold_files(files).files))
        return tuple(each for each in actions if done.isdisjoint((*each.ids, *each.new_ids)))


# -- defrag -----------------------------------------------------------------------------------------------------------


class DefragRecordsFiles(RepliesFiles):
    """`DefragRecords` in the directory `runs` of a root."""

    def __init__(self, root: Path, clock: Clock) -> None:
        super().__init__(root)
        self._clock = clock
        self._deferred = self._runs / "deferred-actions.json"
        self._tiering = self._runs / "tiering.json"

    @as_result
    def checkpoint(self, state: str, run: DefragRun) -> None:
        """See the port."""
        if is_half_done(state, run):
            _write(self._runs / run.id / DEFRAG_CHECKPOINT, render_defrag_checkpoint(state, run))

    @as_result
    def unfinished(self) -> tuple[str, DefragRun] | None:
        """See the port."""
        return _first_checkpoint(self._runs, DEFRAG_CHECKPOINT, parse_defrag_checkpoint)

    @as_result
    def finish(self, run: DefragRun, error: Error | None) -> None:
        """See the port. A run that found nothing to do leaves no report, and no directory."""
        directory = self._runs / run.id
        failed = error is not None
        if is_worth_a_report(run, failed):
            text = render_report_document(logged(run, self._clock.now_ms(), failed), error)
            _write(directory / _REPORT, text)
        if failed and error != run.trouble:
            return
        with as_store_io("remove", str(directory / DEFRAG_CHECKPOINT)):
            (directory / DEFRAG_CHECKPOINT).unlink(missing_ok=True)
            if is_directory(str(directory)):
                fsync_directory(str(directory))
                if not any(directory.iterdir()):
                    directory.rmdir()

    @as_result
    def deferred(self) -> tuple[Deferred, ...]:
        """See the port."""
        text = _read(self._deferred)
        return () if text is None else unwrap(parse_deferred(text, str(self._deferred)))

    @as_result
    def put_deferred(self, deferred: Sequence[Deferred]) -> None:
        """See the port."""
        if deferred or exists(str(self._deferred)):
            _write_if_other(self._deferred, render_deferred(deferred))

    @as_result
    def tiering(self) -> TieringMemo:
        """See the port."""
        text = _read(self._tiering)
        try:
            return TieringMemo() if text is None else parse_tiering(text, str(self._tiering))
        except StateCorrupt:
            return TieringMemo()

    @as_result
    def put_tiering(self, memo: TieringMemo) -> None:
        """See the port. One that says the same is not written again."""
        _write_if_other(self._tiering, render_tiering(memo))

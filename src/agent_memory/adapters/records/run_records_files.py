"""What is kept of runs under `runs/`: `<run-id>/{checkpoint,defrag,plan-<n>,report}.json`, replies, and what waits for the next run."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from agent_memory.adapters.disk.durable import fsync_directory, move_file
from agent_memory.adapters.disk.paths import (
    Codec,
    JsonFile,
    as_store_io,
    exists,
    is_directory,
    real_root,
    remove_file,
    subdirectories,
    write_text,
)
from agent_memory.adapters.records.run_log_files import DEFRAG_CHECKPOINT, MAX_RUN_FILE_BYTES, REPORT, RUNS, RunLogFiles
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
from agent_memory.formats.diffs import logged_changes, note_changes
from agent_memory.formats.run_json import (
    CHANGES,
    CHECKPOINT,
    DEFERRED,
    DEFRAG_CHECKPOINT as DEFRAG_FORMAT,
    REPLY,
    TIERING,
    plan_document,
    render_report,
    render_report_document,
)
from agent_memory.ports import Clock
from agent_memory.results import as_result, unwrap

T = TypeVar("T")

CHECKPOINT_FILE = "checkpoint.json"


def runs_with(root: str, relative: str) -> list[str]:
    """The paths below a root of `runs/<run-id>/<relative>`, of every run that has it, oldest run first. What cannot be
    looked at is an error, never missing (P6)."""
    paths = (f"{RUNS}/{name}/{relative}" for name in subdirectories(f"{root}/{RUNS}"))
    return [path for path in paths if exists(f"{root}/{path}")]


@as_result
def some_run_has(root: Path, relative: str) -> bool:
    """Whether the directory of any run has such a file."""
    return bool(runs_with(str(root), relative))


class RepliesFiles:
    """Replies, in the directory `runs` of a root: `<run-id>/replies/<key>.json`, and `<key>.spent.json` once they were applied or
    refused; and what the records of both machines have in common."""

    def __init__(self, root: Path) -> None:
        self._root = real_root(root)

    # -- replies ------------------------------------------------------------------------------------------------------

    @as_result
    def find_reply(self, key: str) -> KeptReply | None:
        """See the port. The newest, should there be several."""
        while paths := self._replies(key, ".json"):
            try:
                return self._file(paths[-1], REPLY).read()
            except StateCorrupt:
                unwrap(self.spend_reply(key))
        return None

    @as_result
    def keep_reply(self, run_id: str, key: str, reply: KeptReply) -> None:
        self._file(f"{RUNS}/{run_id}/replies/{_slug(key)}.json", REPLY).write(reply)

    @as_result
    def spend_reply(self, key: str) -> None:
        """See the port: the file becomes `<key>.spent.json`."""
        for path in self._replies(key, ".json"):
            self._move(path, ".spent.json")

    @as_result
    def drop_reply(self, key: str) -> None:
        for path in (*self._replies(key, ".json"), *self._replies(key, ".spent.json")):
            remove_file(self._root, path)

    def _replies(self, key: str, ending: str) -> list[str]:
        return runs_with(self._root, f"replies/{_slug(key)}{ending}")

    # -- files --------------------------------------------------------------------------------------------------------

    def _file(self, path: str, codec: Codec[T]) -> JsonFile[T]:
        return JsonFile(self._root, path, codec, MAX_RUN_FILE_BYTES)

    def _move(self, path: str, ending: str) -> None:
        with as_store_io("move", f"{self._root}/{path}"):
            move_file(f"{self._root}/{path}", f"{self._root}/{path.removesuffix('.json')}{ending}")

    def _first_checkpoint(self, name: str, codec: Codec[T]) -> T | None:
        """The checkpoint of the oldest run that has one. One that cannot be understood is moved aside: the store's transaction
        is whole or undone, what it was about is still pending, and the next run decides everything anew."""
        for path in runs_with(self._root, name):
            try:
                return self._file(path, codec).read()
            except StateCorrupt:
                self._move(path, ".unreadable.json")
        return None

    def _put_if_other(self, file: JsonFile[T], value: T, empty: T) -> None:
        """Replace what the file holds, unless it says the same; what is damaged does not."""
        with suppress(StateCorrupt):
            if (file.read() or empty) == value:
                return
        file.write(value)


class RunRecordsFiles(RepliesFiles):
    """`RunRecords` in the directory `runs` of a root."""

    def __init__(self, root: Path, clock: Clock) -> None:
        super().__init__(root)
        self._clock = clock
        self._log = RunLogFiles(root)
        self._deferred = self._file(f"{RUNS}/deferred.json", CHANGES)

    @as_result
    def checkpoint(self, state: str, run: Run) -> None:
        """See the port. The plan is written once, beside the first checkpoint of its session."""
        if not leaves_something_half_done(state, run):
            return
        if state == "write_entries" and (work := run.work) is not None:
            plan = json.dumps(plan_document(work.plan), ensure_ascii=False, indent=1)
            write_text(self._root, f"{RUNS}/{run.id}/plan-{len(run.settled) + 1}.json", plan)
        self._file(f"{RUNS}/{run.id}/{CHECKPOINT_FILE}", CHECKPOINT).write((state, run))

    @as_result
    def unfinished(self) -> tuple[str, Run] | None:
        return self._first_checkpoint(CHECKPOINT_FILE, CHECKPOINT)

    @as_result
    def deferred(self) -> tuple[Change, ...]:
        """See the port: `runs/deferred.json`."""
        return tuple(self._deferred.read() or ())

    @as_result
    def put_deferred(self, changes: Sequence[Change]) -> None:
        self._put_if_other(self._deferred, tuple(changes), ())

    @as_result
    def finish(self, run: Run, error: Error | None) -> None:
        """See the port. A run that did nothing at all leaves no report."""
        if run.dry_run or not (run.settled or run.taken_up or run.quarantined or run.warnings or run.paused or error):
            return
        earlier = self._done_before(run) if run.resumed else ()
        text = render_report(run, self._clock.now_ms(), error, earlier)
        write_text(self._root, f"{RUNS}/{run.id}/{REPORT}", text)
        if error is None:
            remove_file(self._root, f"{RUNS}/{run.id}/{CHECKPOINT_FILE}")

    def _done_before(self, run: Run) -> tuple[LoggedAction, ...]:
        """What the run had done before it was interrupted, as far as that is known: its checkpoint holds only the session in
        hand."""
        done = {each.id for settled in run.settled if settled.receipt for each in settled.receipt.applied}
        files = self._log.footprint(run.id).map(lambda footprint: footprint.files).value_or(())
        actions = logged_changes(note_changes(fold_files(files).files))
        return tuple(each for each in actions if done.isdisjoint((*each.ids, *each.new_ids)))


class DefragRecordsFiles(RepliesFiles):
    """`DefragRecords` in the directory `runs` of a root."""

    def __init__(self, root: Path, clock: Clock) -> None:
        super().__init__(root)
        self._clock = clock
        self._deferred = self._file(f"{RUNS}/deferred-actions.json", DEFERRED)
        self._tiering = self._file(f"{RUNS}/tiering.json", TIERING)

    @as_result
    def checkpoint(self, state: str, run: DefragRun) -> None:
        if is_half_done(state, run):
            self._file(f"{RUNS}/{run.id}/{DEFRAG_CHECKPOINT}", DEFRAG_FORMAT).write((state, run))

    @as_result
    def unfinished(self) -> tuple[str, DefragRun] | None:
        return self._first_checkpoint(DEFRAG_CHECKPOINT, DEFRAG_FORMAT)

    @as_result
    def finish(self, run: DefragRun, error: Error | None) -> None:
        """See the port. A run that found nothing to do leaves no report, and no directory."""
        is_half_way, error = error is not None, error or run.trouble
        failed = error is not None
        if is_worth_a_report(run, failed):
            text = render_report_document(logged(run, self._clock.now_ms(), failed), error)
            write_text(self._root, f"{RUNS}/{run.id}/{REPORT}", text)
        directory = f"{self._root}/{RUNS}/{run.id}"
        if is_half_way or not is_directory(directory):
            return
        remove_file(self._root, f"{RUNS}/{run.id}/{DEFRAG_CHECKPOINT}")
        with as_store_io("remove", directory):
            fsync_directory(directory)
            if not os.listdir(directory):
                os.rmdir(directory)

    @as_result
    def deferred(self) -> tuple[Deferred, ...]:
        return tuple(self._deferred.read() or ())

    @as_result
    def put_deferred(self, deferred: Sequence[Deferred]) -> None:
        self._put_if_other(self._deferred, tuple(deferred), ())

    @as_result
    def tiering(self) -> TieringMemo:
        try:
            return self._tiering.read() or TieringMemo()
        except StateCorrupt:
            return TieringMemo()

    @as_result
    def put_tiering(self, memo: TieringMemo) -> None:
        """See the port. One that says the same is not written again."""
        self._put_if_other(self._tiering, memo, TieringMemo())


def _slug(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]

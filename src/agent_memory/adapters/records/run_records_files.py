"""Run records on disk: `runs/<run-id>/{checkpoint,plan,report}.json` and `runs/<run-id>/replies/<key>.json`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import make_directories, move_file, replace_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.domain.change import Change
from agent_memory.domain.results import sealed
from agent_memory.domain.run import KeptReply, Run, leaves_something_half_done
from agent_memory.errors import Error
from agent_memory.formats.run_json import (
    parse_changes,
    parse_checkpoint,
    parse_reply_record,
    plan_document,
    render_changes,
    render_checkpoint,
    render_reply,
    render_report,
)
from agent_memory.ports import Clock


class RunRecordsFiles:
    """`RunRecords` in the directory `runs` of a root."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self._runs = root / "runs"
        self._clock = clock

    def checkpoint(self, state: str, run: Run) -> Result[None, Error]:
        """See the port. The plan is written once, beside the first checkpoint of its session."""
        if not leaves_something_half_done(state, run):
            return Success(None)
        directory = self._runs / run.id
        if state == "write_entries" and (work := run.work) is not None:
            plan = json.dumps(plan_document(work.plan), ensure_ascii=False, indent=1)
            stored = self._write(directory / f"plan-{len(run.settled) + 1}.json", plan)
            if isinstance(stored, Failure):
                return stored
        return self._write(directory / "checkpoint.json", render_checkpoint(state, run))

    def unfinished(self) -> Result[tuple[str, Run] | None, Error]:
        """See the port."""
        try:
            paths = sorted(self._runs.glob("*/checkpoint.json"))
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

    def find_reply(self, key: str) -> Result[KeptReply | None, Error]:
        """See the port. The newest, should there be several."""
        try:
            paths = sorted(self._runs.glob(f"*/replies/{_slug(key)}.json"))
            if not paths:
                return Success(None)
            text = paths[-1].read_bytes().decode("utf-8", "replace")
        except OSError as error:
            return Failure(store_io(error, "read", str(self._runs)))
        match sealed(parse_reply_record(text, str(paths[-1]))):
            case Success(reply):
                return Success(reply)
            case Failure(_):
                return self.spend_reply(key).bind(lambda _: self.find_reply(key))

    def keep_reply(self, run_id: str, key: str, reply: KeptReply) -> Result[None, Error]:
        """See the port."""
        return self._write(self._runs / run_id / "replies" / f"{_slug(key)}.json", render_reply(reply))

    def spend_reply(self, key: str) -> Result[None, Error]:
        """See the port: the file becomes `<key>.spent.json`."""
        try:
            for path in self._runs.glob(f"*/replies/{_slug(key)}.json"):
                move_file(str(path), str(path.with_suffix(".spent.json")))
        except OSError as error:
            return Failure(store_io(error, "move", str(self._runs)))
        return Success(None)

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
        if not changes and not path.exists():
            return Success(None)
        return self._write(path, render_changes(changes))

    def finish(self, run: Run, error: Error | None) -> Result[None, Error]:
        """See the port. A run that did nothing at all leaves no report."""
        directory = self._runs / run.id
        if run.dry_run or not (run.settled or run.quarantined or run.warnings or run.paused or error):
            return Success(None)
        written = self._write(directory / "report.json", render_report(run, self._clock.now_ms(), error))
        if isinstance(written, Failure) or error is not None:
            return written
        try:
            (directory / "checkpoint.json").unlink(missing_ok=True)
        except OSError as refused:
            return Failure(store_io(refused, "remove", str(directory / "checkpoint.json")))
        return Success(None)

    def _write(self, path: Path, text: str) -> Result[None, Error]:
        try:
            make_directories(str(path.parent))
            replace_file(str(path), text.encode("utf-8", "replace"))
        except OSError as error:
            return Failure(store_io(error, "write", str(path)))
        return Success(None)


def _slug(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]

"""Runs on disk: what past ones did and what undoes them (`RunLog`), and records of those at work (`RunRecords`,
`DefragRecords`). A run id begins with the run's start time, so that names in reverse order are runs from newest to
oldest. Old runs are removed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Generic, TypeVar

from attrs import evolve
from returns.result import Result

from agent_memory.errors import Error, PathRefused, RunNotFound, StateCorrupt, StoreIo, UndoRefused
from agent_memory.files.durable import fsync_directory, move_file
from agent_memory.files.paths import (
    JsonFile,
    as_store_io,
    directory_in,
    exists,
    is_directory,
    is_plain_name,
    names_below,
    names_in,
    read_bytes,
    real_root,
    remove_file,
    subdirectories,
    write_text,
)
from agent_memory.ports import Clock
from agent_memory.results import as_result, unwrap
from agent_memory.rules.change import Change, Footprint, SectionChange, fold_files
from agent_memory.rules.plan import DaySpend, Deferred
from agent_memory.rules.run import DefragRun, KeptReply, Run, TieringMemo
from agent_memory.rules.run_log import (
    KEEP_DAYS,
    KEEP_RUNS,
    LoggedAction,
    LoggedRun,
    Undoing,
    UndoneMark,
    is_named,
    undone_by,
    undone_fingerprints,
)
from agent_memory.store.bookkeeping import FOOTPRINT, FOOTPRINT_NAME, UNDOING as UNDOING_FORMAT, UNDONE as UNDONE_FORMAT
from agent_memory.store.diffs import logged_changes, note_changes
from agent_memory.store.note_files import RUNS
from agent_memory.store.run_json import (
    CHANGES,
    CHECKPOINT,
    DEFERRED,
    DEFRAG_CHECKPOINT as DEFRAG_FORMAT,
    REPLY,
    TIERING,
    parse_report,
    plan_document,
    render_report,
    reported,
)
from agent_memory.text.instants import DAY_MS, ms_in_name
from agent_memory.text.json_codec import Documents

C = TypeVar("C")
D = TypeVar("D")
T = TypeVar("T")

UNDONE = f"{RUNS}/undone.json"
UNDOING = f"{RUNS}/undoing.json"
REPORT = "report.json"
DEFRAG_CHECKPOINT = "defrag.json"
CHECKPOINT_FILE = "checkpoint.json"

FORGOTTEN_MARK = "forgotten.json"
"""Marks the directory of a run whose footprint lacks what was forgotten (P28)."""

MAX_RUN_FILE_BYTES = 1 << 30
"""The limit of a footprint, which holds the bytes of many notes, and of any other file."""
_BEGINS_AS_RUN_ID = re.compile(r"\d{4}-\d\d-\d\dT", re.ASCII)
"""Matches the beginning of a run's name: there are other directories beside those of runs."""

_RUN_ID = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z_[0-9a-f]+", re.ASCII)
_SECTIONS = "sections.json"

_UNREADABLE = (StateCorrupt, StoreIo, PathRefused)


class RunLog:
    """Tells what past runs did, and what undoes them, from the directory `runs` of a root."""

    def __init__(self, root: Path | str) -> None:
        self._root = real_root(root)
        self._undone = JsonFile(self._root, UNDONE, UNDONE_FORMAT, MAX_RUN_FILE_BYTES)
        self._undoing = JsonFile(self._root, UNDOING, UNDOING_FORMAT, MAX_RUN_FILE_BYTES)

    @as_result
    def runs(self, limit: int | None = None, named: str = "") -> tuple[LoggedRun, ...]:
        """Returns runs that are at work or left a report, newest first; at most `limit`, and only those whose id, or
        its last part, begins with `named`. An unreadable report is returned as one with problems. Opens no more reports
        than needed."""
        names = (name for name in self._names() if is_named(name, named))
        return tuple(islice(self._logged(names), limit))

    @as_result
    def footprint(self, run_id: str) -> Footprint:
        """Returns everything the run changed. RunNotFound if nothing is kept of it. Raises StateCorrupt if a part is
        damaged or missing, since half of a run must not be undone; UndoRefused if only forgotten things are left of
        it."""
        if not is_plain_name(run_id):
            raise RunNotFound(run_id)
        parts = self._parts(run_id)
        if not parts and self._has(run_id, FORGOTTEN_MARK):
            raise UndoRefused(run_id, ("what it changed was forgotten since (`memory forget`)",))
        found = [self._part(run_id, name).read() for name in parts]
        sections = self._sections(run_id)
        if sections is None and not parts:
            raise RunNotFound(run_id)
        return Footprint(tuple(file for part in found if part is not None for file in part.files), sections or ())

    @as_result
    def spent(self, run_id: str) -> DaySpend:
        """Returns what the replies cost that the run keeps: calls of a command, and characters."""
        directory = f"{RUNS}/{run_id}/replies"
        paths = (f"{directory}/{name}" for name in names_below(self._root, directory))
        replies = (JsonFile(self._root, path, REPLY, MAX_RUN_FILE_BYTES).read() for path in paths)
        kept = [each for each in replies if each is not None and each.prompt_chars]
        return DaySpend(len(kept), sum(each.prompt_chars for each in kept), sum(len(each.text) for each in kept))

    @as_result
    def put_sections(self, run_id: str, sections: Sequence[SectionChange]) -> None:
        """Stores how the run is about to change managed sections. What is stored for a path already stays: a resumed
        run must not take its own work for the original. Unchanged sections are left out."""
        known = self._sections(run_id) or ()
        paths = {each.path for each in known}
        more = [each for each in sections if each.path not in paths and each.before != each.after]
        if more:
            self._part(run_id, _SECTIONS).write(Footprint(sections=(*known, *more)))

    @as_result
    def put_report(self, run: LoggedRun, error: Error | None = None, more: Mapping[str, object] | None = None) -> None:
        """Writes the report of a run. `error` is why it paused or failed; `more` has the machine's own keys."""
        write_text(self._root, f"{RUNS}/{run.run_id}/{REPORT}", render_report(run, error, more))

    @as_result
    def undone(self) -> frozenset[str]:
        """Returns the fingerprints of actions that a person has undone (`plan.fingerprint_of`). A damaged list is an
        error, never empty (P6)."""
        return undone_fingerprints(self._marks())

    @as_result
    def mark_undone(self, run_id: str, by_run_id: str, fingerprints: frozenset[str]) -> None:
        """Records that a run was undone, by which undo, and which of its actions must not be repeated."""
        marks = {**self._marks(), run_id: UndoneMark(by_run_id, fingerprints)}
        self._undone.write(dict(sorted(marks.items())))

    @as_result
    def undoing(self) -> Undoing | None:
        """Returns the undo that is at work or was interrupted by a crash."""
        return self._undoing.read()

    @as_result
    def put_undoing(self, undoing: Undoing | None) -> None:
        """Makes durable which undo is about to change something; None once it is done."""
        if undoing is None:
            self._undoing.remove()
        else:
            self._undoing.write(undoing)

    # -- runs ---------------------------------------------------------------------------------------------------------

    def _names(self) -> tuple[str, ...]:
        names = subdirectories(f"{self._root}/{RUNS}")
        return tuple(sorted(filter(_BEGINS_AS_RUN_ID.match, filter(is_plain_name, names)), reverse=True))

    def _logged(self, names: Iterable[str]) -> Iterator[LoggedRun]:
        undone = undone_by(self._marks())
        for name in names:
            run = self.run(name)
            if run is not None:
                yield evolve(run, undone_by=undone.get(name))

    def run(self, run_id: str) -> LoggedRun | None:
        """Returns what is known of a run; None if it changed nothing and left no report, like a dry run."""
        kept = True  # as far as we know
        path = f"{RUNS}/{run_id}/{REPORT}"
        try:
            kept = self._has(run_id, "footprint-1.json") or self._has(run_id, _SECTIONS)
            data = read_bytes(self._root, path, MAX_RUN_FILE_BYTES)
            if data is None:
                return self._unfinished(run_id) if kept else None
            return evolve(parse_report(data, path), run_id=run_id, kept=kept)
        except _UNREADABLE as error:
            problems = error.problems if isinstance(error, StateCorrupt) else (str(error),)
            return evolve(_blank(run_id, "unreadable"), problems=problems, kept=kept)

    def _has(self, run_id: str, name: str) -> bool:
        return exists(f"{self._root}/{RUNS}/{run_id}/{name}")

    def _unfinished(self, run_id: str) -> LoggedRun:
        run = evolve(_blank(run_id, "unfinished"), machine="other")
        try:
            at_work = self._undoing.read()
            if self._has(run_id, DEFRAG_CHECKPOINT):
                run = evolve(run, machine="defrag")
            elif self._has(run_id, CHECKPOINT_FILE):
                run = evolve(run, machine="consolidate")
        except _UNREADABLE:  # the undo reports it
            at_work = None
        if at_work is not None and at_work.run_id == run_id:
            run = evolve(run, machine="undo", undid=at_work.undoes)
        try:
            files = fold_files(unwrap(self.footprint(run_id)).files).files
        except (*_UNREADABLE, RunNotFound, UndoRefused) as error:
            return evolve(run, problems=(str(error),))
        done = logged_changes(note_changes(files))
        what = "an import, a review or a change of scopes" if run.machine == "other" else "the next run finishes it"
        return evolve(run, actions=done, kept=True, summary=f"at work, or interrupted: {what}")

    # -- footprints ---------------------------------------------------------------------------------------------------

    def _parts(self, run_id: str) -> tuple[str, ...]:
        directory = f"{self._root}/{RUNS}/{run_id}"
        numbers = sorted(int(found[1]) for name in names_in(directory) if (found := FOOTPRINT_NAME.fullmatch(name)))
        if numbers != list(range(1, len(numbers) + 1)):
            raise StateCorrupt(directory, ("some of its footprints are gone",))
        return tuple(f"footprint-{number}.json" for number in numbers)

    def _sections(self, run_id: str) -> tuple[SectionChange, ...] | None:
        part = self._part(run_id, _SECTIONS).read()
        return None if part is None else part.sections

    def _part(self, run_id: str, name: str) -> JsonFile[Footprint]:
        return JsonFile(self._root, f"{RUNS}/{run_id}/{name}", FOOTPRINT, MAX_RUN_FILE_BYTES)

    def _marks(self) -> Mapping[str, UndoneMark]:
        return self._undone.read() or {}


def _blank(run_id: str, result: str) -> LoggedRun:
    return LoggedRun(run_id, "consolidate", ms_in_name(run_id) or 0, None, result, "")


# -- runs at work ------------------------------------------------------------------------------------------------------


def runs_with(root: str, relative: str) -> list[str]:
    """Returns the existing paths `runs/<run-id>/<relative>` below a root, oldest first. Unreadable is not missing (P6)."""
    paths = (f"{RUNS}/{name}/{relative}" for name in subdirectories(f"{root}/{RUNS}"))
    return [path for path in paths if exists(f"{root}/{path}")]


class RunRecords(Generic[C, D]):
    """The records of a machine's runs in the directory `runs` of a root: a checkpoint for each run, its report, work
    left for the next run, and paid replies: `<run-id>/replies/<key>.json`, renamed `<key>.spent.json` once applied or
    refused. A run that nobody answered (`DefragRun.trouble`) is reported as failed, together with what it did do."""

    def __init__(
        self,
        root: Path,
        clock: Clock,
        checkpoint: tuple[str, Documents[tuple[str, C]]],
        deferred: str,
        codec: Documents[Sequence[D]],
    ) -> None:
        self._root = real_root(root)
        self._log = RunLog(root)
        self._clock = clock
        self._checkpoint_name, self._checkpoint_codec = checkpoint
        self._deferred = self._file(f"{RUNS}/{deferred}", codec)

    def checkpoint(self, state: str, run: C) -> Result[None, Error]:
        """Makes state and context durable where a crash would leave something half done; otherwise does nothing."""
        raise NotImplementedError  # each machine's records define their own

    def finish(self, run: C, error: Error | None) -> Result[None, Error]:
        """Writes the report, and drops the checkpoint unless the run failed."""
        raise NotImplementedError  # likewise

    # -- replies ------------------------------------------------------------------------------------------------------

    @as_result
    def find_reply(self, key: str) -> KeptReply | None:
        """Returns the newest paid reply that was neither applied nor refused."""
        while paths := self._replies(key, ".json"):
            try:
                return self._file(paths[-1], REPLY).read()
            except StateCorrupt:
                unwrap(self.spend_reply(key))
        return None

    @as_result
    def keep_reply(self, run_id: str, key: str, reply: KeptReply) -> None:
        """Makes a redacted reply durable before it is parsed."""
        self._file(f"{RUNS}/{run_id}/replies/{_slug(key)}.json", REPLY).write(reply)

    @as_result
    def spend_reply(self, key: str) -> None:
        """Marks the reply as applied or refused: it stays on record, but `find_reply` no longer returns it. The file
        becomes `<key>.spent.json`."""
        for path in self._replies(key, ".json"):
            self._move(path, ".spent.json")

    @as_result
    def drop_reply(self, key: str) -> None:
        """Deletes a reply, spent or not, that states something a person had memory forget (P28)."""
        for path in (*self._replies(key, ".json"), *self._replies(key, ".spent.json")):
            remove_file(self._root, path)

    def _replies(self, key: str, ending: str) -> list[str]:
        return runs_with(self._root, f"replies/{_slug(key)}{ending}")

    def _file(self, path: str, codec: Documents[T]) -> JsonFile[T]:
        return JsonFile(self._root, path, codec, MAX_RUN_FILE_BYTES)

    def _move(self, path: str, ending: str) -> None:
        with as_store_io("move", f"{self._root}/{path}"):
            move_file(f"{self._root}/{path}", f"{self._root}/{path.removesuffix('.json')}{ending}")

    # -- after a run --------------------------------------------------------------------------------------------------

    @as_result
    def unfinished(self) -> tuple[str, C] | None:
        """Returns state and context of the oldest run that crashed. A checkpoint that cannot be parsed is moved aside:
        its work is still pending, the store's transaction is whole or undone, and the next run decides anew."""
        for path in runs_with(self._root, self._checkpoint_name):
            try:
                return self._file(path, self._checkpoint_codec).read()
            except StateCorrupt:
                self._move(path, ".unreadable.json")
        return None

    @as_result
    def deferred(self) -> tuple[D, ...]:
        """Returns what exceeded a run's limit, oldest first."""
        return tuple(self._deferred.read() or ())

    @as_result
    def put_deferred(self, deferred: Sequence[D]) -> None:
        self._put_if_other(self._deferred, tuple(deferred), ())

    def _put_if_other(self, file: JsonFile[T], value: T, empty: T) -> None:
        """Replaces what the file holds if it differs or is damaged."""
        with suppress(StateCorrupt):
            if (file.read() or empty) == value:
                return
        file.write(value)


class ConsolidateRecords(RunRecords[Run, Change]):
    def __init__(self, root: Path, clock: Clock) -> None:
        super().__init__(root, clock, (CHECKPOINT_FILE, CHECKPOINT), "deferred.json", CHANGES)

    @as_result
    def checkpoint(self, state: str, run: Run) -> None:
        """See the base. The plan is written once, beside the first checkpoint of its session."""
        if not run.leaves_something_half_done(state):
            return
        if state == "write_entries" and (work := run.work) is not None:
            plan = json.dumps(plan_document(work.plan), ensure_ascii=False, indent=1)
            write_text(self._root, f"{RUNS}/{run.id}/plan-{len(run.settled) + 1}.json", plan)
        self._file(f"{RUNS}/{run.id}/{CHECKPOINT_FILE}", CHECKPOINT).write((state, run))

    @as_result
    def finish(self, run: Run, error: Error | None) -> None:
        """See the base. A run that did nothing leaves no report."""
        if run.dry_run or not (run.settled or run.taken_up or run.quarantined or run.warnings or run.paused or error):
            return
        earlier: tuple[LoggedAction, ...] = ()
        if run.resumed:
            # What it did before, as far as known: its checkpoint has only the session at hand.
            done = {each.id for settled in run.settled if settled.receipt for each in settled.receipt.applied}
            files = self._log.footprint(run.id).map(lambda footprint: footprint.files).value_or(())
            actions = logged_changes(note_changes(fold_files(files).files))
            earlier = tuple(each for each in actions if done.isdisjoint(each.all_ids))
        logged, more = reported(run, self._clock.now_ms(), error)
        logged = evolve(logged, actions=(*earlier, *logged.actions))
        unwrap(self._log.put_report(logged, error or run.paused, more))
        if error is None:
            remove_file(self._root, f"{RUNS}/{run.id}/{CHECKPOINT_FILE}")


class DefragRecords(RunRecords[DefragRun, Deferred]):
    def __init__(self, root: Path, clock: Clock) -> None:
        super().__init__(root, clock, (DEFRAG_CHECKPOINT, DEFRAG_FORMAT), "deferred-actions.json", DEFERRED)
        self._tiering = self._file(f"{RUNS}/tiering.json", TIERING)

    @as_result
    def checkpoint(self, state: str, run: DefragRun) -> None:
        if run.leaves_something_half_done(state):
            self._file(f"{RUNS}/{run.id}/{DEFRAG_CHECKPOINT}", DEFRAG_FORMAT).write((state, run))

    @as_result
    def finish(self, run: DefragRun, error: Error | None) -> None:
        """See the base. A run that found nothing to do leaves no report and no directory."""
        is_half_way, error = error is not None, error or run.trouble
        failed = error is not None
        if run.is_worth_a_report(failed=failed):
            unwrap(self._log.put_report(run.logged(self._clock.now_ms(), failed=failed), error))
        directory = f"{self._root}/{RUNS}/{run.id}"
        if is_half_way or not is_directory(directory):
            return
        remove_file(self._root, f"{RUNS}/{run.id}/{DEFRAG_CHECKPOINT}")
        with as_store_io("remove", directory):
            fsync_directory(directory)
            if not os.listdir(directory):
                os.rmdir(directory)

    @as_result
    def tiering(self) -> TieringMemo:
        """Returns the inputs of the last tiering; empty if there was none or the derived memo is damaged."""
        try:
            return self._tiering.read() or TieringMemo()
        except StateCorrupt:
            return TieringMemo()

    @as_result
    def put_tiering(self, memo: TieringMemo) -> None:
        """Keeps the inputs of a tiering. An unchanged memo is not written again."""
        self._put_if_other(self._tiering, memo, TieringMemo())


def _slug(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]


# -- pruning ----------------------------------------------------------------------------------------------------------


@as_result
def prune_run_files(root: Path, clock: Clock) -> int:
    """Removes the runs that are neither among the newest `KEEP_RUNS` nor younger than `KEEP_DAYS`; returns their number. A
    run at work or interrupted stays. The caller holds the run lock. After an error the rest is left for the next time."""
    runs = directory_in(real_root(root), RUNS)
    undoing = unwrap(RunLog(root).undoing())
    at_work = () if undoing is None else (undoing.run_id, undoing.undoes)
    newest_first = sorted(filter(_RUN_ID.fullmatch, subdirectories(runs)), reverse=True)
    old = [
        name
        for name in newest_first[KEEP_RUNS:]
        if (ms_in_name(name) or 0) < clock.now_ms() - KEEP_DAYS * DAY_MS
        and not (name in at_work or _is_unfinished(f"{runs}/{name}"))
    ]
    gone = f"{runs}/pruned"  # half a footprint must not pass for the whole
    with as_store_io("remove", gone):
        for name in (None, *old):
            if name is not None:
                os.rename(f"{runs}/{name}", gone)
                fsync_directory(runs)
            if exists(gone):  # at first, if a crash left it
                shutil.rmtree(gone)
    return len(old)


def _is_unfinished(directory: str) -> bool:
    try:
        return exists(f"{directory}/{CHECKPOINT_FILE}") or exists(f"{directory}/{DEFRAG_CHECKPOINT}")
    except StoreIo:
        return True

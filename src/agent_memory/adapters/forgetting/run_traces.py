"""What runs keep of what is forgotten: replies, plans, footprints, managed sections, reports, deferred changes.

A run of which a footprint or a section held it loses its details, but for what it did to other notes: that can still be
undone. The file `forgotten.json` in its directory says so; it is written first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import fsync_directory
from agent_memory.adapters.disk.file_in_root import drop_file, put_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.listed_names import directories_in, files_below
from agent_memory.adapters.disk.paths import directory_inside, inside, read_file, real_root
from agent_memory.adapters.forgetting.note_traces import id_at
from agent_memory.adapters.records.run_log_files import FORGOTTEN_MARK, RUNS, RunLogFiles
from agent_memory.adapters.store.reverted_files import files_together, without
from agent_memory.domain.actions import ids_of
from agent_memory.domain.change import Change, Create, Replace, subject_of
from agent_memory.domain.footprint import Footprint
from agent_memory.domain.forgetting.sources import SessionKey, share_of
from agent_memory.domain.forgetting.trace_words import TraceWords
from agent_memory.domain.instants import iso_of
from agent_memory.domain.recording.file_change import FileChange, FileState
from agent_memory.domain.tiers import TIERS_FILE, TierList
from agent_memory.errors import Error
from agent_memory.formats.defrag_json import parse_deferred, render_deferred
from agent_memory.formats.footprint_json import parse_footprint, render_footprint
from agent_memory.formats.forgetful_json import forgetful_debts, forgetful_report
from agent_memory.formats.run_json import parse_changes, render_changes
from agent_memory.formats.tiers_json import parse_tiers, render_tiers
from agent_memory.results import sealed

_REPORT = "report.json"
_REPLIES = "replies"
_MAX_BYTES = 1 << 30
_NOT_RUNS = ("purge",)


@frozen
class RunTraces:
    """Looks through `runs/` of a root for the traces of some entries and, maybe, a session; and removes them."""

    root: Path
    words: TraceWords
    touched_ids: frozenset[str]
    """Entries of which some file goes or is rewritten: what runs kept of those files is not to come back."""
    session: SessionKey | None

    def runs(self) -> Result[tuple[str, ...], Error]:
        """The runs that lose their details, newest first. Nothing is changed."""

        def holding(names: list[str]) -> Result[tuple[str, ...], Error]:
            found: list[str] = []
            for name in names:
                match sealed(self._holds(name)):
                    case Failure(error):
                        return Failure(error)
                    case Success(holds):
                        found += [name] if holds else []
            return Success(tuple(sorted(found, reverse=True)))

        return self._names().bind(holding)

    def remove(self, runs: tuple[str, ...], at_ms: int) -> Result[None, Error]:
        """Take the details of these runs, what waits for the next run, and every other trace. Doing it twice is harmless."""
        for name in runs:
            emptied = self._without_details(name, at_ms)
            if isinstance(emptied, Failure):
                return emptied
        names = self._names()
        if isinstance(names, Failure):
            return names
        for name in names.unwrap():
            done = self._replies_of(name)
            done = done if isinstance(done, Failure) else self._report_of(name)
            if isinstance(done, Failure):
                return done
        return (
            self._deferred().bind(lambda _: self._actions()).bind(lambda _: self._debts()).bind(lambda _: self._memo())
        )

    # -- looking ------------------------------------------------------------------------------------------------------

    def _names(self) -> Result[list[str], Error]:
        found = directories_in(f"{self._real}/{RUNS}")
        return found.map(lambda names: [name for name in names if name not in _NOT_RUNS and not name.startswith(".")])

    def _holds(self, run: str) -> Result[bool, Error]:
        def some_is_trace(paths: list[str]) -> Result[bool, Error]:
            for path in paths:
                name = path.rpartition("/")[2]
                if name == FORGOTTEN_MARK:
                    continue
                match sealed(self._read(path)):
                    case Failure(error):
                        return Failure(error)
                    case Success(data):
                        if data is not None and self._is_trace(name, data, path):
                            return Success(True)
            return Success(False)

        return self._files(f"{RUNS}/{run}").bind(some_is_trace)

    def _is_trace(self, name: str, data: bytes, path: str) -> bool:
        if name.startswith("footprint-"):
            match sealed(parse_footprint(data, path)):
                case Failure(_):
                    return True  # it can be undone no more, and nobody can tell what is in it
                case Success(footprint):
                    return self._in_footprint(footprint)
        if name == _REPORT or _REPLIES in path.split("/"):
            return False  # looked at one by one
        return self._is_named_in(data)

    def _in_footprint(self, footprint: Footprint) -> bool:
        return any(map(self._is_trace_in, footprint.files))

    def _is_trace_in(self, change: FileChange) -> bool:
        if id_at(change.path) in self.touched_ids:
            return True
        session = None if self.session is None else self.session.session_id.encode("utf-8", "surrogatepass")
        states = (state.data for state in (change.before, change.after) if state is not None)
        return session is not None and any(session in data for data in states)

    def _is_named_in(self, data: bytes) -> bool:
        return any(needle in data for needle in self._needles())

    def _needles(self) -> Iterator[bytes]:
        for text in (*self.words.ids, *(() if self.session is None else (self.session.session_id,))):
            yield text.encode("utf-8", "surrogatepass")
            yield json.dumps(text)[1:-1].encode("ascii")

    # -- removing -----------------------------------------------------------------------------------------------------

    def _without_details(self, run: str, at_ms: int) -> Result[None, Error]:
        mark = json.dumps({"version": 1, "at": iso_of(at_ms)}) + "\n"
        marked = put_file(self._real, f"{RUNS}/{run}/{FORGOTTEN_MARK}", mark)
        if isinstance(marked, Failure):
            return marked

        kept = self._of_others(run)
        first = f"{RUNS}/{run}/footprint-1.json"
        if kept:
            put = put_file(self._real, first, render_footprint(Footprint(kept)).decode("ascii"))
            if isinstance(put, Failure):
                return put
        stay = (f"{RUNS}/{run}/{_REPORT}", f"{RUNS}/{run}/{FORGOTTEN_MARK}", *([first] if kept else []))

        def dropped(paths: list[str]) -> Result[None, Error]:
            for path in paths:
                if path not in stay:
                    gone = self._drop(path)
                    if isinstance(gone, Failure):
                        return gone
            return Success(None)

        return self._files(f"{RUNS}/{run}").bind(dropped)

    def _of_others(self, run: str) -> tuple[FileChange, ...]:
        """What the run did to notes that have nothing to do with what goes; nothing where that cannot be told."""
        match sealed(RunLogFiles(self.root).footprint(run)):
            case Failure(_):
                return ()
            case Success(footprint):
                files = footprint.files
        groups = files_together(files)
        going = {path for each in files if self._is_trace_in(each) for path in groups[each.path]}
        kept = [
            self._without_ids(each) if each.path == TIERS_FILE else each for each in files if each.path not in going
        ]
        return tuple(kept) if any(each.path != TIERS_FILE for each in kept) else ()

    def _without_ids(self, change: FileChange) -> FileChange:
        def cut(state: FileState | None) -> FileState | None:
            if state is None:
                return None
            tiers = parse_tiers(state.data, TIERS_FILE).map(lambda found: without(found, self.touched_ids))
            return evolve(state, data=render_tiers(tiers.value_or(TierList())))

        return FileChange(change.path, cut(change.before), cut(change.after))

    def _replies_of(self, run: str) -> Result[None, Error]:
        """Replies of a run that dealt with what went, or of which no report says whose they are, where a session is
        forgotten; and others that state it."""

        def removed(report: bytes | None) -> Result[None, Error]:
            dealt = report is not None and self._is_named_in(report)
            unknown = report is None and self.session is not None
            paths = self._files(f"{RUNS}/{run}/{_REPLIES}")
            if isinstance(paths, Failure):
                return paths
            for path in paths.unwrap():
                match sealed(self._read(path)):
                    case Failure(error):
                        return Failure(error)
                    case Success(data):
                        if dealt or unknown or self._states_it(data or b""):
                            gone = self._drop(path)
                            if isinstance(gone, Failure):
                                return gone
            return Success(None)

        return self._read(f"{RUNS}/{run}/{_REPORT}").bind(removed)

    def _states_it(self, data: bytes) -> bool:
        # The text of a reply is JSON inside JSON.
        text = data.decode("utf-8", "replace").replace("\\\\", "\\").replace("\\n", "\n")
        return self.words.names_one(text) or self.words.is_in(text)

    def _report_of(self, run: str) -> Result[None, Error]:
        path = f"{RUNS}/{run}/{_REPORT}"
        return self._rewritten(path, lambda data: forgetful_report(data, self.words, path).alt(_as_error))

    def _deferred(self) -> Result[None, Error]:
        path = f"{RUNS}/deferred.json"

        def kept(data: bytes) -> Result[bytes, Error]:
            return (
                parse_changes(data.decode("utf-8", "replace"), path)
                .alt(_as_error)
                .map(lambda changes: render_changes([each for each in changes if not self._is_trace_of(each)]).encode())
            )

        return self._rewritten(path, kept)

    def _is_trace_of(self, change: Change) -> bool:
        """What waits to be written and comes from the session goes as a whole: nobody has seen it yet."""
        if subject_of(change) in self.touched_ids:
            return True
        if not isinstance(change, Create | Replace) or self.session is None:
            return False
        return share_of(change.entry.meta, self.session) != "none"

    def _actions(self) -> Result[None, Error]:
        path = f"{RUNS}/deferred-actions.json"

        def kept(data: bytes) -> Result[bytes, Error]:
            return (
                parse_deferred(data.decode("utf-8", "replace"), path)
                .alt(_as_error)
                .map(
                    lambda found: render_deferred(
                        [each for each in found if self.touched_ids.isdisjoint(ids_of(each.action))]
                    ).encode()
                )
            )

        return self._rewritten(path, kept)

    def _debts(self) -> Result[None, Error]:
        path = f"{RUNS}/owed.json"
        return self._rewritten(path, lambda data: forgetful_debts(data, self.words, path).alt(_as_error))

    def _memo(self) -> Result[None, Error]:
        """What is derived is made anew."""
        path = f"{RUNS}/tiering.json"
        return self._read(path).bind(
            lambda data: self._drop(path) if data is not None and self._is_named_in(data) else Success(None)
        )

    # -- files --------------------------------------------------------------------------------------------------------

    @property
    def _real(self) -> str:
        return real_root(self.root)

    def _files(self, directory: str) -> Result[list[str], Error]:
        """Every file below, with the directories of replies; by path, the last footprint first."""
        found = files_below(f"{self._real}/{directory}")
        return found.map(lambda paths: sorted((path[len(self._real) + 1 :] for path in paths), reverse=True))

    def _read(self, path: str) -> Result[bytes | None, Error]:
        return (
            inside(self._real, path)
            .bind(lambda absolute: read_file(absolute, _MAX_BYTES))
            .map(lambda image: None if image is None else image.data)
        )

    def _rewritten(self, path: str, rewrite: Callable[[bytes], Result[bytes, Error]]) -> Result[None, Error]:
        """A file that cannot be understood is left as it is: whoever uses it tells (P6)."""

        def put(data: bytes | None) -> Result[None, Error]:
            if data is None:
                return Success(None)
            match sealed(rewrite(data)):
                case Failure(_):
                    return self._drop(path) if any(needle in data for needle in self._needles()) else Success(None)
                case Success(new):
                    if new == data:
                        return Success(None)
                    return put_file(self._real, path, new.decode("utf-8", "replace"))

        return self._read(path).bind(put)

    def _drop(self, path: str) -> Result[None, Error]:
        return drop_file(self._real, path).alt(_as_error)


def remove_directory_below(root: str, relative: str) -> Result[None, Error]:
    """Remove a directory of derived files with all that is in it; no link is followed. One that is not there is gone."""
    match sealed(directory_inside(root, relative)):
        case Failure(refused):
            return Failure(refused)
        case Success(directory):
            try:
                _emptied(directory)
                fsync_directory(os.path.dirname(directory))
            except FileNotFoundError:
                return Success(None)
            except OSError as error:
                return Failure(store_io(error, "remove", directory))
            return Success(None)


def _emptied(directory: str) -> None:
    for parent, directories, names in os.walk(directory, topdown=False, followlinks=False):
        for name in (*names, *directories):
            path = f"{parent}/{name}"
            with suppress(FileNotFoundError):  # that one is gone already does not mean that the others are
                os.rmdir(path) if name in directories and not os.path.islink(path) else os.unlink(path)
    os.rmdir(directory)


def _as_error(error: Error) -> Error:
    return error

"""The log of runs on disk: `runs/<run-id>/{report,footprint-<n>,sections}.json`, `runs/undone.json`, `runs/undoing.json`.

A run id begins with the time of the run's start, so that names in reverse order are runs from the newest to the oldest.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.file_in_root import drop_file, put_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import inside, is_plain_name, is_there, read_file, real_root
from agent_memory.domain.footprint import Footprint, SectionChange
from agent_memory.domain.footprint_fold import fold_files
from agent_memory.domain.instants import ms_of
from agent_memory.domain.run_log import LoggedRun, changed_entries, is_named
from agent_memory.domain.undone import Undoing, UndoneMark, churning, undone_by, undone_fingerprints
from agent_memory.errors import Error, RunNotFound, StateCorrupt, UndoRefused
from agent_memory.formats.footprint_json import parse_footprint, render_footprint
from agent_memory.formats.note_changes import logged_changes, note_changes
from agent_memory.formats.report_json import parse_report, render_report_document
from agent_memory.formats.undone_json import parse_undoing, parse_undone, render_undoing, render_undone
from agent_memory.results import sealed
from agent_memory.wording import describe

RUNS = "runs"
UNDONE = f"{RUNS}/undone.json"
UNDOING = f"{RUNS}/undoing.json"
DEFRAG_CHECKPOINT = "defrag.json"
"""As in `defrag_records_files`, which takes long to load: whoever only looks at the log must not wait for it."""

PRUNED = "pruned"
"""A file in the directory of a run whose details are going: what is still there of them is not all that there was."""

FORGOTTEN_MARK = "forgotten.json"
"""A file in the directory of a run of which a part was forgotten: its footprint lacks what is not to come back (P28)."""

MAX_REPORT_BYTES = 16 << 20
_MAX_FOOTPRINT_BYTES = 1 << 30
_RUN_ID = re.compile(r"\d{4}-\d\d-\d\dT", re.ASCII)
"""How the name of a run begins: there are other directories beside those of runs."""

_FOOTPRINT = re.compile(r"footprint-([1-9]\d{0,8})\.json", re.ASCII)


class RunLogFiles:
    """`RunLog` in the directory `runs` of a root."""

    def __init__(self, root: Path) -> None:
        self._root = real_root(root)

    def runs(self, limit: int | None = None, named: str = "") -> Result[tuple[LoggedRun, ...], Error]:
        """See the port. Only as many reports are opened as are asked for."""
        return self._names().bind(
            lambda names: self._marks().map(
                lambda marks: tuple(
                    islice(self._logged((name for name in names if is_named(name, named)), marks), limit)
                )
            )
        )

    def footprint(self, run_id: str) -> Result[Footprint, Error]:
        """See the port. StateCorrupt where a part is damaged or lost: half of a run must not be undone. UndoRefused where
        nothing but what was forgotten since is known of it."""
        if not is_plain_name(run_id):
            return Failure(RunNotFound(run_id))
        return (
            self._has(run_id, PRUNED)
            .bind(lambda is_pruned: Failure(RunNotFound(run_id)) if is_pruned else self._parts(run_id))
            .bind(lambda parts: Success(parts) if parts else self._none_left(run_id))
            .bind(lambda parts: self._joined(run_id, parts))
        )

    def put_sections(self, run_id: str, sections: Sequence[SectionChange]) -> Result[None, Error]:
        """See the port. A section that stays as it is is no change."""

        def put(known: tuple[SectionChange, ...]) -> Result[None, Error]:
            paths = {each.path for each in known}
            more = [each for each in sections if each.path not in paths and each.before != each.after]
            if not more:
                return Success(None)
            text = render_footprint(Footprint(sections=(*known, *more))).decode("ascii")
            return put_file(self._root, _sections_of(run_id), text)

        return self._sections(run_id).bind(lambda known: put(known or ()))

    def put_report(self, run: LoggedRun, error: Error | None = None) -> Result[None, Error]:
        """See the port."""
        return put_file(self._root, f"{RUNS}/{run.run_id}/report.json", render_report_document(run, error))

    def recently_changed(self, count: int) -> Result[tuple[frozenset[str], ...], Error]:
        """See the port."""
        return self._names().bind(
            lambda names: self._marks().map(lambda marks: changed_entries(self._logged(names, marks), count))
        )

    def churning(self) -> Result[frozenset[str], Error]:
        """See the port."""
        return self.recently_changed(10).map(churning)

    def undone(self) -> Result[frozenset[str], Error]:
        """See the port. A damaged list is an error, never empty (P6)."""
        return self._marks().map(undone_fingerprints)

    def mark_undone(self, run_id: str, by_run_id: str, fingerprints: frozenset[str]) -> Result[None, Error]:
        """See the port."""
        return self._marks().bind(
            lambda marks: put_file(
                self._root, UNDONE, render_undone({**marks, run_id: UndoneMark(by_run_id, fingerprints)})
            )
        )

    def undoing(self) -> Result[Undoing | None, Error]:
        """See the port."""
        return self._read(UNDOING, MAX_REPORT_BYTES).bind(
            lambda data: Success(None) if data is None else parse_undoing(data, f"{self._root}/{UNDOING}")
        )

    def put_undoing(self, undoing: Undoing | None) -> Result[None, Error]:
        """See the port."""
        if undoing is None:
            return drop_file(self._root, UNDOING).map(lambda _: None)
        return put_file(self._root, UNDOING, render_undoing(undoing))

    # -- runs ---------------------------------------------------------------------------------------------------------

    def _names(self) -> Result[tuple[str, ...], Error]:
        """Of the directories of runs, newest first."""
        try:
            with os.scandir(f"{self._root}/{RUNS}") as found:
                names = [
                    each.name for each in found if not each.name.startswith(".") and each.is_dir(follow_symlinks=False)
                ]
        except FileNotFoundError:
            return Success(())
        except OSError as error:
            return Failure(store_io(error, "list", f"{self._root}/{RUNS}"))
        return Success(tuple(sorted(filter(_RUN_ID.match, filter(is_plain_name, names)), reverse=True)))

    def _logged(self, names: Iterator[str] | Sequence[str], marks: Mapping[str, UndoneMark]) -> Iterator[LoggedRun]:
        undone = undone_by(marks)
        for name in names:
            run = self._run(name)
            if run is not None:
                yield evolve(run, undone_by=undone.get(name))

    def _run(self, run_id: str) -> LoggedRun | None:
        """What is known of a run; None for one that changed nothing and left no report, as a dry run."""
        match sealed(self._is_kept(run_id)):
            case Success(kept):
                path = f"{RUNS}/{run_id}/report.json"
                read = self._read(path, MAX_REPORT_BYTES)
                if read == Success(None):
                    return self._unfinished(run_id) if kept else None
                match sealed(read.bind(lambda data: parse_report(data or b"", path))):
                    case Success(run):
                        return evolve(run, run_id=run_id, kept=kept)
                    case Failure(error):
                        return evolve(_unreadable(run_id, error), kept=kept)
            case Failure(error):
                return evolve(_unreadable(run_id, error), kept=True)  # as far as anybody knows

    def _is_kept(self, run_id: str) -> Result[bool, Error]:
        changed = self._has(run_id, "footprint-1.json").bind(
            lambda has_files: Success(True) if has_files else self._has(run_id, "sections.json")
        )
        return changed.bind(
            lambda is_changed: self._has(run_id, PRUNED).map(lambda is_pruned: is_changed and not is_pruned)
        )

    def _none_left(self, run_id: str) -> Result[tuple[str, ...], Error]:
        marked = self._has(run_id, FORGOTTEN_MARK)
        return marked.bind(lambda is_marked: Failure(_forgotten(run_id)) if is_marked else Success(()))

    def _has(self, run_id: str, name: str) -> Result[bool, Error]:
        return is_there(f"{self._root}/{RUNS}/{run_id}/{name}")

    def _unfinished(self, run_id: str) -> LoggedRun:
        run = _blank(run_id, "unfinished")
        if self._has(run_id, DEFRAG_CHECKPOINT) == Success(True):
            run = evolve(run, machine="defrag")
        undoing = self.undoing()
        if isinstance(undoing, Success) and (at_work := undoing.unwrap()) and at_work.run_id == run_id:
            run = evolve(run, machine="undo", undid=at_work.undoes)
        match sealed(self.footprint(run_id)):
            case Success(footprint):
                done = logged_changes(note_changes(fold_files(footprint.files).files))
                return evolve(run, actions=done, kept=True, summary="at work, or interrupted: the next run finishes it")
            case Failure(error):
                return evolve(run, problems=(describe(error),))

    # -- footprints ---------------------------------------------------------------------------------------------------

    def _parts(self, run_id: str) -> Result[tuple[str, ...], Error]:
        """The names of a run's footprints, in the order in which they were made."""
        directory = f"{self._root}/{RUNS}/{run_id}"
        try:
            names = os.listdir(directory)
        except (FileNotFoundError, NotADirectoryError):
            return Success(())
        except OSError as error:
            return Failure(store_io(error, "list", directory))
        numbers = sorted(int(found[1]) for name in names if (found := _FOOTPRINT.fullmatch(name)))
        if numbers != list(range(1, len(numbers) + 1)):
            return Failure(StateCorrupt(directory, ("some of its footprints are gone",)))
        return Success(tuple(f"footprint-{number}.json" for number in numbers))

    def _joined(self, run_id: str, parts: tuple[str, ...]) -> Result[Footprint, Error]:
        whole = Footprint()
        for name in parts:
            match sealed(self._part(f"{RUNS}/{run_id}/{name}")):
                case Failure(error):
                    return Failure(error)
                case Success(part):
                    files = () if part is None else part.files
                    whole = Footprint((*whole.files, *files))

        def with_sections(sections: tuple[SectionChange, ...] | None) -> Result[Footprint, Error]:
            if sections is None and not parts:
                return Failure(RunNotFound(run_id))
            return Success(evolve(whole, sections=sections or ()))

        return self._sections(run_id).bind(with_sections)

    def _sections(self, run_id: str) -> Result[tuple[SectionChange, ...] | None, Error]:
        return self._part(_sections_of(run_id)).map(lambda part: None if part is None else part.sections)

    def _part(self, path: str) -> Result[Footprint | None, Error]:
        return self._read(path, _MAX_FOOTPRINT_BYTES).bind(
            lambda data: Success(None) if data is None else parse_footprint(data, f"{self._root}/{path}")
        )

    # -- files --------------------------------------------------------------------------------------------------------

    def _marks(self) -> Result[Mapping[str, UndoneMark], Error]:
        return self._read(UNDONE, MAX_REPORT_BYTES).bind(
            lambda data: Success({}) if data is None else parse_undone(data, f"{self._root}/{UNDONE}")
        )

    def _read(self, path: str, max_bytes: int) -> Result[bytes | None, Error]:
        return (
            inside(self._root, path)
            .bind(lambda absolute: read_file(absolute, max_bytes))
            .map(lambda image: None if image is None else image.data)
        )


def _blank(run_id: str, result: str) -> LoggedRun:
    day, _, clock = run_id[:24].partition("T")
    return LoggedRun(run_id, "consolidate", ms_of(f"{day}T{clock.replace('-', ':')}") or 0, None, result, "")


def _unreadable(run_id: str, error: Error) -> LoggedRun:
    problems = error.problems if isinstance(error, StateCorrupt) else (describe(error),)
    return evolve(_blank(run_id, "unreadable"), problems=problems)


def _forgotten(run_id: str) -> UndoRefused:
    return UndoRefused(run_id, ("what it changed was forgotten since (`memory forget`)",))


def _sections_of(run_id: str) -> str:
    return f"{RUNS}/{run_id}/sections.json"

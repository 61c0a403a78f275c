"""Which run is to be undone, and whether it can be: nothing is changed here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.entry import Listing
from agent_memory.domain.footprint import Footprint, SectionChange
from agent_memory.domain.footprint_fold import fold_files
from agent_memory.domain.recording.file_change import FileChange, hash_of
from agent_memory.domain.run_log import LoggedRun, short_id
from agent_memory.domain.undo_run import changed_since, cut_reasons, toucher
from agent_memory.errors import Error, RunNotFound, UndoRefused, UsageInvalid
from agent_memory.formats.note_changes import NoteChange, note_changes
from agent_memory.pipelines.undo_io import UndoIo
from agent_memory.ports import RunLog
from agent_memory.results import sealed

_FEW = 50


@frozen
class Undoable:
    """A run with what undoing it would change."""

    run: LoggedRun
    root: LoggedRun
    """Of an undo, the run that it is about in the end; else the same."""
    files: tuple[FileChange, ...]
    """As the run made them."""
    sections: tuple[SectionChange, ...]
    warnings: tuple[str, ...] = ()


def chosen(log: RunLog, name: str | None) -> Result[LoggedRun, Error]:
    """The one run that is named, by the beginning of its id or of the last part of it; without a name the newest that
    changed something, still stands, and is no undo. UndoRefused where that is not known, since a newer one cannot be read:
    it is never an older one for that (P6)."""
    if name is None:
        return _newest(log, lambda run: _stands(run) or _may_stand(run)).bind(_known)
    return log.runs(named=name).bind(lambda found: _named(name, found)) if name else Failure(RunNotFound(name))


def newest_kept(log: RunLog) -> Result[LoggedRun, Error]:
    """The newest run that changed something, whatever it is."""
    return _newest(log, lambda run: run.kept)


def undoable(io: UndoIo, run: LoggedRun) -> Result[Undoable, Error]:
    """The run with all that it changed. UndoRefused for one that is undone already or left nothing to undo."""
    if run.undone_by is not None:
        again = short_id(run.undone_by)
        return _refused(run, (f"it is undone already; `memory undo {again}` makes it stand again",))

    def with_footprint(footprint: Footprint) -> Result[Undoable, Error]:
        sections = tuple(each for each in footprint.sections if each.before != each.after)
        if not fold_files(footprint.files).files and not sections:
            return _refused(run, ("it changed nothing that would still be there",))
        return root_of(io.log, run).map(lambda root: Undoable(run, root, footprint.files, sections))

    return footprint_of(io.log, run).bind(with_footprint)


def footprint_of(log: RunLog, run: LoggedRun) -> Result[Footprint, Error]:
    """What the run changed. UndoRefused where that is not known any more."""
    match sealed(log.footprint(run.run_id)):
        case Failure(RunNotFound()):
            lost = "what it changed is not kept any more" if run.changed_ids else "it changed nothing"
            return Failure(UndoRefused(run.run_id, (lost,)))
        case Failure(error):
            return Failure(error)
        case Success(footprint):
            return Success(footprint)


def root_of(log: RunLog, run: LoggedRun) -> Result[LoggedRun, Error]:
    """The run that an undo, an undo of an undo and so on is about; a run that is no undo is about itself."""
    if run.undid is None:
        return Success(run)

    def earlier(found: tuple[LoggedRun, ...]) -> Result[LoggedRun, Error]:
        before = next((each for each in found if each.run_id == run.undid and each.run_id < run.run_id), None)
        return Success(run) if before is None else root_of(log, before)

    return log.runs(named=run.undid).bind(earlier)


def _stands(run: LoggedRun) -> bool:
    return run.machine != "undo" and run.undone_by is None and bool(run.kept or run.changed_ids)


def _may_stand(run: LoggedRun) -> bool:
    return run.result == "unreadable" and run.kept


def _known(run: LoggedRun) -> Result[LoggedRun, Error]:
    if not _may_stand(run):
        return Success(run)
    name = short_id(run.run_id)
    unknown = f"which run is the last to be undone is not known; `memory undo {name}` undoes this one"
    return _refused(run, (*run.problems, unknown))


def _newest(log: RunLog, is_meant: Callable[[LoggedRun], bool]) -> Result[LoggedRun, Error]:
    """Mostly it is among the newest few, so that not every report has to be opened."""
    for limit in (_FEW, None):
        runs = log.runs(limit)
        if isinstance(runs, Failure):
            return runs
        found = next((each for each in runs.unwrap() if is_meant(each)), None)
        if found is not None:
            return Success(found)
    return Failure(RunNotFound(""))


def _named(name: str, found: Sequence[LoggedRun]) -> Result[LoggedRun, Error]:
    exact = [each for each in found if each.run_id == name]
    meant = exact or list(found)
    if not meant:
        return Failure(RunNotFound(name))
    if len(meant) > 1:
        ids = ", ".join(each.run_id for each in meant[:5])
        return Failure(UsageInvalid(f"{name!r} begins the names of {len(meant)} runs: {ids}", "Give more of the one."))
    return Success(meant[0])


# -- what stands in the way -------------------------------------------------------------------------------------------


def explained(io: UndoIo, found: Undoable, refused: UndoRefused) -> Result[UndoRefused, Error]:
    """The store's refusal, told by the names of the entries and of who changed them, as far as that is known. What the
    store says of other files stays in its own words."""
    files = fold_files(found.files).files

    def named(live: Listing) -> Result[UndoRefused, Error]:
        hindering = [each for each in note_changes(files) if not _paths_of(each).isdisjoint(_differing(files, live))]
        told = {path for each in hindering for path in _paths_of(each)}
        rest = [each for each in refused.reasons if not any(each.startswith(path) for path in told)]
        if not hindering:
            return Success(UndoRefused(found.run.run_id, cut_reasons(rest)))
        return io.log.runs().map(
            lambda runs: UndoRefused(
                found.run.run_id, cut_reasons([*(_words(each, runs, found.run) for each in hindering), *rest])
            )
        )

    return io.store.list().bind(named)


def _differing(files: Sequence[FileChange], live: Listing) -> set[str]:
    """The live files that are not as the run left them."""
    present = {each.path: each.content_hash for each in live.entries}
    notes = (each for each in files if each.path.startswith("topics/"))
    return {each.path for each in notes if present.get(each.path) != hash_of(each.after)}


def _words(change: NoteChange, runs: Sequence[LoggedRun], run: LoggedRun) -> str:
    later = [each for each in runs if each.run_id > run.run_id]
    return changed_since(change.title, change.id, toucher(change.id, later, run))


def _paths_of(change: NoteChange) -> set[str]:
    return {each.path for each in (change.before, change.after) if each is not None}


def _refused(run: LoggedRun, reasons: Sequence[str]) -> Failure[Error]:
    return Failure(UndoRefused(run.run_id, cut_reasons(reasons)))

"""Undo: the store, its tiers and the managed sections as they were before a run, byte for byte (P16).

The store goes back first, in one transaction with the footprint of the undo itself; the rest follows from what is then on
disk, so that whoever comes after a crash carries it out to the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from attrs import evolve, frozen
from returns.result import Failure, Result

from agent_memory.errors import (
    Error,
    RunNotFound,
    UndoRefused,
    UsageInvalid,
)
from agent_memory.note.vocabulary import TIERS_FILE
from agent_memory.results import as_result, unwrap, warning_of
from agent_memory.rules.change import FileChange, hash_of
from agent_memory.rules.findings import store_fingerprint
from agent_memory.rules.run_log import LoggedRun, Undoing, short_id
from agent_memory.rules.undo_run import (
    Footprint,
    SectionChange,
    SectionLeft,
    Undone,
    called,
    commit_words,
    cut_reasons,
    did_what,
    fold_files,
)
from agent_memory.section.section_splice import restore_section
from agent_memory.store.diffs import logged_changes, note_changes

if TYPE_CHECKING:
    from agent_memory.ports import (
        Clock,
        DefragRecords,
        Recorder,
        RunLog,
        Store,
        Targets,
    )

_FEW_RUNS = 50


@frozen
class UndoIo:
    """The adapters that an undo acts on."""

    store: Store
    log: RunLog
    targets: Targets
    recorder: Recorder
    records: DefragRecords
    clock: Clock
    finish_interrupted: Callable[[], Result[object, Error]]
    """Carries out the rest of a consolidation or defrag that crashed half way."""
    new_run_id: Callable[[int], str]
    """The id of a run that begins at this instant."""


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


@as_result
def undo(io: UndoIo, name: str | None = None, *, dry_run: bool = False) -> Undone:
    """What was undone. The caller holds the run lock. First whatever a crash left half done is finished, and hand edits
    are recorded as the person's. A refusal changes nothing: RunNotFound, UndoRefused, UsageInvalid for an ambiguous name.

    Without a name it is the newest run that changed something and still stands; naming an undo makes what it had undone
    stand again.
    """
    if dry_run:
        found = _undoable(io, name)
        touched = _reverted(io, found, "", dry_run=True)
        files = [each for each in fold_files(found.files).files if each.path in touched]
        return _undone(io, None, found, [evolve(each, before=each.after, after=each.before) for each in files])
    warnings = list(unwrap(finish_undo(io)))
    unwrap(io.finish_interrupted())
    warnings += warning_of(io.recorder.adopt_hand_edits())
    found = evolve(_undoable(io, name), warnings=tuple(warnings))
    now_ms = io.clock.now_ms()
    undoing = Undoing(io.new_run_id(now_ms), found.run.run_id, now_ms)
    unwrap(io.log.put_undoing(undoing))
    memo = io.records.tiering()
    was_tiered = found.root.machine == "defrag" and memo.map(lambda kept: kept.fingerprint) == _fingerprint(io)
    try:
        _reverted(io, found, undoing.run_id)
    except Error:
        unwrap(io.log.put_undoing(None))
        raise
    if was_tiered:
        # A defrag that was undone is not to be done all again, unless something changes: the store as it is counts as
        # tiered, if it did before.
        tiered = evolve(unwrap(memo), fingerprint=unwrap(_fingerprint(io)))
        unwrap(io.records.put_tiering(tiered))
    return _complete(io, undoing, found)


@as_result
def finish_undo(io: UndoIo) -> tuple[str, ...]:
    """Carry out the rest of an undo that crashed; what a person should know of it, in sentences. One that had not yet
    changed anything is forgotten."""
    undoing = unwrap(io.log.undoing())
    if undoing is None:
        return ()
    # What a crash left of a transaction is settled first: its footprint tells nothing before that.
    unwrap(io.store.apply(()))
    begun = footprint_if_any(io.log, undoing.run_id)
    named = unwrap(io.log.runs(named=undoing.undoes))
    run = next((each for each in named if each.run_id == undoing.undoes), None)
    if run is not None:
        footprint = unwrap(io.log.footprint(run.run_id))
        found = Undoable(run, _root_of(io.log, run), footprint.files, footprint.sections)
        if begun is not None or not found.files:
            done = _complete(io, undoing, found)
            return f"An interrupted undo was finished first: {did_what(run, found.root)}.", *done.warnings
    unwrap(io.log.put_undoing(None))
    return ()


# -- which run --------------------------------------------------------------------------------------------------------


def chosen_run(log: RunLog, name: str | None) -> LoggedRun:
    """The one run that is named, by the beginning of its id or of the last part of it; without a name the newest that
    changed something, still stands, and is no undo. UndoRefused where that is not known, since a newer one cannot be read:
    it is never an older one for that (P6)."""
    if name is None:
        run = newest_run(log, lambda run: _stands(run) or _may_stand(run))
        if _may_stand(run):
            unknown = (
                f"which run is the last to be undone is not known; `memory undo {short_id(run.run_id)}` undoes this one"
            )
            raise UndoRefused(run.run_id, cut_reasons((*run.problems, unknown)))
        return run
    if not name:
        raise RunNotFound(name)
    found = unwrap(log.runs(named=name))
    meant = [each for each in found if each.run_id == name] or list(found)
    if not meant:
        raise RunNotFound(name)
    if len(meant) > 1:
        ids = ", ".join(each.run_id for each in meant[:5])
        raise UsageInvalid(f"{name!r} begins the names of {len(meant)} runs: {ids}", "Give more of the one.")
    return meant[0]


def footprint_of(log: RunLog, run: LoggedRun) -> Footprint:
    """What the run changed. UndoRefused where that is not known any more."""
    footprint = footprint_if_any(log, run.run_id)
    if footprint is None:
        lost = "what it changed is not kept any more" if run.changed_ids else "it changed nothing"
        raise UndoRefused(run.run_id, (lost,))
    return footprint


def footprint_if_any(log: RunLog, run_id: str) -> Footprint | None:
    """What the run changed; None where nothing is known of it."""
    try:
        return unwrap(log.footprint(run_id))
    except RunNotFound:
        return None


def _undoable(io: UndoIo, name: str | None) -> Undoable:
    """The chosen run. UndoRefused for one that is undone already or left nothing to undo."""
    run = chosen_run(io.log, name)
    if run.undone_by is not None:
        again = f"it is undone already; `memory undo {short_id(run.undone_by)}` makes it stand again"
        raise UndoRefused(run.run_id, cut_reasons((again,)))
    footprint = footprint_of(io.log, run)
    sections = tuple(each for each in footprint.sections if each.before != each.after)
    if not fold_files(footprint.files).files and not sections:
        raise UndoRefused(run.run_id, cut_reasons(("it changed nothing that would still be there",)))
    return Undoable(run, _root_of(io.log, run), footprint.files, sections)


def _root_of(log: RunLog, run: LoggedRun) -> LoggedRun:
    """The run that an undo, an undo of an undo and so on is about; a run that is no undo is about itself."""
    while run.undid is not None:
        found = unwrap(log.runs(named=run.undid))
        before = next((each for each in found if each.run_id == run.undid and each.run_id < run.run_id), None)
        if before is None:
            break
        run = before
    return run


def _stands(run: LoggedRun) -> bool:
    return run.machine != "undo" and run.undone_by is None and bool(run.kept or run.changed_ids)


def _may_stand(run: LoggedRun) -> bool:
    return run.result == "unreadable" and run.kept


def newest_run(log: RunLog, is_meant: Callable[[LoggedRun], bool]) -> LoggedRun:
    """The newest of such runs. Mostly it is among the newest few, so that not every report has to be opened."""
    for limit in (_FEW_RUNS, None):
        found = next((each for each in unwrap(log.runs(limit)) if is_meant(each)), None)
        if found is not None:
            return found
    raise RunNotFound("")


# -- the files go back ------------------------------------------------------------------------------------------------


def _fingerprint(io: UndoIo) -> Result[str, Error]:
    return io.store.list().map(lambda live: store_fingerprint(live.entries))


def _reverted(io: UndoIo, found: Undoable, undo_id: str, *, dry_run: bool = False) -> frozenset[str]:
    """The paths that go back, or would."""
    if not found.files:
        return frozenset()
    try:
        return frozenset(unwrap(io.store.revert(Footprint(found.files), undo_id, dry_run=dry_run)).touched)
    except UndoRefused as refused:
        raise _explained(io, found, refused) from None


def _complete(io: UndoIo, undoing: Undoing, found: Undoable) -> Undone:
    """All that comes after the files; doing any of it twice is harmless."""
    fingerprints = frozenset(each.fingerprint for each in found.run.actions if each.fingerprint)
    unwrap(io.log.mark_undone(found.run.run_id, undoing.run_id, fingerprints))
    own = footprint_if_any(io.log, undoing.run_id)
    files = () if own is None else fold_files(own.files).files
    undone = _undone(io, undoing.run_id, found, files)
    if files:
        recorded = io.recorder.record(tuple(each.path for each in files), *commit_words(undone))
        undone = evolve(undone, warnings=(*undone.warnings, *warning_of(recorded)))
    report = LoggedRun(
        run_id=undoing.run_id,
        machine="undo",
        started_at_ms=undoing.started_at_ms,
        ended_at_ms=io.clock.now_ms(),
        result="completed",
        summary=did_what(undone.undid, undone.root),
        actions=undone.actions,
        warnings=undone.warnings,
        undid=undone.undid.run_id,
    )
    unwrap(io.log.put_report(report))
    unwrap(io.log.put_undoing(None))
    return undone


def _undone(io: UndoIo, undo_id: str | None, found: Undoable, files: Sequence[FileChange]) -> Undone:
    """What comes of an undo that changes these files, once its sections are put back; without an undo nothing is written."""
    put_back = {each.path for each in files}
    others = [each for each in fold_files(found.files).files if each.path not in (TIERS_FILE, *put_back)]
    why = "it, or a note that belongs with it, was changed, forgotten or linked to since"
    staying = [f"{each.title} ({each.id}) stays as it is: {why}." for each in note_changes(others)]
    done: list[str] = []
    left: list[SectionLeft] = []
    for change in found.sections:  # a target's trouble is its own, and hinders no other
        try:
            refusal = "not all notes are as they were before the run" if staying else _put_back(io, undo_id, change)
        except Error as error:
            refusal = str(error)
        if refusal is None:
            done.append(change.path)
        else:
            left.append(SectionLeft(change.path, refusal))
    hint = "`memory generate-agents-md` brings it up to date"
    left_alone = (f"{each.path} was left as it is: {each.reason.rstrip('.')}. {hint}." for each in left)
    return Undone(
        run_id=undo_id or "",
        undid=found.run,
        root=found.root,
        actions=logged_changes(note_changes(tuple(files))),
        sections=tuple(done),
        left=tuple(left),
        warnings=(*found.warnings, *staying, *left_alone),
        dry_run=undo_id is None,
    )


def _put_back(io: UndoIo, undo_id: str | None, change: SectionChange) -> str | None:
    """Why the managed section was not put back, if so. Without an undo nothing is written."""
    file = unwrap(io.targets.read(change.path))
    if file.data is None and change.after is not None:
        return None if change.created else "the file is gone"
    restored = restore_section(file.data or b"", change)
    if isinstance(restored, Failure):
        return str(restored.failure())
    data = restored.unwrap()
    # A file that came with the section goes with it, unless there is more in it by now.
    after = None if change.created and change.before is None and not data else data
    if undo_id is not None and after != file.data:
        own = SectionChange(change.path, change.after, change.before, change.separator, file.data is None)
        unwrap(io.log.put_sections(undo_id, (own,)))
        unwrap(io.targets.remove(file) if after is None else io.targets.write(file, after))
    return None


# -- what stands in the way -------------------------------------------------------------------------------------------


def _explained(io: UndoIo, found: Undoable, refused: UndoRefused) -> UndoRefused:
    """The store's refusal, told by the names of the notes and of who changed them, as far as that is known. What the
    store says of other files stays in its own words."""
    files = fold_files(found.files).files
    present = {each.path: each.content_hash for each in unwrap(io.store.list()).entries}
    differing = {
        each.path for each in files if each.path.startswith("topics/") and present.get(each.path) != hash_of(each.after)
    }
    hindering = [each for each in note_changes(files) if {each.before.path, each.after.path} & differing]
    told = {path for each in hindering for path in (each.before.path, each.after.path)}
    # An undo of a later run changed nothing by that: the two cancel out.
    later = [
        each
        for each in (unwrap(io.log.runs()) if hindering else ())
        if each.run_id > found.run.run_id and each.undone_by is None and (each.undid or "") <= found.run.run_id
    ]
    reasons: list[str] = []
    for note in hindering:
        by = next((each for each in later if note.id in each.changed_ids), None)
        who = "hand or by a command"
        if by is not None:
            who = f"{called(by)}, which would have to be undone first (`memory undo {short_id(by.run_id)}`)"
        reasons.append(f"{note.title or 'a note'} ({note.id}) was changed since by {who}")
    reasons += [each for each in refused.reasons if not any(each.startswith(path) for path in told)]
    return UndoRefused(found.run.run_id, cut_reasons(reasons))

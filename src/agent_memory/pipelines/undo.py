"""Undo: the store, its tiers and the managed sections as they were before a run, byte for byte (P16).

The store goes back first, in one transaction with the footprint of the undo itself; the rest follows from what is then on
disk, so that whoever comes after a crash carries it out to the end.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import partial

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.domain.analysis.fingerprints import store_fingerprint
from agent_memory.domain.change import Receipt
from agent_memory.domain.footprint import Footprint, SectionChange
from agent_memory.domain.footprint_fold import fold_files
from agent_memory.domain.run_log import LoggedRun
from agent_memory.domain.target_file import TargetFile
from agent_memory.domain.tiers import TIERS_FILE
from agent_memory.domain.undo_run import SectionLeft, Undone, commit_words, did_what
from agent_memory.domain.undone import Undoing
from agent_memory.errors import Error, RunNotFound, UndoRefused
from agent_memory.formats.note_changes import logged_changes, note_changes
from agent_memory.formats.section_splice import restore_section
from agent_memory.pipelines.undo_choice import Undoable, chosen, explained, root_of, undoable
from agent_memory.pipelines.undo_io import UndoIo
from agent_memory.results import sealed
from agent_memory.wording import describe


def undo(io: UndoIo, name: str | None = None, *, dry_run: bool = False) -> Result[Undone, Error]:
    """What was undone. The caller holds the run lock. First whatever a crash left half done is finished, and hand edits
    are recorded as the person's. A refusal changes nothing: RunNotFound, UndoRefused, UsageInvalid for an ambiguous name.

    Without a name it is the newest run that changed something and still stands; naming an undo makes what it had undone
    stand again.
    """
    if dry_run:
        return chosen(io.log, name).bind(lambda run: undoable(io, run)).bind(lambda found: _planned(io, found))
    ready = finish_undo(io).bind(lambda told: io.finish_interrupted().map(lambda _: told))
    return ready.bind(lambda told: _undo(io, name, (*told, *_told(io.recorder.adopt_hand_edits()))))


def finish_undo(io: UndoIo) -> Result[tuple[str, ...], Error]:
    """Carry out the rest of an undo that crashed; what a person should know of it, in sentences. One that had not yet
    changed anything is forgotten."""

    def finished(undoing: Undoing | None) -> Result[tuple[str, ...], Error]:
        if undoing is None:
            return Success(())
        # What a crash left of a transaction is settled first: its footprint tells nothing before that.
        return (
            io.store.apply(())
            .bind(lambda _: _footprint_or_none(io, undoing.run_id))
            .bind(lambda begun: _named_run(io, undoing.undoes).map(lambda run: (begun, run)))
            .bind(lambda found: _rest(io, undoing, *found))
        )

    return io.log.undoing().bind(finished)


def _rest(
    io: UndoIo, undoing: Undoing, begun: Footprint | None, run: LoggedRun | None
) -> Result[tuple[str, ...], Error]:
    if run is None:
        return io.log.put_undoing(None).map(lambda _: ())

    def with_run(footprint: Footprint, root: LoggedRun) -> Result[tuple[str, ...], Error]:
        found = Undoable(run, root, footprint.files, footprint.sections)
        if found.files and begun is None:
            return io.log.put_undoing(None).map(lambda _: ())
        return _complete(io, undoing, found).map(
            lambda done: (f"An interrupted undo was finished first: {did_what(run, root)}.", *done.warnings)
        )

    return io.log.footprint(run.run_id).bind(
        lambda footprint: root_of(io.log, run).bind(lambda root: with_run(footprint, root))
    )


def _undo(io: UndoIo, name: str | None, warnings: tuple[str, ...]) -> Result[Undone, Error]:
    def begun(found: Undoable) -> Result[Undone, Error]:
        now_ms = io.clock.now_ms()
        undoing = Undoing(io.new_run_id(now_ms), found.run.run_id, now_ms)
        return io.log.put_undoing(undoing).bind(lambda _: _revert(io, undoing, found))

    return (
        chosen(io.log, name)
        .bind(lambda run: undoable(io, run))
        .bind(lambda found: begun(evolve(found, warnings=(*warnings, *found.warnings))))
    )


def _revert(io: UndoIo, undoing: Undoing, found: Undoable) -> Result[Undone, Error]:
    """The files go back, or nothing is begun."""
    tiered = found.root.machine == "defrag" and _is_tiered(io)
    match sealed(_reverted(io, found, undoing.run_id)):
        case Failure(error):
            return io.log.put_undoing(None).bind(lambda _: Failure(error))
        case Success(_):
            return _still_tiered(io, tiered).bind(lambda _: _complete(io, undoing, found))


def _reverted(io: UndoIo, found: Undoable, undo_id: str, *, dry_run: bool = False) -> Result[Receipt, Error]:
    if not found.files:
        return Success(Receipt(()))
    match sealed(io.store.revert(Footprint(found.files), undo_id, dry_run=dry_run)):
        case Failure(UndoRefused() as refused):
            return explained(io, found, refused).bind(Failure)
        case Failure(error):
            return Failure(error)
        case Success(receipt):
            return Success(receipt)


def _complete(io: UndoIo, undoing: Undoing, found: Undoable) -> Result[Undone, Error]:
    """All that comes after the files; doing any of it twice is harmless."""
    fingerprints = frozenset(each.fingerprint for each in found.run.actions if each.fingerprint)

    def told(own: Footprint | None) -> Result[Undone, Error]:
        files = () if own is None else fold_files(own.files).files
        staying = _staying(found, {each.path for each in files})
        sections, left = _put_sections_back(io, undoing.run_id, found.sections, has_all=not staying)
        undone = Undone(
            run_id=undoing.run_id,
            undid=found.run,
            root=found.root,
            actions=logged_changes(note_changes(files)),
            sections=sections,
            left=left,
            warnings=(*found.warnings, *staying, *map(_left_words, left)),
        )
        paths = tuple(each.path for each in files)
        recorded = _told(io.recorder.record(paths, *commit_words(undone))) if paths else ()
        told = evolve(undone, warnings=(*undone.warnings, *recorded))
        return (
            io.log.put_report(_report(io, undoing, told)).bind(lambda _: io.log.put_undoing(None)).map(lambda _: told)
        )

    return (
        io.log.mark_undone(found.run.run_id, undoing.run_id, fingerprints)
        .bind(lambda _: _footprint_or_none(io, undoing.run_id))
        .bind(told)
    )


def _report(io: UndoIo, undoing: Undoing, undone: Undone) -> LoggedRun:
    return LoggedRun(
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


# -- managed sections -------------------------------------------------------------------------------------------------


def _put_sections_back(
    io: UndoIo, undo_id: str | None, sections: Sequence[SectionChange], *, has_all: bool
) -> tuple[tuple[str, ...], tuple[SectionLeft, ...]]:
    """The targets whose section is what it was before, and those that were left as they are: a target's trouble is its
    own, and hinders no other. Without an undo nothing is written, and where not all notes are as before (`has_all`) neither is
    a section."""
    done, left = list[str](), list[SectionLeft]()
    for change in sections:
        if not has_all:
            left.append(SectionLeft(change.path, "not all notes are as they were before the run"))
            continue
        match sealed(io.targets.read(change.path).bind(partial(_put_back, io, undo_id, change))):
            case Failure(error):
                left.append(SectionLeft(change.path, describe(error)))
            case Success(refusal) if refusal is not None:
                left.append(SectionLeft(change.path, refusal))
            case Success(_):
                done.append(change.path)
    return tuple(done), tuple(left)


def _put_back(io: UndoIo, undo_id: str | None, change: SectionChange, file: TargetFile) -> Result[str | None, Error]:
    """Why the section was not put back, if so."""
    if file.data is None and change.after is not None:
        return Success(None if change.created else "the file is gone")
    match sealed(restore_section(file.data or b"", change)):
        case Failure(refusal):
            return Success(refusal)
        case Success(data):
            # A file that came with the section goes with it, unless there is more in it by now.
            after = None if change.created and change.before is None and not data else data
            if undo_id is None or after == file.data:
                return Success(None)
            own = SectionChange(change.path, change.after, change.before, change.separator, file.data is None)
            kept = io.log.put_sections(undo_id, (own,))
            written = kept.bind(lambda _: io.targets.remove(file) if after is None else io.targets.write(file, after))
            return written.map(lambda _: None)


def _left_words(left: SectionLeft) -> str:
    return (
        f"{left.path} was left as it is: {left.reason.rstrip('.')}. `memory generate-agents-md` brings it up to date."
    )


# -- what the next defrag knows ---------------------------------------------------------------------------------------


def _is_tiered(io: UndoIo) -> bool:
    """Whether nothing changed since the last tiering."""
    memo, live = io.records.tiering(), io.store.list()
    if not isinstance(memo, Success) or not isinstance(live, Success):
        return False
    return bool(memo.unwrap().fingerprint == store_fingerprint(live.unwrap().entries))


def _still_tiered(io: UndoIo, tiered: bool) -> Result[None, Error]:
    """A defrag that was undone is not to be done all again, unless something changes: the store as it is counts as
    tiered, if it did before."""
    if not tiered:
        return Success(None)
    return io.store.list().bind(
        lambda live: io.records.tiering().bind(
            lambda memo: io.records.put_tiering(evolve(memo, fingerprint=store_fingerprint(live.entries)))
        )
    )


# -- small things -----------------------------------------------------------------------------------------------------


def _planned(io: UndoIo, found: Undoable) -> Result[Undone, Error]:
    def planned(receipt: Receipt) -> Undone:
        files = [each for each in fold_files(found.files).files if each.path in receipt.touched]
        back = tuple(evolve(each, before=each.after, after=each.before) for each in files)
        staying = _staying(found, set(receipt.touched))
        sections, left = _put_sections_back(io, None, found.sections, has_all=not staying)
        return Undone(
            run_id="",
            undid=found.run,
            root=found.root,
            actions=logged_changes(note_changes(back)),
            sections=sections,
            left=left,
            warnings=(*found.warnings, *staying, *map(_left_words, left)),
            dry_run=True,
        )

    return _reverted(io, found, "", dry_run=True).map(planned)


def _staying(found: Undoable, put_back: Set[str]) -> tuple[str, ...]:
    """A sentence for each note of the run that stays as it is now."""
    files = [each for each in fold_files(found.files).files if each.path != TIERS_FILE and each.path not in put_back]
    why = "it, or a note that belongs with it, was changed, forgotten or linked to since"
    return tuple(f"{each.title} ({each.id}) stays as it is: {why}." for each in note_changes(files))


def _footprint_or_none(io: UndoIo, run_id: str) -> Result[Footprint | None, Error]:
    match sealed(io.log.footprint(run_id)):
        case Failure(RunNotFound()):
            return Success(None)
        case Failure(error):
            return Failure(error)
        case Success(footprint):
            return Success(footprint)


def _named_run(io: UndoIo, run_id: str) -> Result[LoggedRun | None, Error]:
    return io.log.runs(named=run_id).map(lambda runs: next((each for each in runs if each.run_id == run_id), None))


def _told(result: Result[object, Error]) -> tuple[str, ...]:
    return (describe(result.failure()),) if isinstance(result, Failure) else ()

"""Undo: restores the store, its tiers and the managed sections as they were before a run, byte for byte (P16).

The store is restored first, in one transaction with the footprint of the undo itself; the rest follows from what is
then on disk, so that it can be finished after a crash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from attrs import evolve, frozen
from returns.result import Result

from agent_memory.errors import Error, MarkersAmbiguous, RunNotFound, UndoRefused, UsageInvalid
from agent_memory.note.note import TIERS_FILE, secret_ids
from agent_memory.results import as_result, unwrap, warning_of
from agent_memory.rules.change import CHANGED_SINCE, FileChange, Footprint, SectionChange, fold_files, hash_of
from agent_memory.rules.findings import store_fingerprint
from agent_memory.rules.run_log import LoggedAction, LoggedRun, Undoing, short_id
from agent_memory.section.section_splice import restore_section
from agent_memory.store.diffs import logged_changes, note_changes
from agent_memory.text.plain_text import counted

if TYPE_CHECKING:
    from agent_memory.ports import Clock, Recorder
    from agent_memory.section.targets import Targets
    from agent_memory.store.run_files import DefragRecords, RunLog
    from agent_memory.store.store_files import Store

MOST_REASONS = 10


@frozen
class UndoIo:
    store: Store
    log: RunLog
    targets: Targets
    recorder: Recorder
    records: DefragRecords
    clock: Clock
    finish_interrupted: Callable[[], Result[object, Error]]
    """Finishes a consolidation or defrag that crashed half way."""
    new_run_id: Callable[[int], str]
    """The id of a run that begins at this instant."""


@frozen
class SectionLeft:
    """A managed section that was not restored."""

    path: str
    reason: str


@frozen
class Undone:
    """The result of an undo, or in a dry run what it would be."""

    run_id: str
    """The id of the undo itself; empty in a dry run."""
    undid: LoggedRun
    root: LoggedRun
    """For the undo of an undo: the run that stands again; else the same as `undid`."""
    actions: tuple[LoggedAction, ...] = ()
    sections: tuple[str, ...] = ()
    left: tuple[SectionLeft, ...] = ()
    warnings: tuple[str, ...] = ()
    dry_run: bool = False


@frozen
class _Undoable:
    run: LoggedRun
    root: LoggedRun
    footprint: Footprint

    @property
    def files(self) -> tuple[FileChange, ...]:
        """Returns each file once, as the run changed it."""
        return fold_files(self.footprint.files).files


@as_result
def undo(io: UndoIo, name: str | None = None, *, dry_run: bool = False) -> Undone:
    """Returns what was undone. The caller holds the run lock. It first finishes whatever a crash left half done, and
    records hand edits as the person's. A refusal changes nothing: RunNotFound, UndoRefused, UsageInvalid for an
    ambiguous name.

    Without a name it undoes the newest run that changed something and still stands. Undoing an undo brings back what it
    had undone.
    """
    if dry_run:
        found = _undoable(io, name)
        touched = _put_files_back(io, found, "", dry_run=True)
        files = [each for each in found.files if each.path in touched]
        return _undone(io, None, found, [evolve(each, before=each.after, after=each.before) for each in files])
    warnings = list(unwrap(finish_undo(io)))
    unwrap(io.finish_interrupted())
    warnings += warning_of(io.recorder.adopt_hand_edits())
    found = _undoable(io, name)
    now_ms = io.clock.now_ms()
    undoing = Undoing(io.new_run_id(now_ms), found.run.run_id, now_ms)
    unwrap(io.log.put_undoing(undoing))
    memo = io.records.tiering()
    was_tiered = found.root.machine == "defrag" and memo.map(lambda kept: kept.fingerprint) == _fingerprint(io)
    try:
        _put_files_back(io, found, undoing.run_id)
    except Error:
        unwrap(io.log.put_undoing(None))
        raise
    if was_tiered:
        # An undone defrag must not be repeated unless something changes: the store as it is counts as tiered, if it did
        # before.
        unwrap(io.records.put_tiering(evolve(unwrap(memo), fingerprint=unwrap(_fingerprint(io)))))
    done = _complete(io, undoing, found)
    return evolve(done, warnings=(*warnings, *done.warnings))


@as_result
def finish_undo(io: UndoIo) -> tuple[str, ...]:
    """Finishes an undo that crashed. Returns sentences for the person. An undo that had not yet changed anything is
    dropped."""
    undoing = unwrap(io.log.undoing())
    if undoing is None:
        return ()
    # What a crash left of a transaction is settled first: before that its footprint tells nothing.
    unwrap(io.store.apply(()))
    begun = footprint_if_any(io.log, undoing.run_id)
    if (run := _exact_run(io.log, undoing.undoes)) is not None:
        found = _Undoable(run, _root_of(io.log, run), unwrap(io.log.footprint(run.run_id)))
        if begun is not None or not found.files:
            done = _complete(io, undoing, found)
            return f"An interrupted undo was finished first: {_did_what(done)}.", *done.warnings
    unwrap(io.log.put_undoing(None))
    return ()


# -- which run --------------------------------------------------------------------------------------------------------


def chosen_run(log: RunLog, name: str | None) -> LoggedRun:
    """Returns the run with this name, the beginning of its id or of the last part of it; without a name the newest that
    changed something, still stands, and is not an undo. UndoRefused if that is unknown because a newer one cannot be
    read: it never falls back to an older one (P6)."""
    if name is None:
        run = newest_run(log, lambda run: _stands(run) or _may_stand(run))
        if _may_stand(run):
            again = f"`memory undo {short_id(run.run_id)}` undoes this one"
            raise _refused(run, (*run.problems, f"it is unclear which run to undo; {again}"))
        return run
    if not name:
        raise RunNotFound(name)
    found = unwrap(log.runs(named=name))
    meant = [each for each in found if each.run_id == name] or list(found)
    if not meant:
        raise RunNotFound(name)
    if len(meant) > 1:
        ids = ", ".join(each.run_id for each in meant[:5])
        raise UsageInvalid(f"{name!r} matches {len(meant)} runs: {ids}", "Give more of the name.")
    return meant[0]


def newest_run(log: RunLog, is_meant: Callable[[LoggedRun], bool]) -> LoggedRun:
    found = next(filter(is_meant, unwrap(log.runs())), None)
    if found is None:
        raise RunNotFound("")
    return found


def footprint_of(log: RunLog, run: LoggedRun) -> Footprint:
    """Returns what the run changed. UndoRefused where that is not known any more."""
    footprint = footprint_if_any(log, run.run_id)
    if footprint is None:
        lost = "the record of its changes is gone" if run.changed_ids else "it changed nothing"
        raise _refused(run, (lost,))
    return footprint


def footprint_if_any(log: RunLog, run_id: str) -> Footprint | None:
    """Returns what the run changed; None where nothing is known of it."""
    try:
        return unwrap(log.footprint(run_id))
    except RunNotFound:
        return None


def _undoable(io: UndoIo, name: str | None) -> _Undoable:
    """Returns the chosen run. UndoRefused for one that is undone already or left nothing to undo."""
    run = chosen_run(io.log, name)
    if run.undone_by is not None:
        again = f"`memory undo {short_id(run.undone_by)}` redoes it"
        raise _refused(run, (f"it is already undone; {again}",))
    found = _Undoable(run, _root_of(io.log, run), footprint_of(io.log, run))
    if not found.files and not found.footprint.sections:
        raise _refused(run, ("nothing that it changed is left",))
    return found


def _root_of(log: RunLog, run: LoggedRun) -> LoggedRun:
    """Returns the run that an undo, an undo of an undo and so on is about; any other run is its own root."""
    while run.undid is not None and (before := _exact_run(log, run.undid)) and before.run_id < run.run_id:
        run = before
    return run


def _exact_run(log: RunLog, run_id: str) -> LoggedRun | None:
    return next((each for each in unwrap(log.runs(named=run_id)) if each.run_id == run_id), None)


def _stands(run: LoggedRun) -> bool:
    return run.machine != "undo" and run.undone_by is None and bool(run.kept or run.changed_ids)


def _may_stand(run: LoggedRun) -> bool:
    return run.result == "unreadable" and run.kept


def _refused(run: LoggedRun, reasons: Sequence[str]) -> UndoRefused:
    more = len(reasons) - MOST_REASONS
    return UndoRefused(run.run_id, tuple(reasons) if more <= 0 else (*reasons[:MOST_REASONS], f"and {more} more such"))


# -- everything goes back ---------------------------------------------------------------------------------------------


def _fingerprint(io: UndoIo) -> Result[str, Error]:
    return io.store.list().map(lambda live: store_fingerprint(live.entries))


def _put_files_back(io: UndoIo, found: _Undoable, undo_id: str, *, dry_run: bool = False) -> frozenset[str]:
    """Restores the files of the run, or would; returns their paths. A refusal says who changed the notes since, as far
    as that is known."""
    if not found.files:
        return frozenset()
    try:
        return frozenset(unwrap(io.store.revert(found.footprint, undo_id, dry_run=dry_run)).touched)
    except UndoRefused as refused:
        # An undo of a later run changed nothing by that: the two cancel out.
        later = [
            each
            for each in unwrap(io.log.runs())
            if each.run_id > found.run.run_id and each.undone_by is None and (each.undid or "") <= found.run.run_id
        ]

        def told(reason: str) -> str:
            by = next((each for each in later if any(f"({id})" in reason for id in each.changed_ids)), None)
            if by is None:
                return f"{reason} by hand or by a command"
            return (
                f"{reason} by {called(by)}, which would have to be undone first (`memory undo {short_id(by.run_id)}`)"
            )

        reasons = [told(each) if each.endswith(CHANGED_SINCE) else each for each in refused.reasons]
        raise _refused(found.run, reasons) from None


def _complete(io: UndoIo, undoing: Undoing, found: _Undoable) -> Undone:
    """Does everything that comes after the files; doing any of it twice is harmless."""
    fingerprints = frozenset(each.fingerprint for each in found.run.actions if each.fingerprint)
    unwrap(io.log.mark_undone(found.run.run_id, undoing.run_id, fingerprints))
    own = footprint_if_any(io.log, undoing.run_id)
    files = () if own is None else fold_files(own.files).files
    undone = _undone(io, undoing.run_id, found, files)
    if files:
        recorded = io.recorder.record(tuple(each.path for each in files), *_commit_words(undone))
        undone = evolve(undone, warnings=(*undone.warnings, *warning_of(recorded)))
    report = LoggedRun(
        run_id=undoing.run_id,
        machine="undo",
        started_at_ms=undoing.started_at_ms,
        ended_at_ms=io.clock.now_ms(),
        result="completed",
        summary=_did_what(undone),
        actions=undone.actions,
        warnings=undone.warnings,
        undid=undone.undid.run_id,
    )
    unwrap(io.log.put_report(report))
    unwrap(io.log.put_undoing(None))
    return undone


def _undone(io: UndoIo, undo_id: str | None, found: _Undoable, files: Sequence[FileChange]) -> Undone:
    """Returns the result of an undo that changes these files, after restoring its sections; without an undo nothing is
    written."""
    before = {each.path: hash_of(each.before) for each in found.files}
    # A note that stays may have lost a link: that is no restoring.
    files = [each for each in files if before.get(each.path, "") == hash_of(each.after)]
    put_back = {each.path for each in files}
    others = [each for each in found.files if each.path not in (TIERS_FILE, *put_back)]
    why = "it, or a note that belongs with it, was changed, forgotten or linked to since"
    secret = secret_ids(unwrap(io.store.list()).entries)
    titles = ((each.id, "a secret note" if each.id in secret else each.title) for each in note_changes(others))
    staying = [f"{title} ({id}) stays as it is: {why}." for id, title in titles]
    done: list[str] = []
    left: list[SectionLeft] = []
    for change in found.footprint.sections:  # trouble with one target does not hinder the others
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
        warnings=(*staying, *left_alone),
        dry_run=undo_id is None,
    )


def _put_back(io: UndoIo, undo_id: str | None, change: SectionChange) -> str | None:
    """Restores a managed section, or returns why it was not restored. Without an undo nothing is written."""
    file = unwrap(io.targets.read(change.path))
    if file.data is None and change.after is not None:
        return None if change.created else "the file is gone"
    try:
        data = restore_section(file.data or b"", change)
    except MarkersAmbiguous as error:
        return error.problem
    # A file that was created with the section is removed with it, unless there is more in it by now.
    after = None if change.created and change.before is None and not data else data
    if undo_id is not None and after != file.data:
        own = SectionChange(change.path, change.after, change.before, change.separator, file.data is None)
        unwrap(io.log.put_sections(undo_id, (own,)))
        unwrap(io.targets.remove(file) if after is None else io.targets.write(file, after))
    return None


# -- in words ---------------------------------------------------------------------------------------------------------

_ACTS = {
    "replace": "put back as {it} was",
    "restore": "brought back from the archive",
    "create": "brought back",
    "remove": "taken away",
    "retire": "moved to the archive",
}
"""The words for each thing that undoing did to a note, in the order in which it is reported."""


def called(run: LoggedRun) -> str:
    """Returns `the defrag run 4dbfbe`."""
    what = "undo" if run.machine == "undo" else f"{run.machine} run"
    return f"the {what} {short_id(run.run_id)}"


def _did_what(undone: Undone) -> str:
    """Returns `undid the defrag run 4dbfbe (2 merged)`, or for a redo that it stands again."""
    said = f" ({undone.root.summary})" if undone.root.summary else ""
    is_redo = undone.undid.machine == "undo"
    return f"redid {called(undone.root)}{said}" if is_redo else f"undid {called(undone.root)}{said}"


def sentence_of(undone: Undone) -> str:
    """Returns `Undid the defrag run 4dbfbe (2 merged): 2 notes put back as they were, 1 taken away, 1 managed section restored`."""
    counts = Counter(each.kind for each in undone.actions)
    parts: list[str] = []
    for act, words in _ACTS.items():
        if number := counts[act]:
            noun = "" if parts else f" {'note' if number == 1 else 'notes'}"
            parts.append(f"{number}{noun} {words.replace('{it} was', 'it was' if number == 1 else 'they were')}")
    if not undone.actions and undone.root.machine == "defrag":
        parts.append("tiers put back as they were")
    if undone.sections:
        parts.append(f"{counted(len(undone.sections), 'managed section')} restored")
    unchanged = "it waits for you again" if undone.undid.machine == "review" else "no note changed"
    did = _did_what(undone)
    what = f"would {did.replace('did', 'do', 1)}" if undone.dry_run else did
    return f"{what[:1].upper()}{what[1:]}: {', '.join(parts) or unchanged}"


def _commit_words(undone: Undone) -> tuple[str, str]:
    root = undone.root
    act = "redo" if undone.undid.machine == "undo" else "undo"
    subject = f"{act}: {root.summary or root.machine} ({root.machine} {short_id(root.run_id)})"
    signs = {"create": "+", "restore": "+", "replace": "~", "retire": "-", "remove": "-"}
    lines = [f"{signs[each.kind]} {' '.join(each.all_ids)} {each.words}".rstrip() for each in undone.actions]
    return subject, "\n".join((f"Run {undone.undid.run_id}, by {undone.run_id}", *lines))

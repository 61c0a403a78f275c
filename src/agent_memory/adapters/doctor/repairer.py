"""`memory doctor --fix`: what is safe to repair, under the run lock. Knowledge is moved, never deleted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial, reduce
from itertools import chain

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import is_directory, is_there
from agent_memory.adapters.disk.root_files import names_inside
from agent_memory.adapters.doctor.doctor import Doctor
from agent_memory.adapters.doctor.files import RepairLog, repair_files, walk
from agent_memory.adapters.doctor.git_state import git_directory
from agent_memory.adapters.doctor.note_repairs import Repairing, is_repairable, restore_head
from agent_memory.adapters.doctor.notes import read_copies, read_notes
from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.adapters.git.git_repository import remove_stale_locks, stale_locks
from agent_memory.adapters.records.bookkeeping_files import SessionMarksFiles
from agent_memory.adapters.records.health_files import unrecorded_writes
from agent_memory.adapters.store.entry_files import JOURNAL, TOPICS
from agent_memory.adapters.surroundings.root import home_of, local_state_directory
from agent_memory.domain.change import Receipt, Retire
from agent_memory.domain.doctor.catalogue import Repair
from agent_memory.domain.doctor.note_checks import plan_repairs
from agent_memory.domain.doctor.store_checks import TIERS_FILE, is_temporary, pinned_outside, with_pins
from agent_memory.domain.entry import Listed, Listing
from agent_memory.domain.planning.linking import taken_ids
from agent_memory.domain.section import Published
from agent_memory.domain.text.file_name import id_in_name
from agent_memory.domain.tidying.tidied import expired_archivings
from agent_memory.domain.tiering.standing import without
from agent_memory.domain.tiers import TierList
from agent_memory.errors import Error
from agent_memory.formats.note import HEADLESS
from agent_memory.ports import Locks, Recorder, Store
from agent_memory.results import sealed
from agent_memory.wording import describe


@frozen
class Repairer:
    """Repairs what a doctor would find."""

    doctor: Doctor
    locks: Locks
    recorder: Recorder
    publish: Callable[[], Result[Published, Error]]
    finish_runs: Callable[[], Result[object, Error]]
    """Carries out the rest of runs that crashed: their writes are nobody's hand edits."""

    def repair(self) -> Result[Repair, Error]:
        """What was done, and how the store is afterwards. `Busy` while a run is at work."""
        with self.locks.run() as held:
            return held.map(lambda _: self._repaired())

    def _repaired(self) -> Repair:
        log = RepairLog()
        has_root = is_directory(str(self.doctor.root))
        log.tolerate(has_root)
        if has_root.value_or(False):
            self._finish_writes(log)
            self._free_git(log)
            log.tolerate(self.finish_runs())
            self._adopt(log)
            self._restore_heads(log)
            self._repair_notes(log)
            self._archive_expired(log)
            self._repair_pins(log)
            self._forget_copies(log)
            self._repair_files(log)
            self._record(log)
            self._publish(log)
        return Repair(tuple(log.did), tuple(log.failed), self.doctor.examine())

    def _finish_writes(self, log: RepairLog) -> None:
        """Whoever changes nothing still finishes, or undoes, what a crash left half done."""
        was_there = is_there(str(self.doctor.root / JOURNAL))
        log.tolerate(was_there)
        if log.tolerate(self.doctor.store.apply(())) and was_there.value_or(False):
            log.did.append("a change that was cut short is undone, or finished")

    def _free_git(self, log: RepairLog) -> None:
        root = self.doctor.root
        directory = git_directory(root, self.doctor.environ).value_or(None)
        if directory is None:
            return
        try:
            if not (locks := stale_locks(root, directory)):
                return
            with self.locks.write() as held:
                if isinstance(held, Success) and remove_stale_locks(root, directory):
                    log.did += [
                        f"{os.path.relpath(path, root)}, a lock that no git worked behind, is removed" for path in locks
                    ]
        except OSError as error:
            log.failed.append(f"What locks git could not be looked at and removed: {error.strerror}")

    def _adopt(self, log: RepairLog) -> None:
        """What a person changed is recorded as theirs before anything is repaired, and what git missed with it."""
        owed = unrecorded_writes(self.doctor.root)
        log.tolerate(owed)
        adopted = self.recorder.adopt_hand_edits()
        if not log.tolerate(adopted):
            return
        if paid := owed.value_or(0):
            log.did.append(f"{paid} {'write is' if paid == 1 else 'writes are'} recorded by git now")
        if count := adopted.value_or(0):
            log.did.append(
                f"{count} {'file' if count == 1 else 'files'} changed by hand {'is' if count == 1 else 'are'} recorded"
            )

    def _restore_heads(self, log: RepairLog) -> None:
        git = GitProcess(self.doctor.root, self.doctor.environ)
        unreadable = self.doctor.store.list().map(lambda live: live.unreadable).value_or(())
        for path in (each.path for each in unreadable if HEADLESS in each.problems):
            with self.locks.write() as held:
                restored = held.bind(partial(_with_lock, git, path))
            if log.tolerate(restored) and restored.unwrap():
                log.did.append(f"{path} has the frontmatter again that git knows")
                log.touched.append(path)

    def _repair_notes(self, log: RepairLog) -> None:
        lists = self.doctor.store.list().bind(
            lambda live: self.doctor.store.list(archived=True).map(lambda archive: (live, archive))
        )
        root = str(self.doctor.root)
        seen = lists.bind(lambda both: names_inside(root, TOPICS).map(lambda names: (*both, names)))
        match sealed(seen):
            case Failure(error):
                log.failed.append(describe(error))
            case Success((live, archive, names)):
                notes = chain(read_copies(root, live.unreadable, live.entries), read_notes(root, live.entries))
                repairs = plan_repairs(
                    (note for note in notes if is_repairable(note)),
                    {each.path: each for each in live.entries},
                    _ids_of(live, archive),
                    names,
                )
                Repairing(root, self.locks, log).carry_out(repairs)

    def _archive_expired(self, log: RepairLog) -> None:
        doctor = self.doctor
        match sealed(archive_expired(doctor.store, self.locks, doctor.clock.now_ms())):
            case Failure(error):
                log.failed.append(describe(error))
            case Success(receipt):
                log.did += [f"{each.touched[0]} has expired, and is in the archive now" for each in receipt.applied]
                log.touched += receipt.touched

    def _repair_pins(self, log: RepairLog) -> None:
        store = self.doctor.store
        with self.locks.write() as held:
            found = held.bind(lambda _: store.tiers()).bind(
                lambda tiers: store.list().map(lambda live: (tiers, live.entries))
            )
            match sealed(found):
                case Success((tiers, live)) if tiers != TierList():
                    pinned = pinned_outside(tiers, live)
                    if pinned and log.tolerate(
                        store.apply((), tiers=with_pins(tiers, [each.meta.id for each in pinned]))
                    ):
                        log.did += [f"{each.path} is hot now, since it is pinned" for each in pinned]
                        log.touched.append(TIERS_FILE)
                case _:
                    return  # no tiers yet, or a list that cannot be read, which the examination tells

    def _forget_copies(self, log: RepairLog) -> None:
        marks = SessionMarksFiles(self.doctor.root)
        for mark in self.doctor.false_copies():
            removed = marks.remove(mark)
            if log.tolerate(removed):
                log.did.append(f"{mark.harness} {mark.session_id} is no copy: `memory backfill` reads it")
                log.touched.append(removed.unwrap())

    def _repair_files(self, log: RepairLog) -> None:
        root, home = str(self.doctor.root), home_of(self.doctor.environ)
        beside = [] if home is None else [local_state_directory(home)]
        for directory in (root, f"{root}/.git/info", *beside):
            found = [each for each in walk(directory) if not isinstance(each, OSError)]
            # Beside the notes only what we write ourselves is ours to tidy.
            ours = found if directory == root else [each for each in found if is_temporary(each)]
            repair_files(directory, ours, self.doctor.clock.now_ms(), log)

    def _record(self, log: RepairLog) -> None:
        paths = tuple(dict.fromkeys(log.touched))
        if not paths:
            return
        count = sum(path.startswith(f"{TOPICS}/") for path in paths)
        subject = (
            f"doctor: {count} {'file' if count == 1 else 'files'} of notes repaired"
            if count
            else "doctor: state repaired"
        )
        with self.locks.write() as held:
            log.tolerate(held.bind(lambda _: self.recorder.record(paths, subject, "\n".join(log.did))))

    def _publish(self, log: RepairLog) -> None:
        match sealed(self.publish()):
            case Failure(error):
                log.failed.append(describe(error))
            case Success(published):
                log.did += [f"{each.path} is up to date now" for each in published.targets if each.outcome == "written"]


def _with_lock(git: GitProcess, path: str, _held: object) -> Result[bool, Error]:
    return restore_head(git, path)


def _ids_of(live: Listing, archive: Listing) -> frozenset[str]:
    """Every id that is given, also those of files that cannot be read; not those that files without one would get."""
    stated = Listing(tuple(each for each in live.entries if not each.provisional_id))
    named = (id_in_name(each.path.rpartition("/")[2]) for each in (*live.unreadable, *archive.unreadable))
    return taken_ids(stated, archive) | {id.casefold() for id in named if id is not None}


# -- what has expired -------------------------------------------------------------------------------------------------


def archive_expired(store: Store, locks: Locks, now_ms: int) -> Result[Receipt, Error]:
    """Retire every live entry that has expired by now, as one transaction. What is pinned stays, and what is conflicted or
    has no id of its own."""

    def archived(live: Iterable[Listed]) -> Result[Receipt, Error]:
        movable = {each.meta.id: each for each in live if _may_go(each)}
        ids = [each.id for each in expired_archivings(tuple(movable.values()), now_ms)]
        tiers = store.tiers().value_or(None)  # a damaged list is left as it is, and told of elsewhere
        fewer = None if tiers is None else reduce(without, ids, tiers)
        return store.apply(
            [Retire(id, movable[id].content_hash) for id in ids], tiers=None if fewer == tiers else fewer
        )

    with locks.write() as held:
        return held.bind(lambda _: store.list()).bind(lambda live: archived(live.entries))


def _may_go(listed: Listed) -> bool:
    return not (listed.meta.pinned or listed.conflicted or listed.provisional_id)

"""`memory doctor --fix`: what is safe to repair, under the run lock. Knowledge is moved, never deleted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import chain, count

from attrs import frozen
from returns.result import Result

from agent_memory.adapters.disk.paths import FileImage, exists, is_directory
from agent_memory.adapters.disk.root import home_of, local_state_directory
from agent_memory.adapters.disk.root_files import names_below
from agent_memory.adapters.doctor.doctor import Doctor, pinned_outside, read_copies, read_notes
from agent_memory.adapters.doctor.files import Found, RepairLog, repair_files, walk
from agent_memory.adapters.doctor.repository import free_repository, restore_head
from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.adapters.records.bookkeeping_files import SessionMarksFiles
from agent_memory.adapters.records.health_files import unrecorded_writes
from agent_memory.adapters.store.entry_files import ARCHIVE, JOURNAL, TOPICS, read_image, understand
from agent_memory.adapters.store.transaction import Transactions
from agent_memory.domain.change import Receipt, Retire
from agent_memory.domain.defragging.tidied import expired_archivings
from agent_memory.domain.doctor.catalogue import Repair
from agent_memory.domain.doctor.note_checks import NoteRepair, Rewrite, Shelve, plan_repairs
from agent_memory.domain.entry import Listing, MemoryEntry
from agent_memory.domain.planning.drafts import taken_ids
from agent_memory.domain.recording.file_change import FileChange, FileState
from agent_memory.domain.section import Published
from agent_memory.domain.text.file_name import id_in_name
from agent_memory.domain.tiering.standing import without
from agent_memory.domain.tiers import TIERS_FILE, TierList
from agent_memory.errors import EntryChanged, EntryInvalid, EntryUnreadable, Error
from agent_memory.formats.note import HEADLESS, render_note, with_normal_tags
from agent_memory.ports import Locks, Recorder, Store
from agent_memory.results import as_result, unwrap


@frozen
class Repairer:
    """Repairs what a doctor would find."""

    doctor: Doctor
    locks: Locks
    recorder: Recorder
    publish: Callable[[], Result[Published, Error]]
    finish_runs: Callable[[], Result[object, Error]]
    """Carries out the rest of runs that crashed: their writes are nobody's hand edits."""

    @as_result
    def repair(self) -> Repair:
        """What was done, and how the store is afterwards. `Busy` while a run is at work."""
        log = RepairLog()
        root, store = str(self.doctor.root), self.doctor.store
        with self.locks.run() as held:
            unwrap(held)
            has_root = False
            with log.tolerating():
                has_root = is_directory(root)
            if has_root:
                with log.tolerating():  # whoever changes nothing still finishes, or undoes, what a crash left half done
                    was_cut_short = exists(f"{root}/{JOURNAL}")
                    unwrap(store.apply(()))
                    if was_cut_short:
                        log.did.append("a change that was cut short is undone, or finished")
                free_repository(self._git, self.locks, log)
                with log.tolerating():
                    unwrap(self.finish_runs())
                with log.tolerating():
                    self._adopt(log)
                self._restore_heads(log)
                with log.tolerating():
                    self._repair_notes(log)
                with log.tolerating():
                    receipt = unwrap(archive_expired(store, self.locks, self.doctor.clock.now_ms()))
                    log.did += [f"{each.touched[0]} has expired, and is in the archive now" for each in receipt.applied]
                    log.touched += receipt.touched
                with log.tolerating():
                    self._repair_pins(log)
                self._forget_copies(log)
                self._repair_files(log)
                with log.tolerating():
                    self._record(log)
                with log.tolerating():
                    published = unwrap(self.publish())
                    written = [each.path for each in published.targets if each.outcome == "written"]
                    log.did += [f"{path} is up to date now" for path in written]
            return Repair(tuple(log.did), tuple(log.failed), self.doctor.examine())

    @property
    def _git(self) -> GitProcess:
        return GitProcess(self.doctor.root, self.doctor.environ)

    def _adopt(self, log: RepairLog) -> None:
        """What a person changed is recorded as theirs before anything is repaired, and what git missed with it."""
        owed = 0
        with log.tolerating():
            owed = unwrap(unrecorded_writes(self.doctor.root))
        adopted = unwrap(self.recorder.adopt_hand_edits())
        if owed:
            log.did.append(f"{owed} {'write is' if owed == 1 else 'writes are'} recorded by git now")
        if adopted:
            files = "file changed by hand is" if adopted == 1 else "files changed by hand are"
            log.did.append(f"{adopted} {files} recorded")

    def _restore_heads(self, log: RepairLog) -> None:
        unreadable = self.doctor.store.list().map(lambda live: live.unreadable).value_or(())
        for path in (each.path for each in unreadable if HEADLESS in each.problems):
            with log.tolerating(), self.locks.write() as held:
                unwrap(held)
                if restore_head(self._git, path):
                    log.did.append(f"{path} has the frontmatter again that git knows")
                    log.touched.append(path)

    def _repair_notes(self, log: RepairLog) -> None:
        root = str(self.doctor.root)
        live, archive = unwrap(self.doctor.store.list()), unwrap(self.doctor.store.list(archived=True))
        notes = chain(read_copies(root, live.unreadable, live.entries), read_notes(root, live.entries))
        repairs = plan_repairs(
            # A file in which a merge is unresolved is not written again: something would be lost.
            (note for note in notes if not note.stored.listed.conflicted),
            {each.path: each for each in live.entries},
            _ids_of(live, archive),
            names_below(root, TOPICS),
        )
        for start in range(0, len(repairs), _A_BATCH):
            with log.tolerating():
                repair_notes(root, self.locks, log, repairs[start : start + _A_BATCH])

    def _repair_pins(self, log: RepairLog) -> None:
        store = self.doctor.store
        with self.locks.write() as held:
            try:
                unwrap(held)
                tiers, live = unwrap(store.tiers()), unwrap(store.list()).entries
            except Error:
                return  # the examination tells
            if not (pinned := pinned_outside(tiers, live)):
                return
            ids = tuple(each.meta.id for each in pinned)
            warm = tuple(id for id in tiers.warm if id not in ids)
            unwrap(store.apply((), tiers=TierList((*tiers.hot, *ids), warm)))
            log.did += [f"{each.path} is hot now, since it is pinned" for each in pinned]
            log.touched.append(TIERS_FILE)

    def _forget_copies(self, log: RepairLog) -> None:
        for mark in self.doctor.false_copies():
            with log.tolerating():
                log.touched.append(unwrap(SessionMarksFiles(self.doctor.root).remove(mark)))
                log.did.append(f"{mark.harness} {mark.session_id} is no copy: `memory backfill` reads it")

    def _repair_files(self, log: RepairLog) -> None:
        root, home = str(self.doctor.root), home_of(self.doctor.environ)
        beside = [] if home is None else [local_state_directory(home)]
        for directory in (root, f"{root}/.git/info", *beside):
            found = [each for each in walk(directory) if isinstance(each, Found)]
            # Beside the notes only what we write ourselves is ours to tidy.
            ours = found if directory == root else [each for each in found if each.is_temporary]
            repair_files(directory, ours, self.doctor.clock.now_ms(), log)

    def _record(self, log: RepairLog) -> None:
        paths = tuple(dict.fromkeys(log.touched))
        if not paths:
            return
        count = sum(path.startswith(f"{TOPICS}/") for path in paths)
        files = f"{count} {'file' if count == 1 else 'files'} of notes repaired" if count else "state repaired"
        with self.locks.write() as held:
            unwrap(held)
            unwrap(self.recorder.record(paths, f"doctor: {files}", "\n".join(log.did)))


def _ids_of(live: Listing, archive: Listing) -> frozenset[str]:
    """Every id that is given, also those of files that cannot be read; not those that files without one would get."""
    stated = Listing(tuple(each for each in live.entries if not each.provisional_id))
    named = (id_in_name(each.path.rpartition("/")[2]) for each in (*live.unreadable, *archive.unreadable))
    return taken_ids(stated, archive) | {id.casefold() for id in named if id is not None}


@as_result
def archive_expired(store: Store, locks: Locks, now_ms: int) -> Receipt:
    """Retire every live entry that has expired by now, as one transaction. What is pinned stays, and what is conflicted or
    has no id of its own."""
    with locks.write() as held:
        unwrap(held)
        movable = {
            each.meta.id: each
            for each in unwrap(store.list()).entries
            if not (each.meta.pinned or each.conflicted or each.provisional_id)
        }
        ids = [each.id for each in expired_archivings(tuple(movable.values()), now_ms)]
        tiers = store.tiers().value_or(None)  # a damaged list is left as it is, and told of elsewhere
        fewer = None if tiers is None else reduce(without, ids, tiers)
        changes = [Retire(id, movable[id].content_hash) for id in ids]
        return unwrap(store.apply(changes, tiers=None if fewer == tiers else fewer))


# -- files of notes: each batch one transaction, and nothing that was changed meanwhile is written over (P8) ----------

_A_BATCH = 200
_ATTEMPTS = 3


def repair_notes(root: str, locks: Locks, log: RepairLog, repairs: Sequence[NoteRepair]) -> None:
    """Carry out all of these as one; one that cannot be done stops no other."""
    with locks.write() as held:
        unwrap(held)
        transactions = Transactions(root)
        transactions.recover()
        for _ in range(_ATTEMPTS):
            done: list[NoteRepair] = []
            troubles: list[str] = []
            changes: list[FileChange] = []
            planned: dict[str, FileState] = {}
            for repair in repairs:
                try:
                    more = _changes(root, repair, planned)
                except Error as error:
                    troubles.append(f"{repair.note.path} was left as it is: {error!s}")
                else:
                    done.append(repair)
                    changes += more
                    planned.update((change.path, change.after) for change in more if change.after is not None)
            if transactions.commit(changes):
                log.did += [each.words for each in done]
                log.failed += troubles
                log.touched += [change.path for change in changes]
                return
            # Somebody changed one of the files at this very moment.
        raise EntryChanged(repairs[0].note.path)


def _changes(root: str, repair: NoteRepair, planned: Mapping[str, FileState]) -> tuple[FileChange, ...]:
    """What the repair changes; `planned` is what those before it in the batch write."""
    image = read_image(root, repair.note.path)
    if image is None or image.data != repair.note.text.encode():
        raise EntryChanged(repair.note.stored.meta.id)
    before = FileState(image.data, image.mtime_ns)
    if isinstance(repair, Rewrite):
        return _rewritten(repair, before)
    return _shelved(root, repair, before, planned)


def _rewritten(repair: Rewrite, before: FileState) -> tuple[FileChange, ...]:
    """The file has to be read back as the same note, but for what was repaired; else it must not be written so."""
    note, path = repair.note, f"{TOPICS}/{repair.name}"
    data = with_normal_tags(render_note(MemoryEntry(repair.meta, note.stored.body), note.text)).encode()
    try:
        stored = understand(path, data, 0)
    except EntryUnreadable as invalid:
        raise EntryInvalid(invalid.problems) from None
    if stored.body.strip("\n") != note.stored.body.strip("\n") or stored.meta.id != repair.meta.id:
        raise EntryInvalid(("it would not be read as the same note",))
    after = FileState(data)
    if path == note.path:
        return (FileChange(path, before, after),)
    return (FileChange(path, None, after), FileChange(note.path, before, None))


def _shelved(root: str, repair: Shelve, before: FileState, planned: Mapping[str, FileState]) -> tuple[FileChange, ...]:
    meta = repair.note.stored.meta
    gone = FileChange(repair.note.path, before, None)
    for ms in count(max(meta.updated_at_ms, 0)):
        path = f"{ARCHIVE}/{meta.id}/{ms}.md"
        there: FileState | FileImage | None = planned.get(path) or read_image(root, path)
        if there is None:
            return (FileChange(path, None, before), gone)
        if there.data == before.data:
            return (gone,)
    raise AssertionError("milliseconds do not end")

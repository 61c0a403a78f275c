"""`memory doctor --fix`: what is safe to repair, under the run lock. Knowledge is moved, never deleted."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from itertools import chain, count

from attrs import frozen
from returns.result import Result, Success

from agent_memory.adapters.disk.paths import FileImage, is_directory, is_there
from agent_memory.adapters.disk.root_files import names_below
from agent_memory.adapters.doctor.doctor import Doctor
from agent_memory.adapters.doctor.files import RepairLog, repair_files, walk
from agent_memory.adapters.doctor.notes import read_copies, read_notes
from agent_memory.adapters.doctor.state import git_directory
from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.adapters.git.git_repository import remove_stale_locks, stale_locks
from agent_memory.adapters.records.bookkeeping_files import SessionMarksFiles
from agent_memory.adapters.records.health_files import unrecorded_writes
from agent_memory.adapters.store.entry_files import ARCHIVE, JOURNAL, TOPICS, entry_or_none, read_image, understand
from agent_memory.adapters.store.transaction import Transactions
from agent_memory.adapters.surroundings.root import home_of, local_state_directory
from agent_memory.domain.change import Receipt, Retire
from agent_memory.domain.doctor.catalogue import Repair
from agent_memory.domain.doctor.note_checks import NoteRepair, Rewrite, Shelve, plan_repairs
from agent_memory.domain.doctor.store_checks import TIERS_FILE, is_temporary, pinned_outside, with_pins
from agent_memory.domain.entry import Listed, Listing, MemoryEntry
from agent_memory.domain.planning.linking import taken_ids
from agent_memory.domain.recording.file_change import FileChange, FileState
from agent_memory.domain.section import Published
from agent_memory.domain.text.file_name import id_in_name
from agent_memory.domain.tidying.tidied import expired_archivings
from agent_memory.domain.tiering.standing import without
from agent_memory.domain.tiers import TierList
from agent_memory.errors import ERRORS, EntryChanged, EntryInvalid, EntryUnreadable, Error
from agent_memory.formats.frontmatter import NotReadable, split_note
from agent_memory.formats.note import HEADLESS, render_note, with_normal_tags
from agent_memory.ports import Locks, Recorder, Store
from agent_memory.results import as_result, unwrap
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
        try:
            directory = git_directory(root, self.doctor.environ)
        except ERRORS:
            return  # the examination tells
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
            with log.tolerating(), self.locks.write() as held:
                unwrap(held)
                if restore_head(git, path):
                    log.did.append(f"{path} has the frontmatter again that git knows")
                    log.touched.append(path)

    def _repair_notes(self, log: RepairLog) -> None:
        root = str(self.doctor.root)
        with log.tolerating():
            live, archive = unwrap(self.doctor.store.list()), unwrap(self.doctor.store.list(archived=True))
            names = names_below(root, TOPICS)
            notes = chain(read_copies(root, live.unreadable, live.entries), read_notes(root, live.entries))
            repairs = plan_repairs(
                # A file in which a merge is unresolved is not written again: something would be lost.
                (note for note in notes if not note.stored.listed.conflicted),
                {each.path: each for each in live.entries},
                _ids_of(live, archive),
                names,
            )
            for start in range(0, len(repairs), _A_BATCH):
                with log.tolerating():
                    repair_notes(root, self.locks, log, repairs[start : start + _A_BATCH])

    def _archive_expired(self, log: RepairLog) -> None:
        with log.tolerating():
            receipt = unwrap(archive_expired(self.doctor.store, self.locks, self.doctor.clock.now_ms()))
            log.did += [f"{each.touched[0]} has expired, and is in the archive now" for each in receipt.applied]
            log.touched += receipt.touched

    def _repair_pins(self, log: RepairLog) -> None:
        store = self.doctor.store
        with self.locks.write() as held:
            try:
                unwrap(held)
                tiers, live = unwrap(store.tiers()), unwrap(store.list()).entries
            except ERRORS:
                return  # the examination tells
            # Without a tier list no defrag has made one yet.
            pinned = () if tiers == TierList() else tuple(pinned_outside(tiers, live))
            if pinned and log.tolerate(store.apply((), tiers=with_pins(tiers, [each.meta.id for each in pinned]))):
                log.did += [f"{each.path} is hot now, since it is pinned" for each in pinned]
                log.touched.append(TIERS_FILE)

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
        with log.tolerating():
            published = unwrap(self.publish())
            log.did += [f"{each.path} is up to date now" for each in published.targets if each.outcome == "written"]


def _ids_of(live: Listing, archive: Listing) -> frozenset[str]:
    """Every id that is given, also those of files that cannot be read; not those that files without one would get."""
    stated = Listing(tuple(each for each in live.entries if not each.provisional_id))
    named = (id_in_name(each.path.rpartition("/")[2]) for each in (*live.unreadable, *archive.unreadable))
    return taken_ids(stated, archive) | {id.casefold() for id in named if id is not None}


# -- what has expired -------------------------------------------------------------------------------------------------


@as_result
def archive_expired(store: Store, locks: Locks, now_ms: int) -> Receipt:
    """Retire every live entry that has expired by now, as one transaction. What is pinned stays, and what is conflicted or
    has no id of its own."""
    with locks.write() as held:
        unwrap(held)
        movable = {each.meta.id: each for each in unwrap(store.list()).entries if _may_go(each)}
        ids = [each.id for each in expired_archivings(tuple(movable.values()), now_ms)]
        tiers = store.tiers().value_or(None)  # a damaged list is left as it is, and told of elsewhere
        fewer = None if tiers is None else reduce(without, ids, tiers)
        changes = [Retire(id, movable[id].content_hash) for id in ids]
        return unwrap(store.apply(changes, tiers=None if fewer == tiers else fewer))


def _may_go(listed: Listed) -> bool:
    return not (listed.meta.pinned or listed.conflicted or listed.provisional_id)


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
                except ERRORS as error:
                    troubles.append(f"{repair.note.path} was left as it is: {describe(error)}")
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
    if isinstance(repair, Rewrite):
        return _rewritten(repair, image)
    return _shelved(root, repair, image, planned)


def _rewritten(repair: Rewrite, image: FileImage) -> tuple[FileChange, ...]:
    note, path = repair.note, f"{TOPICS}/{repair.name}"
    data = with_normal_tags(render_note(MemoryEntry(repair.meta, note.stored.body), note.text)).encode()
    if problems := _problems(path, data, repair):
        raise EntryInvalid(problems)
    before, after = FileState(image.data, image.mtime_ns), FileState(data)
    if path == note.path:
        return (FileChange(path, before, after),)
    return (FileChange(path, None, after), FileChange(note.path, before, None))


def _shelved(root: str, repair: Shelve, image: FileImage, planned: Mapping[str, FileState]) -> tuple[FileChange, ...]:
    state = FileState(image.data, image.mtime_ns)
    meta = repair.note.stored.meta
    for ms in count(max(meta.updated_at_ms, 0)):
        path = f"{ARCHIVE}/{meta.id}/{ms}.md"
        there: FileState | FileImage | None = planned.get(path)
        if there is None:
            there = read_image(root, path)
        if there is None:
            return (FileChange(path, None, state), FileChange(repair.note.path, state, None))
        if there.data == image.data:
            return (FileChange(repair.note.path, state, None),)
    raise AssertionError("milliseconds do not end")


def _problems(path: str, data: bytes, repair: Rewrite) -> tuple[str, ...]:
    """Why the file must not be written so: it has to be read back as the same note, but for what was repaired."""
    try:
        stored = understand(path, data, 0)
    except EntryUnreadable as invalid:
        return invalid.problems
    same = _as_kept(stored.body) == _as_kept(repair.note.stored.body) and stored.meta.id == repair.meta.id
    return () if same else ("it would not be read as the same note",)


def _as_kept(body: str) -> str:
    return body.strip("\n")


# -- lost heads -------------------------------------------------------------------------------------------------------

_LOOKED_BACK = 20
"""Commits of one file. The newest but one has the frontmatter, unless the loss went unnoticed through many edits."""


def restore_head(git: GitProcess, path: str) -> bool:
    """Whether the note (its path below the root) has its last recorded frontmatter again; the write lock is held."""
    image = read_image(str(git.root), path)
    block = None if image is None else _last_block(git, path)
    if image is None or block is None:
        return False
    data = _with_head(block, image.data.decode("utf-8", "replace")).encode()
    if entry_or_none(path, data, image.mtime_ns) is None:
        return False
    transactions = Transactions(str(git.root))
    transactions.recover()
    return transactions.commit((FileChange(path, FileState(image.data, image.mtime_ns), FileState(data)),))


def _last_block(git: GitProcess, path: str) -> str | None:
    try:
        for commit in git.run("log", f"--max-count={_LOOKED_BACK}", "--format=%H", "--", path).stdout.decode().split():
            text = git.run("show", f"{commit}:{path}").stdout.decode("utf-8", "replace")
            with suppress(NotReadable):
                if (block := split_note(text).block) is not None:
                    return block
    except ERRORS:
        return None  # git cannot be asked
    return None


def _with_head(block: str, text: str) -> str:
    """The text below the whole frontmatter: the lines of it that the text still begins with are not doubled."""
    lines = [*block.splitlines(keepends=True), "---\n"]
    tails = ("".join(lines[at:]) for at in range(len(lines)))
    left = next((tail for tail in tails if text.startswith(tail)), "")
    return f"---\n{block}---\n{text[len(left) :] if left else chr(10) + text}"

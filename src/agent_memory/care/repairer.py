"""`memory doctor --fix`: repairs what is safe to repair, under the run lock. Knowledge is moved, never deleted."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, count

from attrs import define, field, frozen
from returns.result import Result

from agent_memory.care.checks import DoctorReport, NoteRepair, plan_repairs
from agent_memory.care.doctor import Doctor, read_copies, read_notes
from agent_memory.care.files import Found, everything_in, unwritten
from agent_memory.errors import EntryChanged, EntryInvalid, Error
from agent_memory.files.durable import close_quietly
from agent_memory.files.locks import Locks
from agent_memory.files.paths import exists, is_directory, names_below, store_io
from agent_memory.files.root import home_of, local_state_directory
from agent_memory.git.git_history import owed_paths
from agent_memory.git.git_process import GitProcess
from agent_memory.note.file_name import id_in_name
from agent_memory.note.frontmatter import NotReadable, split_note
from agent_memory.note.note import Listing, MemoryEntry
from agent_memory.note.note_format import HEADLESS, render_note
from agent_memory.results import as_result, unwrap
from agent_memory.rules.change import FileChange, FileState, Published
from agent_memory.rules.drafts import taken_ids
from agent_memory.store.note_files import ARCHIVE, JOURNAL, TOPICS, entry_or_none, read_image
from agent_memory.store.recorded_writes import RecordedWrites
from agent_memory.store.transaction import change_files
from agent_memory.text.plain_text import counted


@define
class Repair:
    did: list[str] = field(factory=list[str])
    """One sentence each."""
    failed: list[str] = field(factory=list[str])
    """What could not be done, and why."""
    touched: list[str] = field(factory=list[str])
    """Paths that were written or removed, for git, relative to the root."""

    @contextmanager
    def tolerating(self) -> Generator[None, None, None]:
        """Records an error in the block, so that it stops nothing else."""
        try:
            yield
        except Error as error:
            self.failed.append(str(error))


@frozen
class Repairer:
    doctor: Doctor
    git: GitProcess
    writes: RecordedWrites
    publish: Callable[[], Result[Published, Error]]
    finish_runs: Callable[[], object]

    @as_result
    def repair(self) -> tuple[Repair, DoctorReport]:
        """Returns what was done, and the state of the store afterwards. `Busy` while a run is at work."""
        log = Repair()
        repairs: tuple[Callable[[Repair], object], ...] = (
            self._finish_write,
            lambda _: self.finish_runs(),  # their writes are not hand edits
            self._adopt,
            self._restore_heads,
            self._repair_notes,
            self._repair_files,
            self._record,
            self._publish,
        )
        with self.writes.locks.run():
            with log.tolerating():
                if is_directory(str(self.git.root)):
                    for repair in repairs:
                        with log.tolerating():
                            repair(log)
            return log, self.doctor.examine()

    def _finish_write(self, log: Repair) -> None:
        was_cut_short = exists(f"{self.git.root}/{JOURNAL}")
        unwrap(self.writes.store.apply(()))  # even without changes, what is half done is finished or undone
        if was_cut_short:
            log.did.append("an interrupted change is undone or finished")

    def _adopt(self, log: Repair) -> None:
        """Records what a person changed as theirs before anything is repaired, and what git missed with it."""
        owed = 0
        with log.tolerating():
            owed = len(unwrap(owed_paths(self.git.root)))
        adopted = unwrap(self.writes.recorder.adopt_hand_edits())
        if owed:
            log.did.append(f"{counted(owed, 'file is', 'files are')} recorded by git now")
        if adopted:
            log.did.append(f"{counted(adopted, 'file changed by hand is', 'files changed by hand are')} recorded")

    def _restore_heads(self, log: Repair) -> None:
        unreadable = self.writes.store.list().map(lambda live: live.unreadable).value_or(())
        for path in (each.path for each in unreadable if HEADLESS in each.problems):
            with log.tolerating():
                if restore_head(self.git, self.writes.locks, path):
                    log.did.append(f"{path} has its frontmatter back from git")
                    log.touched.append(path)

    def _repair_notes(self, log: Repair) -> None:
        root = str(self.git.root)
        live, archive = unwrap(self.writes.store.listings())
        notes = chain(read_copies(root, live.unreadable, live.entries), read_notes(root, live.entries))
        # Every id in use, also in files that cannot be read; not those that files without an id would get.
        stated = Listing(tuple(each for each in live.entries if not each.provisional_id))
        named = (id_in_name(each.path) for each in (*live.unreadable, *archive.unreadable))
        repairs = plan_repairs(
            # A file with an unresolved merge is not rewritten: something would be lost.
            (note for note in notes if not note.stored.listed.conflicted),
            {each.path: each for each in live.entries},
            taken_ids(stated, archive) | {id.casefold() for id in named if id is not None},
            names_below(root, TOPICS),
        )
        for start in range(0, len(repairs), _A_BATCH):
            with log.tolerating():
                repair_notes(root, self.writes.locks, log, repairs[start : start + _A_BATCH])

    def _repair_files(self, log: Repair) -> None:
        """Removes leftovers, and closes what is open to others; a file that disappears meanwhile is not a failure."""
        root, now_ms = str(self.git.root), self.doctor.reading.clock.now_ms()
        beside = local_state_directory(home_of(self.doctor.environ))
        closed = 0
        for directory in (root, f"{root}/.git/info", beside):
            for each in everything_in(directory):
                # Apart from notes, only our own files are ours to tidy.
                if not isinstance(each, Found) or not (each.is_temporary or directory == root):
                    continue
                path = f"{directory}/{each.path}" if each.path else directory
                try:
                    if each.is_temporary:
                        with unwritten(directory, each, now_ms) as is_free:
                            if is_free:
                                os.unlink(path)
                                log.did.append(f"{each.path}, a temporary file, is removed")
                    elif each.is_loose and each.owner == os.getuid():
                        _close(path, 0o700 if each.is_directory else 0o600)
                        closed += 1
                except FileNotFoundError:
                    continue
                except OSError as error:
                    log.failed.append(str(store_io(error, "remove" if each.is_temporary else "close", path)))
        if closed:
            log.did.append(
                f"{counted(closed, 'file or directory is', 'files and directories are')} closed to other users"
            )

    def _record(self, log: Repair) -> None:
        paths = tuple(dict.fromkeys(log.touched))
        if not paths:
            return
        files = counted(sum(path.startswith(f"{TOPICS}/") for path in paths), "file")
        with self.writes.locks.write():
            unwrap(self.writes.recorder.record(paths, f"doctor: {files} of notes repaired", "\n".join(log.did)))

    def _publish(self, log: Repair) -> None:
        written = (each.path for each in unwrap(self.publish()).targets if each.outcome == "written")
        log.did += [f"{path} is up to date now" for path in written]


def _close(path: str, mode: int) -> None:
    """Sets the mode of the file itself, even if a link has taken its name by now."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except PermissionError:  # it is closed to its owner too, and `is_loose` has seen that it is not a link
        os.chmod(path, mode)
        return
    try:
        os.fchmod(descriptor, mode)
    finally:
        close_quietly(descriptor)


# -- files of notes: each batch one transaction, and nothing that was changed meanwhile is written over (P8) ----------

_A_BATCH = 200


def repair_notes(root: str, locks: Locks, log: Repair, repairs: Sequence[NoteRepair]) -> None:
    """Carries out all of these as one; one that cannot be done stops no other."""

    def decided() -> tuple[list[FileChange], Repair]:
        made = Repair()
        changes: list[FileChange] = []
        planned: dict[str, FileState] = {}
        for repair in repairs:
            try:
                more = _changes(root, repair, planned)
            except Error as error:
                made.failed.append(f"{repair.note.path} was left as it is: {error!s}")
            else:
                made.did.append(repair.words)
                made.touched += [change.path for change in more]
                changes += more
                planned.update((change.path, change.after) for change in more if change.after is not None)
        return changes, made

    made = change_files(root, locks, decided, EntryChanged(repairs[0].note.path))
    log.did += made.did
    log.failed += made.failed
    log.touched += made.touched


def _changes(root: str, repair: NoteRepair, planned: Mapping[str, FileState]) -> tuple[FileChange, ...]:
    note, stored = repair.note, repair.note.stored
    image = read_image(root, note.path)
    if image is None or image.data != note.text.encode():
        raise EntryChanged(stored.meta.id)
    before = FileState(image.data, image.mtime_ns)
    gone = FileChange(note.path, before, None)
    if repair.meta is None:
        paths = (f"{ARCHIVE}/{stored.meta.id}/{ms}.md" for ms in count(max(stored.meta.updated_at_ms, 0)))
        versions = ((path, planned.get(path) or read_image(root, path)) for path in paths)
        path, same = next(each for each in versions if each[1] is None or each[1].data == before.data)
        return (gone,) if same is not None else (FileChange(path, None, before), gone)
    # The file must read back as the same note, except for the repair; else it must not be written.
    path = f"{TOPICS}/{repair.name}"
    data = render_note(MemoryEntry(repair.meta, stored.body), note.text).encode()
    read = entry_or_none(path, data, 0)
    if read is None or read.body.strip("\n") != stored.body.strip("\n") or read.meta.id != repair.meta.id:
        raise EntryInvalid(("it would not be read as the same note",))
    after = FileState(data)
    return (FileChange(path, before, after),) if path == note.path else (FileChange(path, None, after), gone)


# -- frontmatter that was lost ----------------------------------------------------------------------------------------


def restore_head(git: GitProcess, locks: Locks, path: str) -> bool:
    """Returns whether the note (its path below the root) has its last recorded frontmatter again."""

    def decided() -> tuple[tuple[FileChange, ...], bool]:
        image = read_image(str(git.root), path)
        block = None if image is None else _last_block(git, path)
        if image is None or block is None:
            return (), False
        text = image.data.decode("utf-8", "replace")
        # The text after the whole frontmatter: those of its lines with which the text still begins are not doubled.
        lines = [*block.splitlines(keepends=True), "---\n"]
        tails = ("".join(lines[at:]) for at in range(len(lines)))
        left = next((tail for tail in tails if text.startswith(tail)), "")
        data = f"---\n{block}---\n{text[len(left) :] if left else chr(10) + text}".encode()
        if entry_or_none(path, data, image.mtime_ns) is None:
            return (), False
        return (FileChange(path, FileState(image.data, image.mtime_ns), FileState(data)),), True

    return change_files(str(git.root), locks, decided, EntryChanged(path))


def _last_block(git: GitProcess, path: str) -> str | None:
    # The last commit but one has the frontmatter, unless the loss went unnoticed through many edits.
    for commit in git.run("log", "--max-count=20", "--format=%H", "--", path).stdout.decode().split():
        text = git.run("show", f"{commit}:{path}").stdout.decode("utf-8", "replace")
        with suppress(NotReadable):
            if (block := split_note(text).block) is not None:
                return block
    return None

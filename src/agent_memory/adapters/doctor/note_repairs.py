"""Repairs of notes: each batch one transaction, and nothing that was changed meanwhile is written over (P8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count

from attrs import frozen
from returns.result import Failure, Success

from agent_memory.adapters.disk.paths import FileImage
from agent_memory.adapters.doctor.files import RepairLog
from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, entry_or_none, read_image, understand
from agent_memory.adapters.store.transaction import Transactions
from agent_memory.domain.doctor.note_checks import NoteFile, NoteRepair, Rewrite, Shelve
from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.recording.file_change import FileChange, FileState
from agent_memory.errors import EntryChanged, EntryInvalid, EntryUnreadable
from agent_memory.formats.frontmatter import NotReadable, split_note
from agent_memory.formats.note import render_note, with_normal_tags
from agent_memory.ports import Locks
from agent_memory.results import as_result, sealed
from agent_memory.wording import describe

_A_BATCH = 200
_ATTEMPTS = 3


@frozen
class Repairing:
    """Carries out repairs of notes."""

    root: str
    locks: Locks
    log: RepairLog

    def carry_out(self, repairs: Sequence[NoteRepair]) -> None:
        """All of them, in batches; one that fails stops no other."""
        for start in range(0, len(repairs), _A_BATCH):
            self._batch(repairs[start : start + _A_BATCH])

    def _batch(self, repairs: Sequence[NoteRepair]) -> None:
        with self.locks.write() as held:
            if isinstance(held, Failure):
                self.log.failed.append(describe(held.failure()))
                return
            for _ in range(_ATTEMPTS):
                done, troubles, changes = self._decided(repairs)
                match sealed(self._committed(changes)):
                    case Success(True):
                        self.log.did += [each.words for each in done]
                        self.log.failed += troubles
                        self.log.touched += [change.path for change in changes]
                        return
                    case Success(_):
                        continue  # somebody changed one of the files at this very moment
                    case Failure(error):
                        self.log.failed.append(describe(error))
                        return
            self.log.failed.append(describe(EntryChanged(repairs[0].note.path)))

    @as_result
    def _committed(self, changes: Sequence[FileChange]) -> bool:
        transactions = Transactions(self.root)
        transactions.recover()
        return transactions.commit(changes)

    def _decided(self, repairs: Sequence[NoteRepair]) -> tuple[list[NoteRepair], list[str], list[FileChange]]:
        done: list[NoteRepair] = []
        troubles: list[str] = []
        changes: list[FileChange] = []
        planned: dict[str, FileState] = {}
        for repair in repairs:
            match sealed(self._changes(repair, planned)):
                case Success(more):
                    done.append(repair)
                    changes += more
                    planned.update((change.path, change.after) for change in more if change.after is not None)
                case Failure(error):
                    troubles.append(f"{repair.note.path} was left as it is: {describe(error)}")
        return done, troubles, changes

    @as_result
    def _changes(self, repair: NoteRepair, planned: Mapping[str, FileState]) -> tuple[FileChange, ...]:
        """What the repair changes; `planned` is what those before it in the batch write."""
        image = read_image(self.root, repair.note.path)
        if image is None or image.data != repair.note.text.encode():
            raise EntryChanged(repair.note.stored.meta.id)
        if isinstance(repair, Rewrite):
            return self._rewritten(repair, image)
        return self._shelved(repair, image, planned)

    def _rewritten(self, repair: Rewrite, image: FileImage) -> tuple[FileChange, ...]:
        note, path = repair.note, f"{TOPICS}/{repair.name}"
        data = with_normal_tags(render_note(MemoryEntry(repair.meta, note.stored.body), note.text)).encode()
        if problems := _problems(path, data, repair):
            raise EntryInvalid(problems)
        before, after = FileState(image.data, image.mtime_ns), FileState(data)
        if path == note.path:
            return (FileChange(path, before, after),)
        return (FileChange(path, None, after), FileChange(note.path, before, None))

    def _shelved(self, repair: Shelve, image: FileImage, planned: Mapping[str, FileState]) -> tuple[FileChange, ...]:
        state = FileState(image.data, image.mtime_ns)
        meta = repair.note.stored.meta
        for ms in count(max(meta.updated_at_ms, 0)):
            path = f"{ARCHIVE}/{meta.id}/{ms}.md"
            there: FileState | FileImage | None = planned.get(path)
            if there is None:
                there = read_image(self.root, path)
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


def is_repairable(note: NoteFile) -> bool:
    """Whether the file can be written again without loss: not while a merge is unresolved in it."""
    return not note.stored.listed.conflicted


# -- lost heads -------------------------------------------------------------------------------------------------------

_LOOKED_BACK = 20
"""Commits of one file. The newest but one has the frontmatter, unless the loss went unnoticed through many edits."""


@as_result
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
    run = as_result(git.run)
    commits = run("log", f"--max-count={_LOOKED_BACK}", "--format=%H", "--", path)
    for commit in commits.map(lambda output: output.stdout.decode().split()).value_or([]):
        shown = run("show", f"{commit}:{path}")
        text = shown.map(lambda output: output.stdout.decode("utf-8", "replace")).value_or("")
        with suppress(NotReadable):
            if (block := split_note(text).block) is not None:
                return block
    return None


def _with_head(block: str, text: str) -> str:
    """The text below the whole frontmatter: the lines of it that the text still begins with are not doubled."""
    lines = [*block.splitlines(keepends=True), "---\n"]
    tails = ("".join(lines[at:]) for at in range(len(lines)))
    left = next((tail for tail in tails if text.startswith(tail)), "")
    return f"---\n{block}---\n{text[len(left) :] if left else chr(10) + text}"

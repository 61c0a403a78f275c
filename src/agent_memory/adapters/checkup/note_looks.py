"""All live notes looked at one by one: those that are as they were are not opened, and no more than one body is in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from agent_memory.adapters.checkup.kept_looks import KeptLooks
from agent_memory.adapters.checkup.note_files import read_again
from agent_memory.domain.analysis.noticed import Noticed, noticed_in
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.checkup.note_look import NoteLook, look_at
from agent_memory.domain.checkup.notes import NoteFile
from agent_memory.domain.entry import Listed
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.ports import NoticedNotes
from agent_memory.values import frozen


@frozen
class LookedAt:
    """One live note, and what is to be seen in it by itself."""

    listed: Listed
    look: NoteLook
    noticed: Noticed
    mtime_ms: int
    """When the file was last written, whatever it says of itself."""


@frozen
class NoteLooks:
    """Looks at the notes of a real root, with what earlier looks found. Of a secret note nothing is kept anywhere else."""

    root: str
    words: Vocabulary
    """Of `noticed`, where that is given."""
    kept: KeptLooks | None = None
    noticed: NoticedNotes | None = None

    def all(self, live: Iterable[Listed]) -> Iterator[LookedAt]:
        """Each in turn. One that is gone or has become unreadable since the listing is left out."""
        for listed in live:
            looked_at = self._looked_at(listed)
            if looked_at is not None:
                yield looked_at
        for kept in (self.kept, self.noticed):
            if kept is not None:
                kept.save()

    def _looked_at(self, listed: Listed) -> LookedAt | None:
        look, noticed = self._recalled(listed.content_hash)
        if look is not None and noticed is not None:
            try:
                return LookedAt(listed, look, noticed, os.lstat(f"{self.root}/{listed.path}").st_mtime_ns // 1_000_000)
            except OSError:
                pass  # reading tells whether it is gone
        note = read_again(self.root, listed)
        if note is None:
            return None
        content_hash = note.stored.listed.content_hash
        if content_hash != listed.content_hash:
            look, noticed = self._recalled(content_hash)
        return LookedAt(
            note.stored.listed,
            self._look(note) if look is None else look,
            self._notice(note) if noticed is None else noticed,
            note.mtime_ms,
        )

    def _recalled(self, content_hash: str) -> tuple[NoteLook | None, Noticed | None]:
        look = None if self.kept is None else self.kept.recall(content_hash)
        return look, None if self.noticed is None else self.noticed.recall(content_hash)

    def _look(self, note: NoteFile) -> NoteLook:
        look = look_at(note)
        if self.kept is not None and not _is_secret(note):
            self.kept.keep(note.stored.listed.content_hash, look)
        return look

    def _notice(self, note: NoteFile) -> Noticed:
        noticed = noticed_in(note.stored, self.words)
        if self.noticed is not None and not _is_secret(note):
            self.noticed.keep(note.stored.listed.content_hash, noticed)
        return noticed


def _is_secret(note: NoteFile) -> bool:
    return note.stored.meta.sensitivity is Sensitivity.SECRET

"""All live notes looked at one by one: those that are as they were are not opened, and no more than one body is in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from agent_memory.adapters.checkup.kept_looks import KeptLooks
from agent_memory.adapters.checkup.note_files import read_note
from agent_memory.domain.analysis.noticed import Noticed, noticed_in
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.checkup.note_look import NoteLook, look_at
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
            looked_at = self._known(listed) or self._new(listed)
            if looked_at is not None:
                yield looked_at
        for kept in (self.kept, self.noticed):
            if kept is not None:
                kept.save()

    def _known(self, listed: Listed) -> LookedAt | None:
        if self.kept is None or self.noticed is None:
            return None
        look, noticed = self.kept.recall(listed.content_hash), self.noticed.recall(listed.content_hash)
        if look is None or noticed is None:
            return None
        try:
            return LookedAt(listed, look, noticed, os.lstat(f"{self.root}/{listed.path}").st_mtime_ns // 1_000_000)
        except OSError:
            return None  # reading tells whether it is gone

    def _new(self, listed: Listed) -> LookedAt | None:
        note = read_note(self.root, listed.path)
        if note is None:
            return None
        look, noticed = look_at(note), noticed_in(note.stored, self.words)
        if note.stored.meta.sensitivity is not Sensitivity.SECRET:
            if self.kept is not None:
                self.kept.keep(note.stored.listed.content_hash, look)
            if self.noticed is not None:
                self.noticed.keep(note.stored.listed.content_hash, noticed)
        return LookedAt(note.stored.listed, look, noticed, note.mtime_ms)

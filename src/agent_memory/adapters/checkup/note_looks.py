"""Live notes looked at one by one: those that are as they were are not opened, and no more than one body is in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from returns.result import Failure

from agent_memory.adapters.checkup.kept_looks import KeptLooks
from agent_memory.adapters.checkup.note_files import read_again
from agent_memory.domain.analysis.noticed import Noticed, noticed_in
from agent_memory.domain.analysis.outline import Outline
from agent_memory.domain.analysis.outlines import Outlines
from agent_memory.domain.analysis.outlining import outline_of
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.checkup.note_look import NoteLook, look_at
from agent_memory.domain.checkup.notes import NoteFile
from agent_memory.domain.entry import Listed
from agent_memory.domain.packed_entries import column_of
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import Error
from agent_memory.values import frozen


@frozen
class LookedAt:
    """One live note, as it was read, and what is to be seen in it by itself."""

    listed: Listed
    look: NoteLook
    outline: Outline
    mtime_ms: int
    """When the file was last written, whatever it says of itself."""
    noticed: Noticed | None = None
    """None where the outline was known."""


@frozen
class NoteLooks:
    """Looks at the notes of a real root, with what earlier looks found. Of a secret note nothing is kept anywhere else."""

    root: str
    outlines: Outlines
    """Of notes that are as they were."""
    mtimes_ms: Mapping[str, int]
    """Of files that were seen a moment ago, by path; others are looked at."""
    tell: Callable[[Error], None]
    """Hears of each note that cannot be read (P6)."""
    kept: KeptLooks | None = None
    words: Vocabulary | None = None
    """What numbers the words of notes without an outline; None where the notes need not be compared, and so nothing else is
    noticed in them."""

    def known(self, live: Sequence[Listed]) -> list[bool]:
        """Of each of the notes, whether all that can be seen in it is known: `look_at` would open no file."""
        if self.kept is None:
            return [False] * len(live)
        is_outlined = map(self.outlines.slots.__contains__, column_of(live, "meta.id"))
        is_there = map(self.mtimes_ms.__contains__, column_of(live, "path"))
        return list(map(bool.__and__, map(bool.__and__, is_outlined, is_there), self.kept.known(live)))

    def odd(self, live: Sequence[Listed]) -> list[bool]:
        """Of each of the notes, whether something was found when it was looked at."""
        return [False] * len(live) if self.kept is None else self.kept.odd(live)

    def look_at(self, listed: Listed) -> LookedAt | None:
        """One note; None where it is gone since the listing, is no note any more or cannot be read."""
        outline = self.outlines.get(listed.meta.id)
        look = self._recalled_look(listed)
        mtime_ms = self._mtime_ms(listed)
        if look is not None and outline is not None and mtime_ms is not None:
            return LookedAt(listed, look, outline, mtime_ms)
        read = read_again(self.root, listed)
        if isinstance(read, Failure):
            self.tell(read.failure())
        note = read.value_or(None)
        if note is None:
            return None
        if note.stored.listed.content_hash != listed.content_hash:
            look, outline = self._recalled_look(note.stored.listed), None
        look = self._look(note) if look is None else look
        if outline is not None:
            return LookedAt(note.stored.listed, look, outline, note.mtime_ms)
        if self.words is None:
            return LookedAt(note.stored.listed, look, outline_of(note.stored), note.mtime_ms)
        noticed = noticed_in(note.stored, self.words)
        return LookedAt(note.stored.listed, look, noticed.outline, note.mtime_ms, noticed)

    def _mtime_ms(self, listed: Listed) -> int | None:
        """None for a file that cannot be looked at: reading tells whether it is gone."""
        seen_ms = self.mtimes_ms.get(listed.path)
        if seen_ms is not None:
            return seen_ms
        try:
            return os.lstat(f"{self.root}/{listed.path}").st_mtime_ns // 1_000_000
        except OSError:
            return None

    def _recalled_look(self, listed: Listed) -> NoteLook | None:
        return None if self.kept is None else self.kept.recall(listed)

    def _look(self, note: NoteFile) -> NoteLook:
        look = look_at(note)
        if self.kept is not None and not _is_secret(note):
            self.kept.keep(note.stored.listed, look)
        return look


def _is_secret(note: NoteFile) -> bool:
    return note.stored.meta.sensitivity is Sensitivity.SECRET

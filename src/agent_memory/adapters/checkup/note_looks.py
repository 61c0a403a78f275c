"""All live notes looked at one by one: those that are as they were are not opened, and no more than one body is in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from agent_memory.adapters.checkup.kept_looks import KeptLooks
from agent_memory.adapters.checkup.note_files import read_again
from agent_memory.domain.analysis.noticed import Noticed, noticed_in
from agent_memory.domain.analysis.outline import Outline, outline_of
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.checkup.note_look import NoteLook, look_at
from agent_memory.domain.checkup.notes import NoteFile
from agent_memory.domain.entry import Listed
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.ports import NoticedNotes
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
    """None where the notes need not be compared."""


@frozen
class NoteLooks:
    """Looks at the notes of a real root, with what earlier looks found. Of a secret note nothing is kept anywhere else."""

    root: str
    words: Vocabulary
    """Of `noticed`, where that is given."""
    mtimes_ms: Mapping[str, int]
    """Of files that were seen a moment ago, by path; others are looked at."""
    kept: KeptLooks | None = None
    noticed: NoticedNotes | None = None
    outlines: Mapping[str, Outline] | None = None
    """By id, where the notes were compared before; it is not noticed in them what only that is good for."""

    def all(self, live: Iterable[Listed]) -> Iterator[LookedAt]:
        """Each in turn. One that is gone or has become unreadable since the listing is left out."""
        for listed in live:
            looked_at = self._known(listed) if self.outlines is None else self._outlined(listed, self.outlines)
            if looked_at is not None:
                yield looked_at
        for kept in (self.kept, self.noticed if self.outlines is None else None):
            if kept is not None:
                kept.save()

    def _outlined(self, listed: Listed, outlines: Mapping[str, Outline]) -> LookedAt | None:
        outline = outlines.get(listed.meta.id)
        look = self._recalled_look(listed)
        mtime_ms = self._mtime_ms(listed)
        if look is not None and outline is not None and mtime_ms is not None:
            return LookedAt(listed, look, outline, mtime_ms)
        note = read_again(self.root, listed)
        if note is None:
            return None
        is_as_listed = note.stored.listed.content_hash == listed.content_hash
        return LookedAt(
            note.stored.listed,
            self._look(note) if look is None or not is_as_listed else look,
            outline_of(note.stored) if outline is None or not is_as_listed else outline,
            note.mtime_ms,
        )

    def _known(self, listed: Listed) -> LookedAt | None:
        look = self._recalled_look(listed)
        noticed = self._recalled_notice(listed)
        mtime_ms = self._mtime_ms(listed)
        if look is not None and noticed is not None and mtime_ms is not None:
            return LookedAt(listed, look, noticed.outline, mtime_ms, noticed)
        note = read_again(self.root, listed)
        if note is None:
            return None
        if note.stored.listed.content_hash != listed.content_hash:
            look, noticed = self._recalled_look(note.stored.listed), self._recalled_notice(note.stored.listed)
        if noticed is None:
            noticed = self._notice(note)
        look = self._look(note) if look is None else look
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
        return None if self.kept is None else self.kept.recall(listed.content_hash)

    def _recalled_notice(self, listed: Listed) -> Noticed | None:
        return None if self.noticed is None else self.noticed.recall(listed.content_hash)

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

"""The files of `topics/` as `lstat` sees them: of 50,000 hardly one is worth a word, and those are not put together one by one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from operator import attrgetter

from agent_memory.adapters.disk.directory_state import DirectoryLook, look_through
from agent_memory.adapters.store.entry_files import TOPICS
from agent_memory.domain.checkup.file_checks import Found, is_closed_file
from agent_memory.domain.text.file_name import is_note_name
from agent_memory.garbage import keeping_all

_MS_NS = 1_000_000
_mtime_ns = attrgetter("st_mtime_ns")
_rights = attrgetter("st_mode", "st_uid")


class WalkedNotes(DirectoryLook):
    """A look that also sees whose the files are, who may read them, and when they were written."""

    __slots__ = ("_mtimes_ns", "_rights", "_root", "is_whole")

    def __init__(self, root: str) -> None:
        super().__init__()
        self._root = root
        self.is_whole = False
        """Whether the directory could be listed to its end."""
        self._mtimes_ns: list[int] = []
        self._rights: list[tuple[int, int]] = []

    def see(self, names: list[str], statuses: list[os.stat_result]) -> None:
        """As the look it is."""
        super().see(names, statuses)
        self._mtimes_ns += map(_mtime_ns, statuses)
        self._rights += map(_rights, statuses)

    def worth_a_word(self) -> Iterator[Found | OSError]:
        """What is no note with which all is well from outside, by name."""
        directory = f"{self._root}/{TOPICS}"
        try:
            with keeping_all():
                look_through(directory, self)
        except OSError as refused:
            refused.filename = directory
            yield refused
            return
        self.is_whole = True
        user = os.getuid()
        closed = {each for each in {*self._rights} if is_closed_file(*each, user)}
        rows = zip(self.names, self._rights, self._mtimes_ns, strict=True)
        unsound = [row for row in rows if row[1] not in closed or not is_note_name(row[0])]
        for name, (mode, owner), mtime_ns in sorted(unsound):
            yield Found(f"{TOPICS}/{name}", mode, owner, mtime_ns // _MS_NS)
        for name, _, error in self.refused:
            error.filename = f"{directory}/{name}"
            yield error

    def mtimes_ms(self) -> Mapping[str, int]:
        """When each file was written, by its path."""
        paths = (f"{TOPICS}/{name}" for name in self.names)
        return dict(zip(paths, (mtime_ns // _MS_NS for mtime_ns in self._mtimes_ns), strict=True))

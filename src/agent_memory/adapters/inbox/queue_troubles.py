"""What pending entries have been through, of those only that are in trouble: a file, and a line for each change since, so
that a crowd of entries in trouble does not cost a whole file each."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from functools import lru_cache

from attrs import define, field
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.appending import append_line
from agent_memory.adapters.disk.durable import FILE_MODE, flush, make_directories
from agent_memory.adapters.disk.file_in_root import drop_file, put_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import directory_inside
from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.adapters.inbox.inbox_texts import text_in
from agent_memory.domain.queue import Trouble
from agent_memory.errors import Error, InboxEntryInvalid, StateCorrupt, StoreIo
from agent_memory.formats.queue_json import parse_troubles, render_changes, render_troubles, with_changes
from agent_memory.results import sealed

TROUBLES = f"{INBOX}/.queue.json"
CHANGES = f"{INBOX}/.queue.jsonl"
MAX_BYTES = 64 << 20


@define
class QueueTroubles:
    """The trouble of one root's entries by `queue_key`; written by the holder of the run lock alone. What was read counts as
    long as the files look as they did."""

    root: str
    _looks: tuple[object, ...] = ()
    _known: dict[str, Trouble] = field(factory=dict[str, Trouble])

    def read(self) -> Result[Mapping[str, Trouble], Error]:
        """All of it. A damaged file is an error, never "no trouble" (P6)."""
        try:
            looks = (_looks_of(f"{self.root}/{TROUBLES}"), _looks_of(f"{self.root}/{CHANGES}"))
        except OSError as error:
            return Failure(store_io(error, "examine", f"{self.root}/{INBOX}"))
        if looks == self._looks:
            return Success(self._known)
        return self._text(TROUBLES).bind(
            lambda text: (Success(dict[str, Trouble]()) if text is None else self._parsed(text)).bind(
                lambda troubles: self._text(CHANGES).map(
                    lambda changes: self._seen(looks, with_changes(troubles, changes or ""))
                )
            )
        )

    def settled(self) -> Result[Mapping[str, Trouble], Error]:
        """The same, once it is in one file: for the beginning of a run. After a crash in between the changes count again,
        which makes no difference."""
        return self.read().bind(
            lambda troubles: (
                put_file(self.root, TROUBLES, render_troubles(troubles))
                .bind(lambda _: drop_file(self.root, CHANGES).alt(_as_error))
                .map(lambda _: troubles)
                if os.path.lexists(f"{self.root}/{CHANGES}")
                else Success(troubles)
            )
        )

    def note(self, key: str, trouble: Trouble) -> Result[None, Error]:
        """Replace the trouble of one entry."""
        return self.read().bind(lambda _: self._change({key: trouble}))

    def clear(self, keys: Collection[str]) -> Result[None, Error]:
        """Forget the trouble of some entries; writes nothing where there was none."""
        return self.read().bind(
            lambda known: (
                self._change(dict.fromkeys(gone)) if (gone := [key for key in keys if key in known]) else Success(None)
            )
        )

    def _change(self, changes: Mapping[str, Trouble | None]) -> Result[None, Error]:
        match sealed(directory_inside(self.root, INBOX)):
            case Failure(error):
                return Failure(error)
            case Success(directory):
                path = f"{self.root}/{CHANGES}"
                try:
                    make_directories(directory)
                    append_line(path, render_changes(changes).encode("utf-8", "backslashreplace"), FILE_MODE)
                    flush(path)
                    looks = _looks_of(path)
                except OSError as error:
                    return Failure(store_io(error, "write", path))
                for key, trouble in changes.items():
                    self._known.pop(key, None)
                    self._known.update({} if trouble is None else {key: trouble})
                self._looks = (*self._looks[:1], looks)
                return Success(None)

    def _text(self, relative: str) -> Result[str | None, Error]:
        path = f"{self.root}/{relative}"
        match sealed(text_in(path, MAX_BYTES)):
            case Failure(InboxEntryInvalid(problems)):
                return Failure(StateCorrupt(path, problems))
            case other:
                return other

    def _parsed(self, text: str) -> Result[Mapping[str, Trouble], Error]:
        return parse_troubles(text).alt(lambda problems: StateCorrupt(f"{self.root}/{TROUBLES}", problems))

    def _seen(self, looks: tuple[object, ...], known: dict[str, Trouble]) -> Mapping[str, Trouble]:
        self._looks, self._known = looks, known
        return known


@lru_cache(maxsize=8)
def troubles_of(root: str) -> QueueTroubles:
    """The troubles of a root, read again only where somebody else wrote."""
    return QueueTroubles(root)


def _looks_of(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _as_error(error: StoreIo) -> Error:
    return error

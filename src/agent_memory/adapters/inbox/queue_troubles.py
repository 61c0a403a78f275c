"""What pending entries have been through, of those only that are in trouble: a file, and a line for each change since, so
that a crowd of entries in trouble does not cost a whole file each."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from attrs import frozen

from agent_memory.adapters.disk.durable import FILE_MODE, append_line, flush, make_directories
from agent_memory.adapters.disk.paths import as_store_io, directory_in, exists
from agent_memory.adapters.disk.root_files import remove_file, write_text
from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.adapters.inbox.inbox_reading import text_in
from agent_memory.domain.queue import Trouble
from agent_memory.errors import InboxEntryInvalid, StateCorrupt
from agent_memory.formats.inbox_json import TROUBLES as FORMAT, Troubles, render_changes, with_changes
from agent_memory.results import as_result

TROUBLES = f"{INBOX}/.queue.json"
CHANGES = f"{INBOX}/.queue.jsonl"
MAX_BYTES = 64 << 20


@frozen
class QueueTroubles:
    """The trouble of one root's entries by `queue_key`; written by the holder of the run lock alone."""

    root: str

    @as_result
    def read(self) -> Mapping[str, Trouble]:
        """All of it. A damaged file is an error, never "no trouble" (P6)."""
        return self._read()

    def settled(self) -> Mapping[str, Trouble]:
        """The same, once it is in one file: for the beginning of a run. After a crash in between the changes count again,
        which makes no difference."""
        troubles = self._read()
        if exists(f"{self.root}/{CHANGES}"):
            write_text(self.root, TROUBLES, FORMAT.render(Troubles(dict(sorted(troubles.items())))))
            remove_file(self.root, CHANGES)
        return troubles

    def note(self, key: str, trouble: Trouble) -> None:
        """Replace the trouble of one entry."""
        self._change({key: trouble})

    @as_result
    def clear(self, keys: Collection[str]) -> None:
        """Forget the trouble of some entries; writes nothing where none has any."""
        if exists(f"{self.root}/{TROUBLES}") or exists(f"{self.root}/{CHANGES}"):
            self._change(dict.fromkeys(keys))

    def _read(self) -> Mapping[str, Trouble]:
        text = self._text(TROUBLES)
        path = f"{self.root}/{TROUBLES}"
        whole = {} if text is None else FORMAT.parse(text.encode("utf-8", "surrogatepass"), path).troubles
        return with_changes(whole, self._text(CHANGES) or "")

    def _change(self, changes: Mapping[str, Trouble | None]) -> None:
        directory = directory_in(self.root, INBOX)
        path = f"{self.root}/{CHANGES}"
        with as_store_io("write", path):
            make_directories(directory)
            append_line(path, render_changes(changes).encode("utf-8", "backslashreplace"), FILE_MODE)
            flush(path)

    def _text(self, relative: str) -> str | None:
        path = f"{self.root}/{relative}"
        try:
            return text_in(path, MAX_BYTES)
        except InboxEntryInvalid as malformed:
            raise StateCorrupt(path, malformed.problems) from malformed

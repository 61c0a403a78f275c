"""What pending entries have been through: one file, which holds only those that are in trouble."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.file_in_root import put_file
from agent_memory.adapters.inbox.inbox_texts import text_in
from agent_memory.domain.queue import Trouble
from agent_memory.domain.results import sealed
from agent_memory.errors import Error, InboxEntryInvalid, StateCorrupt
from agent_memory.formats.queue_json import parse_troubles, render_troubles
from agent_memory.values import frozen

TROUBLES = "inbox/.queue.json"
MAX_BYTES = 64 << 20


@frozen
class QueueTroubles:
    """The trouble of one root's entries by `queue_key`; written by the holder of the run lock alone."""

    root: str

    def read(self) -> Result[Mapping[str, Trouble], Error]:
        """All of it. A damaged file is an error, never "no trouble" (P6)."""
        path = f"{self.root}/{TROUBLES}"
        match sealed(text_in(path, MAX_BYTES)):
            case Success(text):
                if text is None:
                    return Success({})
                return parse_troubles(text).alt(lambda problems: StateCorrupt(path, problems))
            case Failure(InboxEntryInvalid(problems)):
                return Failure(StateCorrupt(path, problems))
            case Failure(error):
                return Failure(error)

    def note(self, key: str, trouble: Trouble) -> Result[None, Error]:
        """Replace the trouble of one entry."""
        return self.read().bind(lambda troubles: self._keep({**troubles, key: trouble}))

    def clear(self, keys: Collection[str]) -> Result[None, Error]:
        """Forget the trouble of some entries; writes nothing where there was none."""
        match sealed(self.read()):
            case Success(troubles) if any(key in troubles for key in keys):
                return self._keep({key: troubles[key] for key in troubles if key not in keys})
            case Success(_):
                return Success(None)
            case Failure(error):
                return Failure(error)

    def _keep(self, troubles: Mapping[str, Trouble]) -> Result[None, Error]:
        return put_file(self.root, TROUBLES, render_troubles(troubles))

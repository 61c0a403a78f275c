"""Which purge this machine has dealt with: `runs/synced.json`, which never leaves it."""

from __future__ import annotations

from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.file_in_root import put_file
from agent_memory.adapters.disk.paths import inside, read_file, real_root
from agent_memory.domain.results import sealed
from agent_memory.errors import Error
from agent_memory.formats.sync_json import parse_synced, render_synced
from agent_memory.values import frozen

SYNCED_FILE = "runs/synced.json"
_MAX_BYTES = 1 << 16


@frozen
class SyncedMark:
    root: Path

    def purge_handled_ms(self) -> Result[int | None, Error]:
        """The purge (epoch ms); None for none yet. StateCorrupt for a damaged mark."""
        real = real_root(self.root)
        match sealed(inside(real, SYNCED_FILE).bind(lambda path: read_file(path, _MAX_BYTES))):
            case Failure(error):
                return Failure(error)
            case Success(None):
                return Success(None)
            case Success(image):
                data = b"" if image is None else image.data
                return parse_synced(data, f"{real}/{SYNCED_FILE}").map(lambda at_ms: at_ms)

    def put(self, purged_at_ms: int | None) -> Result[None, Error]:
        """Make it durable."""
        return put_file(real_root(self.root), SYNCED_FILE, render_synced(purged_at_ms))

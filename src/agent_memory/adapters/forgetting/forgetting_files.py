"""Where a forgetting at work, and a purge, are noted: `runs/forgetting.json`, `state/purge.json`."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.file_in_root import drop_file, put_file
from agent_memory.adapters.disk.paths import inside, read_file, real_root
from agent_memory.errors import Error
from agent_memory.formats.forgetting_json import (
    ForgettingAtWork,
    parse_forgetting,
    parse_purge,
    render_forgetting,
    render_purge,
)
from agent_memory.results import sealed

JOURNAL = "runs/forgetting.json"
PURGE_MARK = "state/purge.json"
_MAX_BYTES = 64 << 20


@frozen
class ForgettingFiles:
    """What was begun, and what others must know of what was done."""

    root: Path

    def at_work(self) -> Result[ForgettingAtWork | None, Error]:
        """The forgetting that was begun and not finished. StateCorrupt for a damaged journal."""
        match sealed(self._read(JOURNAL)):
            case Failure(error):
                return Failure(error)
            case Success(data):
                if data is None:
                    return Success(None)
                match sealed(parse_forgetting(data, f"{self._real}/{JOURNAL}")):
                    case Failure(corrupt):
                        return Failure(corrupt)
                    case Success(work):
                        return Success(work)

    def begin(self, work: ForgettingAtWork) -> Result[None, Error]:
        """Make durable what is about to be done."""
        return put_file(self._real, JOURNAL, render_forgetting(work))

    def end(self) -> Result[None, Error]:
        """All of it is done."""
        return drop_file(self._real, JOURNAL).alt(_as_error)

    def purged_at_ms(self) -> Result[int | None, Error]:
        """When the git history was last rewritten and no clone was told yet: until then nothing is to be pushed or pulled."""
        match sealed(self._read(PURGE_MARK)):
            case Failure(error):
                return Failure(error)
            case Success(data):
                if data is None:
                    return Success(None)
                match sealed(parse_purge(data, f"{self._real}/{PURGE_MARK}")):
                    case Failure(corrupt):
                        return Failure(corrupt)
                    case Success(at_ms):
                        return Success(at_ms)

    def mark_purge(self, at_ms: int) -> Result[None, Error]:
        """Note that the history is about to be rewritten."""
        return put_file(self._real, PURGE_MARK, render_purge(at_ms))

    @property
    def _real(self) -> str:
        return real_root(self.root)

    def _read(self, path: str) -> Result[bytes | None, Error]:
        return (
            inside(self._real, path)
            .bind(lambda absolute: read_file(absolute, _MAX_BYTES))
            .map(lambda image: None if image is None else image.data)
        )


def _as_error(error: Error) -> Error:
    return error

"""Which configs a person trusts: `~/.local/state/agent-memory/trusted.json`.

Kept outside every store and every repository, so that nothing that is cloned or synchronised can bring its own trust.
"""

from __future__ import annotations

import fcntl
import os

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import FILE_MODE, make_directories, replace_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.locks import lock_within, release
from agent_memory.adapters.disk.paths import read_file
from agent_memory.adapters.surroundings.root import local_state_directory
from agent_memory.domain.command.trusted_config import TrustedConfig, trusted_now
from agent_memory.errors import Busy, Error
from agent_memory.formats.trust_json import parse_trust, render_trust
from agent_memory.results import sealed

MAX_TRUST_BYTES = 1 << 20
_LOCK_LIMIT_SECONDS = 10.0


class TrustFile:
    """The trusted configs of the person with this home."""

    def __init__(self, home: str) -> None:
        self._directory = local_state_directory(home)
        self.path = f"{self._directory}/trusted.json"

    def configs(self) -> Result[tuple[TrustedConfig, ...], Error]:
        """All of them, in the order in which they were trusted. A damaged list is an error, and trusts nothing."""
        match sealed(read_file(self.path, MAX_TRUST_BYTES)):
            case Failure(error):
                return Failure(error)
            case Success(image):
                return Success(()) if image is None else parse_trust(image.data, self.path)

    def add(self, path: str, content: bytes, at_ms: int) -> Result[TrustedConfig, Error]:
        """Trust exactly this content at this real path, in place of what was trusted there before. Durable."""
        record = trusted_now(path, content, at_ms)
        return self._change(path, (record,)).map(lambda _: record)

    def remove(self, path: str) -> Result[bool, Error]:
        """Trust nothing at this real path any more; whether something was."""
        return self._change(path, ())

    def _change(self, path: str, records: tuple[TrustedConfig, ...]) -> Result[bool, Error]:
        """Replace what is trusted at `path`; whether something was."""
        match sealed(self._locked()):
            case Failure(error):
                return Failure(error)
            case Success(lock):
                try:
                    return self.configs().bind(lambda trusted: self._replace(path, records, trusted))
                finally:
                    release(lock)

    def _replace(
        self, path: str, records: tuple[TrustedConfig, ...], trusted: tuple[TrustedConfig, ...]
    ) -> Result[bool, Error]:
        others = tuple(each for each in trusted if each.path != path)
        try:
            replace_file(self.path, render_trust((*others, *records)).encode())
        except OSError as error:
            return Failure(store_io(error, "write", self.path))
        return Success(len(others) < len(trusted))

    def _locked(self) -> Result[int, Error]:
        lock_path = f"{self._directory}/trusted.lock"
        try:
            make_directories(self._directory)
            descriptor = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
            if lock_within(descriptor, fcntl.LOCK_EX, _LOCK_LIMIT_SECONDS):
                return Success(descriptor)
            os.close(descriptor)
        except OSError as error:
            return Failure(store_io(error, "lock", lock_path))
        return Failure(Busy(lock_path))

"""Which configs a person trusts: `~/.local/state/agent-memory/trusted.json`.

    {"version": 1, "configs": [{"path": …, "sha256": …, "trustedAt": "2026-…Z"}]}

Kept outside every store and every repository, so that nothing that is cloned or synchronised can bring its own trust.
"""

from __future__ import annotations

from attrs import frozen

from agent_memory.files.locks import file_lock
from agent_memory.files.paths import JsonFile
from agent_memory.files.root import local_state_directory
from agent_memory.setup.plan import Digest, sha256_of
from agent_memory.text.instants import Instant
from agent_memory.text.json_codec import Format

_LOCK_LIMIT_SECONDS = 10.0


@frozen
class TrustedConfig:
    """Exactly these bytes at exactly this place; one more byte, or another place, is another file."""

    path: str
    """Its real path."""
    sha256: Digest
    """Of its bytes, in lower-case hexadecimal."""
    trusted_at_ms: Instant

    def is_of(self, content: bytes) -> bool:
        """Whether these are the bytes."""
        return self.sha256 == sha256_of(content)


TRUSTED = Format(tuple[TrustedConfig, ...], member="configs")


class TrustFile:
    """The trusted configs of the person with this home."""

    def __init__(self, home: str) -> None:
        directory = local_state_directory(home)
        self.path = f"{directory}/trusted.json"
        self._lock_path = f"{directory}/trusted.lock"
        self._file = JsonFile(directory, "trusted.json", TRUSTED)

    def configs(self) -> tuple[TrustedConfig, ...]:
        """All of them, in the order in which they were trusted. A damaged list is an error, and trusts nothing."""
        return self._file.read() or ()

    def vouches_for(self, path: str, content: bytes) -> bool:
        """Whether the person trusts this content at this real path."""
        return any(each.path == path and each.is_of(content) for each in self.configs())

    def add(self, path: str, content: bytes, at_ms: int) -> TrustedConfig:
        """Trust exactly this content at this real path, in place of what was trusted there before. Durable."""
        record = TrustedConfig(path, sha256_of(content), at_ms)
        self._change(path, (record,))
        return record

    def remove(self, path: str) -> bool:
        """Trust nothing at this real path any more; whether something was."""
        return self._change(path, ())

    def _change(self, path: str, records: tuple[TrustedConfig, ...]) -> bool:
        """Replace what is trusted at `path`; whether something was."""
        with file_lock(self._lock_path, _LOCK_LIMIT_SECONDS):
            trusted = self.configs()
            others = tuple(each for each in trusted if each.path != path)
            self._file.write((*others, *records))
        return len(others) < len(trusted)

"""Which configs a person trusts: `~/.local/state/agent-memory/trusted.json`.

    {"version": 1, "configs": [{"path": …, "sha256": …, "trustedAt": "2026-…Z"}]}

Kept outside every store and every repository, so that nothing that is cloned or synchronised can bring its own trust.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256

from attrs import frozen
from returns.result import Failure

from agent_memory.adapters.disk.durable import replace_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.locks import file_lock
from agent_memory.adapters.disk.paths import read_file
from agent_memory.adapters.surroundings.root import local_state_directory
from agent_memory.domain.instants import iso_of, ms_of
from agent_memory.errors import StateCorrupt
from agent_memory.formats.strict_json import parse_strict_document
from agent_memory.results import unwrap

MAX_TRUST_BYTES = 1 << 20
VERSION = 1
_LOCK_LIMIT_SECONDS = 10.0
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


@frozen
class TrustedConfig:
    """Exactly these bytes at exactly this place; one more byte, or another place, is another file."""

    path: str
    """Its real path."""
    sha256: str
    """Of its bytes, in lower-case hexadecimal."""
    trusted_at_ms: int

    def is_of(self, content: bytes) -> bool:
        """Whether these are the bytes."""
        return self.sha256 == sha256(content).hexdigest()


class TrustFile:
    """The trusted configs of the person with this home."""

    def __init__(self, home: str) -> None:
        self._lock_path = f"{local_state_directory(home)}/trusted.lock"
        self.path = f"{local_state_directory(home)}/trusted.json"

    def configs(self) -> tuple[TrustedConfig, ...]:
        """All of them, in the order in which they were trusted. A damaged list is an error, and trusts nothing."""
        image = unwrap(read_file(self.path, MAX_TRUST_BYTES))
        return () if image is None else parse_trust(image.data, self.path)

    def vouches_for(self, path: str, content: bytes) -> bool:
        """Whether the person trusts this content at this real path."""
        return any(each.path == path and each.is_of(content) for each in self.configs())

    def add(self, path: str, content: bytes, at_ms: int) -> TrustedConfig:
        """Trust exactly this content at this real path, in place of what was trusted there before. Durable."""
        record = TrustedConfig(path, sha256(content).hexdigest(), at_ms)
        self._change(path, (record,))
        return record

    def remove(self, path: str) -> bool:
        """Trust nothing at this real path any more; whether something was."""
        return self._change(path, ())

    def _change(self, path: str, records: tuple[TrustedConfig, ...]) -> bool:
        """Replace what is trusted at `path`; whether something was."""
        with file_lock(self._lock_path, _LOCK_LIMIT_SECONDS) as held:
            unwrap(held)
            trusted = self.configs()
            others = tuple(each for each in trusted if each.path != path)
            try:
                replace_file(self.path, render_trust((*others, *records)).encode())
            except OSError as error:
                raise store_io(error, "write", self.path) from None
        return len(others) < len(trusted)


def render_trust(trusted: tuple[TrustedConfig, ...]) -> str:
    """JSON, in the order given."""
    configs = [{"path": each.path, "sha256": each.sha256, "trustedAt": iso_of(each.trusted_at_ms)} for each in trusted]
    return json.dumps({"version": VERSION, "configs": configs}, indent=1) + "\n"


def parse_trust(data: bytes, path: str) -> tuple[TrustedConfig, ...]:
    """What `render_trust` wrote; anything else is StateCorrupt."""
    parsed = parse_strict_document(data)
    if isinstance(parsed, Failure):
        raise StateCorrupt(path, (parsed.failure(),))
    match parsed.unwrap():
        case {"version": 1, "configs": [*configs]}:
            trusted = tuple(_one(each) for each in configs)
            known = tuple(each for each in trusted if each is not None)
            if len(known) == len(trusted):
                return known
        case _:
            pass
    raise StateCorrupt(path, (f"it is not a list of trusted configs of version {VERSION}",))


def _one(record: object) -> TrustedConfig | None:
    match record:
        case {"path": str(path), "sha256": str(digits), "trustedAt": str(at)}:
            at_ms = ms_of(at)
            return TrustedConfig(path, digits, at_ms) if _SHA256.fullmatch(digits) and at_ms is not None else None
        case _:
            return None

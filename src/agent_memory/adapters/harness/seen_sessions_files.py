"""What backfill has seen in past sessions: `.cache/past-sessions.json` of the store. Derived: it may go at any time."""

from __future__ import annotations

from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from attrs import define, field

from agent_memory.adapters.disk.root_files import CACHE, JsonFile
from agent_memory.domain.found_session import FoundSession, SeenSession
from agent_memory.domain.history import SessionMark
from agent_memory.errors import PathRefused, StateCorrupt, StoreIo
from agent_memory.formats.bookkeeping_json import SEEN, SEEN_FORMAT, SeenSessions

CACHE_NAME = "past-sessions.json"
_MAX_BYTES = 256 << 20


@define
class SeenSessionsFiles:
    """`ports.SeenSessions` in a file. One that is absent, damaged or of another version is begun anew, and one that cannot
    be written is done without: then the sessions are read again."""

    root: Path
    program: str
    _known: dict[str, SeenSession] | None = None
    _used: dict[str, SeenSession] = field(factory=dict[str, SeenSession])

    def recall(self, found: FoundSession, mark: SessionMark | None) -> SeenSession | None:
        """See the port."""
        seen = self._all().get(_key(found))
        if seen is None or not seen.is_of(found, mark):
            return None
        self._used[_key(found)] = seen
        return seen

    def keep(self, found: FoundSession, seen: SeenSession) -> None:
        """See the port."""
        self._used[_key(found)] = seen

    def save(self, harnesses: frozenset[str]) -> None:
        """See the port."""
        known = self._all()
        others = {key: seen for key, seen in known.items() if seen.harness not in harnesses}
        sessions = others | self._used
        if sessions != known and self.root.is_dir():  # a store that is not there yet is not made for it
            with suppress(PathRefused, StoreIo):
                self._file.write(SeenSessions(SEEN_FORMAT, self.program, sessions))

    @property
    def _file(self) -> JsonFile[SeenSessions]:
        return JsonFile(self.root, f"{CACHE}/{CACHE_NAME}", SEEN, _MAX_BYTES)

    def _all(self) -> dict[str, SeenSession]:
        """What this version kept; nothing of anything else."""
        if self._known is None:
            try:
                found = self._file.read()
            except (StateCorrupt, PathRefused, StoreIo):
                found = None
            is_ours = found is not None and (found.format, found.program) == (SEEN_FORMAT, self.program)
            self._known = found.sessions if found is not None and is_ours else {}
        return self._known


def _key(found: FoundSession) -> str:
    """A hash, since a path may say more than the store is to keep."""
    told = "\0".join((found.harness, found.session_id, found.path or ""))
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()

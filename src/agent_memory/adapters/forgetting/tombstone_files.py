"""Tombstones on disk: `state/forgotten/<harness>_<session>.json`, `any_<session>.json`, `<entry's id>.json`,
`state_<key>.json` (P28).

A file each, so that a hook sees by a name alone that a session is not to be captured, and two machines that share a store
never write the same file.
"""

from __future__ import annotations

from pathlib import Path

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.file_in_root import put_file
from agent_memory.adapters.disk.listed_names import listed_names
from agent_memory.adapters.disk.paths import inside, read_file, real_root
from agent_memory.domain.forgetting.tombstone import EntryTombstone, SessionTombstone, StateTombstone
from agent_memory.domain.text.slug import slug_of
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, StateCorrupt
from agent_memory.formats.tombstone_json import Tombstone, parse_tombstone, render_tombstone
from agent_memory.results import sealed

FORGOTTEN = "state/forgotten"
ANY_HARNESS = "any"
_MAX_BYTES = 4 << 20


@frozen
class TombstoneFiles:
    """`ports.Tombstones` in the directory `state/forgotten` of a root."""

    root: Path

    def of_session(self, harness: Harness, session_id: str) -> Result[SessionTombstone | None, Error]:
        """See the port. A file that is another session's is StateCorrupt."""
        for whose in (harness, None):
            path = session_path(whose, session_id)
            match sealed(self._read(path)):
                case Failure(error):
                    return Failure(error)
                case Success(SessionTombstone() as tombstone) if (tombstone.session_id, tombstone.harness) == (
                    session_id,
                    whose,
                ):
                    return Success(tombstone)
                case Success(None):
                    continue
                case Success(_):
                    return Failure(StateCorrupt(f"{self._real}/{path}", ("it tells of something else",)))
        return Success(None)

    def of_entries(self) -> Result[tuple[EntryTombstone, ...], Error]:
        """See the port; by id."""
        return listed_names(f"{self._real}/{FORGOTTEN}", _is_of_entry).bind(self._of_entries)

    def _of_entries(self, names: tuple[str, ...]) -> Result[tuple[EntryTombstone, ...], Error]:
        found: list[EntryTombstone] = []
        for name in names:
            match sealed(self._read(f"{FORGOTTEN}/{name}")):
                case Failure(error):
                    return Failure(error)
                case Success(tombstone):
                    found += [tombstone] if isinstance(tombstone, EntryTombstone) else []
        return Success(tuple(found))

    def put(self, tombstone: Tombstone) -> Result[None, Error]:
        """See the port."""
        return put_file(self._real, path_of(tombstone), render_tombstone(tombstone))

    @property
    def _real(self) -> str:
        return real_root(self.root)

    def _read(self, path: str) -> Result[Tombstone | None, Error]:
        match sealed(inside(self._real, path).bind(lambda absolute: read_file(absolute, _MAX_BYTES))):
            case Failure(error):
                return Failure(error)
            case Success(image):
                if image is None:
                    return Success(None)
                match sealed(parse_tombstone(image.data, f"{self._real}/{path}")):
                    case Failure(corrupt):
                        return Failure(corrupt)
                    case Success(tombstone):
                        return Success(tombstone)


def path_of(tombstone: Tombstone) -> str:
    """Where it is kept, relative to the root."""
    if isinstance(tombstone, EntryTombstone):
        return f"{FORGOTTEN}/{tombstone.id}.json"
    if isinstance(tombstone, StateTombstone):
        return f"{FORGOTTEN}/state_{tombstone.path.rpartition('/')[2]}"
    return session_path(tombstone.harness, tombstone.session_id)


def session_path(harness: str | None, session_id: str) -> str:
    """Where the tombstone of a session is kept, relative to the root."""
    return f"{FORGOTTEN}/{harness or ANY_HARNESS}_{slug_of(session_id)}.json"


def _is_of_entry(name: str) -> bool:
    return name.startswith("id__") and name.endswith(".json")

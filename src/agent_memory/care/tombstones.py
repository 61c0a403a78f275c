"""The files of forgetting: tombstones, the journal of a forgetting at work, and the mark of a purge (P28).

Tombstones are `state/forgotten/<harness>_<session>.json`, `any_<session>.json`, `<id>.json` and `state_<key>.json`: the
name alone tells a hook that a session must not be captured, and two machines never write the same file.
"""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from agent_memory.capture.hook import FORGOTTEN as FORGOTTEN, tombstone_path
from agent_memory.errors import StateCorrupt
from agent_memory.files.paths import JsonFile, names_in, real_root
from agent_memory.note.note import Harness
from agent_memory.results import as_result
from agent_memory.rules.forgotten import EntryTombstone, ForgettingAtWork, SessionTombstone, StateTombstone
from agent_memory.store.bookkeeping import FORGETTING, PURGE, REJECTED, TOMBSTONE, Tombstone

PURGE_MARK = "state/purge.json"


@frozen
class Tombstones:
    """Keeps what was forgotten and must not be learnt again (P28), in the directory `state/forgotten` of a root."""

    root: Path

    @as_result
    def of_session(self, harness: Harness, session_id: str) -> SessionTombstone | None:
        """Returns the tombstone of a session, if there is one. A file about another session is StateCorrupt."""
        for whose in (harness, None):
            path = tombstone_path(whose, session_id)
            tombstone = self._read(path)
            if tombstone is None:
                continue
            if isinstance(tombstone, SessionTombstone) and (tombstone.session_id, tombstone.harness) == (
                session_id,
                whose,
            ):
                return tombstone
            raise StateCorrupt(f"{real_root(self.root)}/{path}", ("it tells of something else",))
        return None

    @as_result
    def of_entries(self) -> tuple[EntryTombstone, ...]:
        """Returns the notes that were forgotten, by id."""
        return self._of_notes(FORGOTTEN)

    @as_result
    def rejected(self) -> tuple[EntryTombstone, ...]:
        """Returns what a person rejected, by id."""
        return self._of_notes(REJECTED)

    @as_result
    def put(self, tombstone: Tombstone) -> None:
        match tombstone:
            case EntryTombstone(id, _, _):
                path = f"{FORGOTTEN}/{id}.json"
            case StateTombstone(state, _):
                path = f"{FORGOTTEN}/state_{state.rpartition('/')[2]}"
            case SessionTombstone(session_id, harness, _):
                path = tombstone_path(harness, session_id)
        JsonFile(self.root, path, TOMBSTONE).write(tombstone)

    def _of_notes(self, directory: str) -> tuple[EntryTombstone, ...]:
        names = names_in(f"{real_root(self.root)}/{directory}", lambda name: name.startswith("id__"))
        found = (self._read(f"{directory}/{name}") for name in names if name.endswith(".json"))
        return tuple(each for each in found if isinstance(each, EntryTombstone))

    def _read(self, path: str) -> Tombstone | None:
        return JsonFile(self.root, path, TOMBSTONE).read()


def journal_of(root: Path) -> JsonFile[ForgettingAtWork]:
    """Returns the journal of a forgetting that has begun and not ended."""
    return JsonFile(root, "runs/forgetting.json", FORGETTING, 64 << 20)


def purge_mark_of(root: Path) -> JsonFile[int]:
    """Returns the file that says when the git history was last rewritten (epoch ms): until the clones are dealt with,
    nothing is pushed or pulled."""
    return JsonFile(root, PURGE_MARK, PURGE)

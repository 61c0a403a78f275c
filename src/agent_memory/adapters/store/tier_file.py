"""`state/tiers.json`, read and replaced (P6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from returns.result import Failure, Result, Success

from agent_memory.adapters.store.entry_files import read_image
from agent_memory.domain.recording.file_change import FileState
from agent_memory.domain.tiers import TIERS_FILE, TierList
from agent_memory.errors import EntryInvalid, Error
from agent_memory.formats.tiers_json import parse_tiers, render_tiers

if TYPE_CHECKING:
    from agent_memory.adapters.store.store_draft import Draft


def read_tiers(root: str) -> Result[TierList, Error]:
    """The tier list under a real root; empty where there is none. StateCorrupt for a damaged one."""
    return read_image(root, TIERS_FILE).bind(lambda image: tiers_in(root, None if image is None else image.data))


def put_tiers(tiers: TierList, draft: Draft) -> Result[bool, Error]:
    """The draft with this tier list; whether it is another one. A damaged one is not replaced: StateCorrupt."""
    data = render_tiers(tiers)
    readable = parse_tiers(data, TIERS_FILE)
    if isinstance(readable, Failure):
        return Failure(EntryInvalid(tuple(f"tiers: {problem}" for problem in readable.failure().problems)))
    read = draft.state(TIERS_FILE)
    if isinstance(read, Failure):
        return read
    there = read.unwrap()
    current = tiers_in(draft.root, None if there is None else there.data)
    if isinstance(current, Failure):
        return current
    if current.unwrap() == tiers:
        return Success(False)
    draft.put(TIERS_FILE, FileState(data))
    return Success(True)


def tiers_in(root: str, data: bytes | None) -> Result[TierList, Error]:
    """The tier list that the file holds; None: there is no file."""
    return Success(TierList()) if data is None else parse_tiers(data, f"{root}/{TIERS_FILE}")

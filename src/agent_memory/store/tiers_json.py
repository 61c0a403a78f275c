"""The tier list as text: `{"hot": ["id__a1b2c3", …], "warm": […]}`, one id a line, so that changes read well in git."""

from __future__ import annotations

import json
from collections import Counter

from attrs import frozen

from agent_memory.errors import StateCorrupt
from agent_memory.note.note import TierList
from agent_memory.results import as_result
from agent_memory.text.ids import EntryId
from agent_memory.text.json_codec import InvalidValue, load_document, value_of


@frozen
class _Tiers:
    hot: tuple[EntryId, ...]
    warm: tuple[EntryId, ...]


def render_tiers(tiers: TierList) -> bytes:
    """Returns ASCII JSON, the ids in order, with a final newline."""
    return (json.dumps({"hot": list(tiers.hot), "warm": list(tiers.warm)}, indent=2) + "\n").encode("ascii")


@as_result
def parse_tiers(data: bytes, path: str) -> TierList:
    """Returns the rendered tier list; raises StateCorrupt with every problem, never returns an empty list (P6)."""
    try:
        tiers: _Tiers = value_of(load_document(data), _Tiers)
    except InvalidValue as error:
        raise StateCorrupt(path, error.problems) from error
    twice = [f"{id} is in it twice" for id, count in Counter((*tiers.hot, *tiers.warm)).items() if count > 1]
    if twice:
        raise StateCorrupt(path, tuple(twice))
    return TierList(tiers.hot, tiers.warm)

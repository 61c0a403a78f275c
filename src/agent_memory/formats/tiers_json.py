"""The tier list as text: `{"hot": ["id__a1b2c3", …], "warm": […]}`, one id a line, so that its changes read well in git."""

from __future__ import annotations

import json
from collections import Counter

from returns.result import Failure, Result, Success

from agent_memory.domain.text.ids import is_id
from agent_memory.domain.tiers import TierList
from agent_memory.errors import StateCorrupt
from agent_memory.formats.json_fields import Fields
from agent_memory.formats.strict_document import parse_strict_json
from agent_memory.results import sealed

_MAX_IDS = 1_000_000


def render_tiers(tiers: TierList) -> bytes:
    """ASCII JSON, the ids in their order, with a final newline."""
    return (json.dumps({"hot": list(tiers.hot), "warm": list(tiers.warm)}, indent=2) + "\n").encode("ascii")


def parse_tiers(data: bytes, path: str) -> Result[TierList, StateCorrupt]:
    """The tier list that was rendered; anything else is StateCorrupt with every problem, never an empty list (P6)."""
    match sealed(parse_strict_json(data)):
        case Failure(problem):
            return Failure(StateCorrupt(path, (problem,)))
        case Success(document):
            problems: list[str] = []
            tiers = _tiers(document, problems)
            return Failure(StateCorrupt(path, tuple(problems))) if problems else Success(tiers)


def _tiers(document: object, problems: list[str]) -> TierList:
    fields = Fields(document, "", problems)
    both = [fields.requires("hot"), fields.requires("warm")]
    tiers = (
        TierList(*(fields.texts(key, _id_problem, _MAX_IDS) for key in ("hot", "warm"))) if all(both) else TierList()
    )
    fields.close()
    if not problems:
        problems += [f"{id} is in it twice" for id, count in Counter((*tiers.hot, *tiers.warm)).items() if count > 1]
    return tiers


def _id_problem(value: object) -> str | None:
    return None if isinstance(value, str) and is_id(value) else "is not an id"

"""The tier list as text: `{"hot": ["id__a1b2c3", …], "warm": […]}`, one id a line, so that its changes read well in git.

Read by hand, and not by `json_codec`: every `memory list` reads it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.text.file_name import is_id
from agent_memory.domain.vocabulary import TierList
from agent_memory.errors import StateCorrupt
from agent_memory.formats.strict_json import NotJson, load_document
from agent_memory.results import as_result


def render_tiers(tiers: TierList) -> bytes:
    """ASCII JSON, the ids in their order, with a final newline."""
    return (json.dumps({"hot": list(tiers.hot), "warm": list(tiers.warm)}, indent=2) + "\n").encode("ascii")


@as_result
def parse_tiers(data: bytes, path: str) -> TierList:
    """The tier list that was rendered; anything else is StateCorrupt with every problem, never an empty list (P6)."""
    try:
        document = load_document(data)
    except NotJson as error:
        raise StateCorrupt(path, (str(error),)) from error
    if problems := tuple(_problems(document)):
        raise StateCorrupt(path, problems)
    return TierList(tuple(document["hot"]), tuple(document["warm"]))


def _problems(document: object) -> Iterator[str]:
    if not is_object(document):
        yield "it is not a JSON object"
        return
    yield from (f"{key[:60]!a} is unknown, expected hot, warm" for key in document if key not in ("hot", "warm"))
    ids: list[str] = []
    for key in ("hot", "warm"):
        listed = document.get(key)
        if not is_list(listed):
            yield f"{key} is missing" if key not in document else f"{key} is not a list"
            continue
        wrong = [index for index, id in enumerate(listed) if not (isinstance(id, str) and is_id(id))]
        yield from (f"{key}[{index}] is not an id" for index in wrong)
        ids += [] if wrong else listed
    yield from (f"{id} is in it twice" for id, count in Counter(ids).items() if count > 1)

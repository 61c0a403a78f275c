"""What looks at notes found, as `.cache/examined` and back: of each look the hashes of the contents of which it is true (see
`sealed_marshal` for what is around them). Of most notes there is nothing to be said, and nothing is said once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from agent_memory.domain.checkup.note_look import NoteLook
from agent_memory.formats.sealed_marshal import sealed_value, unsealed_value
from agent_memory.values import field_names

_LAYOUT = "looks 1"
_LOOK = field_names(NoteLook)


def render_looks(judges: str, looks: Mapping[str, NoteLook]) -> bytes:
    """The whole file, of looks by content hash. `judges` is what they depend on: by others another look may be found."""
    hashes: dict[NoteLook, list[str]] = defaultdict(list)
    for content_hash, look in looks.items():
        hashes[look].append(content_hash)
    rows = [(tuple([getattr(look, name) for name in _LOOK]), same) for look, same in hashes.items()]
    return sealed_value((_LOOK, rows), _LAYOUT, judges)


def parse_looks(judges: str, data: bytes) -> dict[str, NoteLook]:
    """What was rendered by the same judges; nothing of anything else."""
    names, rows = unsealed_value(data, _LAYOUT, judges) or (_LOOK, ())
    if names != _LOOK:
        return {}
    return {content_hash: look for fields, same in rows for look in (NoteLook(*fields),) for content_hash in same}

"""What was found alike in a store, as `.cache/likened` and back: columns (see `sealed_marshal` for what is around them)."""

from __future__ import annotations

from array import array

from agent_memory.domain.analysis.likened import Likened, LikenedPair
from agent_memory.formats.sealed_marshal import sealed_value, unsealed_value

_LAYOUT = "likened 1"


def render_likened(program: str, likened: Likened) -> bytes:
    """The whole file. `program` is what compares: another one may look up other words."""
    pairs = likened.pairs
    columns = (
        list(likened.words),
        array("I", likened.spread).tobytes(),
        list(likened.ids),
        likened.marks,
        array("I", likened.probed).tobytes(),
        [(each.one, each.other, each.jaccard, each.containment, each.is_near) for each in pairs],
    )
    return sealed_value(columns, _LAYOUT, program)


def parse_likened(program: str, data: bytes) -> Likened | None:
    """What was rendered by the same program; None of anything else."""
    columns = unsealed_value(data, _LAYOUT, program)
    if columns is None:
        return None
    words, spread, ids, marks, probed, pairs = columns
    return Likened(
        words, array("I", spread), ids, marks, array("I", probed), tuple([LikenedPair(*each) for each in pairs])
    )

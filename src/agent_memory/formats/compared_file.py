"""What comparing all notes found, as `.cache/compared` and back, for the last two times that the same notes were compared.

`[(key, comparison), …]`, the last one first (see `sealed_marshal` for what is around it); each comparison is marshal of columns.
"""

from __future__ import annotations

import marshal
from typing import Any

from agent_memory.domain.analysis.compared import Compared
from agent_memory.domain.analysis.outlines import OutlineColumns, Outlines
from agent_memory.domain.findings import Finding, FindingKind
from agent_memory.formats.sealed_marshal import sealed_value, unsealed_value
from agent_memory.values import field_names

_LAYOUT = "compared 2"
_MARSHAL_VERSION = 4
_OUTLINES = field_names(OutlineColumns)
_MOST_KEPT = 2
"""A defrag leaves alone what changed in every run, which an examination does not."""


def render_compared(program: str, data: bytes, key: str, compared: Compared | None) -> bytes:
    """The file with this comparison and with the one before it in `data`, a file of the same program or anything else, if that
    is of the same notes: of others one may be secret by now. With None a file without any."""
    if compared is None:
        return sealed_value([], _LAYOUT, program)
    same = frozenset(compared.outlines.slots)
    others = [each for each in _kept(program, data) if each[0] != key and _ids_in(each[1]) == same]
    kept = [(key, marshal.dumps(_packed(compared), _MARSHAL_VERSION)), *others[: _MOST_KEPT - 1]]
    return sealed_value(kept, _LAYOUT, program)


def parse_compared(program: str, data: bytes, key: str) -> Compared | None:
    """What was rendered under this key by the same program; None of anything else."""
    packed = next((each for kept, each in _kept(program, data) if kept == key), None)
    return None if packed is None else _unpacked(packed)


def _kept(program: str, data: bytes) -> list[tuple[str, bytes]]:
    kept: list[tuple[str, bytes]] = unsealed_value(data, _LAYOUT, program) or []
    return kept


def _packed(compared: Compared) -> tuple[Any, ...]:
    outlines = compared.outlines
    columns = outlines.columns.of_slots(outlines.slots.values())
    return (
        [(each.kind.value, each.ids, each.reason, each.score) for each in compared.findings],
        list(outlines.slots),
        tuple([getattr(columns, name) for name in _OUTLINES]),
    )


def _ids_in(packed: bytes) -> frozenset[str]:
    _, ids, _ = marshal.loads(packed)
    return frozenset(ids)


def _unpacked(packed: bytes) -> Compared:
    findings, ids, outlines = marshal.loads(packed)
    found = tuple(Finding(FindingKind(kind), ids, reason, score) for kind, ids, reason, score in findings)
    return Compared(found, Outlines(dict(zip(ids, range(len(ids)), strict=True)), OutlineColumns(*outlines)))

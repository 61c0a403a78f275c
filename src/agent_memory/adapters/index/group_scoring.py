"""What the notes of a group earn of a word's worth: BM25F, the same operations in the same order as `bm25f`.

Within a field the score depends on the note's length alone, so it is worked out once for each length and looked up for
each note.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import add

from agent_memory.adapters.index.postings import Group
from agent_memory.domain.searching.bm25f import Norm
from agent_memory.values import define, field

_MANY = 64
"""So many notes have fewer lengths than they are."""


class _Shares(dict[int, float]):
    """What a count in one field is as a share, by the field's length."""

    def __init__(self, norm: Norm, count: int) -> None:
        super().__init__()
        self._weighted, self._base, self._slope = norm.weight * count, norm.base, norm.slope

    def __missing__(self, length: int) -> float:
        share = self[length] = self._weighted / (self._base + self._slope * length)
        return share


class _Saturated(dict[int, float]):
    """The same of a word that only this field has."""

    def __init__(self, shares: _Shares, k1: float) -> None:
        super().__init__()
        self._shares, self._k1 = shares, k1

    def __missing__(self, length: int) -> float:
        weighted = 0.0 + self._shares[length]
        saturated = self[length] = weighted / (self._k1 + weighted)
        return saturated


class _Worth(dict[int, float]):
    """The same for a word that is worth so much."""

    def __init__(self, saturated: _Saturated, worth: float) -> None:
        super().__init__()
        self._saturated, self._worth = saturated, worth

    def __missing__(self, length: int) -> float:
        score = self[length] = self._worth * self._saturated[length]
        return score


@define
class GroupScoring:
    """The scores of one state of an index."""

    norms: Sequence[Norm]
    k1: float
    _shares: dict[tuple[int, int], _Shares] = field(factory=dict[tuple[int, int], _Shares])
    _saturated: dict[tuple[int, int], _Saturated] = field(factory=dict[tuple[int, int], _Saturated])

    def of(self, group: Group, lengths: Sequence[Sequence[int]], worth: float) -> Iterable[float]:
        """What each note of a group earns of a word that is worth so much, in their order; `lengths` are those of its
        segment."""
        fields = [at for at, count in enumerate(group.counts) if count]
        if len(fields) == 1:
            at = fields[0]
            saturated = self._saturated_in(at, group.counts[at])
            known = map(lengths[at].__getitem__, group.ordinals)
            if len(group.ordinals) < _MANY:
                return [worth * saturated[length] for length in known]
            return map(_Worth(saturated, worth).__getitem__, known)
        columns = [self._column(at, group, lengths[at]) for at in fields]
        weighted = columns[0]
        for column in columns[1:]:
            weighted = map(add, weighted, column)
        k1 = self.k1
        return [worth * (each / (k1 + each)) for each in weighted]

    def _column(self, at: int, group: Group, lengths: Sequence[int]) -> Iterable[float]:
        table = self._shares_in(at, group.counts[at])
        return map(table.__getitem__, map(lengths.__getitem__, group.ordinals))

    def _shares_in(self, at: int, count: int) -> _Shares:
        found = self._shares.get((at, count))
        if found is None:
            found = self._shares[at, count] = _Shares(self.norms[at], count)
        return found

    def _saturated_in(self, at: int, count: int) -> _Saturated:
        found = self._saturated.get((at, count))
        if found is None:
            found = self._saturated[at, count] = _Saturated(self._shares_in(at, count), self.k1)
        return found

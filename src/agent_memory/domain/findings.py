"""What a deterministic look at the store finds: what an agent should judge, and what a person should know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain, compress
from operator import not_
from typing import cast, overload

from agent_memory.domain.analysis.outlines import NO_PROFILES, Profiles
from agent_memory.values import frozen


class FindingKind(StrEnum):
    """Declared from the worst to the least."""

    CONTRADICTION = "contradiction"
    DUPLICATE = "duplicate"
    """The bodies are the same but for white space and links."""
    NEAR_DUPLICATE = "near-duplicate"
    OVERLAP = "overlap"
    EXPIRED = "expired"
    SURPLUS = "surplus"
    """Over a cap that a person has set on the size of the store, and worth least."""
    OVERSIZED = "oversized"
    FRAGMENTED = "fragmented"
    """Several very short entries about one subject."""
    DANGLING_LINK = "dangling-link"
    ORPHAN = "orphan"
    """No link leads to it or away from it, it has no tag in common with any other, and nobody has read it."""
    STALE = "stale"
    """Neither read nor changed for long."""


@frozen
class Finding:
    """One thing found about some entries."""

    kind: FindingKind
    ids: tuple[str, ...]
    """The entry that should win comes first: newer, better sourced."""
    reason: str
    """In words, with the measure and the value that made it a finding."""
    score: float = 0.0
    """How bad, 0 to 1, among findings of the same kind."""


class _Several(Sequence[Finding]):
    """Findings in an order, each of which may have to be put together first."""

    __slots__ = ()

    @overload
    def __getitem__(self, at: int) -> Finding: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Finding]: ...
    def __getitem__(self, at: int | slice) -> Finding | Sequence[Finding]:
        return tuple(self)[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Several | tuple) and tuple(self) == tuple(cast("Iterable[object]", other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


class OneEach(_Several):
    """Findings of one kind, each about one entry, worst first. There may be one for every entry of a store, and hardly anybody
    looks at each: so it gets its place and its words when somebody does."""

    __slots__ = ("_finding", "_id_of", "_numbers", "_worst_first", "kind")

    def __init__(
        self,
        kind: FindingKind,
        numbers: Sequence[int],
        id_of: Sequence[str],
        worst_first: Callable[[Sequence[int]], Iterable[int]],
        finding: Callable[[int], Finding],
    ) -> None:
        """Each finding has a number; `id_of` has the id of its entry there. Of all that have one these may be a part."""
        self.kind = kind
        self._numbers = numbers
        self._id_of = id_of
        self._worst_first = worst_first
        self._finding = finding

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Finding]:
        return map(self._finding, self._worst_first(self._numbers))

    def ids(self) -> list[str]:
        """Those of all entries, in no order."""
        return list(map(self._id_of.__getitem__, self._numbers))

    def ids_worst_first(self) -> Iterator[str]:
        """Those of all entries, without putting a finding together."""
        return map(self._id_of.__getitem__, self._worst_first(self._numbers))

    def only(self, ids: frozenset[str]) -> OneEach:
        """Those about these entries."""
        return self._chosen(map(ids.__contains__, self.ids()))

    def without(self, ids: frozenset[str]) -> OneEach:
        """Those about others."""
        return self._chosen(map(not_, map(ids.__contains__, self.ids()))) if ids else self

    def _chosen(self, which: Iterable[bool]) -> OneEach:
        numbers = list(compress(self._numbers, which))
        return OneEach(self.kind, numbers, self._id_of, self._worst_first, self._finding)


class Findings(_Several):
    """Findings in an order, of which some stay as columns until somebody looks at one."""

    __slots__ = ("parts",)

    def __init__(self, *parts: tuple[Finding, ...] | OneEach) -> None:
        self.parts = parts
        """One after the other they are all findings."""

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def __iter__(self) -> Iterator[Finding]:
        return chain.from_iterable(self.parts)

    @property
    def one_by_one(self) -> Iterator[Finding]:
        """Those that are not `OneEach`."""
        return chain.from_iterable(part for part in self.parts if not isinstance(part, OneEach))

    def of_kind(self, kind: FindingKind) -> tuple[Finding, ...]:
        """Those of one kind."""
        parts = (part for part in self.parts if not isinstance(part, OneEach) or part.kind is kind)
        return tuple(each for each in chain.from_iterable(parts) if each.kind is kind)

    def joined(self, others: Iterable[Finding]) -> Findings:
        """With others that are not stale, each after those of its kind. These are in the order of the kinds."""
        places = {kind: place for place, kind in enumerate(FindingKind)}
        whole = sorted((*self.one_by_one, *others), key=lambda each: places[each.kind])
        return Findings(tuple(whole), *(part for part in self.parts if isinstance(part, OneEach)))

    def within(self, ids: frozenset[str]) -> Findings:
        """Those of which all entries are among these."""
        return self._chosen(ids.issuperset, lambda part: part.only(ids))

    def naming(self, ids: frozenset[str]) -> Findings:
        """Those of which any entry is among these."""
        return self._chosen(lambda each: not ids.isdisjoint(each), lambda part: part.only(ids))

    def without(self, ids: frozenset[str]) -> Findings:
        """Those of which no entry is among these."""
        if not ids:
            return self
        return self._chosen(ids.isdisjoint, lambda part: part.without(ids))

    def _chosen(self, has: Callable[[tuple[str, ...]], bool], of: Callable[[OneEach], OneEach]) -> Findings:
        return Findings(
            *(
                of(part) if isinstance(part, OneEach) else tuple(each for each in part if has(each.ids))
                for part in self.parts
            )
        )


@frozen
class Analysis:
    """All findings, worst first, and the profile of each live entry, by id."""

    findings: Findings = Findings()
    profiles: Profiles = NO_PROFILES

    def of_kind(self, kind: FindingKind) -> tuple[Finding, ...]:
        """The findings of one kind, worst first."""
        return self.findings.of_kind(kind)

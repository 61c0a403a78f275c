"""What an agent would be asked to judge, and what it has judged: nobody is asked the same twice."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, compress

from agent_memory.domain.analysis.fingerprints import finding_fingerprint, fingerprints_of
from agent_memory.domain.findings import Finding, FindingKind, Findings, OneEach
from agent_memory.values import evolve, frozen

_NEEDS_NO_JUDGEMENT = frozenset({FindingKind.EXPIRED, FindingKind.SURPLUS})
"""Findings for which no agent has to be asked."""


@frozen
class Candidates:
    """Findings by their fingerprints. Of two with the same one the last stands in the place of the first."""

    one_by_one: Mapping[str, Finding]
    one_each: tuple[tuple[OneEach, Mapping[str, str]], ...]
    """With the id of each entry by fingerprint."""

    def any_new(self, judged: frozenset[str]) -> bool:
        """Whether there is any to be judged that was not."""
        kinds = {each.kind for key, each in self.one_by_one.items() if key not in judged}
        kinds |= {findings.kind for findings, ids in self.one_each if not ids.keys() <= judged}
        return not kinds <= _NEEDS_NO_JUDGEMENT

    def new_first(self, judged: frozenset[str]) -> Findings:
        """Those that nobody has judged yet before the others: a large store is gone through in several runs."""
        new = tuple(each for key, each in self.one_by_one.items() if key not in judged)
        old = tuple(each for key, each in self.one_by_one.items() if key in judged)
        known = [frozenset(compress(ids.values(), map(judged.__contains__, ids))) for _, ids in self.one_each]
        parts = [(findings, done) for (findings, _), done in zip(self.one_each, known, strict=True)]
        return Findings(
            new,
            *(findings.without(done) for findings, done in parts),
            old,
            *(findings.only(done) for findings, done in parts),
        )

    def without(self, hidden: frozenset[str]) -> Candidates:
        """Those that name none of these entries."""
        if not hidden:
            return self
        return evolve(
            self,
            one_by_one={key: each for key, each in self.one_by_one.items() if hidden.isdisjoint(each.ids)},
            one_each=tuple(
                (findings.without(hidden), {key: id for key, id in ids.items() if id not in hidden})
                for findings, ids in self.one_each
            ),
        )

    def judged(self, seen: frozenset[str], before: frozenset[str]) -> frozenset[str]:
        """Those that an agent has judged once it saw these entries, or knows what there is to be known of them. Where it could
        be shown none that is new, the rest will not fit next time either, and counts as judged."""
        whole = {key for key, each in self.one_by_one.items() if seen.issuperset(each.ids)}
        for _, ids in self.one_each:
            whole.update(compress(ids, map(seen.__contains__, ids.values())))
        every = frozenset(chain(self.one_by_one, *(ids for _, ids in self.one_each)))
        return (before & every) | whole if whole - before else every


def candidates_of(findings: Findings, hashes: Mapping[str, str]) -> Candidates:
    """All findings, given the content hash of each live entry by id."""
    one_by_one = {finding_fingerprint(each, hashes): each for each in findings.one_by_one}
    one_each = (part for part in findings.parts if isinstance(part, OneEach))
    return Candidates(one_by_one, tuple((part, fingerprints_of(part, hashes)) for part in one_each))

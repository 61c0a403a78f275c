"""What one examination came to."""

from __future__ import annotations

from agent_memory.domain.checkup.catalogue import CATALOGUE
from agent_memory.domain.checkup.symptom import Severity, Symptom
from agent_memory.values import frozen

_PLACES = {ailment.code: place for place, ailment in enumerate(CATALOGUE)}


@frozen
class Examination:
    """The state of a store."""

    root: str
    entries: int
    archived: int
    symptoms: tuple[Symptom, ...] = ()
    """In the order of the catalogue; of one kind the problems first."""

    @property
    def problems(self) -> tuple[Symptom, ...]:
        """What counts for the exit code."""
        return tuple(each for each in self.symptoms if each.severity is Severity.PROBLEM)


@frozen
class Treatment:
    """What `--fix` did, and how the store is afterwards."""

    did: tuple[str, ...]
    """One sentence each."""
    failed: tuple[str, ...]
    """What it could not do, and why."""
    after: Examination


def in_order(symptoms: list[Symptom]) -> tuple[Symptom, ...]:
    """Each symptom once, as an examination holds them."""
    ranks = list(Severity)
    key = {each: (_PLACES[each.code], ranks.index(each.severity)) for each in symptoms}
    return tuple(sorted(key, key=lambda each: key[each]))

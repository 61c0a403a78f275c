"""Candidates: statements that could become notes, and which of them stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from attrs import evolve, frozen

from agent_memory.domain.extraction.cue import Sort
from agent_memory.domain.extraction.statements import in_words, is_anaphoric, overlap, says_all_of
from agent_memory.domain.history import Role
from agent_memory.domain.planning.salience import lost_salience
from agent_memory.domain.text.terms import content_terms, coverage

MAX_PER_SORT = 10
MAX_NOTES = 40
"""Of a session, its handoff not counted; a reply may hold 50 entries."""

_REDACTED = "[redacted:"
_SAME = 0.75
_SAME_ACROSS = 0.9
"""Of different speakers: the agent's lesson is not the person's decision that follows from it."""
_SAME_LESSON = 0.5
_TOLD = 0.9
_STRENGTH = {sort: position for position, sort in enumerate(Sort)}


@frozen
class Support:
    """A second statement of a note: `label` says what it is to the first one."""

    label: str
    text: str


@frozen
class Candidate:
    """One statement, who made it and where."""

    sort: Sort
    by: Role
    claim: str
    """What it says, one line, whole sentences or clauses of 15 to 300 characters."""
    turns: tuple[int, ...]
    quote: str = ""
    """The speaker's words around the claim, lines kept; the claim itself where empty."""
    supports: tuple[Support, ...] = ()
    rejected: str = ""
    """What it turns down (`Y` in `X instead of Y`)."""
    corrects: bool = False
    """Whether the person says that they take back something they said."""
    files: tuple[str, ...] = ()
    """The files that were changed in its episode."""
    mended: bool = False
    """Whether what it tells was mended since: its title says so."""

    @property
    def text(self) -> str:
        return " ".join((self.claim, self.quote, *(support.text for support in self.supports)))


def settled(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """The candidates that stay, in the order of their turns.

    Of those that say the same, the stronger sort stays, or else the later one; what the person turned down or corrected
    later goes. What the person said goes only where all of it is said again, and what they asked to remember only in the
    same words: a number, a weekday or an `off` makes another fact.
    """
    ordered = sorted(candidates, key=lambda candidate: candidate.turns[-1])
    legible = [one for one in ordered if _REDACTED not in f"{one.claim} {one.quote}"]
    return _capped(_without_repeats(_without_rejected(legible)))


def _without_rejected(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    return tuple(
        candidate
        for position, candidate in enumerate(candidates)
        if not any(
            _corrects(later, candidate) or (later.turns[-1] > candidate.turns[-1] and _turns_down(later, candidate))
            for later in candidates[position + 1 :]
        )
    )


def _turns_down(later: Candidate, earlier: Candidate) -> bool:
    """Whether a later word of the person rejects exactly what an earlier statement is for."""
    if later.by is not Role.USER or not later.rejected or earlier.sort in (Sort.REMEMBER, Sort.LESSON):
        return False
    rejected = content_terms(later.rejected)
    kept = content_terms(later.claim) - rejected
    said = content_terms(earlier.claim)
    return bool(rejected) and rejected <= said and not kept & said


def _corrects(later: Candidate, earlier: Candidate) -> bool:
    """Whether the person says an earlier statement of theirs anew and that it is otherwise: `correction: ...`, `9999, not 8081`."""
    if later.by is not Role.USER or earlier.by is not Role.USER:
        return False
    rejected, now, before = (content_terms(text) for text in (later.rejected, later.claim, earlier.claim))
    gone = before - (now - rejected)
    replaces = bool(gone) and gone <= rejected and bool(now - rejected - before)
    return overlap(now, before) >= _SAME and (replaces or later.corrects)


def _without_repeats(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    kept: list[Candidate] = []
    for candidate in candidates:
        twin = next((index for index, other in enumerate(kept) if _say_the_same(*_by_strength(other, candidate))), None)
        if twin is None:
            kept.append(candidate)
        else:
            kept[twin], _ = _by_strength(kept[twin], candidate)
    return tuple(sorted(kept, key=lambda candidate: candidate.turns[-1]))


def _by_strength(earlier: Candidate, later: Candidate) -> tuple[Candidate, Candidate]:
    """The stronger of two first; the later one where they are of one sort."""
    return (later, earlier) if _STRENGTH[later.sort] <= _STRENGTH[earlier.sort] else (earlier, later)


def _say_the_same(stronger: Candidate, weaker: Candidate) -> bool:
    """Whether nothing is lost where only the stronger one stays."""
    if in_words(stronger.claim) == in_words(weaker.claim):
        return stronger.quote == weaker.quote or not is_anaphoric(weaker.claim)
    if weaker.by is Role.USER:
        return weaker.sort is not Sort.REMEMBER and says_all_of(stronger.claim, weaker.claim)
    first, second = content_terms(stronger.claim), content_terms(weaker.claim)
    if min(len(first), len(second)) < 3:
        return False
    if any(coverage(second, content_terms(support.text)) >= _TOLD for support in stronger.supports):
        return True
    both_lessons = stronger.sort is weaker.sort is Sort.LESSON
    enough = _SAME_ACROSS if stronger.by is not weaker.by else _SAME_LESSON if both_lessons else _SAME
    return overlap(first, second) >= enough and not lost_salience(weaker.claim, stronger.text)


def _capped(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """At most ten of a sort, the latest ones; of all together, the strongest ones."""
    counts: Counter[Sort] = Counter()
    kept: list[Candidate] = []
    for candidate in reversed(candidates):
        counts[candidate.sort] += 1
        if counts[candidate.sort] <= MAX_PER_SORT:
            kept.append(candidate)
    kept.reverse()
    strongest = sorted(kept, key=lambda candidate: _STRENGTH[candidate.sort])[:MAX_NOTES]
    return tuple(sorted(strongest, key=lambda candidate: candidate.turns[-1]))


def with_files(candidates: Iterable[Candidate], files: tuple[str, ...]) -> tuple[Candidate, ...]:
    """The candidates of an episode with the files changed in it."""
    return tuple(evolve(candidate, files=files) for candidate in candidates)

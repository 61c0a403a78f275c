"""Compares the sessions that were told nothing on purpose (`eval.holdOut`) with the others of the same time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from attrs import fields, frozen

from agent_memory.app import Memory, Progress
from agent_memory.evaluation.chance import by_chance
from agent_memory.evaluation.replay import histories_of, past_sessions, prompts_of
from agent_memory.extraction.corrections import corrections_in
from agent_memory.extraction.session import episodes_of
from agent_memory.extraction.text import prose_sentences
from agent_memory.recall.delivery_log import DeliveryLog
from agent_memory.results import as_result
from agent_memory.session.history import History
from agent_memory.text.salience import content_terms

NEEDED = 20
"""Sessions in each group. With fewer, next to any difference may be chance."""
_MOST_BY_CHANCE = 0.05
_LEAST_TERMS = 3
_SAME = 0.8
"""The share of the longer question's words that two must have in common to be the same."""


@frozen
class Measured:
    """What happened in one session."""

    corrections: int
    repeated_questions: int
    """Questions, of the person or in closing words of the agent, that were asked in an earlier session of the place."""
    turns: int
    """Messages of the person."""


@frozen
class Arms:
    """The two groups."""

    held_out: tuple[Measured, ...]
    told: tuple[Measured, ...]

    def means(self, of: str) -> tuple[float, float]:
        """Returns the mean of a figure for those told and for those held out."""
        told, held_out = self._values(of)
        return sum(told) / max(len(told), 1), sum(held_out) / max(len(held_out), 1)

    def chance(self, of: str) -> float:
        return by_chance(*self._values(of))

    def _values(self, of: str) -> tuple[list[int], list[int]]:
        return [getattr(each, of) for each in self.told], [getattr(each, of) for each in self.held_out]

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Returns the comparison in words."""
        counts = (f"{len(self.held_out):,} held out", f"{len(self.told):,} told")
        if not self.held_out:
            return (
                "No session with a kept history was held out. `memory config set eval.holdOut 5` holds out one in 5.",
            )
        if min(len(self.held_out), len(self.told)) < NEEDED:
            return (f"Too few sessions to tell: {counts[0]}, {counts[1]}, {NEEDED} of each needed.",)
        return tuple(map(self._verdict, MEASURES))

    def _verdict(self, of: str) -> str:
        told, held_out = self.means(of)
        chance, name = self.chance(of), of.replace("_", " ")
        often = f"Chance alone makes so large a difference in {max(1, round(100 * chance))} of 100 draws"
        if chance > _MOST_BY_CHANCE:
            return f"{often}: no difference in {name} is shown."
        return f"{often}: {'fewer' if told < held_out else 'MORE'} {name} where notes were told."


MEASURES: Sequence[str] = tuple(each.name for each in fields(Measured))


@as_result
def compare_arms(memory: Memory, progress: Progress) -> Arms:
    """Returns the groups since the first session was held out, as far as their histories are kept."""
    deliveries = [each for each in DeliveryLog(memory.real_root).deliveries() if each.session]
    held_out = {(each.harness, each.session) for each in deliveries if each.held_out}
    since_ms = min((each.at_ms for each in deliveries if each.held_out), default=None)
    if since_ms is None:
        return Arms((), ())
    before = {(each.harness, each.session) for each in deliveries if each.at_ms < since_ms}
    told = {(each.harness, each.session) for each in deliveries} - held_out - before
    asked = defaultdict[str, list[frozenset[str]]](list)
    groups = list[Measured](), list[Measured]()
    for session, history, scope in histories_of(memory, past_sessions(memory), progress):
        repeated = _repeated(history, asked[scope])
        group = groups[0] if session.key in held_out else groups[1] if session.key in told else None
        if group is not None:
            group.append(Measured(len(corrections_in(history)), repeated, len(prompts_of(history))))
    return Arms(tuple(groups[0]), tuple(groups[1]))


def _repeated(history: History, earlier: list[frozenset[str]]) -> int:
    """Returns how many questions of a session are among the earlier ones of its place, and adds all to them."""
    turns = (turn for each in episodes_of(history) for turn in (each.asked, each.closing) if turn)
    asked = {content_terms(each) for turn in turns for each in prose_sentences(turn.text) if each.endswith("?")}
    fit = [each for each in asked if len(each) >= _LEAST_TERMS]
    known = [any(len(one & other) >= _SAME * max(len(one), len(other)) for other in earlier) for one in fit]
    earlier += fit
    return sum(known)

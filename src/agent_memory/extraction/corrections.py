"""The corrections of the person in a session: what memory exists to make unnecessary."""

from __future__ import annotations

from attrs import frozen

from agent_memory.extraction.cues import Sort
from agent_memory.extraction.extract import read_through
from agent_memory.session.history import History, Role

_CORRECTING = frozenset({Sort.REMEMBER, Sort.CORRECTION, Sort.PREFERENCE, Sort.CONVENTION})


@frozen
class Correction:
    """A statement by which the person told the agent, after it had begun to work, how things are or are to be done."""

    turn: int
    """The number of the person's message (`Turn.number`); one message may hold several corrections."""
    text: str
    """The statement on one line in the person's words, at most 300 characters: `use pnpm here, not npm.`"""
    rejected: str = ""
    """The thing that it turns down: `npm`; empty if it names none."""


def corrections_in(history: History) -> tuple[Correction, ...]:
    """Returns what the person corrected in a redacted history, in the order of their messages, each statement once.

    Found by wording alone, so some are missed. Only statements that hold beyond the task count: neither a request, nor
    a question, nor "no, try again", nor what the person took back later; and nothing said before the agent's first
    turn, to which nobody had given cause.
    """
    first = next((turn.number for turn in history.turns if turn.role is Role.AGENT), None)
    return tuple(
        Correction(each.turns[-1], each.claim, each.rejected)
        for each in read_through(history, by_agent=False)[2]
        if each.by is Role.USER and each.sort in _CORRECTING and first is not None and each.turns[-1] > first
    )

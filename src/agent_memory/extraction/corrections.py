"""The corrections of the person in a session: what memory exists to make unnecessary."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from agent_memory.extraction.cues import Signal, Sort, shows, user_hits, wording
from agent_memory.extraction.extract import read_through
from agent_memory.extraction.session import Episode, own_words
from agent_memory.extraction.text import MAX_CHARS, is_anaphoric, sentences_of
from agent_memory.session.history import History, Role
from agent_memory.text.salience import content_terms

_CORRECTING = frozenset({Sort.REMEMBER, Sort.CORRECTION, Sort.PREFERENCE, Sort.CONVENTION})
_REJECTED = wording("rejected")
_UNFIT = (Signal.REQUEST, Signal.UNSURE, Signal.PASSING, Signal.SESSION, Signal.POINTS)
_FEWEST_WORDS = 2


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
    _, episodes, candidates = read_through(history, by_agent=False)
    found = [
        Correction(each.turns[-1], each.claim, each.rejected)
        for each in candidates
        if each.by is Role.USER and each.sort in _CORRECTING
    ]
    said = {turn for each in candidates for turn in each.turns}
    if not history.automated:
        found += (each for episode in episodes for each in _brief(episode) if each.turn not in said)
    first = min((turn.number for turn in history.turns if turn.role is Role.AGENT), default=0)
    return tuple(sorted((each for each in found if 0 < first < each.turn), key=lambda each: each.turn))


def _brief(episode: Episode) -> Iterator[Correction]:
    """Yields the corrections of too few words for a note: `no, pnpm, not npm`. They name what is right, and what is wrong."""
    asked = episode.asked
    for sentence in (each for block in own_words(asked) for each in sentences_of(block.text)) if asked else ():
        hit = next(iter(user_hits(sentence)), None) if _REJECTED.search(sentence) else None
        rejected = _REJECTED.search(hit.said) if hit is not None and hit.shows is Sort.CORRECTION else None
        if hit is None or rejected is None or sentence.endswith("?") or len(sentence) > MAX_CHARS:
            continue
        is_fit = not is_anaphoric(hit.said) and not any(shows(each, hit.said) for each in _UNFIT)
        if asked and is_fit and len(content_terms(hit.said)) >= _FEWEST_WORDS:
            yield Correction(asked.number, hit.said, rejected["what"])

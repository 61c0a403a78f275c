"""What a session left open."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_memory.domain.extraction.candidates import Candidate, Support
from agent_memory.domain.extraction.cue import Sort
from agent_memory.domain.extraction.episodes import Episode
from agent_memory.domain.extraction.options import offers_in
from agent_memory.domain.extraction.overlap import overlap
from agent_memory.domain.extraction.prose import blocks_of
from agent_memory.domain.extraction.said_by_agent import leaves_open
from agent_memory.domain.extraction.said_by_user import request_of
from agent_memory.domain.extraction.sentences import sentences_of
from agent_memory.domain.extraction.statements import MAX_CHARS, cut, without_politeness
from agent_memory.domain.history import Role, Turn
from agent_memory.domain.text.terms import content_terms

_DONE = 0.6
_CHOOSES = re.compile(
    r"\b(?:which|prefer|options?|choose|pick|approach|direction|qual|quais|prefere|preferes|opção|opções)\b",
    re.IGNORECASE,
)


def unanswered_choice(episodes: Sequence[Episode]) -> Candidate | None:
    """The choice that the agent put before the person at the very end, if it did."""
    last = episodes[-1] if episodes else None
    closing = last.closing if last else None
    question = final_question(last) if last else ""
    if last is None or closing is None or last.asked is None or not _CHOOSES.search(question):
        return None
    offers = offers_in(closing)
    request = request_of(last.asked)
    if not offers or not request:
        return None
    return Candidate(
        Sort.TASK,
        Role.AGENT,
        cut(f"The user has not chosen yet: {without_politeness(request)}"),
        (closing.number,),
        quote=request,
        supports=(Support("Options offered", cut("; ".join(offer.name for offer in offers))),),
    )


def final_question(episode: Episode) -> str:
    """The question with which the agent ended, empty if it did not end with one."""
    if episode.closing is None:
        return ""
    blocks = [block for block in blocks_of(episode.closing.text) if block.text]
    sentences = [sentence for block in blocks[-2:] for sentence in sentences_of(block.text)]
    return next((cut(sentence) for sentence in reversed(sentences[-2:]) if sentence.endswith("?")), "")


def still_open(tasks: Sequence[Candidate], episodes: Sequence[Episode]) -> tuple[Candidate, ...]:
    """The tasks that no later closing words say to be done."""
    done = [(each.closing.number, content_terms(_without_open_ends(each.closing))) for each in episodes if each.closing]
    return tuple(
        task
        for task in tasks
        if not any(
            overlap(content_terms(task.claim), terms) >= _DONE
            for number, terms in done
            if task.by is Role.USER and number > task.turns[-1]
        )
    )


def _without_open_ends(closing: Turn) -> str:
    """What the agent said without the sentences that say what is left to do. What is too long for one is none."""
    sentences = (sentence for block in blocks_of(closing.text) for sentence in sentences_of(block.text))
    return "\n".join(each for each in sentences if len(each) > 2 * MAX_CHARS or not leaves_open(each))

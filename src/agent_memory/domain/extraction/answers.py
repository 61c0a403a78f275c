"""What the agent said to what the person had just said."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from agent_memory.domain.extraction.cue import Signal, shows, without
from agent_memory.domain.extraction.episodes import Episode
from agent_memory.domain.extraction.prose import blocks_of
from agent_memory.domain.extraction.sentences import sentences_of
from agent_memory.domain.extraction.statements import cut, in_third_person, is_anaphoric, joined, says_enough
from agent_memory.domain.history import Role, Turn
from agent_memory.domain.planning.directives import is_directive
from agent_memory.values import frozen

_OF_ITSELF = ("The agent ", "If ", "Eu ", "Se ")
"""So begins what says nothing of the matter: what the agent did or will do, and what would be."""
_LOOKED_AT = 3
"""Turns in which the agent may say what it agrees to: at first it often only goes to look."""


@frozen
class Answer:
    """The agent's first words in an episode."""

    agrees: bool = False
    """It says that the person is right."""
    confirms: bool = False
    """The same, or a plain yes."""
    says: str = ""
    """What it goes on to say of the matter; empty where it only says what it does next."""
    turn: int = 0


def answer_in(episode: Episode) -> Answer:
    """The answer; an empty one where the agent went to work without a word."""
    spoken = [turn for turn in episode.work if turn.role is Role.AGENT and turn.text.strip()][:_LOOKED_AT]
    first = next((each for turn in spoken[:1] for each in _sentences(turn.text)), "")
    rest = without(Signal.CONCEDES, first)
    agrees = rest != first
    confirms = agrees or first.casefold().startswith(("yes", "sim", "right", "correct"))
    if not agrees:
        return Answer(confirms=confirms)
    for turn in spoken[:_LOOKED_AT]:
        text = turn.text[turn.text.find(rest) :] if turn is spoken[0] and rest else turn.text
        if turn is spoken[0] and not rest:
            text = turn.text[turn.text.find(first) + len(first) :]
        if says := joined(
            *islice((each for each in _said(text) if says_enough(each) and not each.startswith(_OF_ITSELF)), 3)
        ):
            return Answer(agrees, confirms, says, turn.number)
    return Answer(agrees, confirms)


def informative(turn: Turn) -> tuple[str, ...]:
    """The sentences of an agent's message that say something of the matter, in the third person; of one that says little,
    all of them."""
    short = (in_third_person(cut(each)) for each in _sentences(turn.text) if not is_directive(each))
    return tuple(_said(turn.text)) or tuple(short)


def is_quiet(sentence: str) -> bool:
    """Whether a sentence of the agent's is a guess, a question, or about this very moment."""
    return sentence.endswith(("?", ":")) or any(
        shows(signal, sentence) for signal in (Signal.HEDGE, Signal.NARRATION, Signal.MOMENTARY)
    )


def _said(text: str) -> Iterator[str]:
    """An order in the agent's words would be taken for one of the person's, whom the note quotes (P19): it is left out."""
    said = (each for each in _sentences(text) if says_enough(each, 2) and not is_quiet(each) and not is_directive(each))
    for position, sentence in enumerate(said):
        if position or not is_anaphoric(sentence):
            yield in_third_person(cut(sentence))


def _sentences(text: str) -> Iterator[str]:
    blocks = blocks_of(text)
    told = [block for block in blocks if block.style == "paragraph"] or blocks
    return (sentence for block in told for sentence in sentences_of(block.text))

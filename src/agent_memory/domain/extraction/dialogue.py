"""What agent and person said to each other: what the agent answered, and the option the person chose of those it offered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from attrs import frozen

from agent_memory.domain.extraction.cue import Signal, is_quiet, without
from agent_memory.domain.extraction.episodes import Episode
from agent_memory.domain.extraction.prose import Block, blocks_of, sentences_of
from agent_memory.domain.extraction.statements import cut, in_third_person, is_anaphoric, joined, says_enough
from agent_memory.domain.history import Role, Turn
from agent_memory.domain.planning.directives import is_directive

_OF_ITSELF = ("The agent ", "If ", "Eu ", "Se ")
"""So begins what says nothing of the matter: what the agent did or will do, and what would be."""
_LOOKED_AT = 3
"""Turns in which the agent may say what it agrees to: at first it often only goes to look."""
_CHOICE = re.compile(
    r"\b(?:option|approach|variant|number|proposal|solution|alternative|plan|opção|opcao|alternativa|proposta)\s+"
    r"(?:number\s+|#)?(?P<mark>\d|[a-e])\b"
    r"|\b(?:the |a )(?P<place>first|second|third|last|primeira|segunda|terceira|última)\b"
    r"(?: (?:one|option|approach|opção|alternativa))?",
    re.IGNORECASE,
)
_PLACES = {"first": 0, "second": 1, "third": 2, "last": -1, "primeira": 0, "segunda": 1, "terceira": 2, "última": -1}
_OPTION_LABEL = re.compile(
    r"(?:option|approach|variant|opção|alternativa)\s+(?P<mark>\d|[a-e])\b\s*[:.–—-]?\s*(?P<name>.*)", re.IGNORECASE
)


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
    conceded = first.removesuffix(rest) if rest else first
    for turn in spoken:
        text = turn.text.partition(conceded)[2] if turn is spoken[0] else turn.text
        said = (each for each in _said(text) if says_enough(each) and not each.startswith(_OF_ITSELF))
        if says := joined(*islice(said, 3)):
            return Answer(agrees, confirms, says, turn.number)
    return Answer(agrees, confirms)


def informative(turn: Turn) -> tuple[str, ...]:
    """The sentences of an agent's message that say something of the matter, in the third person; of one that says little,
    all of them."""
    short = (in_third_person(cut(each)) for each in _sentences(turn.text) if not is_directive(each))
    return tuple(_said(turn.text)) or tuple(short)


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


@frozen
class Option:
    """What was chosen. `among` names the options of which it is one."""

    text: str
    turn: int
    among: str


@frozen
class Offer:
    """One option of a list."""

    mark: str
    text: str
    name: str


def speaks_of_an_option(sentence: str) -> bool:
    """Whether a sentence names an option by its number, letter or place: without the offer nobody knows which."""
    return _CHOICE.search(sentence) is not None


def chosen_option(sentence: str, offered: Turn | None) -> Option | None:
    """The option that a sentence chooses from the agent's last message; None where there is no such option."""
    choice = _CHOICE.search(sentence)
    if choice is None or offered is None:
        return None
    offers = offers_in(offered)
    found = _by_mark(offers, choice["mark"]) if choice["mark"] else _by_place(offers, choice["place"])
    if found is None:
        return None
    return Option(found.text, offered.number, cut("; ".join(offer.name for offer in offers)))


def offers_in(turn: Turn) -> tuple[Offer, ...]:
    """The options that a message offers, two at least; empty where it offers none."""
    blocks = blocks_of(turn.text)
    offers = _labelled(blocks) or _numbered(blocks)
    return offers if len(offers) >= 2 else ()


def _labelled(blocks: Sequence[Block]) -> tuple[Offer, ...]:
    """Options that are called so: `**Option A: small**`, as labels or headings."""
    found: dict[str, Offer] = {}
    for block in blocks:
        for title in (block.label, block.section, block.text):
            match = _OPTION_LABEL.match(title)
            if match:
                mark = match["mark"].lower()
                text = f"{title}: {block.text}" if title != block.text and block.text else title
                if mark not in found or found[mark].text == found[mark].name:
                    found[mark] = Offer(mark, text, title)
    return tuple(found.values())


def _numbered(blocks: Sequence[Block]) -> tuple[Offer, ...]:
    """The last numbered list of the message."""
    offers: list[Offer] = []
    for block in blocks:
        if block.style != "item" or not block.ordinal or block.depth:
            continue
        if block.ordinal in ("1", "a"):
            offers = []
        text = f"{block.label}: {block.text}" if block.label and block.text else block.label or block.text
        offers.append(Offer(block.ordinal, text, block.label or cut(block.text, 60)))
    return tuple(offers)


def _by_mark(offers: Sequence[Offer], mark: str) -> Offer | None:
    return next((offer for offer in offers if offer.mark == mark.lower()), None)


def _by_place(offers: Sequence[Offer], place: str) -> Offer | None:
    position = _PLACES[place.lower()]
    return offers[position] if offers and position < len(offers) else None

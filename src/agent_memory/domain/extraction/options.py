"""The option that a person chose by its number, letter or place among those the agent had offered."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_memory.domain.extraction.prose import Block, blocks_of
from agent_memory.domain.extraction.statements import cut
from agent_memory.domain.history import Turn
from agent_memory.values import frozen

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

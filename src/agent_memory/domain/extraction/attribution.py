"""Whose words these are: what of a message the person typed, and what they only bring: a page, a log, a review, a program's prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_memory.domain.extraction.cue import Signal, Sort, shows, sort_of_section
from agent_memory.domain.extraction.prose import Block, blocks_of
from agent_memory.domain.history import Turn

TYPED_CHARS = 1_500
"""Of a longer message what is between the first and the last paragraph was pasted: of that only lists and what stands under
a heading counts, as a plan does or a list of what is expected."""
PASTED_CHARS = 8_000
"""A longer one is a document."""
_PROGRAM = re.compile(
    r"\A\s*(?:you are (?:an? |the )?[\w -]{0,40}\b(?:assistant|agent|writing|generating|expert|evaluator|judge|reviewer)\b"
    r"|you (?:generate|write|summari[sz]e|evaluate|classify|will be given)\b|your (?:task|job|role) is\b|act as an? )"
    r"|^\s*(?:respond|reply|answer) with (?:only |just |exactly )?(?:an?|the|one) (?:\w+ )?(?:json|yaml|xml|marker|label|token)\b",
    re.IGNORECASE | re.MULTILINE,
)
_REPORT = re.compile(
    r"^\s*(?:[-*•]\s*)?(?:\(?\d{1,2}[.)]\s*)?[*_[(]*(?:critical|blocker|major|minor|high|medium|low|nit|p[0-3]|severity)\b[*_\])]*\s?[:\])(–—-]"
    r"|\*\*[^*\n]{2,}\*\*|\.[a-z]{1,4}(?::|#L)\d+|^\s{0,3}-{3,}\s*$|^(?:new |key |main )?findings:"
    r"|\b(?:i've|i have) (?:reviewed|verified|analy[sz]ed)\b|\S [—→] \S[\s\S]*\S [—→] \S",
    re.IGNORECASE | re.MULTILINE,
)
"""Marks of what was written up, by a reviewer, a bot or an agent: severities, places in files, bold words, rules."""
REPORT_CHARS = 240
"""A shorter message was typed whatever its marks, and so was a paragraph as short before a report."""
LAST_WORD_CHARS = 80
"""The same of a paragraph behind one, which as a longer one would be the reporter's conclusion."""
_PLAN = re.compile(r"\s*(?:please )?(?:implement|execute|carry out) (?:the following|this) plan\b", re.IGNORECASE)
_WHO = (
    r"page|file|document|plan|site|web ?site|docs?|documentation|readme|manual|guide|handbook|article|blog|post|tutorial|spec|specification"
    r"|rfc|faq|wiki|stack ?overflow|reviewer|review|comment|issue|ticket|e-?mail|message|error|warning|log|output|linter"
    r"|prompt|banner|answer|thread|forum|vendor|bot|description|he|she|they|someone|somebody|(?:claude|agents|gemini)\.md"
    r"|página|documentação|guia|artigo|blogue|especificação|revisor|comentário|mensagem|erro|aviso|registo|resposta|fórum|el[ea]s?|alguém"
)
_SAYS = (
    r"says?|said|states?|stated|tells?|told|claims?|claimed|recommends?|recommended|suggests?|suggested|advises?|advised"
    r"|writes|wrote|demands?|insists?|mentions?|mentioned|asks?|flags?|instructs?|reads?(?=\s*[:\"“'‘«])"
    r"|diz(?:em)?|disse(?:ram)?|afirma|recomenda(?:m)?|sugere(?:m)?|aconselha|manda|escreveu|pede"
)
_TELLS = re.compile(
    rf"\b(?:{_WHO})\b[^.?!:;,\"“«]{{0,40}}?\b(?:{_SAYS})\b"
    rf"|\b(?:according to|as per|segundo|de acordo com)\s+(?:\w+\s+){{0,3}}?(?:{_WHO})\b",
    re.IGNORECASE,
)
_OPENING = re.compile(r"[\s:,]*(?:that|que)?[\s:,]*(?P<mark>[\"“'‘«])")
_CLOSING = {'"': '"', "“": "”", "'": "'", "‘": "’", "«": "»"}


def own_words(turn: Turn) -> tuple[Block, ...]:
    """The blocks without those that the person introduces as somebody else's words; none of a message that a program wrote,
    which tells a model its role or in what form it is to reply."""
    if _PROGRAM.search(turn.text):
        return ()
    kept: list[Block] = []
    reported_run: int | None = None
    for block in _without_reports(turn):
        if reported_run is not None and block.run <= reported_run + (
            1 if not kept or kept[-1].run == reported_run else 0
        ):
            reported_run = max(reported_run, block.run)
            continue
        reported_run = block.run if shows(Signal.REPORTED, block.text) else None
        kept.append(block)
    return tuple(kept)


def typed_blocks(turn: Turn) -> tuple[Block, ...]:
    """The blocks of a user turn that the person typed."""
    blocks = blocks_of(turn.text)
    length = sum(len(block.text) for block in blocks)
    if length <= TYPED_CHARS:
        return blocks
    ends = (blocks[0], blocks[-1])
    if length > PASTED_CHARS or any(shows(Signal.ABOUT_TEXT, end.text) for end in ends):
        return tuple(dict.fromkeys(ends))
    return tuple(block for block in blocks if block in ends or block.style == "item" or block.section)


def pasted_blocks(turn: Turn) -> tuple[Block, ...]:
    """Those of them that stand in the middle of a long message, or make up a plan that is to be carried out."""
    blocks = typed_blocks(turn)
    if _PLAN.match(turn.text):
        return blocks[1:]
    return blocks[1:-1] if sum(len(block.text) for block in blocks_of(turn.text)) > TYPED_CHARS else ()


def _without_reports(turn: Turn) -> tuple[Block, ...]:
    """The typed blocks; of a message that brings somebody's report only what frames it, and what is under a heading."""
    blocks = typed_blocks(turn)
    if _PLAN.match(turn.text) or len(turn.text) <= REPORT_CHARS or not _REPORT.search(turn.text):
        return blocks
    last = len(blocks) - 1
    frame = {0: REPORT_CHARS, last: LAST_WORD_CHARS} if last else {}
    return tuple(
        block
        for position, block in enumerate(blocks)
        if sort_of_section(block.section) is Sort.CONVENTION
        or (len(block.text) <= frame.get(position, 0) and not _REPORT.search("\n".join(block.lines)))
    )


def own_part(sentence: str) -> str | None:
    """The beginning of a sentence up to where it says who speaks next; None where the person speaks to its end."""
    told = _TELLS.search(sentence)
    return sentence[: told.end()] if told else None


def within_quotes(sentences: Sequence[str]) -> frozenset[int]:
    """Which of the sentences stand in a quotation that an earlier one opened after naming who says it."""
    inside: set[int] = set()
    closing = ""
    for position, sentence in enumerate(sentences):
        if closing:
            inside.add(position)
            closing = "" if _closes(sentence, closing) else closing
            continue
        if shows(Signal.REPORTED, sentence):
            return frozenset({*inside, *range(position + 1, len(sentences))})
        told = _TELLS.search(sentence)
        opened = _OPENING.match(sentence, told.end()) if told else None
        if opened:
            mark = _CLOSING[opened["mark"]]
            closing = "" if _closes(sentence[opened.end() :], mark) else mark
    return frozenset(inside)


def _closes(text: str, mark: str) -> bool:
    """Whether the quotation ends in the text. Within a word the mark is an apostrophe."""
    return bool(re.search(rf"{re.escape(mark)}(?!\w)", text))

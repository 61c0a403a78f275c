"""What the person only tells of somebody else, of a page or of a program: `The page says: "Always …"`."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WHO = (
    r"page|site|web ?site|docs?|documentation|readme|manual|guide|handbook|article|blog|post|tutorial|spec|specification"
    r"|rfc|faq|wiki|stack ?overflow|reviewer|review|comment|issue|ticket|e-?mail|message|error|warning|log|output|linter"
    r"|prompt|banner|answer|thread|forum|vendor|bot|description|he|she|they|someone|somebody|(?:claude|agents|gemini)\.md"
)
_QUEM = (
    r"página|site|documentação|readme|manual|guia|artigo|blogue|tutorial|especificação|wiki|revisor|comentário|e-?mail"
    r"|mensagem|erro|aviso|registo|resposta|fórum|ele|ela|eles|elas|alguém"
)
_SAYS = (
    r"says?|said|states?|stated|tells?|told|claims?|claimed|recommends?|recommended|suggests?|suggested|advises?|advised"
    r"|writes|wrote|demands?|insists?|mentions?|mentioned|asks?|flags?|instructs?|reads?(?=\s*[:\"“'‘«])"
)
_DIZ = r"diz(?:em)?|disse(?:ram)?|afirma|recomenda(?:m)?|sugere(?:m)?|aconselha|manda|escreveu|pede"
_TELLS = re.compile(
    rf"\b(?:(?:{_WHO})\b[^.?!:;,\"“«]{{0,40}}?\b(?:{_SAYS})|(?:{_QUEM})\b[^.?!:;,\"“«]{{0,40}}?\b(?:{_DIZ}))\b"
    rf"|\b(?:according to|as per|segundo|de acordo com)\s+(?:\w+\s+){{0,3}}?(?:{_WHO}|{_QUEM})\b",
    re.IGNORECASE,
)
_OPENING = re.compile(r"[\s:,]*(?:that|que)?[\s:,]*(?P<mark>[\"“'‘«])")
_CLOSING = {'"': '"', "“": "”", "'": "'", "‘": "’", "«": "»"}


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
        told = _TELLS.search(sentence)
        opened = _OPENING.match(sentence, told.end()) if told else None
        if opened:
            mark = _CLOSING[opened["mark"]]
            closing = "" if _closes(sentence[opened.end() :], mark) else mark
    return frozenset(inside)


def _closes(text: str, mark: str) -> bool:
    """Whether the quotation ends in the text. Within a word the mark is an apostrophe."""
    return bool(re.search(rf"{re.escape(mark)}(?!\w)", text))

"""Content words: what is left of a text when the words that any text holds are taken out."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")

# Function words of English and Portuguese, and the words by which a note reports who said what and when.
_COMMON_WORDS = """
    always must ought shall sempre deve devem
    cannot neither never no none nor not nothing não nao nunca jamais nem nenhum nenhuma
    a about above after again all also am an and any are as at be because been before being below between both but by can
    could did do does doing done down during each either else etc few for from further get gets got had has have having he her
    here hers him his how i if in into is it its itself just let like made make makes many may me might more most much my
    need needs new of off on once one only onto or other our ours out over own per please same she should since so some such
    than that the their them then there these they thing things this those though through thus to too two under until up upon
    us use used uses using very via was way we well were what when where whether which while who whom whose why will with
    within would yes yet you your yours
    neste nesta nesse nessa deste desta projeto repositório project repo repository
    agent asked asks explicitly note remember requested said says session stated states told user users wants wanted
    ao aos aquela aquele as com como da das de dela dele depois do dos e ela elas ele eles em entre era essa esse esta este
    eu foi for isso isto já lhe mais mas me mesmo meu minha muito na nas nem no nos nossa nosso num numa o os ou para pela
    pelo por porque pra qual quando que quem se ser será seu sua são só também te tem ter teu tua um uma usar uso você vocês
"""
_COMMON = frozenset(_COMMON_WORDS.split())
# Longer ends first, so that the longest is taken off.
_ENDS = ("ations", "ation", "ings", "ing", "edly", "ies", "ied", "ed", "es", "ly", "s")
_MIN_STEM = 3
_NO_CONTENT = frozenset({""})
# The words of a text in ASCII, as most are, are found so in a fifth of the time that an expression takes.
_ASCII_WORDS = "".join(each.lower() if each.isalnum() else " " for each in map(chr, range(128)))


def stem(word: str) -> str:
    """A crude stem, the same for the usual forms of one English word; enough to see that two texts speak of one thing."""
    for end in _ENDS:
        if word.endswith(end) and len(word) - len(end) >= _MIN_STEM:
            kept = word[: -len(end)]
            return kept[:-1] if len(kept) > _MIN_STEM and kept[-1] == kept[-2] else kept
    return word[:-1] if word.endswith("e") and len(word) > _MIN_STEM else word


def content_terms(text: str) -> frozenset[str]:
    """The stems of a text's content words; words of one letter and bare common words are not content."""
    return frozenset(map(term_of, words_of(text))) - _NO_CONTENT


def content_sequence(text: str) -> tuple[str, ...]:
    """The same stems in the order of the text, repeated as often as they occur."""
    return tuple(filter(None, map(term_of, words_of(text))))


def coverage(of: frozenset[str], by: frozenset[str]) -> float:
    """Which part of `of` is also in `by`, 0 to 1; nothing is wholly covered."""
    return len(of & by) / len(of) if of else 1.0


def words_of(text: str) -> list[str]:
    """All words of a text in lower case, in order."""
    if text.isascii() and "'" not in text:
        return text.translate(_ASCII_WORDS).split()
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())


@lru_cache(maxsize=1 << 16)
def term_of(word: str) -> str:
    """The stem of a lower-case word, empty for one that is no content. Remembered: a store has few words, said often."""
    bare = word.replace("’", "'").removesuffix("'s")
    is_content = bare not in _COMMON and not bare.endswith("n't") and (len(bare) > 1 or bare.isdigit())
    return stem(bare) if is_content else ""

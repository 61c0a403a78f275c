"""Whether a sentence affirms or denies, and whether it speaks of the present without conditions."""

from __future__ import annotations

import re

from agent_memory.domain.text.ascii_words import words_of_letters
from agent_memory.domain.text.terms import content_terms

_WORD = re.compile(r"[^\W\d_]+(?:['’]t\b)?")
_DENYING_WORDS = """
    not never none nothing nobody neither nor without cannot avoid avoids avoiding avoided forbid forbids forbidden prohibited
    disallowed no não nao nunca jamais sem nem nenhum nenhuma nada ninguém proibido proibida proibidos evite evita evitar evitam
    """
_DENYING = frozenset(_DENYING_WORDS.split())
DENYING_TERMS = content_terms(" ".join(_DENYING)) | {"longer"}
"""The stems of words that deny, as far as they are content."""
# `no` denies in English and means "in the" in Portuguese.
_PORTUGUESE_WORDS = "é são não nao que uma um os as do da dos das em para com pelo pela nunca sempre está usamos usa"
_PORTUGUESE = frozenset(_PORTUGUESE_WORDS.split())
_ENGLISH_WORDS = "the an is are has have there we it does do be of to and in for with on this that longer more"
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_CONDITIONAL_WORDS = """
    if when whenever unless except only while otherwise else until before after but
    se quando enquanto exceto salvo somente só apenas até antes depois mas caso senão
    """
_CONDITIONAL = frozenset(_CONDITIONAL_WORDS.split())
_PAST = re.compile(
    r"\b(?:used to|previously|formerly|originally|historically|initially|at the time|back then|at first|until|would have|"
    r"e\.g\.|for example|for instance|such as|antigamente|anteriormente|originalmente|costumava\w*|por exemplo)\b"
)
_PAST_WORDS = """
    used previously formerly originally historically initially time then first until would g example instance such
    antigamente anteriormente originalmente exemplo
    """
_TELLING_OF_PAST = frozenset(_PAST_WORDS.split())
"""Whatever `_PAST` finds has one of these words, or begins with `costumava`."""
_REASON_WORDS = ("since", "because", "as of", "due to", "given that", "so that", "desde", "porque", "pois", "já que")
_REASON = re.compile(
    r"[,;(]?\s+(?:since|because|as of|due to|given that|so that|desde|porque|pois|já que)\s.*",
    re.IGNORECASE | re.DOTALL,
)


def without_reason(sentence: str) -> str:
    """The sentence up to the clause that says why, or since when."""
    if not any(map(sentence.lower().__contains__, _REASON_WORDS)):
        return sentence
    return _REASON.sub("", sentence) or sentence


def words_in(sentence: str) -> tuple[str, ...]:
    """The words of a sentence in lower case, in order."""
    if sentence.isascii() and "'" not in sentence:
        return tuple(words_of_letters(sentence))
    return tuple(_WORD.findall(sentence.lower()))


def is_denying(words: tuple[str, ...]) -> bool:
    """Whether an odd number of the words deny."""
    found = [word for word in words if word in _DENYING or (word[-1] == "t" and word.endswith(("n't", "n’t")))]
    if "no" in found and (_ENGLISH.isdisjoint(words) or not _PORTUGUESE.isdisjoint(words)):
        found = [word for word in found if word != "no"]
    return len(found) % 2 == 1


def is_conditional(words: tuple[str, ...]) -> bool:
    """Whether what is said holds only sometimes, or has an exception in the same sentence."""
    return not _CONDITIONAL.isdisjoint(words)


def is_beside_the_present(sentence: str, words: tuple[str, ...]) -> bool:
    """Whether the sentence, of these words, tells what once was, gives an example, or asks."""
    if sentence.rstrip().endswith("?"):
        return True
    low = sentence.lower()
    # A word with an apostrophe behind it may be two.
    may_be = not _TELLING_OF_PAST.isdisjoint(words) or "costumava" in low or "'" in low or "’" in low
    return may_be and _PAST.search(low) is not None

"""The stem of an English word: Porter2, as of Snowball 3.1 (snowballstem.org/algorithms/english/stemmer.html).

A module of our own because the published one takes 19 ms to import, all its languages with it, and five times as long a
word; the tests hold it to the published one.
"""

from __future__ import annotations

from agent_memory.late_patterns import late_pattern

_VOWELS = frozenset("aeiouy")
_VOWELS_WXY = _VOWELS | frozenset("wxY")
_DOUBLES = frozenset(("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"))
_BEFORE_LI = frozenset("cdeghkmnrt")
_Y_AFTER_VOWEL = late_pattern(r"([aeiouy])y")
_REGION = late_pattern(r"[^aeiouy]*[aeiouy]+[^aeiouy]")
_REGION_OF = late_pattern(r"arsen|commun|emerg|gener|inter|later|organ|past|univers")
_HAS_VOWEL = late_pattern(r"[aeiouy]")

_WHOLES = """
    andes atlas bias cosmos howe news sky skis:ski skies:sky idly:idl gently:gentl ugly:ugli early:earli only:onli
    singly:singl
"""
_STEPS_2 = """
    tional:tion enci:ence anci:ance abli:able entli:ent izer:ize ization:ize ational:ate ation:ate ator:ate alism:al aliti:al
    alli:al fulness:ful ousli:ous ousness:ous iveness:ive iviti:ive biliti:ble bli:ble ogist:og ogi:og fulli:ful lessli:less
    li:
"""
_STEPS_3 = "tional:tion ational:ate alize:al icate:ic iciti:ic ical:ic ful: ness: ative:"
_STEPS_4 = "al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize ion"


def _table(text: str) -> dict[str, str]:
    """`from:to`, or what stays as it is."""
    pairs = (entry.partition(":") for entry in text.split())
    return {one: other if colon else one for one, colon, other in pairs}


_WHOLE, _STEP_2, _STEP_3, _STEP_4 = map(_table, (_WHOLES, _STEPS_2, _STEPS_3, _STEPS_4))
_KEEPS_ING = frozenset(("even", "cann", "inn", "earr", "herr", "out"))
_KEEPS_EED = frozenset(("succ", "proc", "exc"))


def english_stem(word: str) -> str:
    """The stem of a word of lower-case ASCII letters."""
    if len(word) <= 2:
        return word
    if word in _WHOLE:
        return _WHOLE[word]
    if "y" in word:
        word = _Y_AFTER_VOWEL.sub(r"\1Y", "Y" + word[1:] if word[0] == "y" else word)
    first, second = _regions(word)
    word = _step_1b(_step_1a(word), first)
    if word[-1] in "yY" and len(word) > 2 and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    word = _step_3(_step_2(word, first), first, second)
    return _step_5(_step_4(word, second), first, second).replace("Y", "y")


def _regions(word: str) -> tuple[int, int]:
    """Where R1 and R2 begin."""
    found = _REGION_OF.match(word) or _REGION.match(word)
    if found is None:
        return len(word), len(word)
    further = _REGION.match(word, found.end())
    return found.end(), further.end() if further else len(word)


def _ending(word: str, endings: dict[str, str], longest: int) -> str | None:
    """The longest of these that the word ends with."""
    for length in range(min(longest, len(word)), 1, -1):
        if word[-length:] in endings:
            return word[-length:]
    return None


def _ends_short(word: str) -> bool:
    if len(word) == 2:
        return word[0] in _VOWELS and word[1] not in _VOWELS
    if word.endswith("past"):
        return True
    return len(word) > 2 and word[-1] not in _VOWELS_WXY and word[-2] in _VOWELS and word[-3] not in _VOWELS


def _step_1a(word: str) -> str:
    if not word.endswith(("s", "ied")):
        return word
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith(("us", "ss")):
        return word
    return word[:-1] if _HAS_VOWEL.search(word, 0, len(word) - 2) else word


def _step_1b(word: str, first: int) -> str:
    for ending in ("eedly", "eed"):
        if word.endswith(ending):
            kept = word[: -len(ending)]
            return kept + "ee" if len(kept) >= first and kept not in _KEEPS_EED else word
    for ending in ("ingly", "edly", "ing", "ed"):
        if word.endswith(ending):
            return _without_ending(word, word[: -len(ending)], first, is_ing=ending == "ing")
    return word


def _without_ending(word: str, kept: str, first: int, *, is_ing: bool) -> str:
    if is_ing and kept in _KEEPS_ING:
        return word
    if is_ing and len(kept) == 2 and kept[1] == "y" and kept[0] not in _VOWELS:
        return kept[0] + "ie"
    if not _HAS_VOWEL.search(kept):
        return word
    if kept.endswith(("at", "bl", "iz")):
        return kept + "e"
    if kept[-2:] in _DOUBLES:
        return kept if len(kept) == 3 and kept[0] in "aeo" else kept[:-1]
    return kept + "e" if len(kept) == first and _ends_short(kept) else kept


def _step_2(word: str, first: int) -> str:
    ending = _ending(word, _STEP_2, 7)
    if ending is None or len(word) - len(ending) < first:
        return word
    kept = word[: -len(ending)]
    if ending == "ogi" and not kept.endswith("l"):
        return word
    if ending == "li" and (not kept or kept[-1] not in _BEFORE_LI):
        return word
    return kept + _STEP_2[ending]


def _step_3(word: str, first: int, second: int) -> str:
    ending = _ending(word, _STEP_3, 7)
    if ending is None or len(word) - len(ending) < (second if ending == "ative" else first):
        return word
    return word[: -len(ending)] + _STEP_3[ending]


def _step_4(word: str, second: int) -> str:
    ending = _ending(word, _STEP_4, 5)
    if ending is None or len(word) - len(ending) < second:
        return word
    kept = word[: -len(ending)]
    return word if ending == "ion" and kept[-1:] not in ("s", "t") else kept


def _step_5(word: str, first: int, second: int) -> str:
    kept = word[:-1]
    if word.endswith("e"):
        return kept if len(kept) >= second or (len(kept) >= first and not _ends_short(kept)) else word
    return kept if word.endswith("ll") and len(kept) >= second else word

"""Directives: sentences that tell an agent what to do. What no person said must not become an order for an agent (P19).

This is only the second guard; the first is where words come from (`origin`). When in doubt a sentence counts as a
directive: if it stands in an agent's note it is not shown unasked, but search still finds it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from agent_memory.text.salience import statements
from agent_memory.text.tables import read_table

_TABLE = read_table("agent_memory.text", "directives.txt")
# In a set rather than a pattern: compiling these as alternatives took longer than judging a hundred sentences.
_IMPERATIVES = _TABLE.words("imperatives")
_ORDERING_PARTS = _TABLE.expression("ordering_parts", re.NOFLAG)
_ORDERING_LEAD = _TABLE.expression("ordering_lead", re.NOFLAG)
_LEAD = _TABLE.expression("lead")
_DECORATION = re.compile(r"(?:[^\w\"'“‘*_`(\[#$./~-]+|\(\d+\)\s+|\[[^\]\n]{1,40}\]\s+)+")
"""Matches check marks, arrows, bars, numbers and bracketed marks in front of a sentence."""
_QUOTES = re.compile(r"[\"'“‘*_`(\[]*")
# "add-ons", "set = 3", "fix 3f2a9c1", "fix for Windows" and "open whether …" name things.
_VERB = re.compile(
    r"(\w++)(?![-=(.:/]|\s*=|\s+`?[0-9a-fA-F]{7,40}\b|\s+(?:for|of|whether|between|is|was|were|are|has|had|does|did)\b)"
)
_CONDITION = _TABLE.expression("condition")
_LATER_VERB = re.compile(
    r"(?:[,:]\s+|\b(?:and|then|e|então)\s+)(?:(?:always|never|first|please|just)\s+)?(?=(\w++)(?![-=(.:/]))",
    re.IGNORECASE,
)
_CONDITIONED_RUN = _TABLE.expression("conditioned_run")
_COMMAND_IN_CODE = _TABLE.expression("command_in_code")
_SECOND_ORDER = _TABLE.expression("second_order")
_WISH = _TABLE.expression("wish")
_SAID = _TABLE.expression("said")
_MODAL = _TABLE.expression("modal")
_REPORT = _TABLE.expression("report")
_ALWAYS = _TABLE.expression("always")
_DESCRIBED = _TABLE.expression("described")
_PROHIBITION = _TABLE.expression("prohibition")
_ADDRESS = _TABLE.expression("address")
_ASKED = _TABLE.expression("asked")
ALLOWED = _TABLE.expression("allowed")
"""Matches where a text says that a person gave leave for something."""
_ANYWHERE = (_ADDRESS, _SECOND_ORDER, _WISH, _SAID, _PROHIBITION)
# "source, schedule, storage" names what a note is about, though each word could also command.
_NAMES = re.compile(r"[\w-]+(?: [\w-]+)?(?:, [\w-]+(?: [\w-]+)?){2,}(?:,? (?:and|or|e|ou) [\w-]+(?: [\w-]+)?)?\.?")
_CODE = re.compile(r"(`+)(?![0-9a-fA-F]{7,40}`)[^`\n]+?\1")
_HIDDEN = {ord(mark): 0xE000 + at for at, mark in enumerate(".!?…。！？;:—–")}
_SHOWN = {hidden: mark for mark, hidden in _HIDDEN.items()}
_CELL = re.compile(r"\s*\|\s*")
_TOKEN = re.compile(r"[^\s.,;:!?…()\[\]\"“”«»।。،؟`*_|/]+")
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁԛԝһкмтвнгпАЕОРСУХІЈЅКМТВНαοενρτυικγχϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹօսոհցզյ",
    "aeopcyxijsdqwhkmtbhrnAEOPCYXIJSKMTBHaoevptuikyxcjABEZHIKMNOPTYXCounhgqj",
)
"""Maps letters of other scripts that look like Latin ones (Unicode TR 39), as far as order words contain them."""
_SPACED_OUT = re.compile(r"\b(?:[^\W\d_] ){3,}[^\W\d_]\b")


def in_plain_letters(text: str) -> str:
    """Returns the text with Latin letters in place of look-alikes."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text.translate(_LOOKALIKES))


_ORDERING_WORDS = frozenset(
    letters for word in _TABLE.words("ordering_words") for letters in (word, in_plain_letters(word))
)
"""Words of other languages (not English or Portuguese) that give an order wherever they stand."""


def asks_for_something(sentence: str) -> bool:
    """Returns whether it asks politely for something to be done, as "Could you …?" does."""
    return _ASKED.search(sentence) is not None


def is_directive(text: str) -> bool:
    """Returns whether any sentence of the text tells a reader what to do."""
    return any(map(_commands, _sentences(text)))


def directive_sentences(text: str) -> tuple[str, ...]:
    """Returns the sentences that tell a reader what to do, in order."""
    return tuple(sentence for sentence in _sentences(text) if _commands(sentence))


def _sentences(text: str) -> Iterator[str]:
    if "`" not in text:
        yield from statements(text)
        return
    hidden = _CODE.sub(lambda code: code[0].translate(_HIDDEN), text)
    yield from (sentence.translate(_SHOWN) for sentence in statements(hidden))


def _commands(sentence: str) -> bool:
    spelt = dict.fromkeys((unicodedata.normalize("NFKC", sentence), in_plain_letters(sentence)))
    read = [_SPACED_OUT.sub(lambda word: word[0].replace(" ", ""), each) for each in spelt]
    parts = {part for each in read for part in (each, *(_CELL.split(_CODE.sub("`code`", each)) if "|" in each else ()))}
    return any(_is_order(_DECORATION.sub("", part, count=1) if _DECORATION.match(part) else part) for part in parts)


def _is_order(sentence: str) -> bool:
    if _NAMES.fullmatch(sentence) and not _ALWAYS.search(sentence):
        return False
    # Code is the name of something; only the fact that code stood here matters.
    sentence = _CODE.sub("`code`", sentence)
    if _begins_with_imperative(sentence) or ("`" in sentence and _COMMAND_IN_CODE.search(sentence)):
        return True
    if _CONDITION.match(sentence) and (
        any(map(_is_imperative, _LATER_VERB.findall(sentence))) or _CONDITIONED_RUN.search(sentence)
    ):
        return True
    is_always = _ALWAYS.search(sentence) is not None and not _DESCRIBED.search(sentence)
    if is_always or any(pattern.search(sentence) for pattern in _ANYWHERE):
        return True
    if (sentence.endswith(("?", "？", "؟")) and asks_for_something(sentence)) or (
        _MODAL.search(sentence) and not _REPORT.search(sentence)
    ):
        return True
    # Languages other than English and Portuguese.
    if not _ORDERING_WORDS.isdisjoint(_TOKEN.findall(sentence.lower())):
        return True
    return not sentence.isascii() and bool(_ORDERING_PARTS.search(sentence) or _ORDERING_LEAD.match(sentence))


def _begins_with_imperative(sentence: str) -> bool:
    """Returns whether an imperative comes first, after quotes and lead-in words, which may be imperatives themselves."""
    at = _after(_QUOTES, sentence, 0)
    while True:
        verb = _VERB.match(sentence, _after(_QUOTES, sentence, at))
        if verb is not None and _is_imperative(verb[1]):
            return True
        lead = _LEAD.match(sentence, at)
        if lead is None:
            return False
        at = lead.end()


def _is_imperative(word: str) -> bool:
    # A dotted capital I folds into two characters.
    return word.replace("İ", "i").casefold() in _IMPERATIVES


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()

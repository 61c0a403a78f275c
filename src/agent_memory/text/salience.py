"""Statements, and their salient tokens: what a shorter text must not lose silently (code spans, paths, URLs,
identifiers, numbers, weekdays, negations)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from attrs import frozen

from agent_memory.text.tables import read_table

# -- content words ----------------------------------------------------------------------------------------------------
# Content words: the words of a text without the words that occur in every text.


_TERM = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")

_TABLE = read_table("agent_memory.text", "words.txt")
_COMMON = _TABLE.words("common")
# Longest suffix first, so that it is the one removed.
_ENDS = ("ations", "ation", "ings", "ing", "edly", "ies", "ied", "ed", "es", "ly", "s")
_MIN_STEM = 3
_NO_CONTENT = frozenset({""})


def stem(word: str) -> str:
    """Returns a crude stem, the same for the usual forms of an English word; enough to see that texts share a subject."""
    for end in _ENDS:
        if word.endswith(end) and len(word) - len(end) >= _MIN_STEM:
            kept = word[: -len(end)]
            return kept[:-1] if len(kept) > _MIN_STEM and kept[-1] == kept[-2] else kept
    return word[:-1] if word.endswith("e") and len(word) > _MIN_STEM else word


def content_terms(text: str) -> frozenset[str]:
    """Returns the stems of a text's content words; single letters and common words are not content."""
    return frozenset(map(term_of, words_of(text))) - _NO_CONTENT


def content_sequence(text: str) -> tuple[str, ...]:
    """Returns the stems of a text's content words in order, with repetitions."""
    return tuple(filter(None, map(term_of, words_of(text))))


def coverage(of: frozenset[str], by: frozenset[str]) -> float:
    """Returns the share of `of` that is also in `by`, 0 to 1; an empty set is fully covered."""
    return len(of & by) / len(of) if of else 1.0


def words_of(text: str) -> list[str]:
    """Returns all words of a text in lower case, in order."""
    return _TERM.findall(unicodedata.normalize("NFC", text).lower())


@lru_cache(maxsize=1 << 16)
def term_of(word: str) -> str:
    """Returns the stem of a lower-case word, empty if it is not a content word. Cached: a store has few distinct words."""
    bare = word.replace("’", "'").removesuffix("'s")
    is_content = bare not in _COMMON and not bare.endswith("n't") and (len(bare) > 1 or bare.isdigit())
    return stem(bare) if is_content else ""


_LINE_MARK = re.compile(r"\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|>\s?|\[[ xX]\]\s+)+")
_STOP, _CLOSING = "[.!?…。！？]", r"[\"'”’)\]*_`]"
# A stop, then white space; `;` or `:`, white space and a word; a dash between white space. It begins with characters that are
# rare in text, so that the search skips the others, and a long run of white space is not retried at each of its characters.
_END = rf"[\s\"'”’)\]*_`—–](?:(?<={_STOP}{_CLOSING}){_CLOSING}*\s+|(?<={_STOP}\s)\s*|(?<=[;:]\s)\s*(?=[^\W\d_])|(?<=\s[—–])\s+)"
_UNSPACED_STOP = re.compile(r"[。！？](?=[^\W_]|[`「『（])")
_ONLY_MARKS = re.compile(r"[\W_]*")


def statements(text: str) -> tuple[str, ...]:
    """Returns the sentences of prose and list items, in order, without list, heading and quote marks: cut at line ends,
    after `. ! ? …` (after `。` without a space, too), at dashes, and after `;` and `:` before a word, so that a command
    after a colon stands alone."""
    if not text.isascii():
        text = _UNSPACED_STOP.sub(r"\g<0> ", text)
    parts = (
        part.strip()
        for line in text.split("\n")
        for part in re.split(_END, _LINE_MARK.sub("", line, count=1) if _LINE_MARK.match(line) else line)
    )
    return tuple(part for part in parts if not _ONLY_MARKS.fullmatch(part))


def whole_statements(text: str) -> tuple[str, ...]:
    """Returns the same, none of which ends within a code span or a quotation."""
    hidden = _QUOTED.sub(lambda quote: _hidden(quote[1]) + quote[2], _CODE.sub(lambda code: _hidden(code[0]), text))
    return tuple(each.translate(_SHOWN) for each in statements(hidden))


# Compiled on first use: hooks need content words alone.
_SPAN = r"`[^`\n]{2,80}`"
_URL = r"https?://[^\s)>\]]+"
_PATH = r"(?<![\w.-])(?:[\w.-]+/)+[\w.-]+"
_DOTTED = r"\b[A-Za-z]+(?:[._-][A-Za-z0-9]+)+\b"
_CAMEL = r"\b[a-z]+[A-Z]\w+\b"
_ACRONYM = r"\b[A-Z]{2,}[A-Z0-9_]*\b"
_NUMBER = r"\b\d[\d.,:]*\d\b"

# One pattern over all, so that a long token is taken whole; then those that it would hide inside another.
_WHOLE = "|".join((_SPAN, _URL, _PATH, _DOTTED, _CAMEL, _ACRONYM, _NUMBER))
_MORE = (
    r"`[^`\n]+`",
    _NUMBER,
    r"(?<![\w.,:])\d(?![\w.,:]*\d|\w)",
    r"\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+\b",
    r"\b\w+_\w+\b",
    r"(?<![\w-])--?[A-Za-z][\w-]*",
    r"\$\{?[A-Za-z_]\w*\}?",
    r"(?<![\w/])(?:~|\.{1,2})?/[\w.@+-]+(?:/[\w.@+-]*)*",
    r"(?<!\w)@[\w.-]+/[\w.-]+",
    r"#\d+\b",
    r"(?i)\b((?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:segunda|terça|quarta|quinta|sexta)-feira|sábado|domingo)s?\b",
)
_HOST = r"\b[A-Za-z][\w-]+(?:\.[A-Za-z][\w-]+)+\b"
"""Matches a host name, or a file name with its extension."""
_ACTIONABLE = "|".join((r"`[^`\n]+`", _URL, _PATH, r"(?<![\w-])--?[A-Za-z][\w-]*", r"\$\{?[A-Za-z_]\w*\}?", _HOST))
_LINK_TARGET = r"\[\[(?:id__|ref:)[\w.-]+(?=[|\]])"
_LIST_NUMBER = r"(?m)^\s*\d{1,3}[.)]\s+"
_FENCED = r"(?ms)^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)^ {0,3}\1"

_NEGATION = rf"(?i)\b(?:{_TABLE.expression('negations').pattern})\b"
_DENYING = rf"(?i)\b(?:{_TABLE.expression('denying').pattern})\b"
"""Matches other words than negations that deny something."""
_WORD = re.compile(r"\w")
_FOLLOWING_TERMS = 3
_REACH_CHARS = 300
"""How far around a negation to look for what it negates: a text may be one endless sentence."""


@frozen
class Negation:
    """A negation: its words as they stand, and the content words that it is about."""

    phrase: str
    about: frozenset[str]


def actionable_tokens(text: str) -> frozenset[str]:
    """Returns what could be typed or opened: code spans, URLs, hosts, paths, flags, variables; lower case, no
    backticks."""
    return frozenset(token.strip("`").strip().lower() for token in re.findall(_ACTIONABLE, text))


def typed_tokens(text: str) -> frozenset[str]:
    """Returns the actionable tokens that are a command line or an address: they are the same in every language."""
    return frozenset(token for token in actionable_tokens(text) if " " in token or "://" in token)


def salient_tokens(text: str) -> frozenset[str]:
    """Returns the salient tokens except negations: lower case, without backticks. Lines of fenced code count as tokens;
    link targets do not, since a text may be linked differently."""
    text = re.sub(_LINK_TARGET, "[[", text)
    unnumbered = re.sub(_LIST_NUMBER, "", text)
    found = set(re.findall(_WHOLE, text))
    found.update(token for pattern in _MORE for token in re.findall(pattern, unnumbered))
    found.update(line.strip() for block in re.finditer(_FENCED, text) for line in block[2].split("\n"))
    return frozenset(bare for bare in (token.strip("`").strip().lower() for token in found) if bare)


def negations(text: str) -> tuple[Negation, ...]:
    """Returns the negations in a text, each with the next content words of its sentence, or else those before it."""
    negated: list[Negation] = []
    for sentence in statements(text):
        for found in re.finditer(_NEGATION, sentence):
            start, end = found.span()
            following = content_sequence(sentence[end : end + _REACH_CHARS])[:_FOLLOWING_TERMS]
            about = following or content_sequence(sentence[max(start - _REACH_CHARS, 0) : start])[-_FOLLOWING_TERMS:]
            words = sentence[start : start + _REACH_CHARS].split()[: _FOLLOWING_TERMS + 1]
            negated.append(Negation(" ".join(words).rstrip(".,;:!?"), frozenset(about)))
    return tuple(negated)


def is_negated(text: str) -> bool:
    """Returns whether the text negates anything."""
    return re.search(_NEGATION, text) is not None


def denying_words(text: str) -> frozenset[str]:
    """Returns the words that deny something without a negation: "skips", "instead of"."""
    return frozenset(found.lower() for found in re.findall(_DENYING, text))


def lost_salience(before: str, after: str, drops: Iterable[str] = ()) -> tuple[str, ...]:
    """Returns the salient tokens and negated phrases of `before` missing in `after` and not named in `drops`, sorted.

    A token must be in `after` as a whole word (`80` is not in `8080`). A negation is kept if a sentence of `after`
    negates something and shares a content word with it. A drop names a token by containing it, and a negation by
    containing its phrase or any content word of it.
    """
    named = "\n".join(drops)
    here = salient_tokens(after) | salient_tokens(named)
    kept = f"{after}\n{named}".lower()
    tokens = {token for token in salient_tokens(before) - here if not _holds(kept, token)}
    known = denying_words(before)
    still = [
        content_terms(sentence)
        for sentence in statements(after)
        if is_negated(sentence) or denying_words(sentence) - known
    ]
    dropped_terms, dropped_text = content_terms(named), named.lower()

    def is_kept(negation: Negation) -> bool:
        if negation.phrase.lower() in dropped_text or negation.about & dropped_terms:
            return True
        return any(negation.about & terms or not negation.about for terms in still)

    lost = dict.fromkeys(negation.phrase for negation in negations(before) if not is_kept(negation))
    return (*sorted(tokens), *lost)


def _holds(text: str, token: str) -> bool:
    if token not in text:
        return False
    before = ("" if not _WORD.match(token[0]) else r"(?<!\w)") + (r"(?<!\d[.,:])" if token[0].isdigit() else "")
    after = ("" if not _WORD.match(token[-1]) else r"(?!\w)") + (r"(?![.,:]\d)" if token[-1].isdigit() else "")
    return re.search(before + re.escape(token) + after, text) is not None


# -- directives: sentences that tell an agent what to do --------------------------------------------------------------
# What no person said must not become an order for an agent (P19). This is only the second guard; the first is where
# words come from (`origin`). When in doubt a sentence counts as a directive: if it stands in an agent's note it is not
# shown unasked, but search still finds it.

_ORDERS = read_table("agent_memory.text", "directives.txt")
# In a set rather than a pattern: compiling these as alternatives took longer than judging a hundred sentences.
_IMPERATIVES = _ORDERS.words("imperatives")
_ORDERING_PARTS = _ORDERS.expression("ordering_parts", re.NOFLAG)
_ORDERING_LEAD = _ORDERS.expression("ordering_lead", re.NOFLAG)
_LEAD = _ORDERS.expression("lead")
_DECORATION = re.compile(r"(?:[^\w\"'“‘*_`(\[#$./~-]+|\(\d+\)\s+|\[[^\]\n]{1,40}\]\s+)+")
"""Matches check marks, arrows, bars, numbers and bracketed marks in front of a sentence."""
_QUOTES = re.compile(r"[\"'“‘*_`(\[]*")
# "add-ons", "set = 3", "fix 3f2a9c1", "fix for Windows", "open questions", "change made", "commit signing is off" and "read on
# 2026-01-11" name things, or tell what was done.
_VERB = re.compile(rf"(\w++)(?![-=(.:/]|\s*=|\s+`?[0-9a-fA-F]{{7,40}}\b|{_ORDERS.expression('not_a_verb').pattern})")
_CONDITION = _ORDERS.expression("condition")
_LATER_VERB = re.compile(
    r"(?:[,:]\s+|\b(?:and|then|e|então)\s+)(?:(?:always|never|first|please|just)\s+)?(?=(\w++)(?![-=(.:/]))",
    re.IGNORECASE,
)
_CONDITIONED_RUN = _ORDERS.expression("conditioned_run")
_COMMAND_IN_CODE = _ORDERS.expression("command_in_code")
_SECOND_ORDER = _ORDERS.expression("second_order")
_WISH = _ORDERS.expression("wish")
_SAID = _ORDERS.expression("said")
_MODAL = _ORDERS.expression("modal")
_REPORT = _ORDERS.expression("report")
_ALWAYS = _ORDERS.expression("always")
_DESCRIBED = _ORDERS.expression("described")
_PROHIBITION = _ORDERS.expression("prohibition")
_ADDRESS = _ORDERS.expression("address")
_ASKED = _ORDERS.expression("asked")
ALLOWED = _ORDERS.expression("allowed")
"""Matches where a text says that a person gave leave for something."""
_ANYWHERE = (_ADDRESS, _SECOND_ORDER, _WISH, _SAID, _PROHIBITION)
# "source, schedule, storage" names what a note is about, though each word could also command.
_NAMES = re.compile(r"[\w-]+(?: [\w-]+)?(?:, [\w-]+(?: [\w-]+)?){2,}(?:,? (?:and|or|e|ou) [\w-]+(?: [\w-]+)?)?\.?")
_CODE = re.compile(r"(`+)(?![0-9a-fA-F]{7,40}`)[^`\n]+?\1")
_QUOTED = re.compile(r"([\"“«„「『][^\"“”«»„「」『』\n]{1,400})([^\"“”«»„「」『』\n][\"”»“」』])")
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
    letters for word in _ORDERS.words("ordering_words") for letters in (word, in_plain_letters(word))
)
"""Words of other languages (not English or Portuguese) that give an order wherever they stand."""


def asks_for_something(sentence: str) -> bool:
    """Returns whether it asks politely for something to be done, as "Could you …?" does."""
    return _ASKED.search(sentence) is not None


def is_directive(text: str) -> bool:
    """Returns whether any sentence of the text tells a reader what to do."""
    return any(_commands(sentence, _is_order) for sentence in _sentences(text))


def addresses_reader(text: str) -> bool:
    """Returns whether any sentence of the text is a directive for more than a `must` or `never` in it, with which an agent
    also says how something works."""
    return any(_commands(sentence, _is_addressed) for sentence in _sentences(text))


def directive_sentences(text: str) -> tuple[str, ...]:
    """Returns the sentences that tell a reader what to do, in order."""
    return tuple(sentence for sentence in _sentences(text) if _commands(sentence, _is_order))


def _sentences(text: str) -> Iterator[str]:
    if "`" not in text:
        yield from statements(text)
        return
    hidden = _CODE.sub(lambda code: _hidden(code[0]), text)
    yield from (sentence.translate(_SHOWN) for sentence in statements(hidden))


def _hidden(text: str) -> str:
    """Returns the text with other characters in place of those at which statements end."""
    return text.translate(_HIDDEN)


def _commands(sentence: str, judge: Callable[[str], bool]) -> bool:
    spelt = dict.fromkeys((unicodedata.normalize("NFKC", sentence), in_plain_letters(sentence)))
    read = [_SPACED_OUT.sub(lambda word: word[0].replace(" ", ""), each) for each in spelt]
    parts = {part for each in read for part in (each, *(_CELL.split(_CODE.sub("`code`", each)) if "|" in each else ()))}
    plain = (_DECORATION.sub("", part, count=1) if _DECORATION.match(part) else part for part in parts)
    return any(judge(part) for part in plain if _ALWAYS.search(part) or not _NAMES.fullmatch(part))


def _is_order(sentence: str) -> bool:
    if _is_addressed(sentence):
        return True
    sentence = _CODE.sub("`code`", sentence)
    is_always = _ALWAYS.search(sentence) is not None and not _DESCRIBED.search(sentence)
    return is_always or (_MODAL.search(sentence) is not None and not _REPORT.search(sentence))


def _is_addressed(sentence: str) -> bool:
    # Code is the name of something; only the fact that code stood here matters.
    sentence = _CODE.sub("`code`", sentence)
    if _begins_with_imperative(sentence) or ("`" in sentence and _COMMAND_IN_CODE.search(sentence)):
        return True
    if _CONDITION.match(sentence) and (
        any(map(_is_imperative, _LATER_VERB.findall(sentence))) or _CONDITIONED_RUN.search(sentence)
    ):
        return True
    if any(pattern.search(sentence) for pattern in _ANYWHERE):
        return True
    if sentence.endswith(("?", "？", "؟")) and asks_for_something(sentence):
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

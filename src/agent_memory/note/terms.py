"""The terms of a text, which an index and a query compare.

A *chunk* is a run without spaces: a word, an identifier, a path, a host name, an emoji. It is found by its parts and
whole: `src/retryPolicy.py` has the parts `src`, `retri`, `polici`, `py` and the wholes `src/retrypolicy.py`,
`retrypolicy.py` and `retrypolicy`. Cases, accents and compatible forms are folded; English words are stemmed. Scripts
without spaces give pairs of characters, and single characters for one-character queries.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib.util import find_spec, module_from_spec

from attrs import frozen

from agent_memory.note.note import StoredEntry
from agent_memory.text.tables import read_table

MAX_TERM_CHARS = 64
_MAX_CHUNK_CHARS = 256
"""A longer one is split into pieces of this size."""
_CACHED_CHUNKS = 1 << 16
MAX_COUNT = 255
"""More occurrences of a term in one field count as this many."""
MAX_QUERY_CHARS = 16_384
"""The rest of a longer query is ignored."""
MAX_QUERY_TERMS = 1_000
"""The limit for different terms of a query."""

# Parts of words that `\w` misses: combining marks, and the vowel signs of Indic, Thai and Arabic.
_MARKS = r"\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0dff\u0e00-\u109f\u1780-\u17d3"
_WORD = rf"[\w{_MARKS}]+"
_EMOJI = r"[\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
_CHUNK_FORM = r"(?:(?<![\w.])\.)?{word}(?:[.\-/:@\\+#'’]{{1,3}}{word})*(?:\+\+|#(?!\w))?"
_ASCII_CHUNK = re.compile(_CHUNK_FORM.format(word=r"\w+"), re.ASCII)
_CONTRACTION = re.compile(r"['’](?:s|t|re|ve|ll|d|m)$", re.IGNORECASE)
_SEGMENT = re.compile(r"[/\\:@]+")
_PIECE = re.compile(r"[.+#'’]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])")
_LETTERS_OR_DIGITS = re.compile(r"\d+|\D+")
_ENGLISH_WORD = re.compile(r"[a-z]{3,}")
_COMBINING = re.compile(r"[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f]+")
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17d3\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)


# Patterns with many ranges take milliseconds to compile, so they are compiled on first use.
@cache
def _chunk_of_any_script() -> re.Pattern[str]:
    return re.compile(f"{_CHUNK_FORM.format(word=_WORD)}|{_EMOJI}")


@cache
def _runs_of_scripts() -> re.Pattern[str]:
    """Returns a pattern for runs with spaces between words, or, as a group, without."""
    return re.compile(rf"([{_UNSPACED}]+)|[^{_UNSPACED}]+")


@frozen
class ChunkTerms:
    """The terms of one chunk, in order; a part may occur twice, and a whole may be another chunk's part."""

    parts: tuple[str, ...]
    """Parts that count towards the length of a field."""
    common: tuple[str, ...] = ()
    """Parts that are stop words."""
    wholes: tuple[str, ...] = ()
    singles: tuple[str, ...] = ()
    """The characters of a run in a script without spaces; only the index has them, for one-character queries."""

    @property
    def all(self) -> tuple[str, ...]:
        """Returns the terms for the index."""
        return self.parts + self.common + self.wholes + self.singles


@frozen
class FieldTerms:
    """How often each term occurs in one field, and the field's length: its parts without stop words."""

    counts: Mapping[str, int]
    length: int


@frozen
class QueryWord:
    term: str
    """As `chunk_terms` returns it."""
    stretches: bool = True
    """Whether it also matches terms that it begins, and typos of it."""


def note_terms(entry: StoredEntry) -> tuple[FieldTerms, FieldTerms]:
    """Returns the terms of a note's title, and those of its text: tags, description and body. The text includes the
    ids, whole and without prefix, so that they find the note."""
    meta = entry.meta
    tags = " ".join(tag.partition("__")[2] or tag for tag in meta.tags)
    text = field_terms(f"{tags}\n{meta.description}\n{entry.body}")
    bare = [folded(id.removeprefix("id__")) for id in meta.all_ids]
    ids = dict.fromkeys([*(f"id{each}" for each in bare), *bare], 1)
    return field_terms(meta.title), FieldTerms({**ids, **text.counts}, text.length)


def field_terms(text: str) -> FieldTerms:
    counts: dict[str, int] = {}
    length = 0
    for chunk, times in Counter(chunks_of(text)).items():
        terms = chunk_terms(chunk)
        length += len(terms.parts) * times
        for term in terms.all:
            counts[term] = min(counts.get(term, 0) + times, MAX_COUNT)
    return FieldTerms(counts, length)


def query_words(text: str, *, stretch: bool = True) -> tuple[QueryWord, ...]:
    """Returns the words of a query, which may be any text, each once, in order; stop words only if there is nothing
    else. Repetition adds no weight: in a log, the least important words are repeated most."""
    wanted: dict[str, bool] = {}
    common: dict[str, bool] = {}
    for chunk in chunks_of(text[:MAX_QUERY_CHARS]):
        terms = chunk_terms(chunk)
        for part in terms.parts:
            wanted.setdefault(part, stretch and 3 <= len(part) < MAX_TERM_CHARS and not part[0].isdigit())
        for whole in terms.wholes:
            wanted.setdefault(whole, False)
        common.update(dict.fromkeys(terms.common, False))
        if len(wanted) >= MAX_QUERY_TERMS:
            break
    return tuple(QueryWord(*each) for each in list((wanted or common).items())[:MAX_QUERY_TERMS])


def weighed_words(query: str, worth: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """Returns the words of a query as written, for search by meaning, each with the value of its rarest term in this
    store (`worth`: idf by term). Words without value are left out, unless there are no others.

    A plain mean is dominated by `what`, `did` and names that are in every note: measured on conversations, questions
    found 61 % of their answers by meaning alone this way, and 47 % by the mean.
    """
    chunks = [(chunk, chunk_terms(chunk)) for chunk in chunks_of(query[:MAX_QUERY_CHARS])]
    weighed = [
        (chunk, max((worth[term] for term in (*terms.parts, *terms.wholes) if term in worth), default=0.0))
        for chunk, terms in chunks
    ]
    return tuple(each for each in weighed if each[1] > 0) or tuple((chunk, 1.0) for chunk, _ in chunks)


def chunks_of(text: str) -> list[str]:
    return chunk_pattern(text).findall(text)


def chunk_pattern(text: str) -> re.Pattern[str]:
    """Returns a pattern that matches each chunk of this text."""
    return _ASCII_CHUNK if text.isascii() else _chunk_of_any_script()


def folded(text: str) -> str:
    """Returns the text with cases, accents and compatible forms folded."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", _COMBINING.sub("", plain))


def chunk_terms(chunk: str) -> ChunkTerms:
    """Returns the terms of one chunk of `chunks_of`."""
    if len(chunk) <= _MAX_CHUNK_CHARS:
        return _cached_terms(chunk)
    starts = range(0, len(chunk), _MAX_CHUNK_CHARS)
    pieces = [_analyse(chunk[start : start + _MAX_CHUNK_CHARS]) for start in starts]
    return ChunkTerms(
        tuple(part for piece in pieces for part in piece.parts),
        tuple(part for piece in pieces for part in piece.common),
        (folded(chunk[:MAX_TERM_CHARS])[:MAX_TERM_CHARS],),  # folding turns `ß` into two characters
        tuple(single for piece in pieces for single in piece.singles),
    )


def _analyse(chunk: str) -> ChunkTerms:
    if chunk.isascii() and chunk.isalpha() and (chunk.islower() or chunk.istitle()):
        word = chunk.lower()[:MAX_TERM_CHARS]
        return ChunkTerms((), (word,)) if word in STOP_WORDS else ChunkTerms((_stem(word),))
    return _split(_CONTRACTION.sub("", chunk))


_cached_terms = lru_cache(maxsize=_CACHED_CHUNKS)(_analyse)


def _split(chunk: str) -> ChunkTerms:
    words: list[str] = []
    wholes: list[str] = [_whole(chunk)]
    for segment in _SEGMENT.split(chunk):
        wholes.append(_whole(segment))
        for piece in _PIECE.split(segment):
            wholes.append(_whole(piece))
            words += [folded(word) for part in re.split("[_-]+", piece) for word in _words(part)]
    parts: list[str] = []
    common: list[str] = []
    singles: list[str] = []
    for word in (word[:MAX_TERM_CHARS] for word in words if word):
        runs = [(word, "")] if word.isascii() else [(run[0], run[1]) for run in _runs_of_scripts().finditer(word)]
        for run, unspaced in runs:
            if len(run) > 1 and unspaced:
                parts += [run[at : at + 2] for at in range(len(run) - 1)]
                singles += run
            elif run in STOP_WORDS:
                common.append(run)
            else:
                parts.append(_stem(run))
    known = {*words, *parts, *common, ""}
    kept = dict.fromkeys(whole for whole in wholes if whole not in known and len(whole) <= MAX_TERM_CHARS)
    return ChunkTerms(tuple(parts), tuple(common), tuple(kept), tuple(singles))


def _whole(text: str) -> str:
    return folded(text).replace("_", "").replace("-", "").replace("\\", "/")


def _words(part: str) -> list[str]:
    """Returns the words of an identifier: two for `retryPolicy`, two for `utf8`, one for `a1b2c3`, which is a name."""
    if len(part) > 40:  # a longer run of letters and digits is a key or a hash, not an identifier of several words
        return [part]
    words: list[str] = []
    for word in _CAMEL.split(part):
        runs = _LETTERS_OR_DIGITS.findall(word)
        words += runs if len(runs) == 2 else [word]
    return words


def english_stem(word: str) -> str:
    """Returns the stem of an English word in lower-case letters (Porter2)."""
    return _published_stemmer()(word)


@cache
def _published_stemmer() -> Callable[[str], str]:
    # The package's `__init__` loads 35 other languages, which takes a tenth of a search: the module is loaded without it.
    name = "snowballstemmer"
    spec = None if name in sys.modules else find_spec(name)
    if spec is not None:
        sys.modules[name] = module_from_spec(spec)
    from snowballstemmer.english_stemmer import EnglishStemmer

    if spec is not None:
        sys.modules.pop(name, None)
    return EnglishStemmer().stemWord


def _stem(word: str) -> str:
    return english_stem(_BASE_FORMS.get(word, word)) if _ENGLISH_WORD.fullmatch(word) else word


def slips_between(one: str, other: str, most: int) -> int:
    """Returns the edit distance of two words (optimal string alignment: swaps of neighbours count one), at most `most +
    1`."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


_TABLE = read_table("agent_memory.note", "words.txt")
STOP_WORDS = _TABLE.words("stop")
"""Stop words of English, Portuguese and Spanish, folded. A query drops them beside other words."""

_FORMS = (group.split() for group in " ".join(_TABLE.lines["forms"]).split(";"))
_BASE_FORMS = {form: base for base, *forms in _FORMS for form in forms}

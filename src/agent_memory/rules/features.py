"""The features that an analysis keeps of each note, and which of several notes wins. Statements are reduced to claims
that can be compared with those of another note, in English and Portuguese."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from itertools import islice

from attrs import field, frozen, frozen as frozen_by_identity

from agent_memory.note.note import GLOBAL_SCOPE, Kind, Meta, Origin, StoredEntry, Usage
from agent_memory.text.markdown import find_code, find_links, prose_lines, without_links, without_see_also
from agent_memory.text.plain_text import spliced
from agent_memory.text.salience import content_terms, statements, term_of, words_of
from agent_memory.text.tables import read_table

# -- things of which a project chooses one --------------------------------------------------------------------------


@frozen
class Alternatives:
    """A question with several possible answers."""

    question: str
    exclusive: bool
    """Whether a project has exactly one of them, so that nothing else need be said: "we use pnpm"."""
    about: frozenset[str]
    """Content words that only repeat the question."""


_TABLE = read_table("agent_memory.rules", "claims.txt")


def _group(sort: str, question: str, words: str, about: str = "") -> tuple[Alternatives, Mapping[str, str]]:
    """Returns a question and its answers, by every spelling."""
    pairs = (word.partition("=") for word in words.split())
    answers = {name.replace("+", " "): (same or name).replace("+", " ") for name, _, same in pairs}
    repeated = content_terms(" ".join((question, about, *_TABLE.words("choosing"))))
    return Alternatives(question, sort == "exclusive", repeated), answers


_GROUPS = tuple(
    _group(*header.split(" ", 1), *lines)
    for header, lines in _TABLE.lines.items()
    if header.startswith(("exclusive ", "open "))
)
QUESTIONS: Mapping[str, Alternatives] = {group.question: group for group, _ in _GROUPS}
"""Every question by the words of its answers."""
_BY_WORD = {word: (group, answer) for group, answers in _GROUPS for word, answer in answers.items()}
_WORD = rf"`?(?<![\w./-])(?:{'|'.join(map(re.escape, sorted(_BY_WORD, key=len, reverse=True)))})(?![\w/-]|\.\w)`?"
_ANY = re.compile(_WORD, re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+(?:['’]t\b)?")
_FIRST = frozenset(word for text in _BY_WORD for word in _LETTERS.findall(text)[:1])
_LIST = rf"{_WORD}(?:\s*(?:,|or|nor|and|ou|nem|e)\s*{_WORD})*"
_REJECTED = re.compile(
    rf"[,;(]?\s*\b(?:and\s+|e\s+|but\s+)?(?:not|never|instead of|rather than|over|em vez de|ao invés de|não|nunca)\s+"
    rf"(?:use\s+|using\s+|usar\s+|o\s+|with\s+|in\s+|on\s+)?{_LIST}\)?"
    rf"|\b(?:from|de|do)\s+{_LIST}(?=\s+(?:to|para)\b)"
    rf"|\b(?:replaced|dropped|removed|left|substituímos|trocamos)\s+(?:o\s+)?{_LIST}",
    re.IGNORECASE,
)
_CHOOSING = _TABLE.expression("choice")
_CHOSEN = re.compile(r"\s+(?:is|are|was chosen|é)\s+(?:used|the|our|o|a)\b", re.IGNORECASE)


@lru_cache(maxsize=1 << 10)
def _letters(sentence: str) -> tuple[str, ...]:
    """Returns its words of letters, in lower case. Cached: each sentence is asked about several times."""
    return tuple(_LETTERS.findall(sentence.lower()))


def choice_in(sentence: str) -> tuple[Alternatives, str, str] | None:
    """Returns the one alternative that a sentence says is used: the question, the answer, and the sentence without the
    answer and without what it rejects. None where it names none or several, or only rejects."""
    if _FIRST.isdisjoint(_letters(sentence)) or not _ANY.search(sentence):
        return None
    kept = _REJECTED.sub(" ", sentence)
    named = tuple(_ANY.finditer(kept))
    found = {_BY_WORD[word[0].strip("`").lower()] for word in named}
    if len(found) != 1 or not (_CHOOSING.search(kept, 0, named[0].start()) or _CHOSEN.match(kept, named[0].end())):
        return None
    [(among, answer)] = found
    return among, answer, _ANY.sub(" ", kept)


# -- claims and assertions ------------------------------------------------------------------------------------------


_LONGEST_CHARS = 300
"""A longer sentence makes more than one claim."""
_MOST_STATEMENTS = 200
_MOST_TERMS = 14
_FEWEST_TERMS = 2
_SNIPPET_CHARS = 80
_MIN_STEM = 3

_DENYING = _TABLE.words("denying")
_DENYING_TERMS = content_terms(" ".join(_DENYING)) | {"longer"}
"""The stems of negating words, as far as they are content words."""
_PORTUGUESE = _TABLE.words("portuguese")
_ENGLISH = _TABLE.words("english")
_CONDITIONAL = _TABLE.words("conditional")
_PAST = _TABLE.expression("past", re.NOFLAG)
_REASON = re.compile(_TABLE.lines["reason"][0], re.IGNORECASE | re.DOTALL)

_WEAK = _DENYING_TERMS | content_terms(" ".join(_TABLE.lines["weak"])) | {""}
"""Words that do not tell which thing is meant."""
_SPAN = re.compile(r"`([^`\n]{1,80})`")
_CHANGE = re.compile(r"\b(?:from|de)\s+(`?v?[\d.,:]+ ?[a-z%]{0,8}`?)\s+(?=(?:to|para)\b)", re.IGNORECASE)
_PLACED = _TABLE.expression("placed")
_ROLES = "|".join(sorted(_TABLE.words("roles")))
# A token that is not a plain word is a name; after words that introduce a name, so is a word with a capital or hyphens.
_NAMED = re.compile(
    rf"(?:(?:\b(?:is|é)|[:=])\s+(?=`|\S*[\d_@/:]|\S+\.\w)|\b(?:{_ROLES})(?:\s+(?:is|é)|:|\s*=)\s+(?=[A-Z]\w|\w+-\w)"
    r"(?!\w+-(?:only|free|based|wide|ready|safe|like|limited)\b))(?P<name>`[^`\n]{2,80}`|[^\s`,;()]{2,80})[.!]?\s*\Z"
)
_MORE_PLACES = re.compile(r"\s*(?:,|and|or|e|ou)\s+[`/\w]")


@frozen
class Claim:
    """A statement about a thing that has one value at a time."""

    slot: str
    """The kind of value; only claims of one slot can conflict."""
    frame: frozenset[str]
    """The content words of the statement without its values, and the code that it names."""
    values: tuple[str, ...]
    snippet: str
    """The beginning of the statement, for people."""
    conditional: bool = False
    dates: tuple[str, ...] = ()
    exclusive: bool = False
    """Whether nothing else can be meant, even if the frame is empty."""


@frozen
class Assertion:
    """A statement that is affirmed or denied as a whole; `snippet` is empty where it is affirmed."""

    frame: tuple[str, ...]
    """Its content words in alphabetical order."""
    denied: bool
    snippet: str


def claims_of(sentences: Iterable[str]) -> tuple[Claim, ...]:
    """Returns the claims of some sentences. Where one text gives several values for the same thing, none of them is a
    claim."""
    by_subject: dict[tuple[str, frozenset[str]], list[Claim]] = defaultdict(list)
    for sentence in _looked_at(sentences):
        for claim in _claims_in(sentence):
            by_subject[claim.slot, claim.frame].append(claim)
    return tuple(same[0] for same in by_subject.values() if len({claim.values for claim in same}) == 1)


def assertions_of(sentences: Iterable[str]) -> tuple[Assertion, ...]:
    """Returns what the sentences affirm or deny, without conditions; what a text both affirms and denies is left out."""
    by_frame: dict[tuple[str, ...], list[Assertion]] = defaultdict(list)
    for sentence in _looked_at(sentences):
        if _is_conditional(sentence) or _is_beside_the_present(sentence):
            continue
        denied = _is_denying(sentence)
        frame = tuple(sorted(_terms(sentence)))
        if _FEWEST_TERMS <= len(frame) <= _MOST_TERMS:
            by_frame[frame].append(Assertion(frame, denied, _snippet(sentence) if denied else ""))
    return tuple(same[0] for same in by_frame.values() if len({each.denied for each in same}) == 1)


def _looked_at(sentences: Iterable[str]) -> Iterator[str]:
    """Returns the sentences that are short enough to make one claim, each without its clause of reasons."""
    return (_without_reason(each) for each in islice(sentences, _MOST_STATEMENTS) if len(each) <= _LONGEST_CHARS)


@lru_cache(maxsize=1 << 10)
def _without_reason(sentence: str) -> str:
    return _REASON.sub("", sentence) or sentence


def words_without_values(text: str) -> frozenset[str]:
    """Returns the content words of a title or description without the values and choices in it: its subject."""
    if choice := choice_in(text):
        among, _, rest = choice
        return frozenset(term for term in _terms(rest) if not has_digits(term)) - among.about
    found = quantities(text)
    named = None if found else _NAMED.search(text)
    return _terms(text[: named.start("name")] if named else _without(text, found or ()))


def _claims_in(text: str) -> Iterator[Claim]:
    place = _PLACED.search(text) if "/" in text or "`" in text else None
    choice, named = choice_in(text), _NAMED.search(text)
    if not (place or choice or named or has_digits(text) or _is_conditional(text)) or _is_beside_the_present(text):
        return
    if _is_denying(choice[2] if choice else text):
        return

    def claim(
        slot: str, frame: frozenset[str], *values: str, fewest: int = 1, dated: str = text, exclusive: bool = False
    ) -> Iterator[Claim]:
        if fewest <= len(frame) <= _MOST_TERMS:
            dates = tuple(_DATE.findall(dated))
            yield Claim(slot, frame, values, _snippet(text), _is_conditional(text), dates, exclusive)

    if choice:
        among, answer, rest = choice
        frame = _terms(rest) - among.about
        if among.exclusive:
            words = frozenset(term for term in frame if not term.isdigit())
            yield from claim(among.question, words, answer, fewest=0, exclusive=True)
        else:
            yield from claim(among.question, frame, answer, fewest=_FEWEST_TERMS)
    if place and not choice:
        value = place["place"].strip("`").rstrip("./,;:").lower()
        frame = _terms(f"{text[: place.start('place')]} {text[place.end() :]}")
        if ("/" in value or "." in value) and not _MORE_PLACES.match(text, place.end()):
            yield from claim("place", frame, value, fewest=_FEWEST_TERMS)
    elif quantities(_DATE.sub(" ", text)):
        plain = _CHANGE.sub(" ", _DATE.sub(" ", text))
        if found := quantities(plain):
            measures = " ".join(each.measure for each in found)
            yield from claim(measures, _terms(_without(plain, found)), *(each.value for each in found))
    elif named:
        said = text[: named.start("name")]
        yield from claim("name", _terms(said), named["name"].strip("`").rstrip("./").lower(), dated=said)


def _snippet(text: str) -> str:
    """Returns the beginning of a text in whole words: half a token would not be recognised as a secret (P20)."""
    return text if len(text) <= _SNIPPET_CHARS else text[: _SNIPPET_CHARS + 1].rpartition(" ")[0]


def _without(text: str, found: Iterable[Quantity]) -> str:
    return spliced(text, ((each.start, each.end, " ") for each in found))


def _terms(text: str) -> frozenset[str]:
    """Content words, and each code span as a whole: `retry()` and `retry` name different things."""
    named = {f"`{span.strip().lower()}`" for span in _SPAN.findall(text)}
    return frozenset(map(_bare, words_of(text))) - _WEAK | named


@lru_cache(maxsize=1 << 16)
def _bare(word: str) -> str:
    """Returns the stem of a word: "retries" has lost its ending, "retry" loses it here."""
    term = term_of(word)
    return term[:-1] if len(term) > _MIN_STEM and term.endswith("y") else term


# -- whether a sentence affirms or denies, and whether it speaks of the present without conditions --------------------


def _is_denying(sentence: str) -> bool:
    """Returns whether an odd number of its words negate."""
    words = _letters(sentence)
    found = [word for word in words if word in _DENYING or (word[-1] == "t" and word.endswith(("n't", "n’t")))]
    if "no" in found and (_ENGLISH.isdisjoint(words) or not _PORTUGUESE.isdisjoint(words)):
        found = [word for word in found if word != "no"]
    return len(found) % 2 == 1


def _is_conditional(sentence: str) -> bool:
    """Returns whether the statement holds only sometimes, or has an exception in the same sentence."""
    return not _CONDITIONAL.isdisjoint(_letters(sentence))


def _is_beside_the_present(sentence: str) -> bool:
    """Returns whether the sentence is about the past, gives an example, or asks."""
    return sentence.rstrip().endswith("?") or _PAST.search(sentence.lower()) is not None


_UNITS: Mapping[str, tuple[str, float]] = {
    unit: (measure, float(factor))
    for measure, factor, *units in map(str.split, _TABLE.lines["units"])
    for unit in units
}
"""The measure of each unit, and its factor to the measure's base unit."""
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?<![\w.,#/@$+-])(?<!\S:)v?(?P<digits>\d{{1,15}}(?:[.,:]\d{{1,15}}){{0,4}})(?:[ -]?(?P<unit>{_UNIT})(?!\w))?(?![\w/@-]|[.,:]\d)",
    re.IGNORECASE,
)
_LIMITED = _TABLE.expression("limited")
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?\b|\b\d{1,2}/\d{1,2}/\d{2,4}\b")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_LAST_WORD = re.compile(r"(?:([^\W\d_]+)|([=:≤≥<>]))[\s`\"'(~]*\Z")
_NEXT_WORDS = re.compile(r"[\s`\"')]*([^\W\d_]+)(?:\s+([^\W\d_]+))?")

_INTRODUCING = _TABLE.words("introducing")
_COUNTED = _TABLE.words("counted")
_NAMING = _TABLE.words("naming")
_REPORTING = _TABLE.words("reporting")


@frozen
class Quantity:
    """A value in a sentence. Two quantities of one `measure` can be compared by `value`."""

    start: int
    end: int
    measure: str
    """`time`, `size`, `share`, `pixels`, `version` (dotted), `number`, or `day`, `month` and `colour` in words."""
    value: str
    """In the base unit of the measure, normalised."""


def quantities(sentence: str) -> tuple[Quantity, ...] | None:
    """Returns the values in a sentence, in order; None where it only reports a measurement or the past."""
    limited = _LIMITED.finditer(sentence) if _is_conditional(sentence) else ()
    found = [Quantity(*word.span(), str(word.lastgroup), word[0].lower().rstrip("s")) for word in limited]
    if not has_digits(sentence):
        return tuple(found)
    for number in _NUMBER.finditer(sentence):
        before = _LAST_WORD.search(sentence, max(0, number.start() - 40), number.start())
        introduced = (before[1] or before[2]).lower() if before else ""
        if introduced in _REPORTING:
            return None
        if not _is_value(number, introduced):
            continue
        digits, unit = number["digits"], number["unit"]
        plain = digits.replace(",", "") if _THOUSANDS.fullmatch(digits) else digits
        measure, value = "version" if "." in plain else "number", plain
        if unit:
            measure, factor = _UNITS[unit.lower()]
            try:
                value = f"{float(plain.replace(',', '.')) * factor:g}"
            except ValueError:  # "1.2.3 s" is a version beside a letter
                measure = "version"
        found.append(Quantity(number.start(), number.end(), measure, value))
    return tuple(sorted(found, key=lambda each: each.start))


def has_digits(sentence: str) -> bool:
    """Returns whether the text has a digit of any script."""
    return any(map(str.isdigit, sentence))


def _is_value(number: re.Match[str], introduced: str) -> bool:
    if introduced in _NAMING:
        return False
    # A sentence that begins with a version is about that version.
    if number["unit"] or introduced in _INTRODUCING or ("." in number["digits"] and introduced):
        return True
    following = _NEXT_WORDS.match(number.string, number.end())
    return following is not None and any(
        word and not _COUNTED.isdisjoint((word.lower(), f"{word.lower()}s")) for word in following.groups()
    )


_NAMED_SPAN = re.compile(r"`([^`\n]{2,80})`")
_MOMENTARY = (Kind.HANDOFF, Kind.TASK)
"""Notes of these kinds describe one moment; the next one may differ, so they claim nothing."""


def said_in(body: str) -> str:
    """Returns the body with each link replaced by its label and without the links at its end; code stays."""
    text = without_see_also(body)
    return "\n".join(map(without_links, text.split("\n"))) if "[[" in text else text


def digest_of(said: str) -> bytes:
    """Returns the hash of what a body says, white space aside; empty where it says nothing."""
    text = " ".join(said.split())
    return sha256(text.encode("utf-8", "surrogatepass")).digest()[:16] if any(map(str.isalnum, text)) else b""


def said_terms(text: str) -> frozenset[str]:
    """Returns the content words of a text, and the code that it names (each in backticks)."""
    return content_terms(text) | {f"`{span.strip().lower()}`" for span in _NAMED_SPAN.findall(text)}


MOST_IN_GROUP = 12
"""Nobody can judge more notes than this side by side."""

_TRUST = list(Origin)


@frozen
class AnalysisFacts:
    """Everything that an analysis may depend on besides the notes themselves."""

    now_ms: int
    taken_ids: Container[object] = frozenset[str]()
    """Every id in use, casefolded: live ones, aliases, archived ones (`drafts.taken_ids`). The ids and aliases of the
    analysed notes count as taken anyway."""
    usage: Mapping[str, Usage] = field(factory=dict[str, Usage])
    """Reads by id."""
    stale_days: int = 120
    hot_or_new: frozenset[str] = frozenset()
    """Notes that are read without being counted, or came into the store lately: they are neither stale nor orphans."""


@frozen_by_identity(eq=False)
class Features:
    """One live note as the analysis knows it, without its body."""

    meta: Meta
    digest: bytes
    """The hash of the body without links and white space; empty for a body that holds nothing else."""
    terms: frozenset[str]
    """The content words of title and body, and the code that they name."""
    title: frozenset[str]
    """The content words of the title, without values."""
    about: frozenset[str]
    """The content words of title, description and tags."""
    claims: tuple[Claim, ...]
    assertions: tuple[Assertion, ...]
    links: tuple[str, ...]
    """Ids to which it links outside code, each once, in order."""
    body_chars: int
    body_lines: int
    """Lines that are not blank."""
    code_lines: int
    """Lines of fenced code that are not blank."""
    code_chars: int

    @property
    def id(self) -> str:
        return self.meta.id

    @property
    def scope(self) -> str:
        return self.meta.scope


def features_of(stored: StoredEntry) -> Features:
    meta, body = stored.meta, stored.body
    said = said_in(body)
    sentences: tuple[str, ...] = ()
    if meta.kind not in _MOMENTARY:
        prose = said_in("\n".join(prose_lines(body)))
        sentences = tuple(dict.fromkeys((*statements(meta.title), *statements(prose))))
    title = words_without_values(meta.title)
    tags = " ".join(tag.partition("__")[2] or tag for tag in meta.tags)
    fences = find_code(body).fences if "```" in body or "~~~" in body else ()
    return Features(
        meta,
        digest=digest_of(said),
        # For a very long text a sample of its words will do, but the choice must depend on the text alone.
        terms=frozenset(sorted(said_terms(f"{meta.title}\n{said}"))[:2_000]),
        title=title,
        about=title | words_without_values(meta.description) | content_terms(tags),
        claims=claims_of(sentences),
        assertions=assertions_of(sentences),
        links=tuple(dict.fromkeys(link.target for link in find_links(body) if link.target.startswith("id__"))),
        body_chars=len(body),
        body_lines=_lines(body),
        code_lines=sum(_lines(body[start:end]) for start, end in fences),
        code_chars=sum(end - start for start, end in fences),
    )


def _lines(text: str) -> int:
    return sum(1 for line in text.split("\n") if line.strip())


# -- which of several is to be believed -------------------------------------------------------------------------------


def in_precedence(entries: Iterable[Features]) -> tuple[Features, ...]:
    """Returns the notes in order of precedence: what a person pinned or promoted, then the newer, then the better
    sourced (the user before the agent, with cited turns before without). An external note wins against nothing else: a
    page must not get its way by being read last."""

    def precedence(entry: Features) -> tuple[bool, bool, int, int, bool, str]:
        meta = entry.meta
        trust = (_TRUST.index(meta.origin), not meta.cites_a_turn)
        return (not meta.is_vouched_for, meta.origin is Origin.EXTERNAL, -meta.since_ms, *trust, meta.id)

    return tuple(sorted(entries, key=precedence))


def across_scopes(one: Features, other: Features) -> str:
    """Returns what a reason says of a pair that cannot be merged; empty where it can."""
    if one.scope == other.scope:
        return ""
    place = other.scope if one.scope == GLOBAL_SCOPE else one.scope
    return f"; one is global, the other belongs to {place}, so they cannot be merged"


# -- groups that can be looked at together ----------------------------------------------------------------------------


def stars(pairs: Iterable[tuple[Features, Features]]) -> Iterator[tuple[Features, ...]]:
    """Returns groups of 2 to `MOST_IN_GROUP` notes, each paired with the first. Every pair is in some group.

    The first of a group takes precedence. The same pairs in any order give the same groups.
    """
    partners: dict[Features, set[Features]] = defaultdict(set)
    for one, other in pairs:
        partners[one].add(other)
        partners[other].add(one)
    for centre in in_precedence(partners):
        while partners[centre]:
            group = (centre, *in_precedence(partners[centre])[: MOST_IN_GROUP - 1])
            for member in group:
                partners[member].difference_update(group)
            yield group


def slices(group: tuple[Features, ...]) -> Iterator[tuple[Features, ...]]:
    """Yields a group of any size as groups of at most `MOST_IN_GROUP`, each led by the first."""
    first, others = group[0], group[1:]
    for start in range(0, len(others), MOST_IN_GROUP - 1):
        yield (first, *others[start : start + MOST_IN_GROUP - 1])

"""What a rewrite may not do to what was claimed (P12, P19): turn a claim round ("never push to main" that became "push to
main"), put other words in the place of some, quote what nobody said, or say of a person what no source does.

A bag of words does not show a turned claim where some other sentence denies something about the same things, so claims are
compared clause by clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher

from attrs import frozen

from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.planning.origin import words_of_person
from agent_memory.domain.text.directives import is_directive
from agent_memory.domain.text.markdown import SEE_ALSO
from agent_memory.domain.text.salience import (
    actionable_tokens,
    denying_words,
    is_negated,
    lost_salience,
    statements,
)
from agent_memory.domain.text.terms import content_terms, coverage
from agent_memory.domain.tiering.standing import is_vouched_for
from agent_memory.domain.vocabulary import Origin, Sensitivity, least_trusted

# -- clauses --------------------------------------------------------------------------------------------------------


_CLAUSE_END = re.compile(r",\s+|\s+(?:but|and|mas|e)\s+|\s*[()]\s*")

_CIRCUMSTANCE = re.compile(
    r"(?:to|for|in|on|at|by|when|whenever|if|unless|before|after|with|as|since|because|so|which|that|where|"
    r"para|em|no|na|se|quando|antes|depois|com|porque|que|onde)\b",
    re.IGNORECASE,
)

_NAMES = re.compile(r"`[^`\n]*`|(?<!\w)-{0,2}\w+(?:-\w+)+|(?<!\w)--?\w+")
"""What denies nothing though it holds a `no`: code, flags, hyphenated names."""


@frozen
class Clause:
    """A part of a sentence that holds a content word."""

    text: str
    terms: frozenset[str]
    denied: bool
    leads: bool = True
    """Whether it begins its sentence."""

    @property
    def is_claim(self) -> bool:
        """Whether it can stand alone: one word ("…, yarn") or a circumstance ("…, to install it") belongs to what was
        said before it."""
        return " " in self.text and (self.leads or not _CIRCUMSTANCE.match(self.text))

    def likeness(self, other: Clause) -> float:
        """Share of the content words of both that they have in common (Jaccard), 0 to 1."""
        return len(self.terms & other.terms) / len(self.terms | other.terms)


def clauses_of(text: str) -> tuple[Clause, ...]:
    """The sentences of a text cut at commas, brackets, `and` and `but`, in order."""
    return tuple(clause for statement in statements(text) for clause in _clauses_in(statement))


def denying_sentences(text: str) -> tuple[Clause, ...]:
    """The sentences that do nothing but deny, whole: a negation can reach over a comma."""
    return tuple(
        Clause(statement.rstrip(".,;:!?"), content_terms(statement), True)
        for statement in statements(text)
        if _denies(statement) and all(each.denied or not each.is_claim for each in _clauses_in(statement))
    )


def _clauses_in(statement: str) -> list[Clause]:
    clauses: list[Clause] = []
    denies_all = False
    for part in _CLAUSE_END.split(statement):
        terms, denied = content_terms(part), _denies(part)
        if terms:
            text = part.strip().rstrip(".,;:!?")
            clauses.append(Clause(text, terms, denied or denies_all, not clauses))
        denies_all |= denied and not terms  # "Do not, under any circumstances, …"
    return clauses


def _denies(text: str) -> bool:
    return is_negated(_NAMES.sub(" ", text))


# -- other words, another quotation ---------------------------------------------------------------------------------


_MOST_SWAPPED = 3
"""Words in a row. More is a sentence said in other words."""
_STAYING = 0.5
"""Share of the words of both sentences that are the same in the same order."""
_SAME_WORD = 0.75
"""How alike two spellings of one word are: "fires" and "fire", "teh" and "the"."""
_WORD = re.compile(r"[^\W_](?:[\w.,:/@'’-]*\w)?")
_SMALL = frozenset(
    re.findall(
        r"\w+",
        "a an the this that these those it its he she they them their our my your is are was were be been has have had will do "
        "does did and or of to o a os as um uma de da e é são foi",
    )
)
"""Words that may change without a change of sense. What is denied is looked at elsewhere (`salience`, `turned`)."""
_END = re.compile(r"\n+|(?<=[.!?])\s+")
_LINK = re.compile(r"\[\[[^\[\]|]*\|?([^\[\]]*)\]\]")
_QUOTE = re.compile(r"[“\"«„]([^“”\"«»„\n]{8,}?)[”\"»“]")
_PERSON = r"(?:person|user|owner|maintainer|usuári[oa]|pessoa)"
_SAYS = (
    r"(?:said|says|told|confirm\w*|decid\w*|approv\w*|agree\w*|ask\w*|want\w*|prefer\w*|chose|insist\w*|request\w*|requir\w*|"
    r"verif\w*|accept\w*|disse|pediu|quer|aprovou)"
)
_ATTRIBUTED = re.compile(
    rf"\b{_PERSON}\b(?:\s+\w+){{0,3}}?\s+{_SAYS}\b|\b{_SAYS}\s+(?:by|pel[oa])\s+(?:\w+\s+)?{_PERSON}\b", re.IGNORECASE
)


def swapped_words(before: str, after: str, drops: Iterable[str] = ()) -> tuple[str, ...]:
    """The words of `before` that other words stand for in `after`, in a sentence that stays the same otherwise, unless `drops`
    names them: "fires twice" that became "fires once", "Rejected" that became "Chosen"."""
    named = frozenset(_words("\n".join(drops)))
    old = [words for each in sentences(before) if (words := _words(each))]
    found: dict[str, None] = {}
    for words in map(_words, sentences(after)):
        for source in () if words in old else old:
            swapped = list(_swapped(source, words))
            if any(not named.issuperset(each.split()) for each in swapped):
                found.update(dict.fromkeys(swapped))
    return tuple(found)


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text; a label ("Rejected: …") belongs to what it stands before."""
    return tuple(each for each in _END.split(text) if each and not each.startswith(SEE_ALSO))


def invented_words(before: str, after: str, spoken: str = "") -> tuple[str, ...]:
    """Why `after` tells of somebody what neither `before` nor what the person has `spoken` does: quotations that stand nowhere
    in it, and sentences that name a person as the one who said or confirmed something."""
    plain = " ".join(f"{before} {spoken}".split()).casefold()
    quotes = (each for each in _QUOTE.findall(after) if " ".join(each.split()).strip(" .,;!?").casefold() not in plain)
    known = statements(before)
    said = [*clauses_of("\n".join(filter(_ATTRIBUTED.search, known))), *clauses_of(words_of_person(spoken))]
    claimed = (
        each
        for each in statements(after)
        if each not in known and _ATTRIBUTED.search(each) and not any(_is_told(each, clause) for clause in said)
    )
    return (
        *(f"it quotes {each[:80]!r}, which no source says" for each in dict.fromkeys(quotes)),
        *(f"no source says that a person did: {each[:80]!r}" for each in dict.fromkeys(claimed)),
    )


def _is_told(claim: str, said: Clause) -> bool:
    """Whether a claim of what a person said is about what this clause says, and does not turn it into its contrary."""
    about = content_terms(_ATTRIBUTED.sub(" ", claim)) or content_terms(claim)
    return bool(about & said.terms) and (is_negated(claim) or not said.denied)


def _swapped(source: list[str], words: list[str]) -> Iterator[str]:
    if len(set(source) & set(words)) < _STAYING * max(len(set(source)), len(set(words))):
        return
    matcher = SequenceMatcher(None, source, words, autojunk=False)
    operations = matcher.get_opcodes()
    staying = sum(end - start for kind, start, end, _, _ in operations if kind == "equal")
    if staying < _STAYING * max(len(source), len(words)):
        return
    for kind, start, end, there, until in operations:
        if kind != "replace" or max(end - start, until - there) > _MOST_SWAPPED:
            continue
        was, became = (
            [each for each in side if each not in _SMALL and not is_negated(each)]
            for side in (source[start:end], words[there:until])
        )
        if was and became and SequenceMatcher(None, " ".join(was), " ".join(became)).ratio() < _SAME_WORD:
            yield " ".join(was)


def _words(text: str) -> list[str]:
    return [each.casefold() for each in _WORD.findall(_LINK.sub(r"\1", text))]


# -- turned claims --------------------------------------------------------------------------------------------------


_SAME_CLAIM = 0.5
_VERY_SAME_CLAIM = 0.8
_MOST_PHRASE_CHARS = 80


def turned_claims(before: str, after: str, drops: Iterable[str] = ()) -> tuple[str, ...]:
    """The clauses of `before` that `after` holds with the opposite polarity only, unless `drops` names them."""
    dropped_terms = content_terms("\n".join(drops))
    old = _once(clause for clause in clauses_of(before) if clause.is_claim)
    new = _once((*clauses_of(after), *denying_sentences(after)))
    turned = (
        clause.text[:_MOST_PHRASE_CHARS]
        for clause in old.values()
        if not clause.terms & dropped_terms and _is_turned(clause, old, new)
    )
    return tuple(dict.fromkeys(turned))


_Claims = Mapping[tuple[frozenset[str], bool], Clause]


def _once(clauses: Iterable[Clause]) -> _Claims:
    """The clauses by what they say; of two that say the same, one that stands alone."""
    return {(clause.terms, clause.denied): clause for clause in sorted(clauses, key=lambda each: each.is_claim)}


def _is_turned(clause: Clause, old: _Claims, new: _Claims) -> bool:
    if (clause.terms, clause.denied) in new:
        return False
    opposite = (
        each
        for each in new.values()
        if each.denied != clause.denied
        and each.is_claim
        and not (clause.denied and denying_words(each.text) - denying_words(clause.text))
        # Nor do the sources make it themselves, beside the one that it looks like.
        and (each.terms == clause.terms or (each.terms, each.denied) not in old)
    )
    turned = max(map(clause.likeness, opposite), default=0.0)
    if turned < (_SAME_CLAIM if clause.denied else _VERY_SAME_CLAIM):
        return False
    return turned > max((clause.likeness(each) for each in new.values() if each.denied == clause.denied), default=0.0)


_SAID = 0.6
"""Share of the content words that must be in a text for it to have said them."""
_MOST_JOINED = 3
"""So many clauses of the sources may have become one."""
_FEWEST_NEW_WORDS = 3
"""Below this many, words in common are chance."""
_SPACES = re.compile(r"\s+")


@frozen
class Untrusted:
    """One entry whose text only a tool, a page or a file said, and no person vouches for."""

    terms: frozenset[str]
    actionable: frozenset[str]


@frozen
class _Sources:
    text: str
    terms: frozenset[str]
    clauses: tuple[Clause, ...]


def untrusted_entries(live: Iterable[Listed], shown: Iterable[StoredEntry]) -> tuple[Untrusted, ...]:
    """What an agent could have read of such entries: titles and descriptions, and the bodies it was shown."""
    bodies = {each.meta.id: each.body for each in shown}
    metas = (each.meta for each in live if each.meta.origin is Origin.EXTERNAL)
    texts = (
        f"{meta.title}\n{meta.description}\n{bodies.get(meta.id, '')}"
        for meta in metas
        if meta.sensitivity is not Sensitivity.SECRET and not is_vouched_for(meta)
    )
    return tuple(Untrusted(content_terms(text), actionable_tokens(text)) for text in texts)


def origin_of_fresh_text(before: str, after: str, untrusted: tuple[Untrusted, ...] = ()) -> Origin:
    """The least trusted origin of the sentences of `after` that `before` does not hold.

    `external` for a directive that is no directive of the sources in other words, and for what an untrusted entry says;
    `agent` for any other sentence that no source holds, or that names something to type or open that no source names;
    else `user`, so that rewording changes nothing.
    """
    known = {_plain(sentence) for sentence in statements(before)}
    fresh = [sentence for sentence in statements(after) if _plain(sentence) not in known]
    if not fresh:
        return Origin.USER
    sources = _Sources(before, content_terms(before), clauses_of(before))
    return least_trusted(_origin_of(sentence, sources, untrusted) for sentence in fresh)


def _origin_of(sentence: str, sources: _Sources, untrusted: tuple[Untrusted, ...]) -> Origin:
    tokens = actionable_tokens(sentence)
    # Not a new token where a source names it without backticks.
    new_tokens = tokens & frozenset(lost_salience(sentence, sources.text)) if tokens else tokens
    new_terms = content_terms(sentence) - sources.terms
    if any(_is_from(each, new_terms, new_tokens) for each in untrusted):
        return Origin.EXTERNAL
    is_new = (
        bool(new_tokens)
        or not all(_is_said(clause, sources.clauses) for clause in clauses_of(sentence))
        or bool(swapped_words(sources.text, sentence))
    )
    if is_new and is_directive(sentence):
        return Origin.EXTERNAL
    return Origin.AGENT if is_new else Origin.USER


def _is_said(clause: Clause, said: tuple[Clause, ...]) -> bool:
    likest = sorted(said, key=lambda each: (-clause.likeness(each), each.denied != clause.denied))[:_MOST_JOINED]
    if not likest or (clause.is_claim and likest[0].denied != clause.denied):
        return False
    return coverage(clause.terms, frozenset[str]().union(*(each.terms for each in likest))) >= _SAID


def _is_from(entry: Untrusted, terms: frozenset[str], tokens: frozenset[str]) -> bool:
    if tokens & entry.actionable:
        return True
    return len(terms) >= _FEWEST_NEW_WORDS and coverage(terms, entry.terms) >= _SAID


def _plain(sentence: str) -> str:
    return _SPACES.sub(" ", sentence).strip(" .!").casefold()

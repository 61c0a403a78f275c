"""What a rewrite may not do to a sentence that it otherwise keeps: other words in its place, another quotation, a person's word
that no source has (P12, P19)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from agent_memory.domain.defragging.clauses import Clause, clauses_of
from agent_memory.domain.planning.origin import words_of_person
from agent_memory.domain.planning.salience import is_negated
from agent_memory.domain.planning.statements import statements
from agent_memory.domain.text.links import SEE_ALSO
from agent_memory.domain.text.terms import content_terms

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

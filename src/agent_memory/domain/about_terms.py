"""The terms that say what an entry is about, those of its title, description and tags; and which of many entries have them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set as AbstractSet

from attrs import frozen

from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.text.terms import term_of, words_of


class _TermOfWord(dict[str, str]):
    """`term_of` of each word. It forgets them when it goes: those of a whole store are megabytes."""

    def __missing__(self, word: str) -> str:
        self[word] = term = term_of.__wrapped__(word)
        return term


def about_terms(meta: Meta, term_of_word: Callable[[str], str] = term_of) -> AbstractSet[str]:
    """The `content_terms` of title, description and tags, in the order of these. Of a tag the prefix does not count."""
    words = words_of(" ".join((meta.title, meta.description, *map(_slug, meta.tags))))
    terms = dict.fromkeys(map(term_of_word, words))
    terms.pop("", None)
    return terms.keys()


@frozen
class Postings:
    """Which of some entries are about which of some terms (`about_terms`)."""

    places: Mapping[str, Sequence[int]]
    """By term, for those that any entry has: the places of the entries that have it, each once, in their order."""
    counts: Sequence[int]
    """How many terms each entry has in all."""


def postings_among(entries: Iterable[Listed], terms: frozenset[str] | None = None) -> Postings:
    """Which of these entries are about which of the terms; None: of all."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    counts: list[int] = []
    term_of_word = _TermOfWord().__getitem__
    for at, each in enumerate(entries):
        about = about_terms(each.meta, term_of_word)
        counts.append(len(about))
        for term in about if terms is None else terms.intersection(about):
            places[term].append(at)
    return Postings(dict(places), counts)


def _slug(tag: str) -> str:
    return tag.partition("__")[2] or tag

"""The terms that say what an entry is about, those of its title, description and tags; and which of many entries have them."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set as AbstractSet
from functools import partial

from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.packed_entries import Entries, Postings
from agent_memory.domain.text.terms import term_of, words_of

ABOUT_TERMS_VERSION = 1
"""Changes with what `about_terms` makes of an entry, and so with what `domain.text.terms` makes of a text: what is kept of
other terms is then not believed."""

_NOWHERE = -1


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


def postings_among(entries: Sequence[Listed], terms: frozenset[str] | None = None) -> Postings:
    """Which of these entries, each of them there once, are about which of the terms; None: of all. What is packed is not
    unpacked."""
    if not isinstance(entries, Entries) or not len(entries.packed):
        return _of_unpacked(entries, terms)
    numbers, unpacked_at = entries.numbered
    packed = entries.packed.postings(terms)
    unpacked = _of_unpacked([entries[at] for at in unpacked_at], terms)
    counts = list(map(packed.counts.__getitem__, numbers))
    for at, each in zip(unpacked_at, unpacked.counts, strict=True):
        counts[at] = each
    place_of = [_NOWHERE] * (len(entries.packed) + 1)  # the last is that of `NOT_PACKED`
    for place, number in enumerate(numbers):
        place_of[number] = place
    places: dict[str, array[int]] = {}
    for term, having in packed.places.items():
        if here := array("I", filter(_NOWHERE.__ne__, map(place_of.__getitem__, having))):
            places[term] = here
    for term, having in unpacked.places.items():
        places.setdefault(term, array("I")).extend(map(unpacked_at.__getitem__, having))
    return Postings(places, counts)


def _of_unpacked(entries: Iterable[Listed], terms: frozenset[str] | None) -> Postings:
    places: defaultdict[str, array[int]] = defaultdict(partial(array, "I"))
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

"""Which notes are about the same subject: by the words they have in common, and, where there are vectors, by meaning
too.

A word counts by how rare it is among the candidates: a word that half of them use, such as the name of the project,
tells nothing. A wrong match is worse than a missed one: people who are told too often stop looking.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence, Set as AbstractSet

from attrs import frozen

from agent_memory.note.note import Kind, Meta, StoredEntry
from agent_memory.rules.features import said_in, said_terms
from agent_memory.text.salience import content_terms, coverage, lost_salience, negations, term_of, words_of

MOST_NAMED = 3
"""More similar notes than these do not help whoever writes one."""

LEAST_SHARED = 0.65
"""The weighted share of the smaller note's words that both must have: the same subject by words alone."""
_SHARED_FAR = 0.85
"""The same where one note is `_FAR` times as long: it holds many words by chance."""
_FAR = 8
_FEWEST_SHARED = 5
_FEW_SHARED = 3
_SHARED_OF_FEW = 0.6
"""The share of all their words (Jaccard) where they have fewer than `_FEWEST_SHARED` in common."""
_SHARED_AND_NEAR = 1.25
"""The sum of the shared part of the smaller note and the cosine: the same subject by words and meaning."""
_SHARED_IF_NEAR = 0.45
_TITLES = 0.2
"""The bonus for equal titles."""
_SAID_AGAIN = 0.8
"""The share of a note's words that another must have to say all of it."""


@frozen
class Subject:
    """A note that is about to be written."""

    title: str
    body: str
    description: str = ""
    kind: Kind = Kind.FACT


def meaning_text(title: str, description: str, body: str) -> str:
    """Returns title, description and body, without a title that only begins the body and a description that only
    repeats it."""
    said = said_in(body)[:8_000]  # beyond this length a body changes the meaning little
    on_one_line = " ".join(said.split())
    begins = on_one_line.startswith(" ".join(title.removesuffix("…").split()))
    repeats = " ".join(description.removesuffix("…").split()) in on_one_line
    return "\n".join(part for part in ("" if begins else title, "" if repeats else description, said) if part)


_Words = tuple[frozenset[str], frozenset[str]]
"""The content words of a note's title, and of the whole note."""


def similar_among(
    subject: Subject, notes: Sequence[StoredEntry], cosines: Sequence[float | None], least: float = LEAST_SHARED
) -> tuple[StoredEntry, ...]:
    """Returns the known notes about the same subject, most similar first, at most `MOST_NAMED`; `cosines` tell how near
    each is in meaning, -1 to 1, None if unknown. With another `least` than the usual all thresholds change in
    proportion. Handoffs are left out on both sides: they describe one moment."""
    if subject.kind is Kind.HANDOFF:
        return ()
    wanted = _words(subject.title, subject.description, subject.body)
    known = [
        (stored, cosine, _words(stored.meta.title, stored.meta.description, stored.body))
        for stored, cosine in zip(notes, cosines, strict=True)
        if stored.meta.kind is not Kind.HANDOFF
    ]
    spread = Counter(word for _, _, (_, words) in known for word in words)
    strict, total = least / LEAST_SHARED, len(known)
    scored = ((_likeness(wanted, words, cosine, spread, total, strict), stored) for stored, cosine, words in known)
    alike = sorted(
        ((score, stored) for score, stored in scored if score > 0), key=lambda pair: (-pair[0], pair[1].meta.id)
    )
    return tuple(stored for _, stored in alike[:MOST_NAMED])


def says_nothing_new(subject: Subject, stored: StoredEntry) -> bool:
    """Returns whether a known note says all that this one does: nearly all of its words, and every number, name and
    negation, and denies none of it."""
    said = f"{subject.title}\n{said_in(subject.body)}"
    known = f"{stored.meta.title}\n{stored.meta.description}\n{stored.body}"
    words, lost = content_terms(said), lost_salience(known, said)
    denies = any(each.phrase in lost and each.about <= words for each in negations(known))
    return coverage(words, content_terms(known)) >= _SAID_AGAIN and not denies and not lost_salience(said, known)


def _words(title: str, description: str, body: str) -> _Words:
    return content_terms(title), said_terms(f"{title}\n{description}\n{said_in(body)}")


def _likeness(
    one: _Words, other: _Words, cosine: float | None, spread: Counter[str], total: int, strict: float
) -> float:
    """Returns how similar two notes are, 0 if they are not about the same subject; `other` is among those that `spread`
    counts."""
    (title, words), (other_title, other_words) = one, other

    def weight(some: frozenset[str]) -> float:
        return sum(math.log(1 + total / (spread[word] - (word in other_words) + 0.5)) for word in some)

    common = words & other_words
    if len(common) < _FEW_SHARED:
        return 0.0
    both, mine, theirs = weight(common), weight(words), weight(other_words)
    shared, jaccard = both / min(mine, theirs), both / (mine + theirs - both)
    titles = weight(title & other_title) / max(weight(title | other_title), 1.0)
    by_words = shared + _TITLES * titles
    if len(common) < _FEWEST_SHARED:
        is_same = jaccard >= strict * _SHARED_OF_FEW
    else:
        far = max(len(words), len(other_words)) >= _FAR * min(len(words), len(other_words))
        is_near = cosine is not None and shared >= _SHARED_IF_NEAR and by_words + cosine >= strict * _SHARED_AND_NEAR
        is_same = by_words >= strict * (_SHARED_FAR if far else LEAST_SHARED) or is_near
    return by_words + jaccard + (cosine or 0.0) if is_same else 0.0


def about_terms(meta: Meta) -> AbstractSet[str]:
    """Returns the `content_terms` of title, description and tags, in that order, without the prefixes of tags."""
    tags = (tag.partition("__")[2] or tag for tag in meta.tags)
    terms = dict.fromkeys(map(term_of, words_of(" ".join((meta.title, meta.description, *tags)))))
    terms.pop("", None)
    return terms.keys()

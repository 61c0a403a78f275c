"""The tags in use: how often, how they stand to the vocabulary, and which look like the same tag written twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from attrs import frozen

from agent_memory.domain.tagging.tag_vocabulary import Standing, TagVocabulary


@frozen
class TagUse:
    """One tag."""

    tag: str
    notes: int
    """Live notes that have it."""
    standing: Standing
    like: tuple[str, ...] = ()
    """Tags that it may be the same as, those that are accepted and more used first."""


def tag_counts(notes: Iterable[Sequence[str]], vocabulary: TagVocabulary) -> Mapping[str, int]:
    """Every tag that a note has or the vocabulary names in full, and in how many notes it is. `notes` are the tags of each."""
    counts = Counter(chain.from_iterable(map(dict.fromkeys, notes)))
    for tag in vocabulary.accepted:
        if "__" in tag:
            counts.setdefault(tag, 0)
    return counts


def survey_tags(
    tags: Iterable[str], counts: Mapping[str, int], near: Mapping[str, frozenset[str]], vocabulary: TagVocabulary
) -> tuple[TagUse, ...]:
    """Some of the tags that are counted, the most used first, then by name. `near` are those that each is like."""

    def rank(tag: str) -> tuple[bool, int, str]:
        return (vocabulary.standing(tag) is not Standing.ACCEPTED, -counts[tag], tag)

    uses = (
        TagUse(tag, counts[tag], vocabulary.standing(tag), tuple(sorted(near.get(tag, ()), key=rank))) for tag in tags
    )
    return tuple(sorted(uses, key=lambda use: (-use.notes, use.tag)))

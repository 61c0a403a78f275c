"""The tags that a person has accepted, renamed tags, and tags in use that look like the same tag spelt twice."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain, permutations

from attrs import evolve, field, frozen

from agent_memory.note.terms import english_stem, slips_between

VOCABULARY_FILE = "state/project_tags.json"
"""Relative to the root."""
VOCABULARY_KEY = "project_tags"
"""The key in `state`, where agents that learnt from agent-memory-store look for it."""


class Standing(StrEnum):
    """The relation of a tag to the vocabulary."""

    ACCEPTED = "accepted"
    PROPOSED = "proposed"
    FREE = "free"
    """There is no vocabulary yet, so any tag will do."""


@frozen
class TagVocabulary:
    """The accepted tags; without any, there is no vocabulary."""

    accepted: frozenset[str] = frozenset()
    """With a prefix, or without one to allow any prefix."""
    renamed: Mapping[str, str] = field(factory=dict[str, str])
    """The present name of a tag by its earlier name. Never in chains: no value is a key."""

    def standing(self, tag: str) -> Standing:
        if not self.accepted:
            return Standing.FREE
        is_known = tag in self.accepted or tag.partition("__")[2] in self.accepted
        return Standing.ACCEPTED if is_known else Standing.PROPOSED

    def current(self, tags: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.renamed.get(tag, tag) for tag in tags))

    def with_accepted(self, tags: Iterable[str]) -> TagVocabulary:
        """Returns the vocabulary with these too; an accepted tag is no longer an earlier name."""
        new = frozenset(tags)
        renamed = {old: now for old, now in self.renamed.items() if old not in new}
        return evolve(self, accepted=self.accepted | new, renamed=renamed)

    def with_renamed(self, old: str, new: str) -> TagVocabulary:
        """Returns the vocabulary with `new` in place of `old` and of all that `old` had replaced."""
        renamed = {earlier: new if now == old else now for earlier, now in self.renamed.items() if earlier != new}
        accepted = (self.accepted - {old}) | {new} if old in self.accepted else self.accepted
        return TagVocabulary(accepted, {**renamed, old: new})


_SEPARATORS = re.compile(r"[-.]+")
_DIGITS = re.compile(r"\d+")


def alike(tags: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Returns, for each tag that has any, the other tags that differ only in prefix, number, ending, punctuation or one
    typo. Tags with different digits are different: `python2` and `python3`."""
    by_letters: dict[str, list[str]] = defaultdict(list)
    by_stem: dict[str, list[str]] = defaultdict(list)
    for tag in tags:
        words = [word for word in _SEPARATORS.split(tag.partition("__")[2]) if word]
        by_letters["".join(words)].append(tag)
        by_stem["".join(map(english_stem, words))].append(tag)
    near: dict[str, set[str]] = defaultdict(set)
    for same in (*by_stem.values(), *by_letters.values()):
        for one, other in permutations(same, 2):
            near[one].add(other)
    for one_word, other_word in _slips(by_letters):
        for one in by_letters[one_word]:
            near[one].update(by_letters[other_word])
    return {tag: frozenset(others) for tag, others in near.items()}


def _slips(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields pairs of words, in both orders, that one added, removed, replaced or swapped letter makes the same."""
    by_rest: dict[str, set[str]] = defaultdict(set)
    for word in words:
        if len(word) >= 6:  # in shorter words one more letter makes another word: `ios` and `iot`
            for rest in (word, *(word[:at] + word[at + 1 :] for at in range(len(word)))):
                by_rest[rest].add(word)
    pairs = {pair for near in by_rest.values() for pair in permutations(near, 2)}
    # Words that lose letters at different places are no typo, unless the letters swapped.
    return (
        (one, other)
        for one, other in sorted(pairs)
        if _DIGITS.findall(one) == _DIGITS.findall(other) and slips_between(one, other, 1) == 1
    )


@frozen
class TagUse:
    tag: str
    notes: int
    standing: Standing
    like: tuple[str, ...] = ()
    """Tags that may mean the same, accepted and more used ones first."""


def tag_counts(notes: Iterable[Sequence[str]], vocabulary: TagVocabulary) -> Mapping[str, int]:
    """Returns every tag in use or named in full by the vocabulary, with its number of notes. `notes` has the tags of
    each."""
    counts = Counter(chain.from_iterable(map(dict.fromkeys, notes)))
    for tag in vocabulary.accepted:
        if "__" in tag:
            counts.setdefault(tag, 0)
    return counts


def survey_tags(
    tags: Iterable[str], counts: Mapping[str, int], near: Mapping[str, frozenset[str]], vocabulary: TagVocabulary
) -> tuple[TagUse, ...]:
    """Returns the use of these tags, most used first, then by name. `near` has the tags that each resembles."""

    def rank(tag: str) -> tuple[bool, int, str]:
        return (vocabulary.standing(tag) is not Standing.ACCEPTED, -counts[tag], tag)

    uses = (
        TagUse(tag, counts[tag], vocabulary.standing(tag), tuple(sorted(near.get(tag, ()), key=rank))) for tag in tags
    )
    return tuple(sorted(uses, key=lambda use: (-use.notes, use.tag)))

"""Which tags look like the same tag written twice."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import permutations

from agent_memory.domain.searching.terms import english_stem
from agent_memory.values import field, frozen

_SEPARATORS = re.compile(r"[-.]+")
_DIGITS = re.compile(r"\d+")
_LEAST_CHARS_OF_A_SLIP = 6
"""In shorter words one letter more often makes another word: `ios` and `iot`."""
_FEW = 32
"""To compare more new tags than so many with all others takes longer than to begin anew."""


@frozen
class AlikeTags:
    """Some tags, and those of them that are alike."""

    forms: Mapping[str, tuple[str, str]] = field(factory=dict[str, tuple[str, str]])
    """Of each tag its letters and their stems, without prefix and punctuation."""
    near: Mapping[str, frozenset[str]] = field(factory=dict[str, frozenset[str]])
    """For each tag that has any, those that differ from it by prefix, number, ending, punctuation or one slip of the pen."""

    def only(self, tags: Collection[str]) -> AlikeTags:
        """The same of these tags, as far as they are among them."""
        if self.forms.keys() <= set(tags):
            return self
        forms = {tag: form for tag, form in self.forms.items() if tag in tags}
        near = {tag: others.intersection(forms) for tag, others in self.near.items() if tag in forms}
        return AlikeTags(forms, {tag: others for tag, others in near.items() if others})


def alike(tags: Collection[str], known: AlikeTags | None = None) -> AlikeTags:
    """Which of these tags are alike. Those with different digits in them are different: `python2` and `python3`. What is `known`
    of some of them makes no other difference than in time."""
    before = (known or AlikeTags()).only(tags)
    new = [tag for tag in tags if tag not in before.forms]
    if len(new) > _FEW:
        forms = {tag: _form(tag) for tag in tags}
        return AlikeTags(forms, _grouped(_all_pairs(forms)))
    if not new:
        return before
    forms = {**before.forms, **{tag: _form(tag) for tag in new}}
    pairs = ((one, other) for tag in new for near in _like(tag, forms) for one, other in permutations((tag, near)))
    return AlikeTags(forms, _grouped(pairs, before.near))


def _form(tag: str) -> tuple[str, str]:
    words = [word for word in _SEPARATORS.split(tag.partition("__")[2]) if word]
    return "".join(words), "".join(map(english_stem, words))


def _grouped(
    pairs: Iterable[tuple[str, str]], before: Mapping[str, frozenset[str]] | None = None
) -> Mapping[str, frozenset[str]]:
    near: dict[str, set[str]] = defaultdict(set)
    for one, other in pairs:
        near[one].add(other)
    grouped = {**(before or {})}
    for tag, others in near.items():
        grouped[tag] = grouped.get(tag, frozenset()) | others
    return grouped


def _all_pairs(forms: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """All tags that are alike, in both orders."""
    by_letters: dict[str, list[str]] = defaultdict(list)
    by_stem: dict[str, list[str]] = defaultdict(list)
    for tag, (letters, stem) in forms.items():
        by_letters[letters].append(tag)
        by_stem[stem].append(tag)
    for same in (*by_stem.values(), *by_letters.values()):
        yield from permutations(same, 2)
    for one_word, other_word in _slips(by_letters):
        yield from ((one, other) for one in by_letters[one_word] for other in by_letters[other_word])


def _like(tag: str, forms: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    """The others that one tag is like."""
    word, stem = forms[tag]
    start, end, sizes = word[:2], word[-2:], (len(word) - 1, len(word), len(word) + 1)
    for other, (letters, other_stem) in forms.items():
        if other == tag:
            continue
        # A slip changes one place, and so not both ends of a longer word.
        if (
            letters == word
            or other_stem == stem
            or (
                (letters[:2] == start or letters[-2:] == end) and len(letters) in sizes and any(_slips((word, letters)))
            )
        ):
            yield other


def _slips(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of words, in both orders, that one letter more, less, other or swapped makes the same."""
    first: dict[str, str] = {}
    same: dict[str, set[str]] = defaultdict(set)
    for word in words:
        if len(word) >= _LEAST_CHARS_OF_A_SLIP:
            for rest in {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}:
                other = first.setdefault(rest, word)
                if other is not word:  # which is seldom: a set of each rest would take three times the memory
                    same[rest] |= {other, word}
    pairs = {pair for alike in same.values() for pair in permutations(alike, 2)}
    return (pair for pair in sorted(pairs) if _DIGITS.findall(pair[0]) == _DIGITS.findall(pair[1]) and _is_slip(*pair))


def _is_slip(one: str, other: str) -> bool:
    """Whether they differ at one place only: two letters taken out of different places are no slip, unless they swapped."""
    start = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    if start is None or one[start + 1 :] == other[start:] or one[start:] == other[start + 1 :]:
        return True
    swapped = one[start : start + 2] == other[start : start + 2][::-1]
    return one[start + 1 :] == other[start + 1 :] or (swapped and one[start + 2 :] == other[start + 2 :])

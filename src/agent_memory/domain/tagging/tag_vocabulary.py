"""The tags that a person has accepted, and what other tags became. A tag that is neither is proposed, and kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from attrs import evolve, field, frozen

VOCABULARY_FILE = "state/project_tags.json"
"""Relative to the root."""
VOCABULARY_KEY = "project_tags"
"""Of state, where agents that were taught by agent-memory-store look for it."""


class Standing(StrEnum):
    """How a tag stands to the vocabulary."""

    ACCEPTED = "accepted"
    PROPOSED = "proposed"
    FREE = "free"
    """There is no vocabulary yet, so any tag is as good as another."""


@frozen
class TagVocabulary:
    """Without an accepted tag there is no vocabulary."""

    accepted: frozenset[str] = frozenset()
    """With a prefix, or, good for any prefix, without."""
    renamed: Mapping[str, str] = field(factory=dict[str, str])
    """What a tag is called now, by its earlier name. Never in chains: no value is a key."""

    def standing(self, tag: str) -> Standing:
        """How a normal tag stands."""
        if not self.accepted:
            return Standing.FREE
        is_known = tag in self.accepted or tag.partition("__")[2] in self.accepted
        return Standing.ACCEPTED if is_known else Standing.PROPOSED

    def current(self, tags: Iterable[str]) -> tuple[str, ...]:
        """The tags by their present names, each once, in their order."""
        return tuple(dict.fromkeys(self.renamed.get(tag, tag) for tag in tags))

    def with_accepted(self, tags: Iterable[str]) -> TagVocabulary:
        """The vocabulary with these too; what is accepted is nothing's earlier name any more."""
        new = frozenset(tags)
        renamed = {old: now for old, now in self.renamed.items() if old not in new}
        return evolve(self, accepted=self.accepted | new, renamed=renamed)

    def with_renamed(self, old: str, new: str) -> TagVocabulary:
        """The vocabulary in which `new` takes the place of `old`, also of all that `old` had replaced."""
        renamed = {earlier: new if now == old else now for earlier, now in self.renamed.items() if earlier != new}
        accepted = (self.accepted - {old}) | {new} if old in self.accepted else self.accepted
        return TagVocabulary(accepted, {**renamed, old: new})

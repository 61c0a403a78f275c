"""The closed vocabularies of the contract."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from enum import StrEnum

from attrs import frozen


class Harness(StrEnum):
    """The agent program that a session ran in; `manual` is a person at a terminal."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    CURSOR = "cursor"
    AMP = "amp"
    GEMINI = "gemini"
    OPENCODE = "opencode"
    COPILOT = "copilot"
    PI = "pi"
    GOOSE = "goose"
    AIDER = "aider"
    MANUAL = "manual"


NAMES: Mapping[str, str] = {
    Harness.CLAUDE_CODE: "Claude Code",
    Harness.CODEX: "Codex",
    Harness.CURSOR: "Cursor",
    Harness.AMP: "Amp",
    Harness.GEMINI: "Gemini CLI",
    Harness.OPENCODE: "opencode",
    Harness.COPILOT: "Copilot CLI",
    Harness.PI: "Pi",
    Harness.GOOSE: "Goose",
    Harness.AIDER: "Aider",
    Harness.MANUAL: "a person",
}


class Kind(StrEnum):
    """What sort of knowledge a note holds."""

    DECISION = "decision"
    LESSON = "lesson"
    PREFERENCE = "preference"
    CONVENTION = "convention"
    FACT = "fact"
    TASK = "task"
    HANDOFF = "handoff"
    PROJECT = "project"


class Status(StrEnum):
    """How far a note has come; it never goes back. Declared in that order."""

    CAPTURED = "captured"
    CONSOLIDATED = "consolidated"
    PROMOTED = "promoted"


class Origin(StrEnum):
    """Whose knowledge it is. Declared from most to least trusted."""

    USER = "user"
    AGENT = "agent"
    EXTERNAL = "external"


class Importance(StrEnum):
    """Declared from least to most important."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Sensitivity(StrEnum):
    """Declared from open to strict."""

    NORMAL = "normal"
    PRIVATE = "private"
    SECRET = "secret"


GLOBAL_SCOPE = "global"
"""The scope of what holds everywhere; any other scope is one repository's key."""


def furthest(statuses: Iterable[Status]) -> Status:
    """Returns the furthest status of some; `captured` for none."""
    return max(statuses, key=list(Status).index, default=Status.CAPTURED)


def least_trusted(origins: Iterable[Origin]) -> Origin:
    """Returns the least trusted origin of some; `user` for none, so that it is neutral in a fold."""
    return max(origins, key=list(Origin).index, default=Origin.USER)


def strictest(sensitivities: Iterable[Sensitivity]) -> Sensitivity:
    """Returns the strictest sensitivity of some; `normal` for none."""
    return max(sensitivities, key=list(Sensitivity).index, default=Sensitivity.NORMAL)


def highest(importances: Iterable[Importance]) -> Importance:
    """Returns the highest importance of some; `low` for none."""
    return max(importances, key=list(Importance).index, default=Importance.LOW)


# -- tiers ------------------------------------------------------------------------------------------------------------
# Tiers: what of the store is in front of every agent.


TIERS_FILE = "state/tiers.json"
"""Where a store keeps its tier list, relative to the root."""


class Tier(StrEnum):
    """Declared from the nearest to the farthest."""

    HOT = "hot"
    """Inlined in the managed section."""
    WARM = "warm"
    """One line in the managed section."""
    COLD = "cold"
    """Found by search."""


@frozen
class TierList:
    """`state/tiers.json`: ids in the order in which they are shown; an id in neither is cold. No id is in both."""

    hot: tuple[str, ...] = ()
    warm: tuple[str, ...] = ()

    def of(self, id: str) -> Tier:
        return Tier.HOT if id in self.hot else Tier.WARM if id in self.warm else Tier.COLD

    def without(self, ids: Set[str]) -> TierList:
        """Returns the list without these notes."""
        return TierList(*(tuple(id for id in tier if id not in ids) for tier in (self.hot, self.warm)))

    def where_unseen(self, current: TierList, seen: frozenset[str]) -> TierList:
        """Returns this list with every note that is not among `seen` where it is in `current`: what was not shown was not
        left out."""
        unseen = current.without(seen)
        kept = self.without({*unseen.hot, *unseen.warm})
        return TierList((*kept.hot, *unseen.hot), (*kept.warm, *unseen.warm))

    def with_warm(self, id: str) -> TierList:
        """Returns the list with the note told in one line, before all others that are; where it is in the list
        already, as it was."""
        return self if id in (*self.hot, *self.warm) else TierList(self.hot, (id, *self.warm))

    def with_hot(self, id: str) -> TierList:
        """Returns the list with the note hot: where it is, if it is so already, else before all others, so that it is
        sure to be seen."""
        return self if id in self.hot else TierList((id, *self.hot), self.without({id}).warm)


class Relation(StrEnum):
    """How one note refers to another."""

    LINKS = "links"
    """In its body."""
    SUPERSEDES = "supersedes"
    """In its frontmatter."""

"""The closed vocabularies of the contract."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


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


class Kind(StrEnum):
    """What sort of knowledge an entry holds."""

    DECISION = "decision"
    LESSON = "lesson"
    PREFERENCE = "preference"
    CONVENTION = "convention"
    FACT = "fact"
    TASK = "task"
    HANDOFF = "handoff"
    PROJECT = "project"


class Status(StrEnum):
    """How far an entry has come; it never goes back. Declared in that order."""

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
    """The furthest status of some; `captured` for none."""
    return max(statuses, key=list(Status).index, default=Status.CAPTURED)


def least_trusted(origins: Iterable[Origin]) -> Origin:
    """The least trusted origin of some; `user` for none, so that it is neutral in a fold."""
    return max(origins, key=list(Origin).index, default=Origin.USER)


def strictest(sensitivities: Iterable[Sensitivity]) -> Sensitivity:
    """The strictest sensitivity of some; `normal` for none."""
    return max(sensitivities, key=list(Sensitivity).index, default=Sensitivity.NORMAL)


def highest(importances: Iterable[Importance]) -> Importance:
    """The highest importance of some; `low` for none."""
    return max(importances, key=list(Importance).index, default=Importance.LOW)

"""The closed vocabularies of the contract."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, TypeAlias, TypeGuard

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

    def where_unseen(self, current: TierList, seen: frozenset[str]) -> TierList:
        """This list with every entry that is not among `seen` where it is in `current`: who was not shown an entry has
        not left it out."""
        unseen = TierList(
            tuple(id for id in current.hot if id not in seen), tuple(id for id in current.warm if id not in seen)
        )
        kept = {*unseen.hot, *unseen.warm}
        return TierList(
            (*(id for id in self.hot if id not in kept), *unseen.hot),
            (*(id for id in self.warm if id not in kept), *unseen.warm),
        )


# -- instants ---------------------------------------------------------------------------------------------------------
# Instants: integers of milliseconds since 1970 UTC inside, ISO 8601 with milliseconds and `Z` outside.


_ISO = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9}))?\s*(Z|[+-]\d\d:?\d\d)?", re.ASCII)

Instant: TypeAlias = Annotated[int, "ISO 8601"]
"""Of an attribute: it stands in files as ISO 8601, and not as a number."""

DAY_MS = 86_400_000
HOUR_MS = 3_600_000


def has_passed(at_ms: int | None, now_ms: int) -> TypeGuard[int]:
    """Whether an instant at which something ends is there; what has none never ends."""
    return at_ms is not None and at_ms <= now_ms


def iso_of(at_ms: int) -> str:
    """`2026-02-13T14:30:05.123Z`."""
    whole, millis = divmod(at_ms, 1000)
    year, month, day, hour, minute, second, *_ = time.gmtime(whole)
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{millis:03d}Z"


def ms_in_name(name: str) -> int | None:
    """The instant that a name such as `2026-02-13T14-30-05.123Z_4dbfbe` begins with; None where it begins with none."""
    day, _, clock = name[:24].partition("T")
    return ms_of(f"{day}T{clock.replace('-', ':')}")


def ms_of(text: str) -> int | None:
    """Milliseconds of an ISO 8601 instant; a missing zone means UTC; None for anything else."""
    found = _ISO.fullmatch(text.strip())
    if not found:
        return None
    from datetime import datetime  # which takes as long to load as a note to read and show

    day, clock, fraction, zone = found.groups()
    clock = clock if len(clock) == 8 else f"{clock}:00"
    offset = "+00:00" if zone in (None, "Z") else zone
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{offset}")
        return int(moment.timestamp()) * 1000 + int((fraction or "0").ljust(3, "0")[:3])
    except (ValueError, OverflowError):
        return None

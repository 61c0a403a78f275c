"""How often what was injected where: for `memory status`."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from agent_memory.domain.injecting.deliveries import Delivery
from agent_memory.domain.instants import DAY_MS

WEEK_MS = 7 * DAY_MS


@frozen
class HarnessDeliveries:
    """What one harness was given. `manual` is a person who called `memory inject`."""

    harness: str
    this_week: int
    """Deliveries of the last seven days."""
    tokens_this_week: int
    last_at_ms: int
    """Of the newest delivery, epoch ms."""


def deliveries_by_harness(deliveries: Iterable[Delivery], now_ms: int) -> tuple[HarnessDeliveries, ...]:
    """Each harness that was ever given a note, as far back as the log goes, by name."""
    by_harness: dict[str, list[Delivery]] = {}
    for each in deliveries:
        if each.ids:
            by_harness.setdefault(each.harness, []).append(each)
    return tuple(_summed(harness, by_harness[harness], now_ms) for harness in sorted(by_harness))


def _summed(harness: str, deliveries: list[Delivery], now_ms: int) -> HarnessDeliveries:
    recent = [each for each in deliveries if now_ms - each.at_ms < WEEK_MS]
    return HarnessDeliveries(
        harness, len(recent), sum(each.tokens for each in recent), max(each.at_ms for each in deliveries)
    )

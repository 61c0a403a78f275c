"""A person without any harness: nothing but their own config, which every setup writes."""

from __future__ import annotations

from agent_memory.domain.installing.ground import Ground
from agent_memory.domain.installing.wanted import HarnessSetup

NAME = "manual"


def setup(ground: Ground) -> HarnessSetup:
    return HarnessSetup()

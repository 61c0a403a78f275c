"""The skill file: when an agent looks into the memory, and when it writes to it. (agentskills.io/specification)"""

from __future__ import annotations

from agent_memory.domain.installing.ground import Ground
from agent_memory.domain.installing.wanted import Part, Wanted, Whole


def skill_file(ground: Ground, path: str) -> tuple[Wanted, ...]:
    """The skill at this path; nothing where there is no text to put there."""
    return (Wanted(Part.SKILL, path, "whole", (Whole(ground.skill),)),) if ground.skill else ()

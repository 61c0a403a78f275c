"""The signs by which memory knows its own calls of agents, so that it never captures them (P23).

Imports nothing but `os`, since capture looks for them inside every turn of every agent.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

DEPTH_VARIABLE = "AGENT_MEMORY_DEPTH"
"""How many of our agent commands we are inside of; 0 or unset outside of any."""

CHILD_MARK = ".agent-memory-child"
"""A file of this name marks the working directory of our agent commands: nothing at or below it is captured."""


def is_own_call(environ: "Mapping[str, str]") -> bool:
    """Whether we are inside an agent command that we ourselves started."""
    return environ.get(DEPTH_VARIABLE, "").strip() not in ("", "0")


def is_marked(directory: str) -> bool:
    """Whether a directory is, or is below, the private directory of an agent command. What is not there any more is not
    marked itself."""
    while not os.path.lexists(f"{directory}/{CHILD_MARK}"):
        parent = os.path.dirname(directory)
        if parent == directory:
            return False
        directory = parent
    return True

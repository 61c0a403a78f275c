"""What is left to be known of a note's text once it has been compared with all others."""

from __future__ import annotations

from agent_memory.values import frozen


@frozen
class Profile:
    """What an analysis tells others about a body that it does not keep."""

    body_chars: int
    body_lines: int
    """Those that are not blank."""


@frozen
class Outline:
    """Of one note, whatever else is in the store."""

    profile: Profile
    links: tuple[str, ...] = ()
    """Ids that it links to, outside code, each once, in their order."""
    code_lines: int = 0
    """Lines of fenced code that are not blank."""
    code_chars: int = 0

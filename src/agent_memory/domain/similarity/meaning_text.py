"""What of a note its vector is made of."""

from __future__ import annotations

from agent_memory.domain.analysis.said import said_in

_MOST_CHARS = 8_000


def meaning_text(title: str, description: str, body: str) -> str:
    """Title, description and what the body says, each once: a description that only repeats the body is left out."""
    said = said_in(body)[:_MOST_CHARS]
    parts = (title, "" if description.removesuffix("…") in said else description, said)
    return "\n".join(part for part in parts if part)

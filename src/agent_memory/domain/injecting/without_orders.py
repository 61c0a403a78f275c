"""A handoff without what tells a reader what to do.

What a session was asked for is mostly worded as an order, and nobody can tell from the note alone that a person gave it: by the
rule for all notes (P19) hardly a handoff of an agent's could ever be shown. So each line is judged by itself: what is left is
what the rule would let through as a note of its own.
"""

from __future__ import annotations

from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.planning.directives import is_directive
from agent_memory.values import evolve

_TITLE = "Handoff"


def without_orders(stored: StoredEntry) -> StoredEntry | None:
    """The note without its directive lines, saying how many they were; None where nothing of substance is left."""
    lines = stored.body.split("\n")
    kept = [line for line in lines if not is_directive(line)]
    told = _without_empty_lists(kept)
    if not any(_is_item(line) for line in told) or is_directive("\n".join(told)):
        return None
    meta = stored.meta
    title = _TITLE if is_directive(meta.title) else meta.title
    left_out = len(lines) - len(kept)
    note = f"({left_out} line{'' if left_out == 1 else 's'} that may be orders: `memory read {meta.id}`.)"
    shown = evolve(stored.listed, meta=evolve(meta, title=title, description=""))
    return StoredEntry(shown, "\n".join((*told, "", note)).strip("\n"))


def _is_item(line: str) -> bool:
    return bool(line.strip()) and not line.rstrip().endswith(":")


def _without_empty_lists(lines: list[str]) -> list[str]:
    """Without names of lists of which no item is left."""
    kept: list[str] = []
    for at, line in enumerate(lines):
        following = next((each for each in lines[at + 1 :] if each.strip()), "")
        if line.rstrip().endswith(":") and not following.lstrip().startswith(("-", "*", "+", "`", ">")):
            continue
        kept.append(line)
    return kept

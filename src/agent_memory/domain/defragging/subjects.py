"""What a report calls an action."""

from __future__ import annotations

from agent_memory.domain.actions import Action, ids_of, kind_of
from agent_memory.domain.planning.drafts import stored_subject

_MOST_IDS = 4


def subject_of(action: Action) -> str:
    """The kind and the ids, cleaned: they are an agent's words until they are checked."""
    ids = tuple(dict.fromkeys(ids_of(action)))
    more = f" and {len(ids) - _MOST_IDS} more" if len(ids) > _MOST_IDS else ""
    return f"{kind_of(action)} of {', '.join(map(stored_subject, ids[:_MOST_IDS]))}{more}"

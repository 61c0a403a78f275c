"""Which entries an action may touch (P8, P11, P13)."""

from __future__ import annotations

from collections.abc import Mapping

from agent_memory.domain.actions import Action, Rename, Retag, ids_of
from agent_memory.domain.defrag_plan import DefragFacts
from agent_memory.domain.defragging.ground import Ground
from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.planning.drafts import stored_subject
from agent_memory.domain.redaction import redact
from agent_memory.domain.vocabulary import Sensitivity

Reasons = tuple[str, ...]


def seen_hashes(action: Action, facts: DefragFacts) -> Mapping[str, str]:
    """Content hashes of the action's entries as the agent saw them: in full, or for a title and tags in the catalog.

    An entry that it did not see so is not among them.
    """
    if isinstance(action, Rename | Retag):
        return {id: facts.hashes[id] for id in ids_of(action) if id in facts.hashes}
    shown = (facts.shown[id] for id in ids_of(action) if id in facts.shown)
    return {each.meta.id: each.listed.content_hash for each in shown}


def protection(action: Action, seen: Mapping[str, str], ground: Ground) -> Reasons:
    """Why this action may not touch its entries, in words; nothing if it may. `seen` as `seen_hashes` gives it."""
    ids = tuple(dict.fromkeys(ids_of(action)))
    named = ((id, reason) for id in ids for reason in _reasons(id, seen.get(id), ground))
    return tuple(f"{stored_subject(id)}: {reason}" if len(ids) > 1 else reason for id, reason in named)


def text_of(id: str, ground: Ground) -> StoredEntry:
    """The entry, whole, that `protection` let pass: its text is that of the live file."""
    found = _at_hand(id, ground.live[id].content_hash, ground.facts)
    if found is None:
        raise LookupError(f"nobody has looked whether {id} may be touched")
    return found


def _reasons(id: str, seen: str | None, ground: Ground) -> Reasons:
    listed = ground.live.get(id)
    if listed is None:
        return ("it is not live any more",) if id.casefold() in ground.taken_ids else ("there is no such entry",)
    if refused := _forbidden(listed, ground.facts):
        return refused
    if seen is None:
        return ("it was not shown in full",) if id in ground.facts.hashes else ("it was not shown",)
    if listed.content_hash != seen or ground.facts.hashes.get(id, seen) != seen:
        return ("it was changed since it was shown",)
    stored = _at_hand(id, seen, ground.facts)
    if stored is None:
        return ("its text is not at hand",)
    text = f"{stored.meta.title}\n{stored.meta.description}\n{stored.body}"
    return ("it holds a secret that the agent was not shown",) if redact(text).text != text else ()


def _forbidden(listed: Listed, facts: DefragFacts) -> Reasons:
    rules = (
        (listed.meta.pinned, "it is pinned"),
        (listed.conflicted, "it holds an unresolved conflict"),
        (listed.meta.sensitivity is Sensitivity.SECRET, "it is secret"),
        (listed.provisional_id, "it has no id of its own yet (`memory doctor --fix` gives it one)"),
        (listed.meta.id in facts.left_alone, "it changed in 3 of the last 10 runs and is left alone"),
    )
    return tuple(words for holds, words in rules if holds)


def _at_hand(id: str, content_hash: str, facts: DefragFacts) -> StoredEntry | None:
    held = (facts.shown.get(id), facts.at_hand.get(id))
    return next((each for each in held if each is not None and each.listed.content_hash == content_hash), None)

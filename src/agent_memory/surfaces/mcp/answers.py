"""What the tools answer: text for a model, in the form that users of agent-memory-store know.

Every text of a note is cleaned and redacted once more on its way out (P18, P20), and its origin is named beside it (P19).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from agent_memory.domain.entry import Meta, StoredEntry
from agent_memory.domain.instants import iso_of
from agent_memory.domain.planning.drafts import stored_body, stored_line
from agent_memory.domain.searching.search_answer import SearchAnswer, SearchHit
from agent_memory.domain.state_value import StateValue
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Harness
from agent_memory.errors import EntryNotFound, EntryProtected, Error
from agent_memory.service import Remembered
from agent_memory.shown_entries import ShownEntry
from agent_memory.surfaces.mcp.asked import EVERY_AGENT
from agent_memory.wording import describe

_WHOLE_CHARS = 1_500
"""Up to this length a found note is shown whole."""
_TOPIC = "topic__"

NOTHING_YET = "Nothing is known yet that a session here has to begin with. search_context looks through everything."


def agent_of(meta: Meta) -> str:
    """Which agent a note comes from: its own name of itself, else its harness, else `global`."""
    for source in meta.sources:
        if source.agent is not None:
            return stored_line(source.agent)
    named = next((source.harness for source in meta.sources if source.harness is not Harness.MANUAL), None)
    return EVERY_AGENT if named is None else named.value


def tags_of(meta: Meta) -> str:
    """The tags as agents write them: without the prefix that every tag gets that has none."""
    return ", ".join(tag.removeprefix(_TOPIC) for tag in meta.tags)


def found_text(answer: SearchAnswer, bodies: Sequence[str | None], here: str) -> str:
    """Each hit with its score, facts and text, best first; in the end what answered. `bodies` go with the hits; None where
    one could not be read."""
    how = _how(answer)
    if not answer.hits:
        return f"No matching chunks found.\n\n{how}"
    hits = [_hit(hit, body, here) for hit, body in zip(answer.hits, bodies, strict=True)]
    return "\n\n---\n\n".join((*hits, how))


def read_text(stored: StoredEntry, here: str) -> str:
    """One whole entry."""
    return f"## {stored_line(stored.meta.title)}\n{_facts(stored.meta, here)}\n\n{stored_body(stored.body)}"


def listed_text(shown: Sequence[ShownEntry], total: int, offset: int, unreadable: int, here: str) -> str:
    """A line for each entry, and how to see the rest."""
    if not shown:
        heading = "No chunks found." if not total else f"{total} chunk(s) found, none from offset {offset} on."
    else:
        end = offset + len(shown)
        rest = f", {offset + 1} to {end} shown; offset {end} shows the next" if end < total else ""
        heading = f"{total} chunk(s) found{rest}:"
    lines = [_line(each.listed.meta, here) for each in shown]
    broken = [f"{unreadable} file(s) cannot be read; `memory doctor` tells which."] if unreadable else []
    return "\n\n".join(part for part in (heading, "\n".join(lines), *broken) if part)


def saved_text(remembered: Remembered) -> str:
    """What was stored under which id, and what is about the same."""
    meta = remembered.stored.meta
    facts = (
        f'id=`{meta.id}` | topic="{stored_line(meta.title)}" | tags=[{tags_of(meta)}] | importance={meta.importance}'
    )
    if remembered.existing:
        return f"Already stored, so nothing was written: {facts}"
    similar = [
        f"- `{each.meta.id}` **{stored_line(each.meta.title)}** is about the same and was linked; if this says the same "
        "anew, use update_context on it and delete_context on the new one."
        for each in remembered.similar
    ]
    nowhere = [f"- Its link to `{target}` leads nowhere: there is no such note." for target in remembered.unresolved]
    return "\n".join((f"Chunk saved: {facts} | scope={meta.scope}", *similar, *nowhere))


def updated_text(stored: StoredEntry) -> str:
    meta = stored.meta
    return (
        f'Chunk updated: id=`{meta.id}` | topic="{stored_line(meta.title)}" | tags=[{tags_of(meta)}] | '
        f"importance={meta.importance}. The earlier text is in the archive."
    )


def deleted_text(id: str) -> str:
    return f"Chunk `{id}` deleted. It is in the archive: a person brings it back with `memory restore {id}`."


def state_text(key: str, value: StateValue | None) -> str:
    """The value; a missing key is no error."""
    if value is None:
        return f'State key "{key}" not found.'
    decoded = json.loads(value.json)
    return decoded if isinstance(decoded, str) else json.dumps(decoded, ensure_ascii=False, indent=2)


def state_set_text(value: StateValue) -> str:
    return f'State "{value.key}" written at {iso_of(value.updated_at_ms or 0)}.'


def error_text(error: Error) -> str:
    """What went wrong and what to do, for a caller that has the tools and no shell; secret notes are as good as none."""
    match error:
        case EntryNotFound(id, True):
            said = f"`{id}` is in the archive: it was deleted, or replaced. search_context finds what holds now."
        case EntryNotFound(id) | EntryProtected(id, _, "secret"):
            said = f"No chunk found with id `{id}`. search_context and list_context show what there is."
        case EntryProtected(id, _, "pinned"):
            said = f"`{id}` is pinned: only a person changes or deletes it. Write what is new as a note of its own."
        case _:
            said = describe(error)
    return stored_line(said)


def _hit(hit: SearchHit, body: str | None, here: str) -> str:
    meta = hit.listed.meta
    remarks = [f"replaced by `{hit.superseded_by}`"] if hit.superseded_by else []
    remarks += ["archived"] if hit.listed.archived else []
    head = f"### [score: {hit.score:.2f}] {stored_line(meta.title)}\n{_facts(meta, here, remarks)}"
    text = None if body is None else stored_body(body)
    if text is not None and len(text) <= _WHOLE_CHARS:
        return f"{head}\n\n{text}"
    passage = stored_line(hit.snippet.text) or stored_line(meta.description)
    return f"{head}\n\n{passage}\n\n(`read_context` with id `{meta.id}` shows all of it)"


def _facts(meta: Meta, here: str, remarks: Sequence[str] = ()) -> str:
    facts = {
        "id": f"`{meta.id}`",
        "agent": agent_of(meta),
        "tags": tags_of(meta),
        "importance": meta.importance.value,
        "updated": iso_of(meta.updated_at_ms),
        "kind": meta.kind.value,
        "origin": meta.origin.value,
        "scope": "" if meta.scope in (here, GLOBAL_SCOPE) else stored_line(meta.scope),
        "expires": "" if meta.expires_at_ms is None else iso_of(meta.expires_at_ms),
    }
    return " | ".join((*(f"**{name}:** {fact}" for name, fact in facts.items() if fact), *remarks))


def _line(meta: Meta, here: str) -> str:
    scope = "" if meta.scope in (here, GLOBAL_SCOPE) else f" | {stored_line(meta.scope)}"
    return (
        f"- `{meta.id}` **{stored_line(meta.title)}** | agent:{agent_of(meta)} | tags:[{tags_of(meta)}] | "
        f"{meta.importance} | {iso_of(meta.updated_at_ms)}{scope}"
    )


def _how(answer: SearchAnswer) -> str:
    return " ".join((f"Answered by: {answer.mode}.", *map(stored_line, answer.notices)))

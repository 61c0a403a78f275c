"""The twelve routes of @inosx/agent-memory over this store, for programs that were written for it. A category is a kind of note,
an agent is the one that a note's sources name. What they write is external, as from any other program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import evolve

from agent_memory.documents import iso_or_none, run_document
from agent_memory.errors import EntryInvalid, UsageInvalid
from agent_memory.note.note import Harness, Kind, Listed, StoredEntry, shown_to_agents
from agent_memory.recall.search_values import MAX_HITS, SearchRequest
from agent_memory.results import unwrap
from agent_memory.rules.drafts import NoteDraft
from agent_memory.rules.run_log import KEEP_RUNS
from agent_memory.serve.application import Asked, Route, Shown
from agent_memory.serve.looking import text_of

_CATEGORIES: Mapping[str, Kind] = {
    f"{kind.value}s": kind for kind in (Kind.DECISION, Kind.LESSON, Kind.HANDOFF, Kind.TASK, Kind.PROJECT)
}


def _category(asked: Asked) -> Kind | None:
    name = asked.text("category")
    if name is not None and name not in _CATEGORIES:
        raise EntryInvalid((f"category: is {name[:80]!r}, expected one of {', '.join(_CATEGORIES)}",))
    return None if name is None else _CATEGORIES[name]


def _entry(listed: Listed, body: str) -> dict[str, Any]:
    meta = listed.meta
    category = next((name for name, kind in _CATEGORIES.items() if kind is meta.kind), meta.kind.value)
    agent = next((each.agent for each in meta.sources if each.agent), None)
    date, tags = iso_or_none(meta.created_at_ms), list(meta.tags)
    return {"id": meta.id, "date": date, "content": body, "tags": tags, "agentId": agent, "category": category}


def _written(stored: StoredEntry) -> Shown:
    return Shown("", {"entry": _entry(stored.listed, stored.body)})


def _notes(asked: Asked) -> Iterator[Listed]:
    agent, kind = asked.text("agentId"), _category(asked)
    for each in shown_to_agents(unwrap(asked.looking.store.list()).entries):
        is_theirs = agent is None or any(source.agent == agent for source in each.meta.sources)
        if is_theirs and kind in (None, each.meta.kind):
            yield each


def _conversations(asked: Asked) -> Shown:
    harness = asked.text("agentId")
    sessions = [each for each in unwrap(asked.looking.sessions()) if harness in (None, each.harness)]
    found = [
        {"agentId": each.harness, "chatId": each.session_id, "savedAt": iso_or_none(each.last_at_ms)}
        for each in sessions
    ]
    return Shown("", {"conversations": found})


def _vault(asked: Asked) -> Shown:
    notes = list(_notes(asked))
    if asked.text("category") is not None:
        return Shown("", {"entries": [_entry(each, text_of(asked.looking, each)) for each in notes]})
    kinds = Counter(each.meta.kind for each in notes)
    agents = sorted({each.agent for note in notes for each in note.meta.sources if each.agent})
    return Shown("", {"agents": agents, "counts": {name: kinds[kind] for name, kind in _CATEGORIES.items()}})


def _append(asked: Asked) -> Shown:
    if asked.text("messages") is not None:
        raise UsageInvalid(
            "Conversations are not kept here: the transcripts of the harnesses are them", "`memory capture` takes one."
        )
    draft = NoteDraft(
        asked.needed("content"),
        tags=asked.tags(),
        kind=_category(asked) or Kind.FACT,
        scope=asked.looking.scope_here(),
        agent=asked.text("agentId"),
    )
    return _written(unwrap(asked.looking.service.remember(draft)).stored)


def _update(asked: Asked) -> Shown:
    return _written(unwrap(asked.looking.service.edit(asked.needed("id"), body=asked.needed("content"))))


def _delete(asked: Asked) -> Shown:
    return Shown("", {"deleted": unwrap(asked.looking.service.archive(asked.needed("id"))).meta.id})


def _search(asked: Asked) -> Shown:
    query, limit = asked.needed("q"), asked.number("limit", 10, MAX_HITS)
    wanted = {each.meta.id for each in _notes(asked)}
    answer = unwrap(asked.looking.search(SearchRequest(query, MAX_HITS, here=asked.looking.scope_here())))
    hits = [each for each in answer.hits if each.listed.meta.id in wanted][:limit]
    results = [
        {"entry": _entry(each.listed, each.stored.body), "score": each.score, "snippet": each.snippet.text}
        for each in hits
    ]
    return Shown("", {"results": results})


def _checkpoint(asked: Asked) -> Shown:
    taken = unwrap(asked.looking.take_over(asked.text("chatId"), asked.word("agentId", Harness), recovers=True))
    messages = [{"role": each.role.value, "text": each.text} for each in taken.handover.exchanges]
    session = {"agentId": taken.entry.harness.value, "chatId": taken.history.session_id}
    return Shown("", {**session, "savedAt": taken.ended_at_ms, "messages": messages})


def _last_compaction(asked: Asked) -> Shown:
    runs = [each for each in unwrap(asked.looking.log.runs(KEEP_RUNS)) if each.machine == "defrag"][:1]
    return Shown("", {"lastCompaction": next(map(run_document, asked.looking.shown_runs(runs)), None)})


def _compact(asked: Asked) -> Shown:
    unwrap(asked.looking.defrag())
    return _last_compaction(asked)


def _migrate(asked: Asked) -> Shown:
    """Returns that there is nothing to do: a store has one form only."""
    return Shown("", {"migrated": [], "skipped": []})


_WHOSE = {"agentId": "notes of this agent only", "category": ", ".join(_CATEGORIES)}
_NEW = {**_WHOSE, "content": "markdown", "tags": "apart by spaces, or a list"}
_SESSION = {"agentId": "sessions of this harness only"}
ALIASES: tuple[Route, ...] = tuple(
    evolve(each, path=f"/api/memory{each.path}")
    for each in (
        Route("GET", "", "Lists sessions", _conversations, _SESSION),
        Route("POST", "", "Stores a note", _append, _NEW),
        Route("GET", "/vault", "Counts notes, or shows those of a category", _vault, _WHOSE),
        Route("POST", "/vault", "Stores a note", _append, _NEW),
        Route("PUT", "/vault", "Changes the text of a note", _update, {"id": "which note", "content": "markdown"}),
        Route("DELETE", "/vault", "Archives a note", _delete, {"id": "which note"}),
        Route("GET", "/search", "Searches notes", _search, {"q": "words", "limit": "10 by default", **_WHOSE}),
        Route(
            "GET", "/checkpoint", "Shows the last messages of a session", _checkpoint, {**_SESSION, "chatId": "its id"}
        ),
        Route("POST", "/checkpoint", "Is refused: the transcripts of the harnesses are the checkpoints", _append),
        Route("GET", "/compact", "Shows the last defrag", _last_compaction),
        Route("POST", "/compact", "Runs defrag", _compact),
        Route("POST", "/migrate", "Does nothing: a store has one form", _migrate),
    )
)

"""Everything that can be asked of the page, and its OpenAPI document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from attrs import evolve
from returns.result import Result

from agent_memory import __version__
from agent_memory.acts.review import ReviewAct
from agent_memory.acts.service import MemoryService
from agent_memory.capture.places import redacted_scope
from agent_memory.capture.repository import stated_scope
from agent_memory.documents import (
    decided_document,
    entry_document,
    fields_of,
    iso_or_none,
    pause_document,
    rows_of,
    run_document,
    undone_document,
)
from agent_memory.errors import EntryChanged, EntryInvalid, Error, UsageInvalid
from agent_memory.note.note import Harness, Kind, Listed, MemoryEntry, StoredEntry, shown_to_agents
from agent_memory.pipelines.undo import sentence_of
from agent_memory.recall.hits import MAX_HITS, SearchRequest
from agent_memory.results import unwrap
from agent_memory.rules.drafts import NoteDraft
from agent_memory.rules.run_log import KEEP_RUNS
from agent_memory.serve import looking
from agent_memory.serve.application import Asked, Done, Route, Shown
from agent_memory.serve.looking import read_shown, text_of
from agent_memory.text.instants import HOUR_MS
from agent_memory.text.plain_text import counted, sentence

# -- what a person does on the page: each act is the checked function of the command of the same name -----------------

_NOTE_ACTS: Mapping[str, tuple[str, Callable[[MemoryService, str], Result[object, Error]]]] = {
    "archive": ("Archived", MemoryService.archive),
    "restore": ("Restored", MemoryService.restore),
    "pin": ("Pinned", MemoryService.pin),
    "unpin": ("Unpinned", MemoryService.unpin),
    "promote": ("Vouched for", MemoryService.promote),
}
NOTE_ACTS = (*_NOTE_ACTS, "edit")
_LEFT = ("subject", "reasons")
"""What is told of a note or an item that stays as it is."""


def remember(asked: Asked) -> Done:
    """Stores a note that the person writes, or finds the one that says the same."""
    memory = asked.acting
    draft = NoteDraft(
        asked.needed("body").replace("\r\n", "\n"),
        title=asked.text("title"),
        tags=asked.tags(),
        kind=asked.word("kind", Kind) or Kind.FACT,
        scope=_scope_of(asked) or memory.scope_on_arrival(),
    )
    found = unwrap(memory.remember(draft))
    listed = found.stored.listed
    asked.said.extend(f"It contradicts {each.meta.id}: {each.meta.title}" for each in found.contradicted)
    said = "It is stored already" if found.existing else "Remembered"
    return _done(asked, f"{said}: {listed.meta.title}", listed, found.stored.body)


def _done(asked: Asked, sentence: str, listed: Listed, body: str | None = None) -> Done:
    document = entry_document(listed, None, body, tier=asked.looking.reading.tier_of(listed))
    return Done(sentence, document, f"/notes/{listed.meta.id}")


def _scope_of(asked: Asked) -> str | None:
    given = asked.text("scope")
    scope = None if given is None else redacted_scope(stated_scope(given) or "") or None
    if given is not None and scope is None:
        raise UsageInvalid(f"scope is {given[:80]!r}, expected global, or a project's key as Projects shows it")
    return scope


def act_on_note(asked: Asked) -> Done:
    id, act = asked.path["id"], asked.path["act"]
    shown = read_shown(asked.looking.notes_here, id)
    if act == "edit":
        seen = asked.needed("hash")
        edited = unwrap(asked.acting.service.replace(shown.meta.id, _text_of(asked, shown), seen))
        return _done(asked, f"Changed {edited.meta.id}: {edited.meta.title}", edited.listed, edited.body)
    if act not in _NOTE_ACTS:
        raise UsageInvalid(f"There is no act {act[:40]!r} on a note", f"There are {', '.join(NOTE_ACTS)}.")
    said, change = _NOTE_ACTS[act]
    unwrap(change(asked.acting.service, shown.meta.id))
    listed = read_shown(asked.looking.notes_here, shown.meta.id).listed
    return _done(asked, f"{said} {listed.meta.id}: {listed.meta.title}", listed)


def _text_of(asked: Asked, stored: StoredEntry) -> MemoryEntry:
    body, title = asked.text("body"), asked.text("title")
    meta = evolve(
        stored.meta,
        title=stored.meta.title if title is None else title,
        kind=asked.word("kind", Kind) or stored.meta.kind,
        tags=asked.tags() if "tags" in asked.fields else stored.meta.tags,
        scope=_scope_of(asked) or stored.meta.scope,
    )
    if "body" in asked.fields and body is None:
        raise EntryInvalid(("body: is empty",))
    return MemoryEntry(meta, stored.body if body is None else body.replace("\r\n", "\n"))


def decide(asked: Asked) -> Done:
    """Decides about items of the queue, by key, as one run. A button says `act`, or `act note`."""
    word, _, note = asked.needed("act").partition(" ")
    act = next((each for each in ReviewAct if each == word), None)
    if act is None:
        raise UsageInvalid(f"There is no decision {word[:40]!r}", f"There are {', '.join(ReviewAct)}.")
    note_id = note or asked.text("note")
    keys = asked.fields.get("key", [])
    reviewing = asked.acting.reviewing
    waiting = {each.key: each for each in unwrap(reviewing.items())}
    if asked.text("since") == "last":
        waiting |= {each.key: each for each in unwrap(reviewing.items("last"))}
    items = [waiting[key] for key in keys if key in waiting]
    if not items:
        about = asked.text("about")
        raise EntryChanged("What you decided about" if about is None else f"“{about}”")
    text = None
    if act is ReviewAct.EDIT and (note_id or items[0].notes):
        stored = read_shown(asked.acting.notes_here, note_id or items[0].notes[0].meta.id)
        if stored.listed.content_hash != asked.needed("hash"):
            raise EntryChanged(stored.meta.id)
        text, note_id = _text_of(asked, stored), stored.meta.id
    decided = unwrap(reviewing.decide(items, act, note_id=note_id, text=text))
    asked.said.extend(reason for each in decided.left for reason in each.reasons)
    query = {name: value for name in ("kind", "since") if (value := asked.text(name)) is not None}
    if "body" in asked.fields:
        query.pop("kind", None)
    summary = sentence(f"{decided.summary[:1].upper()}{decided.summary[1:]}")
    back = f"/?{urlencode(query)}" if query else "/"
    return Done(summary, decided_document(decided), back, decided.run_id)


def undo_run(asked: Asked) -> Done:
    undone = unwrap(asked.acting.undo(asked.path["run"]))
    asked.said.extend(undone.warnings)
    return Done(sentence_of(undone), undone_document(undone), "/runs", undone.run_id)


def repair(asked: Asked) -> Done:
    done, _ = unwrap(asked.acting.repair())
    asked.said.extend((*done.did, *done.failed))
    sentence = f"{counted(len(done.did), 'repair')} done, {len(done.failed)} left."
    return Done(sentence, {"fixed": done.did, "notFixed": done.failed}, "/health")


PROJECT_ACTS = ("pause", "resume", "exclude", "include", "rename", "merge")


def act_on_project(asked: Asked) -> Done:
    """Switches memory off or on in a project, or everywhere if none is named, and gives notes of one another key."""
    memory, act, project = asked.acting, asked.path["act"], asked.text("project")
    hours = asked.number("hours", 0, 24 * 365, 0)
    run, document = "", dict[str, Any]()
    match act:
        case "pause":
            pause = unwrap(memory.switching.pause(project, hours * HOUR_MS or None))
            said, document = pause.sentence.removesuffix("."), {"paused": pause_document(pause)}
        case "resume":
            ended = unwrap(memory.switching.resume(project))
            said, document = (
                f"Memory is back in {project or 'everything'}",
                {"ended": [pause_document(each) for each in ended]},
            )
        case "exclude" | "include":
            pattern = unwrap(memory.switching.exclude(asked.needed("project"), include=act == "include"))
            said, document = f"{pattern} is {act}d", {"pattern": pattern}
        case "rename" | "merge":
            moved = unwrap(memory.scopes.rename(asked.needed("project"), asked.needed("new"), merge=act == "merge"))
            said, run = f"{counted(len(moved.notes), 'note')} moved", moved.run_id
            document = {**fields_of(moved), "left": rows_of(moved.left, *_LEFT)}
        case _:
            raise UsageInvalid(f"There is no act {act[:40]!r} on a project", f"There are {', '.join(PROJECT_ACTS)}.")
    return Done(f"{said}.", document, "/projects", run)


# -- the twelve routes of @inosx/agent-memory over this store, for programs that were written for it ------------------
# A category is a kind of note, an agent is the one that a note's sources name. What they write is external, as from
# any other program.

_CATEGORIES: Mapping[str, Kind] = {
    f"{kind.value}s": kind for kind in (Kind.DECISION, Kind.LESSON, Kind.HANDOFF, Kind.TASK, Kind.PROJECT)
}


def _category(asked: Asked) -> Kind | None:
    name = asked.text("category")
    if name is not None and name not in _CATEGORIES:
        raise UsageInvalid(f"category is {name[:80]!r}, expected one of {', '.join(_CATEGORIES)}")
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
        scope=asked.looking.scope_on_arrival(),
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
    answer = unwrap(asked.looking.search(SearchRequest(query, MAX_HITS, here=asked.looking.scope_on_arrival())))
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


_PAGE = {"page": "which page of fifty, from 1"}
_EDITED = {
    "hash": "`contentHash` of the note as it was read; another one is refused",
    "title": "the new title",
    "kind": "the new kind",
    "tags": "the new tags, apart by spaces",
    "scope": "the project that it belongs to, or `global`",
    "body": "the new text, markdown",
}
_WAITING = {"kind": "items that wait for this reason only", "since": "`last`: what the last runs made", **_PAGE}
_DECIDED = {
    "key": "which items",
    "act": "`keep`, `edit`, `reject`, `merge`, `supersede` or `later`",
    "note": "which of its notes is edited or rejected, or stays",
    "about": "what to call it where it waits no longer",
    **_EDITED,
}
_SWITCHED = {
    "project": "its directory or key; without it, pause and resume are about everything",
    "hours": "for how long to pause; until it is resumed by default",
    "new": "the key that its notes get by rename or merge",
}
_FILTERS = {
    "q": "words to search for; without any, all notes are listed",
    "scope": "notes of this project only",
    "kind": "notes of this kind only",
    "tier": "`hot`, `warm` or `cold` ones only",
    "origin": "whose word: `user`, `agent` or `external`",
    "harness": "notes from sessions of this harness only",
    "tag": "notes with this tag only",
    "archived": "anything: archived notes, instead of live ones",
    **_PAGE,
}
_SAID = {"q": "words to search for in what was said; without any, sessions are listed", **_PAGE}
_TOLD = {
    "directory": "where the session is; the server's own by default",
    "harness": "whose hook asks",
    "prompt": "what the person asks; without it, the session only starts",
}


def _openapi(asked: Asked) -> Shown:
    return Shown("", openapi(ROUTES))


ROUTES: tuple[Route, ...] = (
    Route("GET", "/", "Lists what waits for a decision", looking.inbox, _WAITING),
    Route("POST", "/decide", "Decides about what waits, as one run", decide, _DECIDED),
    Route("GET", "/notes", "Lists or searches notes", looking.notes, _FILTERS),
    Route("POST", "/notes", "Stores a note", remember, {**_EDITED, "hash": "nothing"}),
    Route("GET", "/notes/{id}", "Shows a note, its versions, and what is known of it", looking.note),
    Route("POST", "/notes/{id}/{act}", f"Does one of {', '.join(NOTE_ACTS)}", act_on_note, _EDITED),
    Route("GET", "/runs", "Lists past runs", looking.runs, _PAGE),
    Route("GET", "/runs/{run}", "Shows what a run changed and cost", looking.run),
    Route("GET", "/runs/{run}/undo", "Shows what undoing a run would change", looking.run_backwards),
    Route("POST", "/runs/{run}/undo", "Takes back a run", undo_run),
    Route("GET", "/sessions", "Lists sessions, or searches what was said in them", looking.sessions, _SAID),
    Route("GET", "/sessions/{session:path}", "Shows what became of a session, and its redacted words", looking.session),
    Route("GET", "/now", "Shows what a session would be told now", looking.now, _TOLD),
    Route("GET", "/projects", "Lists projects, and where memory is switched off", looking.projects),
    Route("POST", "/projects/{act}", f"Does one of {', '.join(PROJECT_ACTS)}", act_on_project, _SWITCHED),
    Route("GET", "/figures", "Counts notes, reads, calls and runs", looking.figures, {"days": "so many days"}),
    Route("GET", "/figures/use", "Tells what came of the notes that were told", looking.use, {"days": "so many days"}),
    Route("GET", "/health", "Shows what needs a look", looking.health),
    Route("POST", "/health/repair", "Repairs what `memory doctor --fix` repairs", repair),
    Route("GET", "/openapi.json", "Describes these routes", _openapi),
    *ALIASES,
)


def openapi(routes: Iterable[Route]) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for each in routes:
        path = each.path.replace(":path}", "}")
        inside = [word[1:].partition("}")[0] for word in path.split("/") if word.startswith("{")]
        text = {"type": "string"}
        operation: dict[str, Any] = {
            "summary": each.summary,
            "parameters": [{"name": name, "in": "path", "required": True, "schema": text} for name in inside],
            "responses": {
                str(each.status): {"description": "done", "content": {"application/json": {}}},
                "default": {"description": 'what went wrong: `{"error": {"code", "message", "details"}}`'},
            },
        }
        if each.method == "GET":
            operation["parameters"] += [
                {"name": name, "in": "query", "description": meaning, "schema": text}
                for name, meaning in each.fields.items()
            ]
        else:
            members = {name: {**text, "description": meaning} for name, meaning in each.fields.items()}
            content = {"application/json": {"schema": {"type": "object", "properties": members}}}
            operation["requestBody"] = {"content": content}
        paths.setdefault(path, {})[each.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "agent-memory", "version": __version__},
        "paths": paths,
        "security": [{"cookie": []}],
        "components": {"securitySchemes": {"cookie": {"type": "apiKey", "in": "cookie", "name": "memory-PORT"}}},
    }

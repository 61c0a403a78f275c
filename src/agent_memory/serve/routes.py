"""Everything that can be asked of the page, and its OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agent_memory import __version__
from agent_memory.serve import acting, looking
from agent_memory.serve.aliases import ALIASES
from agent_memory.serve.application import Asked, Route, Shown

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
    Route("POST", "/decide", "Decides about what waits, as one run", acting.decide, _DECIDED),
    Route("GET", "/notes", "Lists or searches notes", looking.notes, _FILTERS),
    Route("POST", "/notes", "Stores a note", acting.remember, {**_EDITED, "hash": "nothing"}),
    Route("GET", "/notes/{id}", "Shows a note, its versions, and what is known of it", looking.note),
    Route("POST", "/notes/{id}/{act}", f"Does one of {', '.join(acting.NOTE_ACTS)}", acting.act_on_note, _EDITED),
    Route("GET", "/runs", "Lists past runs", looking.runs, _PAGE),
    Route("GET", "/runs/{run}", "Shows what a run changed and cost", looking.run),
    Route("GET", "/runs/{run}/undo", "Shows what undoing a run would change", looking.run_backwards),
    Route("POST", "/runs/{run}/undo", "Takes back a run", acting.undo_run),
    Route("GET", "/sessions", "Lists sessions, or searches what was said in them", looking.sessions, _SAID),
    Route("GET", "/sessions/{session:path}", "Shows what became of a session, and its redacted words", looking.session),
    Route("GET", "/now", "Shows what a session would be told now", looking.now, _TOLD),
    Route("GET", "/projects", "Lists projects, and where memory is switched off", looking.projects),
    Route("POST", "/projects/{act}", f"Does one of {', '.join(acting.PROJECT_ACTS)}", acting.act_on_project, _SWITCHED),
    Route("GET", "/figures", "Counts notes, reads, calls and runs", looking.figures, {"days": "so many days"}),
    Route("GET", "/figures/use", "Tells what came of the notes that were told", looking.use, {"days": "so many days"}),
    Route("GET", "/health", "Shows what needs a look", looking.health),
    Route("POST", "/health/repair", "Repairs what `memory doctor --fix` repairs", acting.repair),
    Route("GET", "/openapi.json", "Describes these routes", _openapi),
    *ALIASES,
)


def openapi(routes: Iterable[Route]) -> dict[str, Any]:
    """Returns the OpenAPI document of the routes."""
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
            operation["security"] = [{"cookie": [], "form": []}]
            members = {name: {**text, "description": meaning} for name, meaning in each.fields.items()}
            content = {"application/json": {"schema": {"type": "object", "properties": members}}}
            operation["requestBody"] = {"content": content}
        paths.setdefault(path, {})[each.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "agent-memory", "version": __version__},
        "paths": paths,
        "security": [{"cookie": []}],
        "components": {
            "securitySchemes": {
                "cookie": {"type": "apiKey", "in": "cookie", "name": "memory-PORT"},
                "form": {"type": "apiKey", "in": "header", "name": "X-Form-Token"},
            }
        },
    }

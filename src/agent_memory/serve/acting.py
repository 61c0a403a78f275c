"""What a person does on the page: each act is the checked function of the command of the same name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from attrs import evolve
from returns.result import Result

from agent_memory.acts.review import ReviewAct
from agent_memory.acts.service import MemoryService
from agent_memory.capture.repository import stated_scope
from agent_memory.documents import entry_document, fields_of, json_of, pause_document, undone_document
from agent_memory.errors import EntryChanged, EntryInvalid, Error, UsageInvalid
from agent_memory.note.note import Kind, MemoryEntry, StoredEntry
from agent_memory.pipelines.undo import sentence_of
from agent_memory.results import unwrap
from agent_memory.rules.drafts import NoteDraft
from agent_memory.serve.application import Asked, Done
from agent_memory.serve.looking import read_shown
from agent_memory.text.instants import HOUR_MS
from agent_memory.text.plain_text import counted

_NOTE_ACTS: Mapping[str, tuple[str, Callable[[MemoryService, str], Result[object, Error]]]] = {
    "archive": ("Archived", MemoryService.archive),
    "restore": ("Restored", MemoryService.restore),
    "pin": ("Pinned", MemoryService.pin),
    "unpin": ("Unpinned", MemoryService.unpin),
    "promote": ("Vouched for", MemoryService.promote),
}
NOTE_ACTS = (*_NOTE_ACTS, "edit")


def remember(asked: Asked) -> Done:
    """Stores a note that the person writes, or finds the one that says the same."""
    memory = asked.acting
    here = memory.scope_here()
    draft = NoteDraft(
        asked.needed("body").replace("\r\n", "\n"),
        title=asked.text("title"),
        tags=asked.tags(),
        kind=asked.word("kind", Kind) or Kind.FACT,
        scope=_scope_of(asked) or here,
        cwd=memory.cwd,
        here=here,
        commit=memory.checkout.commit,
    )
    found = unwrap(memory.service.remember(draft))
    listed = found.stored.listed
    asked.said.extend(f"It contradicts {each.meta.id}: {each.meta.title}" for each in found.contradicted)
    document = entry_document(listed, None, found.stored.body, tier=asked.looking.reading.tier_of(listed))
    said = "It is stored already" if found.existing else "Remembered"
    return Done(f"{said}: {listed.meta.title}", document, f"/notes/{listed.meta.id}")


def _scope_of(asked: Asked) -> str | None:
    given = asked.text("scope")
    scope = None if given is None else stated_scope(given)
    if given is not None and scope is None:
        raise EntryInvalid((f"scope: is {given[:80]!r}, expected global, or a project's key as Projects shows it",))
    return scope


def act_on_note(asked: Asked) -> Done:
    id, act = asked.path["id"], asked.path["act"]
    shown = read_shown(asked.looking.notes_here, id)
    if act == "edit":
        return _edited(asked, shown)
    if act not in _NOTE_ACTS:
        raise UsageInvalid(f"There is no act {act[:40]!r} on a note", f"There are {', '.join(NOTE_ACTS)}.")
    said, change = _NOTE_ACTS[act]
    unwrap(change(asked.acting.service, shown.meta.id))
    listed = read_shown(asked.looking.notes_here, shown.meta.id).listed
    document = entry_document(listed, tier=asked.looking.reading.tier_of(listed))
    return Done(f"{said} {listed.meta.id}: {listed.meta.title}", document, f"/notes/{listed.meta.id}")


def _edited(asked: Asked, stored: StoredEntry) -> Done:
    """Changes what the form names, unless the note changed since it was shown."""
    seen = asked.needed("hash")
    edited = unwrap(asked.acting.service.replace(stored.meta.id, _text_of(asked, stored), seen))
    document = entry_document(edited.listed, None, edited.body, tier=asked.looking.reading.tier_of(edited.listed))
    return Done(f"Changed {edited.meta.id}: {edited.meta.title}", document, f"/notes/{edited.meta.id}")


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
        raise EntryChanged("What you decided about")
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
    summary = f"{decided.summary[:1].upper()}{decided.summary[1:]}."
    back = f"/?{urlencode(query)}" if query else "/"
    return Done(
        summary,
        {"run": decided.run_id or None, "summary": decided.summary, "left": json_of(decided.left)},
        back,
        decided.run_id,
    )


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
            said, document, run = f"{counted(len(moved.notes), 'note')} moved", fields_of(moved), moved.run_id
        case _:
            raise UsageInvalid(f"There is no act {act[:40]!r} on a project", f"There are {', '.join(PROJECT_ACTS)}.")
    return Done(f"{said}.", document, "/projects", run)

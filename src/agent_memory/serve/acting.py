"""What a person does on the page: each act is the checked function of the command of the same name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import evolve
from returns.result import Result

from agent_memory.acts.service import MemoryService
from agent_memory.documents import entry_document, undone_document
from agent_memory.errors import EntryInvalid, Error, UsageInvalid
from agent_memory.note.note import Kind, MemoryEntry, StoredEntry
from agent_memory.pipelines.undo import sentence_of
from agent_memory.results import unwrap
from agent_memory.serve.application import Asked, Done
from agent_memory.serve.looking import read_shown
from agent_memory.text.ids import normal_tags, split_tags
from agent_memory.text.plain_text import counted

_NOTE_ACTS: Mapping[str, tuple[str, Callable[[MemoryService, str], Result[object, Error]]]] = {
    "archive": ("Archived", MemoryService.archive),
    "restore": ("Restored", MemoryService.restore),
    "pin": ("Pinned", MemoryService.pin),
    "unpin": ("Unpinned", MemoryService.unpin),
    "promote": ("Vouched for", MemoryService.promote),
}
NOTE_ACTS = (*_NOTE_ACTS, "edit")


def act_on_note(asked: Asked) -> Done:
    id, act = asked.path["id"], asked.path["act"]
    shown = read_shown(asked.looking, id)
    if act == "edit":
        return _edited(asked, shown)
    if act not in _NOTE_ACTS:
        raise UsageInvalid(f"There is no act {act[:40]!r} on a note", f"There are {', '.join(NOTE_ACTS)}.")
    said, change = _NOTE_ACTS[act]
    unwrap(change(asked.acting.service, shown.meta.id))
    listed = read_shown(asked.looking, shown.meta.id).listed
    document = entry_document(listed, tier=asked.looking.reading.tier_of(listed))
    return Done(f"{said} {listed.meta.id}: {listed.meta.title}", document, f"/notes/{listed.meta.id}")


def _edited(asked: Asked, stored: StoredEntry) -> Done:
    """Changes what the form names, unless the note changed since it was shown."""
    body, title, tags = asked.text("body"), asked.text("title"), asked.fields.get("tags")
    meta = evolve(
        stored.meta,
        title=stored.meta.title if title is None else title,
        kind=asked.word("kind", Kind) or stored.meta.kind,
        tags=stored.meta.tags if tags is None else normal_tags(split_tags(" ".join(tags))),
    )
    if "body" in asked.fields and body is None:
        raise EntryInvalid(("body: is empty",))
    text = stored.body if body is None else body.replace("\r\n", "\n")
    seen = asked.needed("hash")
    edited = unwrap(asked.acting.service.replace(stored.meta.id, MemoryEntry(meta, text), seen))
    document = entry_document(edited.listed, None, edited.body, tier=asked.looking.reading.tier_of(edited.listed))
    return Done(f"Changed {edited.meta.id}: {edited.meta.title}", document, f"/notes/{edited.meta.id}")


def undo_run(asked: Asked) -> Done:
    undone = unwrap(asked.acting.undo(asked.path["run"]))
    asked.said.extend(undone.warnings)
    return Done(sentence_of(undone), undone_document(undone), "/runs", undone.run_id)


def repair(asked: Asked) -> Done:
    """Repairs what `memory doctor --fix` repairs."""
    done, _ = unwrap(asked.acting.repair())
    asked.said.extend((*done.did, *done.failed))
    sentence = f"{counted(len(done.did), 'repair')} done, {len(done.failed)} left."
    return Done(sentence, {"fixed": done.did, "notFixed": done.failed}, "/health")

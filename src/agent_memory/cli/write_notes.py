"""`memory remember`, `edit`, `pin`, `unpin`, `promote`, `archive`, `restore` and `forget`: everything that changes single notes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial

from returns.result import Result

from agent_memory.acts.service import MemoryService
from agent_memory.app import Memory
from agent_memory.cli.console import ENTRY, Arguments, Console, Options, scope_of, tags_of, text_of
from agent_memory.cli.dialogue import edited_by_hand, is_agreed, open_here
from agent_memory.documents import entry_document, fields_of
from agent_memory.errors import EntryInvalid, EntryNotFound, EntryUnreadable, Error, UsageInvalid
from agent_memory.note.note import (
    TEAM_DIRECTORY,
    Harness,
    Importance,
    Kind,
    Listed,
    MemoryEntry,
    Sensitivity,
    StoredEntry,
)
from agent_memory.note.note_format import read_note, render_note
from agent_memory.results import unwrap
from agent_memory.rules.drafts import Expiry, MetaPatch, NoteDraft
from agent_memory.rules.forgotten import (
    ForgetTarget,
    SessionKey,
    lines_of,
    sentence_of as forgetting_in_words,
    what_stays,
)
from agent_memory.rules.tiers import title_for, told_of
from agent_memory.text.markdown import MAX_TITLE_CHARS
from agent_memory.text.plain_text import one_line


def _stored_document(memory: Memory, stored: StoredEntry) -> dict[str, object]:
    body = stored.body if not stored.meta.is_secret else None
    return entry_document(stored.listed, None, body, tier=memory.reading.tier_of(stored.listed))


# -- remember ---------------------------------------------------------------------------------------------------------


def configure_remember(options: Options) -> None:
    options.add("text", metavar="TEXT", help="the note; `-` reads it from standard input")
    options.add("--title", help="the title (default: the first line)")
    options.add("--description", help="one line (default: the first sentence)")
    options.add("--tags", type=tags_of, default=(), help="separated by commas or spaces")
    options.choice("--kind", Kind, "the kind of note", Kind.FACT)
    options.choice("--importance", Importance, "how much it matters", Importance.MEDIUM)
    options.choice("--sensitivity", Sensitivity, "who may see it", Sensitivity.NORMAL)
    options.expires("when it goes to the archive: 30d, 12h, or 2026-12-31 (default: never)")
    scope = "global, repo, or a repository's key (default: this repository or directory)"
    options.add("--scope", help=scope)
    supersedes = "a note that this one replaces; it goes to the archive; may be repeated"
    options.add("--supersedes", metavar="ID", action="append", default=[], help=supersedes)
    example = "memory remember 'Deploys run from main only' --kind convention --tags deploy"
    options.runs(_remember, example=example)


def _remember(arguments: Arguments, console: Console) -> None:
    memory = open_here(console)
    draft = NoteDraft(
        tags=arguments.tags,
        expiry=arguments.expires or Expiry(None),
        scope=scope_of(arguments.scope or "repo", memory.scope_on_arrival()),
        body=text_of(arguments.text),
        title=arguments.title,
        description=arguments.description,
        kind=arguments.kind,
        importance=arguments.importance,
        sensitivity=arguments.sensitivity,
        supersedes=tuple(arguments.supersedes),
    )
    remembered = unwrap(memory.remember(draft))
    meta = remembered.stored.meta
    said = (
        f"Already stored as {meta.id}  {title_for(memory.caller, remembered.stored.listed)}"
        if remembered.existing
        else f"Remembered {meta.id}  {meta.title}  ({meta.scope})"
    )
    contradicted = [
        f"  contradicts: {each.meta.id}  {title_for(memory.caller, each)}  (if that one is outdated, repeat with "
        f"`--supersedes {each.meta.id}`)"
        for each in remembered.contradicted
    ]
    similar = [
        f"  similar, and linked: {each.meta.id}  {title_for(memory.caller, each)}  (`memory edit {each.meta.id}` to update it)"
        for each in remembered.similar
        if each not in remembered.contradicted
    ]
    document = {
        **_stored_document(memory, remembered.stored),
        "existing": remembered.existing,
        "contradicted": [each.meta.id for each in remembered.contradicted],
        "similar": [each.meta.id for each in remembered.similar],
        "unresolved": list(remembered.unresolved),
    }
    console.answer(document, said, *(f"  replaces: {id}" for id in meta.supersedes), *contradicted, *similar)
    for target in () if console.json else remembered.unresolved:
        console.warn(f"The link to {target} leads nowhere: there is no such note.")
    if memory.caller.is_agent and not console.json and told_of(remembered.stored) is None:
        console.warn(f"No hook shows it to a session unasked; `memory why {meta.id}` says why.")


# -- pin, unpin, promote, archive, restore ----------------------------------------------------------------------------


@contextmanager
def _refusing_the_teams(memory: Memory, id: str | None) -> Generator[None]:
    """Says whose it is if the note is not in the store but in the checkout."""
    try:
        yield
    except EntryNotFound:
        if id in memory.shared_here():
            hint = f"Change its file in {TEAM_DIRECTORY}/ and open a pull request; `memory unshare {id}` removes it."
            raise UsageInvalid(f"{id} is a note of your team, not one in your store", hint) from None
        raise


def _configure_change(
    done: str,
    change: Callable[[MemoryService, str], Result[StoredEntry | Listed, Error]],
    epilog: str,
    options: Options,
) -> None:
    def run(arguments: Arguments, console: Console) -> None:
        memory, documents = open_here(console), list[dict[str, object]]()
        for id in arguments.ids:
            with _refusing_the_teams(memory, id):
                changed = unwrap(change(memory.service, id))
            if isinstance(changed, Listed):
                documents.append({**entry_document(changed), "archived": True})
            else:
                documents.append(_stored_document(memory, changed))
            console.out(_line(done, changed if isinstance(changed, Listed) else changed.listed))
        console.answer(documents[0] if len(documents) == 1 else {"notes": documents})

    options.ids()
    options.runs(run, epilog, f"{options.prog} id__a1b2c3")


configure_pin = partial(
    _configure_change,
    "Pinned",
    MemoryService.pin,
    "Every agent sees a pinned note at once, and only you can change it. Only you can run this, not an agent.",
)
configure_unpin = partial(
    _configure_change,
    "Unpinned",
    MemoryService.unpin,
    "The note stays promoted, but defrag decides about its place again.",
)
configure_promote = partial(
    _configure_change,
    "Promoted",
    MemoryService.promote,
    "Agents see the note at once, whoever it came from, until a defrag prefers others. Only you can run this, not an agent.",
)
configure_restore = partial(
    _configure_change,
    "Restored",
    MemoryService.restore,
    "An archived note becomes live again under its own id. A live one gets back its earlier text. Only you can "
    "run this, not an agent.",
)


configure_archive = partial(
    _configure_change,
    "Archived",
    MemoryService.archive,
    "The note moves to archive/ unchanged; `memory restore ID` brings it back.",
)


def _line(done: str, listed: Listed) -> str:
    return f"{done} {listed.meta.id}  {one_line(listed.meta.title, MAX_TITLE_CHARS)}"


# -- edit -------------------------------------------------------------------------------------------------------------

_HINT = "Say what to change: --title, --body, --tags …"


def configure_edit(options: Options) -> None:
    options.id()
    options.add("--title", help="the new title, on one line")
    options.add("--description", help="the new description, on one line")
    options.add("--body", help="the new text; `-` reads it from standard input")
    options.add("--tags", type=tags_of, help="the new tags, separated by commas or spaces")
    options.choice("--kind", Kind, "the new kind")
    options.choice("--importance", Importance, "how much it matters")
    options.choice("--sensitivity", Sensitivity, "who may see it")
    options.add("--scope", help="global, repo, or a repository's key")
    options.expires("when it goes to the archive: 30d, 12h, 2026-12-31, or never")
    epilog = "Without options the note opens in $VISUAL or $EDITOR. `memory restore ID` brings the earlier text back."
    options.runs(_edit, epilog, "memory edit id__a1b2c3 --tags deploy,ci")


def _edit(arguments: Arguments, console: Console) -> None:
    memory = open_here(console)
    before = memory.store.read(arguments.id).map(lambda stored: stored.listed.content_hash).value_or(None)
    patch = MetaPatch(
        title=arguments.title,
        description=arguments.description,
        kind=arguments.kind,
        importance=arguments.importance,
        sensitivity=arguments.sensitivity,
        tags=arguments.tags,
        expiry=arguments.expires,
        scope=None if arguments.scope is None else scope_of(arguments.scope, memory.scope_on_arrival()),
    )
    with _refusing_the_teams(memory, arguments.id):
        if patch == MetaPatch() and arguments.body is None:
            edited = _edited_by_hand(memory, arguments.id, console)
        else:
            body = None if arguments.body is None else text_of(arguments.body)
            edited = unwrap(memory.service.edit(arguments.id, patch, body))
    done = "Nothing changed in" if edited.listed.content_hash == before else "Edited"
    console.answer(_stored_document(memory, edited), _line(done, edited.listed))


def _edited_by_hand(memory: Memory, id: str, console: Console) -> StoredEntry:
    if memory.caller.is_agent:
        raise UsageInvalid("An agent cannot open an editor", _HINT)
    stored = unwrap(memory.store.read(id))
    before = render_note(stored.entry, None).encode()
    with edited_by_hand(console, f"{stored.meta.id}.md", before, _HINT) as text:
        if text != before:
            stored = unwrap(memory.service.replace(id, parsed_note(text, stored), stored.listed.content_hash))
    return stored


def parsed_note(text: bytes, stored: StoredEntry) -> MemoryEntry:
    try:
        note = read_note(text, stored.meta.id, stored.meta.updated_at_ms)
    except EntryUnreadable as unreadable:
        raise EntryInvalid(unreadable.problems) from None
    return MemoryEntry(note.meta, note.body)


# -- forget -----------------------------------------------------------------------------------------------------------


def configure_forget(options: Options) -> None:
    what = options.one_of()
    what.id(ENTRY, optional=True)
    what.add("--session", metavar="ID", help="everything that comes only from this session")
    options.choice("--harness", Harness, "the harness of the session, if several have the same id")
    options.flag("--purge", "also rewrite the git history")
    options.flag("--dry-run", "show what would go and change nothing")
    options.flag("--yes", "do not ask")
    epilog = (
        "This is the only command that deletes. It removes the notes with all their versions, what the inbox, runs "
        "and kept histories hold of them, and every link to them. What other sessions taught as well stays, and is "
        "shown. A mark in state/forgotten/ keeps the same from being learnt again; remove its file to allow it. Runs "
        "that had a part in it cannot be undone any more. Only you can run this, not an agent. Exit codes: 0, 2 if "
        "there is no terminal to ask on, 20 for an unknown id, 75 if a run is at work."
    )
    options.runs(_forget, epilog, "memory forget --session T-1234 --purge --dry-run")


def _forget(arguments: Arguments, console: Console) -> None:
    memory = open_here(console)
    with _refusing_the_teams(memory, arguments.id):
        told = unwrap(memory.look_at_forgetting(_target(memory, arguments)))
    console.out(*lines_of(told))
    if not arguments.dry_run:
        question = f"{forgetting_in_words(told, done=False)} Go on?"
        if not arguments.yes and not is_agreed(console, question):
            console.warn("Nothing was changed.")
            return
        told = unwrap(memory.forget(told))
    done = not arguments.dry_run
    session, shared = told.target.session, memory.shared_here()
    remarks = (
        *what_stays(told),
        *(
            f"This repository still shares {id} with your team: `memory unshare {id}` takes it out."
            for id in told.ids
            if id in shared
        ),
        *(
            f"{each.path} cannot be read as a note, and may say the same."
            for each in unwrap(memory.store.list()).unreadable
        ),
    )
    document = {
        "done": done,
        "session": None if session is None else {"id": session.session_id, "harness": session.harness},
        "purge": told.target.purge,
        **fields_of(told, "notes", "shared", "mentions"),
        "unlinked": list(told.linked),
        **fields_of(told.work, "inbox", "runs", "marks"),
        "histories": [{"harness": harness, "session": id} for harness, id in told.work.histories],
        "remarks": list(remarks),
    }
    console.answer(document, forgetting_in_words(told, done=done), *remarks)


def _target(memory: Memory, arguments: Arguments) -> ForgetTarget:
    if arguments.session is None:
        if arguments.harness is not None:
            raise UsageInvalid("--harness goes with --session only")
        if arguments.id is None:
            raise UsageInvalid("Give either a note's id or --session", "See `memory forget --help`.")
        return ForgetTarget(arguments.id, purge=arguments.purge)
    wanted: str = arguments.session
    if not wanted.strip():
        raise UsageInvalid("--session needs an id")
    found = next((each.session_id for each in unwrap(memory.find_session(wanted))), wanted)
    if found != wanted and arguments.yes:
        raise UsageInvalid(f"{wanted!r} is only the beginning of the id {found}", "With --yes, give the whole id.")
    return ForgetTarget(session=SessionKey(found, arguments.harness), purge=arguments.purge)

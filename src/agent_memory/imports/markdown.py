"""Memories that are files: basic-memory, Letta, memory banks, Open Knowledge Format, rules of Cursor, any directory of markdown,
@inosx/agent-memory and CursorClaw."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from attrs import evolve

from agent_memory.errors import Error
from agent_memory.extraction.extract import extracted
from agent_memory.files.lines import objects_in
from agent_memory.files.paths import names_in
from agent_memory.imports.base import (
    Document,
    Found,
    LeftOut,
    Machine,
    Record,
    Source,
    documents,
    instant_in,
    json_files,
    keyed,
    kind_of,
    need,
    read_json,
    repository_around,
    sections,
    texts_in,
    title_in,
)
from agent_memory.imports.exporting import OKF_INDEX, in_brackets, own_document
from agent_memory.note.note import GLOBAL_SCOPE, Harness, Importance, Kind, Origin, Sensitivity
from agent_memory.session.history import History, Role, Turn
from agent_memory.text.ids import content_hash, is_id
from agent_memory.text.json_shape import is_list, is_object
from agent_memory.text.markdown import first_heading
from agent_memory.text.plain_text import counted


def _reader(
    record: Callable[[Document, str], Iterator[Found] | Record], *suffixes: str
) -> Callable[[str, Machine], Iterator[Found]]:
    """Returns the reader of a directory in which each file is a record, or some."""

    def read(path: str, machine: Machine) -> Iterator[Found]:
        place = repository_around(path)
        for each in documents(path, suffixes or (".md", ".markdown")):
            found = each if isinstance(each, LeftOut) else record(each, place)
            yield from [found] if isinstance(found, Record | LeftOut) else found

    return keyed(read)


def _plain(each: Document, place: str) -> Record:
    if (own := own_document(each)) is not None:
        return own
    path = os.path.splitext(each.name)[0].split("/")
    kinds, tags = (each.text("type", "kind"), each.text("category")), texts_in(each.front.get("tags"))
    return Record(
        each.name,
        each.body,
        each.text("title", "name") or first_heading(each.body) or title_in(each.stem),
        each.text("description", "summary"),
        kind_of((*kinds, *tags)),
        tags,
        each.instant("created", "created_at", "createdAt", "date"),
        each.instant("modified", "updated", "updated_at", "updatedAt", "timestamp") or each.changed_at_ms,
        place,
        names=(
            each.text("title"),
            each.text("permalink"),
            each.name,
            *("/".join(path[at:]) for at in range(len(path))),
        ),
    )


MARKDOWN = Source("markdown files", _reader(_plain))


def _find_basic_memory(machine: Machine) -> Iterator[str]:
    config = f"{machine.home}/.basic-memory/config.json"
    try:
        projects = read_json(config).get("projects") if os.path.exists(config) else None
    except (Error, AttributeError):
        projects = None
    for each in projects.values() if is_object(projects) else ():
        path = each.get("path") if is_object(each) else each
        if isinstance(path, str):
            yield os.path.expanduser(path)
    yield f"{machine.home}/basic-memory"


BASIC_MEMORY = Source("basic-memory", _reader(_plain), _find_basic_memory)

# -- Letta ------------------------------------------------------------------------------------------------------------


def _find_letta(machine: Machine) -> Iterator[str]:
    for base in (f"{machine.home}/.letta/agents", f"{machine.home}/.letta/lc-local-backend/memfs"):
        yield from (f"{base}/{agent}/memory" for agent in names_in(base))


def _letta(each: Document, place: str) -> Found:
    path = each.name.removesuffix(".md")
    if path in ("system/persona", "ARCHIVE") or path.startswith("skills/"):
        return LeftOut(each.name, "it is about the agent itself")
    kind = Kind.PREFERENCE if path == "system/human" else Kind.FACT
    return Record(
        each.name, each.body, title_in(path.rpartition("/")[2]), each.text("description"), kind,
        updated_at_ms=each.changed_at_ms, place=place, names=(path,),
    )  # fmt: skip


LETTA = Source("the memory of Letta agents", _reader(lambda each, place: iter([_letta(each, place)])), _find_letta)

_BANK = {
    "projectbrief": Kind.PROJECT,
    "productcontext": Kind.PROJECT,
    "techcontext": Kind.PROJECT,
    "systempatterns": Kind.CONVENTION,
    "decisionlog": Kind.DECISION,
    "activecontext": Kind.TASK,
    "progress": Kind.TASK,
}


def _bank(each: Document, place: str) -> Iterator[Found]:
    kind = _BANK.get(each.stem.lower(), Kind.FACT)
    whole = first_heading(each.body) or each.stem
    parts = sections(each.body)
    if any(heading == "Rationale" for heading, _ in parts):  # of the decision in the section before
        parts = [("", each.body)]
    for heading, text in parts:
        title = f"{whole}: {heading}" if heading not in ("", whole) and kind is not Kind.DECISION else heading or whole
        yield Record(f"{each.name}#{heading}", text, title, kind=kind, updated_at_ms=each.changed_at_ms, place=place)


MEMORY_BANK = Source("a memory bank", _reader(_bank), lambda machine: machine.beside("memory-bank"))


def _rule(each: Document, place: str) -> Record:
    globs = texts_in(each.front.get("globs"))
    where = f"\n\nApplies to {', '.join(f'`{glob}`' for glob in globs)}." if globs else ""
    return Record(
        each.name, f"{each.body}{where}", first_heading(each.body) or each.text("description"), each.text("description"), Kind.CONVENTION,
        updated_at_ms=each.changed_at_ms, place=place,
    )  # fmt: skip


CURSOR_RULES = Source(
    "rules of Cursor",
    _reader(_rule, ".mdc", ".cursorrules"),
    lambda machine: machine.beside(".cursor/rules", ".cursorrules"),
)

_RESERVED = (OKF_INDEX, "log.md")


def _okf(each: Document, place: str) -> Iterator[Found]:
    if os.path.basename(each.name) in _RESERVED:
        return
    record, made = _plain(each, place), each.front.get("generated")
    if is_id(record.id):
        yield record
        return
    at_ms = instant_in(made.get("at")) if isinstance(made, dict) else None
    yield evolve(
        record, body=in_brackets(record.body), created_at_ms=at_ms or record.created_at_ms,
        updated_at_ms=at_ms or record.updated_at_ms, valid_until_ms=each.instant("stale_after"),
        is_archived=each.text("status") == "deprecated",
    )  # fmt: skip


OKF = Source("an Open Knowledge Format bundle", _reader(_okf))


# -- @inosx/agent-memory ----------------------------------------------------------------------------------------------

_ENTRY = re.compile(r"^<!-- id:(\d+) -->[ \t]*\n", re.MULTILINE)
_HEAD = re.compile(r"\A\s*## (\d{4}-\d\d-\d\dT\d\d:\d\d)(?: · (.*))?\n")
_BY_RULES = frozenset(
    ("compacted", "auto-extract", "auto-handoff", "session-close", "autoextract", "autohandoff", "transcript")
)
_SECTIONS = {
    Kind.DECISION: "decisões,decisões técnicas,decisions",
    Kind.TASK: "tarefas,tasks",
    Kind.PROJECT: "contexto,contexto de projeto,projetos,context,projects",
}
_KIND_OF_SECTION = {name: kind for kind, names in _SECTIONS.items() for name in names.split(",")}


def _read_inosx(path: str, machine: Machine) -> Iterator[Found]:
    """Reads the vault, a directory an agent, and the flat files of before."""
    need(os.path.isdir(path), path, "it is not a directory")
    place = os.path.dirname(path)
    for each in documents(path, depth=1):
        agent, _, category = each.name.removesuffix(".md").rpartition("/")
        if isinstance(each, LeftOut):
            yield each
        elif each.name == "_project.md":
            yield Record(each.name, each.body, "The project", kind=Kind.PROJECT, place=place,
                         updated_at_ms=each.changed_at_ms)  # fmt: skip
        elif agent:
            yield from _entries(each, agent, kind_of([category]), place)
        else:
            yield from _sections(each, each.body, each.stem, None, place)
    for directory in ("conversations", ".vault/checkpoints"):
        for told in json_files(path, directory):
            yield from [told] if isinstance(told, LeftOut) else _conversation(*told, place)


def _sections(each: Document, text: str, agent: str, kind: Kind | None, place: str) -> Iterator[Found]:
    for heading, said in sections(text):
        yield Record(
            f"{each.name}#{heading}",
            said.removesuffix("---").strip(),
            heading,
            kind=kind or _KIND_OF_SECTION.get(heading.lower(), Kind.LESSON),
            place=place,
            agent=agent,
            updated_at_ms=each.changed_at_ms,
        )


def _conversation(name: str, about: dict[str, Any], place: str) -> Iterator[Found]:
    """Yields what the built-in extractor finds worth keeping in a conversation, without a model."""
    messages = about.get("messages")
    said = [each for each in messages if is_object(each) and not each.get("internal")] if is_list(messages) else []
    turns = tuple(
        Turn(number, Role.USER if each.get("role") == "user" else Role.AGENT, str(each.get("text") or ""), f"{number}")
        for number, each in enumerate(said, 1)
    )
    agent, at_ms = str(about.get("agentId") or ""), instant_in(about.get("savedAt"))
    kept = extracted(History(Harness.MANUAL, name, turns, cwd=place), now_ms=0, final_window=False)
    for each in kept.entries:
        id = f"{name}/{content_hash(each.body.encode())[:12]}"
        is_said = all(turns[number - 1].role is Role.USER for number in each.turns)
        yield Record(id, each.body, each.title, each.description or "", each.kind, each.tags, at_ms, at_ms, place,
                     agent=agent or None, origin=Origin.USER if is_said else Origin.AGENT)  # fmt: skip
    if not kept.entries:
        yield LeftOut(name, "nothing in it is worth a note")


def _entries(each: Document, agent: str, kind: Kind, place: str) -> Iterator[Found]:
    parts = _ENTRY.split(each.body)
    yield from _sections(each, parts[0], agent, kind, place)  # agents write into the file, too, without an id
    for id, text in zip(parts[1::2], parts[2::2], strict=True):
        head = _HEAD.match(text)
        body = (text[head.end() :] if head else text).strip().removesuffix("---").strip()
        tags = tuple(word.removeprefix("#") for word in (head[2] or "").split()) if head else ()
        is_made = not _BY_RULES.isdisjoint(tags)
        yield Record(
            f"{agent}/{each.stem}/{id}", body, kind=kind, tags=tuple(tag for tag in tags if tag not in _BY_RULES),
            created_at_ms=instant_in(int(id)) or (ms if head and (ms := instant_in(head[1])) else None),
            place=place, agent=agent, importance=Importance.LOW if is_made else Importance.MEDIUM,
            origin=Origin.AGENT if is_made else Origin.USER,
        )  # fmt: skip


def _find_inosx(machine: Machine) -> list[str]:
    named = machine.environ.get("AGENT_MEMORY_DIR")
    return [named] if named else machine.beside(".memory")


INOSX = Source("@inosx/agent-memory", keyed(_read_inosx), _find_inosx)

# -- CursorClaw -------------------------------------------------------------------------------------------------------

_PROSE = {"USER.md": ("About the person", Kind.PREFERENCE), "LONGMEMORY.md": ("Long-term memory", Kind.FACT)}
_SUMMARIES = ("turn-summary", "compaction", "heartbeat")


def _read_cursorclaw(path: str, machine: Machine) -> Iterator[Found]:
    need(
        os.path.isfile(f"{path}/MEMORY.md") or os.path.isdir(f"{path}/memory"),
        path,
        "it is no directory with a MEMORY.md",
    )
    seen = set[tuple[str, str]]()
    for each in documents(path, depth=1):
        is_record = isinstance(each, Document) and (each.name.startswith("memory/") or "/" not in each.name)
        if isinstance(each, LeftOut):
            yield each
        elif each.name in _PROSE:
            title, kind = _PROSE[each.name]
            yield Record(each.name, each.body, title, kind=kind, updated_at_ms=each.changed_at_ms)
        elif is_record:
            others = 0
            for line in each.body.split("\n"):
                found = objects_in(line[2:].encode()).found if line.startswith("- {") else ()
                row: dict[str, Any] = found[0] if found else {}
                id = str(row.get("id") or content_hash(line.encode())[:12])
                if not row.get("text"):
                    others += bool(line.strip()) and not line.startswith("#")
                elif (id, str(row["text"])) not in seen:
                    seen.add((id, str(row["text"])))
                    yield _claw_record(id, row)
            if others:
                yield LeftOut(each.name, counted(others, "line of it is no record", "lines of it are no records"))


def _claw_record(id: str, row: dict[str, Any]) -> Found:
    from_ = row.get("provenance")
    about: dict[str, Any] = from_ if is_object(from_) else {}
    word, confidence = str(about.get("sensitivity") or ""), about.get("confidence")
    if word == "secret":
        return LeftOut(id, "it is secret")
    if row.get("category") in _SUMMARIES:
        return LeftOut(id, "it says what a turn did, or that nothing happened")
    is_share = isinstance(confidence, int | float) and 0 <= confidence <= 1
    return Record(
        id,
        str(row.get("text")),
        kind=kind_of([str(row.get("category"))]),
        created_at_ms=instant_in(about.get("timestamp")),
        place=GLOBAL_SCOPE,
        agent=str(about.get("sourceChannel") or "") or None,
        confidence=float(confidence) if is_share and confidence is not None else None,
        sensitivity=Sensitivity.PRIVATE if word == "private-user" else Sensitivity.NORMAL,
    )


CURSORCLAW = Source("CursorClaw", keyed(_read_cursorclaw))

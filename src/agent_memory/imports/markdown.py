"""Memories that are markdown: basic-memory, Letta, memory banks, Open Knowledge Format, rules of Cursor, any directory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from agent_memory.errors import Error
from agent_memory.files.paths import names_in
from agent_memory.imports.base import (
    Document,
    Found,
    LeftOut,
    Machine,
    Record,
    Source,
    beside,
    documents,
    keyed,
    kind_of,
    read_json,
    repository_around,
    sections,
    texts_in,
)
from agent_memory.imports.exporting import OKF_INDEX, own_document
from agent_memory.note.note import Kind
from agent_memory.text.json_shape import is_object
from agent_memory.text.markdown import first_heading


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
    kinds, tags = (each.text("type", "kind"), each.text("category")), texts_in(each.front.get("tags"))
    return Record(
        each.name,
        each.body,
        each.text("title", "name") or first_heading(each.body) or each.stem.replace("-", " ").replace("_", " "),
        each.text("description", "summary"),
        kind_of((*kinds, *tags)),
        tags,
        each.instant("created", "created_at", "createdAt", "date"),
        each.instant("modified", "updated", "updated_at", "updatedAt", "timestamp") or each.changed_at_ms,
        place,
        names=(each.text("title"), each.text("permalink"), each.name, each.name.removesuffix(".md"), each.stem),
    )


MARKDOWN = Source("markdown files", _reader(_plain))

# -- basic-memory -----------------------------------------------------------------------------------------------------


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
        each.name, each.body, path.rpartition("/")[2].replace("_", " "), each.text("description"), kind,
        updated_at_ms=each.changed_at_ms, place=place, names=(path,),
    )  # fmt: skip


LETTA = Source("the memory of Letta agents", _reader(lambda each, place: iter([_letta(each, place)])), _find_letta)

# -- memory banks -----------------------------------------------------------------------------------------------------

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
    for heading, text in sections(each.body):
        title = heading or first_heading(each.body) or each.stem
        yield Record(f"{each.name}#{heading}", text, title, kind=kind, updated_at_ms=each.changed_at_ms, place=place)


MEMORY_BANK = Source("a memory bank", _reader(_bank), beside("memory-bank"))

# -- rules of Cursor --------------------------------------------------------------------------------------------------


def _rule(each: Document, place: str) -> Record:
    globs = texts_in(each.front.get("globs"))
    where = f"\n\nApplies to {', '.join(f'`{glob}`' for glob in globs)}." if globs else ""
    title = first_heading(each.body) or each.text("description") or each.stem.replace("-", " ")
    return Record(
        each.name, f"{each.body}{where}", title, each.text("description"), Kind.CONVENTION,
        updated_at_ms=each.changed_at_ms, place=place,
    )  # fmt: skip


CURSOR_RULES = Source(
    "rules of Cursor", _reader(_rule, ".mdc", ".cursorrules"), beside(".cursor/rules", ".cursorrules")
)

# -- Open Knowledge Format --------------------------------------------------------------------------------------------

_RESERVED = (OKF_INDEX, "log.md")


def _okf(each: Document, place: str) -> Iterator[Found]:
    if os.path.basename(each.name) not in _RESERVED:
        yield _plain(each, place)


OKF = Source("an Open Knowledge Format bundle", _reader(_okf))

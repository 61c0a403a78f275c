"""Memories that other programs keep: Claude Code and Codex in files, claude-mem, agent-memory-store, OpenMemory and mem0 in databases, and
their dumps."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from agent_memory.errors import UsageInvalid
from agent_memory.files.paths import names_in
from agent_memory.imports.base import (
    MAX_FILE_BYTES,
    Document,
    Found,
    LeftOut,
    Machine,
    Record,
    Source,
    Value,
    cwd_in,
    documents,
    instant_in,
    json_files,
    keyed,
    kind_of,
    need,
    read_file,
    read_json,
    read_tables,
    repository_around,
    sections,
    texts_in,
    title_in,
)
from agent_memory.note.note import GLOBAL_SCOPE, Harness, Importance, Kind, Origin, Sensitivity
from agent_memory.text.json_shape import is_list, is_object

# -- Claude Code ------------------------------------------------------------------------------------------------------

_INDEX_LINE = re.compile(r"^\s*[-*] \[[^\]\n]*\]\([^)\n]*\.md\).*$", re.MULTILINE)
_CLAUDE_KINDS = {"project": Kind.PROJECT, "reference": Kind.FACT}
CLAUDE_TYPES = {Kind.PREFERENCE: "user", Kind.CONVENTION: "feedback", Kind.PROJECT: "project"}
EXPORTED = "agentMemory"
"""The key of what `memory export claude` wrote, which is not read back."""
_OF_AGENTS = ("agent-memory", "agent-memory-local")


def _find_claude(machine: Machine) -> Iterator[str]:
    for slug in names_in(machine.claude_projects):
        yield f"{machine.claude_projects}/{slug}/memory"
    for base in dict.fromkeys((_claude_home(machine), *machine.beside(".claude"))):
        yield from (f"{base}/{name}/{agent}" for name in _OF_AGENTS for agent in names_in(f"{base}/{name}"))


def _claude_home(machine: Machine) -> str:
    return os.path.dirname(machine.claude_projects)


def _read_claude(path: str, machine: Machine) -> Iterator[Found]:
    path = f"{path}/memory" if os.path.isdir(f"{path}/memory") else path
    project = os.path.dirname(path)
    slug = os.path.basename(project)
    transcripts = (f"{project}/{name}" for name in names_in(project) if name.endswith(".jsonl"))
    place = next(filter(None, map(cwd_in, transcripts)), None)
    if slug in _OF_AGENTS:
        slug = re.sub(r"[^A-Za-z0-9]", "-", path)
        place = GLOBAL_SCOPE if path.startswith(_claude_home(machine)) else repository_around(path)
    for each in documents(path, depth=2):
        if isinstance(each, LeftOut):
            yield each
        elif each.stem == "MEMORY":
            # Mostly an index of the other files; what else stands in it is known nowhere else.
            for heading, text in sections(_INDEX_LINE.sub("", each.body)):
                id = f"{slug}/{each.name}#{heading}"
                yield Record(
                    id, text, heading, updated_at_ms=each.changed_at_ms, place=place, project=slug,
                    harness=Harness.CLAUDE_CODE,
                )  # fmt: skip
        elif EXPORTED not in str(each.front.get("metadata")):
            yield _claude_record(each, slug, place)


def _claude_record(each: Document, slug: str, place: str | None) -> Record:
    inner = each.front.get("metadata")
    front = {**each.front, **inner} if isinstance(inner, dict) else each.front
    word = str(front.get("type", ""))
    about = Document(each.name, each.body, front, each.changed_at_ms)
    return Record(
        f"{slug}/{each.name}",
        each.body,
        title_in(about.text("name") or each.stem),
        about.text("description"),
        _CLAUDE_KINDS.get(word) or kind_of([word]),
        updated_at_ms=about.instant("modified") or each.changed_at_ms,
        place=GLOBAL_SCOPE if word == "user" else place,
        project=slug,
        session_id=about.text("originSessionId") or None,
        names=(each.stem, about.text("name")),
        harness=Harness.CLAUDE_CODE,
    )


CLAUDE = Source("the memory of Claude Code", keyed(_read_claude), _find_claude)

# -- Codex ------------------------------------------------------------------------------------------------------------

_KINDS = {
    "User preferences": Kind.PREFERENCE,
    "Reusable knowledge": Kind.FACT,
    "Failures and how to do differently": Kind.LESSON,
}
_CWD = re.compile(r"\bcwd=([^;\n]+)")
_TASK_MARK = re.compile(r"(?: ?\[(?:Task \d+(?:, ?)?|ad-hoc note)+\])+[ \t]*$", re.MULTILINE)
_UPDATED = re.compile(r"\bupdated_at=([^,;)\s]+)")
_THREAD = re.compile(r"\bthread_id=([\w-]+)")


def _read_codex(path: str, machine: Machine) -> Iterator[Found]:
    need(os.path.isdir(path), path, "it is not a directory")
    is_whole = os.path.isfile(f"{path}/MEMORY.md")
    in_full = f"MEMORY.md {'holds what was learnt from it' if is_whole else 'is not there'}"
    for each in documents(path):
        if isinstance(each, LeftOut):
            yield each
        elif each.name == "MEMORY.md":
            for group, text in sections(each.body, 1):
                yield from _task_group(group.removeprefix("Task Group:").strip(), text, each)
        elif each.name == "memory_summary.md":
            for heading, text in sections(each.body):
                if heading in ("User Profile", "General Tips") or (heading == "User preferences" and not is_whole):
                    yield Record(
                        f"summary#{heading}", text, heading, kind=Kind.PREFERENCE if heading[0] == "U" else Kind.FACT,
                        updated_at_ms=each.changed_at_ms, harness=Harness.CODEX,
                    )  # fmt: skip
                elif heading:
                    yield LeftOut(f"summary: {heading}", in_full)
        elif each.name.startswith("extensions/ad_hoc/notes/"):
            id = f"ad_hoc/{os.path.basename(each.name)}"
            at_ms = instant_in(each.stem[:10]) or each.changed_at_ms
            yield Record(id, each.body, updated_at_ms=at_ms, harness=Harness.CODEX)
        else:
            yield LeftOut(each.name, in_full if each.name.startswith("rollout_summaries/") else "it is no memory")


def _task_group(group: str, text: str, document: Document) -> Iterator[Found]:
    cwd, thread = _CWD.search(text), _THREAD.search(text)
    place = cwd[1].strip() if cwd and cwd[1].strip().startswith("/") else None
    said_at = filter(None, map(instant_in, _UPDATED.findall(text)))  # Codex writes the whole file anew
    at_ms = max(said_at, default=document.changed_at_ms)
    for heading, body in sections(text):
        if heading in _KINDS:
            yield Record(
                f"{group}#{heading}",
                _TASK_MARK.sub("", body),
                f"{group}: {heading.lower()}",
                kind=_KINDS[heading],
                updated_at_ms=at_ms,
                place=place,
                project=cwd[1].strip() if cwd else group,
                harness=Harness.CODEX,
                session_id=thread[1] if thread else None,
            )


CODEX = Source(
    "the memories of Codex",
    keyed(_read_codex),
    lambda machine: [f"{machine.directory('CODEX_HOME', '.codex')}/memories"],
)


def _decoded(text: str | bytes) -> object:
    """Returns the JSON value in a text, else the text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _list(value: object) -> tuple[str, ...]:
    return texts_in(_decoded(value) if isinstance(value, str) and value.startswith("[") else value)


# -- claude-mem -------------------------------------------------------------------------------------------------------

_CHANGES = ("feature", "refactor", "change")
_DECISIVE = {"decision": Kind.DECISION, "bugfix": Kind.LESSON}


def _read_claude_mem(path: str, machine: Machine) -> Iterator[Found]:
    if path.endswith(".json"):
        dump = read_json(path)
        need(is_object(dump) and is_list(dump.get("observations")), path, "it is not an export of claude-mem")
        observations, known, summaries = (
            [each for each in dump.get(name) or () if is_object(each)]
            for name in ("observations", "sessions", "summaries")
        )
    else:
        observations, known, summaries = read_tables(
            path, "memory_session_id", "it has no observations of claude-mem",
            "observations", "sdk_sessions", "session_summaries",
        )  # fmt: skip
    sessions = {each.get("memory_session_id"): each for each in known}
    ids = {key: str(each.get("content_session_id") or "") for key, each in sessions.items()}
    places = {id: machine.place_of_session(id) for id in set(ids.values())}
    # Claude Code deletes old transcripts: then the project's other sessions tell where it is.
    of_project: dict[object, set[str]] = {}
    for each in observations:
        if place := places.get(ids.get(each.get("memory_session_id"), "")):
            of_project.setdefault(each.get("project"), set()).add(place)
    for each in observations:
        session = sessions.get(each.get("memory_session_id"), {})
        id, others = ids.get(each.get("memory_session_id"), ""), of_project.get(each.get("project"), set())
        place = places.get(id) or (next(iter(others)) if len(others) == 1 else None)
        yield _observation(each, id, str(session.get("platform_source") or "claude"), place)
    for each in summaries:
        yield LeftOut(str(each.get("request")), "it is the handoff of a session that is over")


def _observation(each: dict[str, Any], session_id: str, platform: str, place: str | None) -> Found:
    concepts, word = _list(each.get("concepts")), str(each.get("type") or "")
    if word in _CHANGES:
        return LeftOut(str(each.get("title")), "it says what was changed, which git knows")
    facts = "\n".join(f"- {fact}" for fact in _list(each.get("facts")))
    said = each.get("narrative") or each.get("text") or each.get("subtitle") or ""
    return Record(
        f"observation/{each.get('id')}-{each.get('created_at_epoch')}",
        "\n\n".join(filter(None, (str(said), facts))),
        str(each.get("title") or ""),
        str(each.get("subtitle") or ""),
        _DECISIVE.get(word) or (Kind.LESSON if "gotcha" in concepts else Kind.FACT),
        concepts,
        instant_in(each.get("created_at_epoch")) or instant_in(each.get("created_at")),
        place=place,
        project=str(each.get("project") or ""),
        harness=Harness.CODEX if platform == "codex" else Harness.CLAUDE_CODE,
        session_id=session_id or None,
        agent=str(each.get("generated_by_model") or "") or None,
        origin=Origin.AGENT,
        sensitivity=Sensitivity.PRIVATE if word == "sensitive" else Sensitivity.NORMAL,
    )


CLAUDE_MEM = Source(
    "claude-mem",
    _read_claude_mem,
    lambda machine: [f"{machine.directory('CLAUDE_MEM_DATA_DIR', '.claude-mem')}/claude-mem.db"],
)

# -- agent-memory-store -----------------------------------------------------------------------------------------------


def _find_chunks(machine: Machine) -> list[str]:
    named = machine.environ.get("AGENT_STORE_PATH")
    return [*([named] if named else []), *machine.beside(".agent-memory-store")]


def _read_chunks(path: str, machine: Machine) -> Iterator[Found]:
    """Reads its database; before it had one, a file a chunk."""
    store = path if path.endswith(".db") else f"{path}/store.db"
    place = os.path.dirname(os.path.dirname(store))
    if os.path.exists(store):
        chunks, state = read_tables(store, "topic", "it has no chunks of agent-memory-store", "chunks", "state")
        for each in chunks:
            yield _chunk({**each, "updated": each.get("updated_at")}, str(each.get("content") or ""), place)
        for each in state:
            yield Value(str(each.get("key")), _decoded(str(each.get("value"))))
        return
    need(os.path.isdir(f"{path}/chunks"), path, "there is no store.db and no chunks")
    for file in documents(f"{path}/chunks", depth=0):
        yield file if isinstance(file, LeftOut) else _chunk({**file.front}, file.body, place)
    for told in json_files(path, "state"):
        if isinstance(told, LeftOut):
            yield told
        else:
            yield Value(told[1]["key"], told[1].get("value")) if "key" in told[1] else LeftOut(told[0], "it has no key")


def _chunk(row: dict[str, Any], content: str, place: str) -> Record:
    tags = _list(row.get("tags"))
    return Record(
        str(row.get("id")),
        content,
        str(row.get("topic") or ""),
        kind=kind_of(tags),
        tags=tags,
        created_at_ms=instant_in(row.get("created_at")) or instant_in(row.get("updated")),
        updated_at_ms=instant_in(row.get("updated")),
        place=place,
        agent=str(row.get("agent") or "") or None,
        importance=next((each for each in Importance if each.value == row.get("importance")), Importance.MEDIUM),
        expires_at_ms=instant_in(row.get("expires_at") or row.get("expires")),
        names=(str(row.get("id")),),
    )


CHUNKS = Source("agent-memory-store", _read_chunks, _find_chunks)

# -- OpenMemory and mem0 ----------------------------------------------------------------------------------------------


def _read_openmemory(path: str, machine: Machine) -> Iterator[Found]:
    if path.endswith((".db", ".sqlite")):
        memories, apps, categories, of = read_tables(
            path, "content", "it has no memories of OpenMemory", "memories", "apps", "categories", "memory_categories"
        )
        names = {each.get("id"): str(each.get("name")) for each in (*apps, *categories)}
        tags: dict[object, list[str]] = {}
        for each in of:
            tags.setdefault(each.get("memory_id"), []).append(names.get(each.get("category_id"), ""))
        for each in memories:
            yield _memory({**each, "app": names.get(each.get("app_id")), "categories": tags.get(each.get("id"))})
        return
    for row in _zipped(path):
        yield _memory(row) if is_object(row) else LeftOut("a line", "it is not a memory")


def _zipped(path: str) -> Iterator[object]:
    try:
        with zipfile.ZipFile(io.BytesIO(read_file(path))) as archive:
            name = next((each for each in archive.namelist() if each.endswith("memories.jsonl.gz")), None)
            need(name is not None, path, "there is no memories.jsonl.gz in it")
            with archive.open(str(name)) as packed, gzip.open(packed) as lines:
                data = lines.read(MAX_FILE_BYTES + 1)
    # Of a damaged archive, zipfile passes on a ValueError; of one with a password or an unknown method, a RuntimeError.
    except (zipfile.BadZipFile, EOFError, zlib.error, OSError, ValueError, RuntimeError) as error:
        raise UsageInvalid(
            f"{path} is not an export of OpenMemory: {getattr(error, 'strerror', None) or error}"
        ) from None
    need(len(data) <= MAX_FILE_BYTES, path, f"it holds more than {MAX_FILE_BYTES >> 20} MiB")
    yield from map(_decoded, filter(bytes.strip, data.split(b"\n")))


def _read_mem0(path: str, machine: Machine) -> Iterator[Found]:
    rows: Any
    if path.endswith(".db"):
        (events,) = read_tables(path, "memory_id", "it has no history of mem0", "history")
        first = {each["memory_id"]: each.get("created_at") for each in reversed(events)}
        last = {each["memory_id"]: each for each in events}
        rows = [
            {**each, "id": id, "memory": each.get("new_memory"), "created_at": first[id]} for id, each in last.items()
        ]
    else:
        dump = read_json(path)
        rows = dump.get("results") if is_object(dump) else dump
        need(is_list(rows), path, "it is no list of memories")
    for row in rows:
        yield _memory(row) if is_object(row) else LeftOut("an item", "it is not a memory")


def _memory(row: dict[str, Any]) -> Found:
    name, state = str(row.get("id")), row.get("state") or "active"
    if state == "deleted" or row.get("event") == "DELETE" or row.get("is_deleted"):
        return LeftOut(name, "it was deleted there")
    inner = row.get("metadata") or row.get("metadata_")
    about: dict[str, Any] = inner if is_object(inner) else {}
    return Record(
        name.replace("-", ""),  # the database of OpenMemory has none, its export has some
        str(row.get("content") or row.get("memory") or row.get("data") or about.get("data") or ""),
        kind=kind_of(_list(row.get("categories"))),
        tags=_list(row.get("categories")),
        created_at_ms=instant_in(row.get("created_at")),
        updated_at_ms=instant_in(row.get("updated_at")),
        agent=str(row.get("app") or row.get("actor_id") or "") or None,
        is_archived=state in ("paused", "archived"),
    )


OPENMEMORY = Source("OpenMemory", _read_openmemory)
MEM0 = Source("mem0", _read_mem0, lambda machine: [f"{machine.home}/.mem0/history.db"])

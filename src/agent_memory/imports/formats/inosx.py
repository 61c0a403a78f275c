"""@inosx/agent-memory: a vault with a directory an agent, the flat files of before, and conversations."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from agent_memory.extraction.extract import extracted
from agent_memory.extraction.handoff import INTERRUPTED_DAYS
from agent_memory.imports import base
from agent_memory.note.note import Harness, Importance, Kind, Origin
from agent_memory.session.history import History, Role, Turn
from agent_memory.text.ids import content_hash
from agent_memory.text.instants import DAY_MS
from agent_memory.text.json_shape import is_list, is_object
from agent_memory.text.markdown import derive_title, first_heading

_ENTRY = re.compile(r"^<!-- id:(\d+) -->[ \t]*\n", re.MULTILINE)
_HEAD = re.compile(r"\A\s*## (\d{4}-\d\d-\d\dT\d\d:\d\d)(?: · (.*))?\n")
_BY_RULES = frozenset(
    ["compacted", "auto-extract", "auto-handoff", "session-close", "autoextract", "autohandoff", "transcript"]
)
_KINDS = {
    **dict.fromkeys(("decisões", "decisions"), Kind.DECISION),
    **dict.fromkeys(("tarefas", "tasks"), Kind.TASK),
    **dict.fromkeys(("handoffs",), Kind.HANDOFF),
    **dict.fromkeys(("aprendizados", "preferências", "lessons", "findings", "notas", "notes"), Kind.LESSON),
    **dict.fromkeys(("contexto", "projetos", "projeto", "context", "projects", "project"), Kind.PROJECT),
}
"""By a word of a heading, the first that it has in this order, unless it has others than these and `_OF_KINDS`."""
_OF_KINDS = frozenset(["técnicas", "technical", "sessão", "session", "usuário", "utilizador", "de", "do"])
_SPEAKER = re.compile(r"\A\[\w+\]:\s*")


def _find(machine: base.Machine) -> list[str]:
    named = machine.environ.get("AGENT_MEMORY_DIR")
    return [named] if named else machine.beside(".memory")


def _read(path: str, machine: base.Machine) -> Iterator[base.Found]:
    base.need(os.path.isdir(path), path, "it is not a directory")
    place = os.path.dirname(path)
    yield from base.documents(path, partial(_entries, place=place), depth=1)
    for directory in ("conversations", ".vault/checkpoints"):
        yield from base.json_files(path, directory, partial(_conversation, place=place))


def _entries(each: base.Document, place: str) -> Iterator[base.Found]:
    agent = os.path.dirname(each.name)
    if each.name == "_project.md":
        title, changed_ms = first_heading(each.body) or "The project", each.changed_at_ms
        yield base.Record(each.name, each.body, title, kind=Kind.PROJECT, place=place, updated_at_ms=changed_ms)
        return
    if not agent:
        yield from _sections(each, each.body, each.stem, None, place)
        return
    parts, kind = _ENTRY.split(each.body), base.kind_of([each.stem])
    yield from _sections(each, parts[0], agent, kind, place)  # agents write into the file, too, without an id
    for id, text in zip(parts[1::2], parts[2::2], strict=True):
        head = _HEAD.match(text)
        body = (text[head.end() :] if head else text).strip().removesuffix("---").strip()
        tags = tuple(word.removeprefix("#") for word in (head[2] or "").split()) if head else ()
        at_ms = base.instant_in(int(id)) or (base.instant_in(head[1]) if head else None)
        is_made, is_handoff = not _BY_RULES.isdisjoint(tags), kind is Kind.HANDOFF
        title = f"Handoff: {_SPEAKER.sub('', derive_title(body))}" if is_handoff else ""
        yield base.Record(
            f"{agent}/{each.stem}/{id}", body, title, kind=kind, tags=tuple(tag for tag in tags if tag not in _BY_RULES),
            created_at_ms=at_ms, expires_at_ms=at_ms + INTERRUPTED_DAYS * DAY_MS if is_handoff and at_ms else None,
            place=place, agent=agent, importance=Importance.LOW if is_made else Importance.MEDIUM,
            origin=Origin.AGENT if is_made else Origin.USER,
        )  # fmt: skip


def _sections(each: base.Document, text: str, agent: str, kind: Kind | None, place: str) -> Iterator[base.Found]:
    for heading, said in base.sections(text):
        body, words = said.removesuffix("---").strip(), frozenset(heading.lower().split())
        named = next((_KINDS[word] for word in _KINDS if word in words), None)
        if kind or named is None or not words <= {*_KINDS, *_OF_KINDS}:
            named, title = kind or Kind.LESSON, heading
        else:
            title = f"{heading}: {derive_title(body)}"
        yield base.Record(
            f"{each.name}#{heading}", body, title, kind=named, place=place, agent=agent,
            updated_at_ms=each.changed_at_ms,
        )  # fmt: skip


def _conversation(name: str, about: dict[str, Any], place: str) -> Iterator[base.Found]:
    """Yields what the built-in extractor finds worth keeping in a conversation, without a model."""
    messages = about.get("messages")
    said = [each for each in messages if is_object(each) and not each.get("internal")] if is_list(messages) else []
    turns = tuple(
        Turn(number, Role.USER if each.get("role") == "user" else Role.AGENT, str(each.get("text") or ""), f"{number}")
        for number, each in enumerate(said, 1)
    )
    agent, at_ms = str(about.get("agentId") or "") or None, base.instant_in(about.get("savedAt"))
    kept = extracted(History(Harness.MANUAL, name, turns, cwd=place), now_ms=0, final_window=False)
    for each in kept.entries:
        id = f"{name}/{content_hash(each.body.encode())[:12]}"
        is_said = all(turns[number - 1].role is Role.USER for number in each.turns)
        yield base.Record(
            id, each.body, each.title, each.description or "", each.kind, each.tags, at_ms, at_ms, place,
            agent=agent, origin=Origin.USER if is_said else Origin.AGENT,
        )  # fmt: skip
    if not kept.entries:
        yield base.LeftOut(name, "nothing in it is worth a note")


SOURCE = base.Source("@inosx/agent-memory", _read, _find)

"""The memory of Claude Code: `memory/` directories, each with `MEMORY.md` and a file a fact, of projects and of sub-agents."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial

from agent_memory.files.lines import objects_in
from agent_memory.files.paths import names_in
from agent_memory.harness.transcripts import head_of
from agent_memory.imports import base
from agent_memory.note.note import GLOBAL_SCOPE, Harness, Kind

EXPORTED = "agentMemory"
"""The key of what `memory export claude` wrote, which is not read back."""
_INDEX_LINE = re.compile(r"^\s*[-*] \[[^\]\n]*\]\([^)\n]*\.md\).*$", re.MULTILINE)
_KINDS = {"project": Kind.PROJECT, "reference": Kind.FACT}
_OF_AGENTS = ("agent-memory", "agent-memory-local")


def home_of(machine: base.Machine) -> str:
    return machine.directory("CLAUDE_CONFIG_DIR", ".claude")


def cwd_in(transcript: str) -> str | None:
    """Returns the working directory that the beginning of a transcript names."""
    try:
        lines = head_of(transcript).split(b"\n")
    except OSError:
        return None
    found = (each.get("cwd") for line in lines for each in objects_in(line).found)
    return next((cwd for cwd in found if isinstance(cwd, str) and cwd.startswith("/")), None)


def _find(machine: base.Machine) -> Iterator[str]:
    projects = f"{home_of(machine)}/projects"
    yield from (f"{projects}/{slug}/memory" for slug in names_in(projects))
    for place in dict.fromkeys((home_of(machine), *machine.beside(".claude"))):
        yield from (f"{place}/{name}/{agent}" for name in _OF_AGENTS for agent in names_in(f"{place}/{name}"))


def _read(path: str, machine: base.Machine) -> Iterator[base.Found]:
    path = f"{path}/memory" if os.path.isdir(f"{path}/memory") else path
    project = os.path.dirname(path)
    slug = os.path.basename(project)
    transcripts = (f"{project}/{name}" for name in names_in(project) if name.endswith(".jsonl"))
    place = next(filter(None, map(cwd_in, transcripts)), None)
    if slug in _OF_AGENTS:
        slug = re.sub(r"[^A-Za-z0-9]", "-", path)
        place = GLOBAL_SCOPE if path.startswith(home_of(machine)) else base.repository_around(path)
    yield from base.documents(path, partial(_facts, slug=slug, place=place), depth=2)


def _facts(each: base.Document, slug: str, place: str | None) -> Iterator[base.Record]:
    if each.stem == "MEMORY":
        # Mostly an index of the other files; what else stands in it is known nowhere else.
        for heading, text in base.sections(_INDEX_LINE.sub("", each.body)):
            yield base.Record(
                f"{slug}/{each.name}#{heading}", text, heading, updated_at_ms=each.changed_at_ms, place=place,
                project=slug, harness=Harness.CLAUDE_CODE,
            )  # fmt: skip
        return
    inner = each.front.get("metadata")
    if EXPORTED in str(inner):
        return
    front = {**each.front, **inner} if isinstance(inner, dict) else each.front
    about, word = base.Document(each.name, each.body, front, each.changed_at_ms), str(front.get("type", ""))
    yield base.Record(
        f"{slug}/{each.name}",
        each.body,
        base.title_in(about.text("name") or each.stem),
        about.text("description"),
        _KINDS.get(word) or base.kind_of([word]),
        updated_at_ms=about.instant("modified") or each.changed_at_ms,
        place=GLOBAL_SCOPE if word == "user" else place,
        project=slug,
        session_id=about.text("originSessionId") or None,
        names=(each.stem, about.text("name")),
        harness=Harness.CLAUDE_CODE,
    )


SOURCE = base.Source("the memory of Claude Code", _read, _find)

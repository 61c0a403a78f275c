"""The memories that Claude Code and Codex keep by themselves."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from agent_memory.files.paths import names_in
from agent_memory.imports.base import (
    Document,
    Found,
    LeftOut,
    Machine,
    Record,
    Source,
    cwd_in,
    documents,
    keyed,
    kind_of,
    need,
    repository_around,
    sections,
)
from agent_memory.note.note import GLOBAL_SCOPE, Harness, Kind

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
    for base in dict.fromkeys((_claude_home(machine), f"{machine.cwd or machine.home}/.claude")):
        yield from (f"{base}/{name}/{agent}" for name in _OF_AGENTS for agent in names_in(f"{base}/{name}"))


def _claude_home(machine: Machine) -> str:
    return os.path.dirname(machine.claude_projects)


def _read_claude(path: str, machine: Machine) -> Iterator[Found]:
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
        about.text("name").replace("-", " ").replace("_", " ") or each.stem.replace("_", " "),
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
_TASK_MARK = re.compile(r" ?\[(?:Task \d+(?:, ?)?|ad-hoc note)+\][ \t]*$", re.MULTILINE)
_IN_FULL = "MEMORY.md holds what was learnt from it"
_THREAD = re.compile(r"\bthread_id=([\w-]+)")


def _read_codex(path: str, machine: Machine) -> Iterator[Found]:
    need(os.path.isdir(path), path, "there is no such directory")
    for each in documents(path):
        if isinstance(each, LeftOut):
            yield each
        elif each.name == "MEMORY.md":
            for group, text in sections(each.body, 1):
                yield from _task_group(group.removeprefix("Task Group:").strip(), text, each)
        elif each.name == "memory_summary.md":
            for heading, text in sections(each.body):
                if heading in ("User Profile", "General Tips"):
                    yield Record(
                        f"summary#{heading}", text, heading, kind=Kind.PREFERENCE if heading[0] == "U" else Kind.FACT,
                        updated_at_ms=each.changed_at_ms, harness=Harness.CODEX,
                    )  # fmt: skip
                elif heading:
                    yield LeftOut(f"summary: {heading}", _IN_FULL)
        elif each.name.startswith("extensions/ad_hoc/notes/"):
            id = f"ad_hoc/{os.path.basename(each.name)}"
            yield Record(id, each.body, updated_at_ms=each.changed_at_ms, harness=Harness.CODEX)
        else:
            yield LeftOut(each.name, _IN_FULL if each.name.startswith("rollout_summaries/") else "it is no memory")


def _task_group(group: str, text: str, document: Document) -> Iterator[Found]:
    cwd, thread = _CWD.search(text), _THREAD.search(text)
    place = cwd[1].strip() if cwd and cwd[1].strip().startswith("/") else None
    for heading, body in sections(text):
        if heading in _KINDS:
            yield Record(
                f"{group}#{heading}",
                _TASK_MARK.sub("", body),
                f"{group}: {heading.lower()}",
                kind=_KINDS[heading],
                updated_at_ms=document.changed_at_ms,
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

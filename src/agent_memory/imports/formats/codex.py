"""The memories of Codex: task groups in `MEMORY.md`, what it knows of the person in `memory_summary.md`, and ad-hoc notes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial

from agent_memory.imports import base
from agent_memory.note.note import Harness, Kind

_KINDS = {
    "User preferences": Kind.PREFERENCE,
    "Reusable knowledge": Kind.FACT,
    "Failures and how to do differently": Kind.LESSON,
}
_CWD = re.compile(r"\bcwd=([^;\n]+)")
_TASK_MARK = re.compile(r"(?: ?\[(?:Task \d+(?:, ?)?|ad-hoc note)+\])+[ \t]*$", re.MULTILINE)
_UPDATED = re.compile(r"\bupdated_at=([^,;)\s]+)")
_THREAD = re.compile(r"\bthread_id=([\w-]+)")


def _read(path: str, machine: base.Machine) -> Iterator[base.Found]:
    base.need(os.path.isdir(path), path, "it is not a directory")
    return base.documents(path, partial(_found, is_whole=os.path.isfile(f"{path}/MEMORY.md")))


def _found(each: base.Document, is_whole: bool) -> Iterator[base.Found]:
    in_full = f"MEMORY.md {'holds what was learnt from it' if is_whole else 'is not there'}"
    if each.name == "MEMORY.md":
        for group, text in base.sections(each.body, 1):
            yield from _task_group(group.removeprefix("Task Group:").strip(), text, each)
    elif each.name == "memory_summary.md":
        for heading, text in base.sections(each.body):
            if heading in ("User Profile", "General Tips") or (heading == "User preferences" and not is_whole):
                yield base.Record(
                    f"summary#{heading}", text, heading, kind=Kind.PREFERENCE if heading[0] == "U" else Kind.FACT,
                    updated_at_ms=each.changed_at_ms, harness=Harness.CODEX,
                )  # fmt: skip
            elif heading:
                yield base.LeftOut(f"summary: {heading}", in_full)
    elif each.name.startswith("extensions/ad_hoc/notes/"):
        at_ms = base.instant_in(each.stem[:10]) or each.changed_at_ms
        yield base.Record(f"ad_hoc/{each.stem}.md", each.body, updated_at_ms=at_ms, harness=Harness.CODEX)
    else:
        yield base.LeftOut(each.name, in_full if each.name.startswith("rollout_summaries/") else "it is no memory")


def _task_group(group: str, text: str, document: base.Document) -> Iterator[base.Found]:
    cwd, thread = _CWD.search(text), _THREAD.search(text)
    project = cwd[1].strip() if cwd else group
    said_at = filter(None, map(base.instant_in, _UPDATED.findall(text)))  # Codex writes the whole file anew
    at_ms = max(said_at, default=document.changed_at_ms)
    for heading, body in base.sections(text):
        if heading in _KINDS:
            yield base.Record(
                f"{group}#{heading}",
                _TASK_MARK.sub("", body),
                f"{group}: {heading.lower()}",
                kind=_KINDS[heading],
                updated_at_ms=at_ms,
                place=project if cwd and project.startswith("/") else None,
                project=project,
                harness=Harness.CODEX,
                session_id=thread[1] if thread else None,
            )


SOURCE = base.Source(
    "the memories of Codex", _read, lambda machine: [f"{machine.directory('CODEX_HOME', '.codex')}/memories"]
)

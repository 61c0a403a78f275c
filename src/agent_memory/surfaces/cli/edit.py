"""`memory edit`: by flags, or in the person's editor."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.bootstrap import Memory
from agent_memory.domain.entry import MemoryEntry, StoredEntry
from agent_memory.domain.note_draft import MetaPatch
from agent_memory.domain.results import sealed
from agent_memory.domain.tags import split_tags
from agent_memory.domain.vocabulary import Importance, Kind, Sensitivity
from agent_memory.errors import EntryInvalid, Error, UsageInvalid
from agent_memory.formats.note import parse_note, render_note
from agent_memory.surfaces.cli.opening import add_id, report_change, with_memory
from agent_memory.surfaces.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--title")
    parser.add_argument("--description")
    parser.add_argument("--body", help="the new text; `-` reads it from standard input")
    parser.add_argument("--tags", help="the new tags, separated by commas or spaces")
    parser.add_argument("--kind", choices=[each.value for each in Kind])
    parser.add_argument("--importance", choices=[each.value for each in Importance])
    parser.add_argument("--sensitivity", choices=[each.value for each in Sensitivity])
    parser.add_argument("--scope")
    parser.epilog = "Without any of these the note opens in $VISUAL or $EDITOR. The earlier text stays in the archive."


def run(arguments: argparse.Namespace, console: Console) -> int:
    def edit(memory: Memory) -> int:
        patch = MetaPatch(
            title=arguments.title,
            description=arguments.description,
            tags=None if arguments.tags is None else split_tags(arguments.tags),
            kind=Kind(arguments.kind) if arguments.kind else None,
            scope=arguments.scope,
            importance=Importance(arguments.importance) if arguments.importance else None,
            sensitivity=Sensitivity(arguments.sensitivity) if arguments.sensitivity else None,
        )
        if patch == MetaPatch() and arguments.body is None:
            return report_change(console, "Edited", _edit_in_editor(memory, arguments.id))
        return report_change(console, "Edited", _edit_by_flags(memory, arguments.id, patch, arguments.body))

    return with_memory(console, edit)


def _edit_by_flags(memory: Memory, id: str, patch: MetaPatch, body: str | None) -> Result[StoredEntry, Error]:
    text = sys.stdin.buffer.read().decode("utf-8", "replace") if body == "-" else body
    return memory.service.edit(id, patch, text)


def _edit_in_editor(memory: Memory, id: str) -> Result[StoredEntry, Error]:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor or not sys.stdin.isatty():
        hint = "Set EDITOR, or say what to change: --title, --body, --tags …"
        return Failure(UsageInvalid("There is no editor to open the note in", hint))
    return memory.store.read(id).bind(lambda stored: _edited(memory, stored, shlex.split(editor)))


def _edited(memory: Memory, stored: StoredEntry, editor: list[str]) -> Result[StoredEntry, Error]:
    with tempfile.TemporaryDirectory(prefix="agent-memory-") as directory:
        path = Path(directory) / f"{stored.meta.id}.md"
        path.write_text(render_note(stored.entry, None), encoding="utf-8")
        finished = subprocess.run([*editor, str(path)], check=False)
        if finished.returncode != 0:
            return Failure(UsageInvalid(f"The editor ended with status {finished.returncode}", "Nothing was changed."))
        text = path.read_text(encoding="utf-8", errors="replace")
    match sealed(parse_note(text, stored.meta.id, stored.meta.updated_at_ms)):
        case Failure(unreadable):
            return Failure(EntryInvalid(unreadable.problems))
        case Success(parsed):
            return memory.service.replace(
                stored.meta.id, MemoryEntry(parsed.meta, parsed.body), stored.listed.content_hash
            )

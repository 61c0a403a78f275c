"""A note in the person's editor. What they typed is never thrown away: where it cannot be stored, its file stays."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from returns.result import Failure

from agent_memory.domain.entry import MemoryEntry, StoredEntry
from agent_memory.errors import ERRORS, EntryInvalid, UsageInvalid
from agent_memory.formats.note import parse_note, render_note

Store = Callable[[MemoryEntry], StoredEntry]
Tell = Callable[[str], None]


def editor_of(environ: Mapping[str, str], hint: str) -> tuple[str, ...]:
    """The command in VISUAL or EDITOR, split like a shell would; UsageInvalid where there is none."""
    command = environ.get("VISUAL") or environ.get("EDITOR") or ""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageInvalid(f"The editor {command!r} is no command: {error}", hint) from None
    if not words:
        raise UsageInvalid("There is no editor to open the note in: EDITOR is not set", hint)
    return tuple(words)


def edited_in(editor: Sequence[str], stored: StoredEntry, store: Store, tell: Tell) -> StoredEntry:
    """What `store` makes of the note as the person leaves it; the note as it is when they changed nothing. `tell` hears
    where the file is if it stays."""
    directory = Path(tempfile.mkdtemp(prefix="agent-memory-"))
    path = directory / f"{stored.meta.id}.md"
    before = render_note(stored.entry, None)
    path.write_text(before, "utf-8")
    problem = _problem_of_editing(editor, path)
    if problem is not None:
        shutil.rmtree(directory, ignore_errors=True)
        raise UsageInvalid(problem, "Nothing was changed.")
    text = path.read_bytes()
    try:
        changed = stored if text == before.encode() else store(_parsed(text, stored))
    except ERRORS:
        tell(f"What you wrote is kept in {path}.")
        raise
    shutil.rmtree(directory, ignore_errors=True)
    return changed


def _problem_of_editing(editor: Sequence[str], path: Path) -> str | None:
    try:
        finished = subprocess.run([*editor, str(path)], check=False)
    except OSError as error:
        return f"The editor {editor[0]} could not be started: {error.strerror}"
    if finished.returncode != 0:
        return f"The editor ended with status {finished.returncode}"
    return None if path.is_file() else f"The editor left no file {path}"


def _parsed(text: bytes, stored: StoredEntry) -> MemoryEntry:
    parsed = parse_note(text, stored.meta.id, stored.meta.updated_at_ms)
    if isinstance(parsed, Failure):
        raise EntryInvalid(parsed.failure().problems)
    return MemoryEntry(parsed.unwrap().meta, parsed.unwrap().body)

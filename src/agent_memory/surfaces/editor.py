"""A note in the person's editor. What they typed is never thrown away: where it cannot be stored, its file stays."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.domain.entry import MemoryEntry, StoredEntry
from agent_memory.errors import EntryInvalid, Error, UsageInvalid
from agent_memory.formats.note import parse_note, render_note
from agent_memory.results import sealed

Store = Callable[[MemoryEntry], Result[StoredEntry, Error]]
Tell = Callable[[str], None]


def editor_of(environ: Mapping[str, str]) -> Result[tuple[str, ...], str]:
    """The command in VISUAL or EDITOR, split like a shell would; what is wrong where there is none."""
    command = environ.get("VISUAL") or environ.get("EDITOR") or ""
    try:
        words = shlex.split(command)
    except ValueError as error:
        return Failure(f"The editor {command!r} is no command: {error}")
    return Success(tuple(words)) if words else Failure("There is no editor to open the note in: EDITOR is not set")


def edited_in(editor: Sequence[str], stored: StoredEntry, store: Store, tell: Tell) -> Result[StoredEntry, Error]:
    """What `store` makes of the note as the person leaves it; the note as it is when they changed nothing. `tell` hears
    where the file is if it stays."""
    directory = Path(tempfile.mkdtemp(prefix="agent-memory-"))
    path = directory / f"{stored.meta.id}.md"
    before = render_note(stored.entry, None)
    path.write_text(before, "utf-8")
    problem = _problem_of_editing(editor, path)
    if problem is not None:
        shutil.rmtree(directory, ignore_errors=True)
        return Failure(UsageInvalid(problem, "Nothing was changed."))
    text = path.read_bytes()
    changed = Success(stored) if text == before.encode() else _parsed(text, stored).bind(store)
    match sealed(changed):
        case Failure(error):
            tell(f"What you wrote is kept in {path}.")
            return Failure(error)
        case Success(_):
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


def _parsed(text: bytes, stored: StoredEntry) -> Result[MemoryEntry, Error]:
    match sealed(parse_note(text, stored.meta.id, stored.meta.updated_at_ms)):
        case Failure(unreadable):
            return Failure(EntryInvalid(unreadable.problems))
        case Success(parsed):
            return Success(MemoryEntry(parsed.meta, parsed.body))

"""The commits that touched one file of the store."""

from __future__ import annotations

from returns.result import Result, Success

from agent_memory.adapters.disk.paths import is_there
from agent_memory.adapters.git.git_process import GitOutput, GitProcess
from agent_memory.domain.explaining.entry_story import Revision
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import Error

_LINE_CHARS = 200
_FORMAT = "%h%x00%aI%x00%an%x00%s"
_FIELDS = 4


def revisions_of(git: GitProcess, path: str, most: int) -> Result[tuple[Revision, ...], Error]:
    """The newest commits that touched a file (its path relative to the root), through its renames; newest first.

    None where there is no repository, or git knows nothing of the file. What other programs wrote into a commit is
    shown on one clean line without secrets.
    """

    def told() -> Result[tuple[Revision, ...], Error]:
        asked = git.run("log", "--follow", f"--max-count={most}", f"--format={_FORMAT}", "-z", "--", path)
        return asked.map(lambda output: _revisions(output) if output.ok else ())

    return is_there(str(git.root / ".git")).bind(lambda is_here: told() if is_here else Success(()))


def is_in_history(git: GitProcess, path: str) -> Result[bool, Error]:
    """Whether any commit, of any branch, knows of this file."""
    asked = git.run("rev-list", "--all", "--full-history", "--max-count=1", "--", path)
    return asked.map(lambda output: output.ok and bool(output.stdout.strip()))


def _revisions(output: GitOutput) -> tuple[Revision, ...]:
    words = output.stdout.decode("utf-8", "replace").split("\0")
    rows = (words[at : at + _FIELDS] for at in range(0, len(words) - _FIELDS + 1, _FIELDS))
    return tuple(Revision(*(_shown(word) for word in row)) for row in rows)


def _shown(word: str) -> str:
    return one_line(redact(word).text, _LINE_CHARS)

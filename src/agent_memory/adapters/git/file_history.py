"""The commits that touched one file of the store."""

from __future__ import annotations

from collections.abc import Iterator

from returns.result import Result, Success

from agent_memory.adapters.disk.paths import is_there
from agent_memory.adapters.git.git_process import GitOutput, GitProcess
from agent_memory.domain.explaining.entry_story import Revision
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.file_name import id_in_name
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import Error

_LINE_CHARS = 200
_BEGINS = "\x01"
_FORMAT = "%x01%h%x00%aI%x00%an%x00%s"
_FIELDS = 4


def revisions_of(git: GitProcess, path: str, most: int) -> Result[tuple[Revision, ...], Error]:
    """The newest commits that touched a note (the path of its file relative to the root), under whatever title; newest first.

    None where there is no repository, or git knows nothing of the file. What other programs wrote into a commit is
    shown on one clean line without secrets.
    """

    def told() -> Result[tuple[Revision, ...], Error]:
        asked = git.run(
            "log", "--follow", "--name-only", f"--max-count={most}", f"--format={_FORMAT}", "-z", "--", path
        )
        return asked.map(lambda output: tuple(_revisions(output, _id_in(path))) if output.ok else ())

    return is_there(str(git.root / ".git")).bind(lambda is_here: told() if is_here else Success(()))


def is_in_history(git: GitProcess, path: str) -> Result[bool, Error]:
    """Whether any commit, of any branch, knows of this file."""
    asked = git.run("rev-list", "--all", "--full-history", "--max-count=1", "--", path)
    return asked.map(lambda output: output.ok and bool(output.stdout.strip()))


def _revisions(output: GitOutput, id: str | None) -> Iterator[Revision]:
    """Up to where the file bears another id: git takes a note that began as a copy of another one for that one, renamed."""
    for row in output.stdout.decode("utf-8", "replace").removeprefix(_BEGINS).split(f"\0{_BEGINS}"):
        words = row.split("\0")
        paths = [word.lstrip("\n") for word in words[_FIELDS:] if word]
        if len(words) < _FIELDS or any(_id_in(path) not in (None, id) for path in paths):
            return
        yield Revision(*map(_shown, words[:_FIELDS]))


def _id_in(path: str) -> str | None:
    return id_in_name(path.rpartition("/")[2])


def _shown(word: str) -> str:
    return one_line(redact(word).text, _LINE_CHARS)

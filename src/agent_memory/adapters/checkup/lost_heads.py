"""Notes whose frontmatter was lost get it back from git, above the text that they have now."""

from __future__ import annotations

from returns.result import Failure, Result, Success

from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.adapters.store.entry_files import read_image, understand
from agent_memory.adapters.store.transaction import Transactions
from agent_memory.domain.recording.file_change import FileChange, FileState
from agent_memory.domain.results import sealed
from agent_memory.errors import Error
from agent_memory.formats.frontmatter import split_note

_LOOKED_BACK = 20
"""Commits of one file. The newest but one has the frontmatter, unless the loss went unnoticed through many edits."""


def restore_head(git: GitProcess, path: str) -> Result[bool, Error]:
    """Whether the note (its path below the root) has its last recorded frontmatter again; the write lock is held."""
    match sealed(read_image(str(git.root), path)):
        case Failure(error):
            return Failure(error)
        case Success(image):
            if image is None:
                return Success(False)
            block = _last_block(git, path)
            data = b"" if block is None else _with_head(block, image.data.decode("utf-8", "replace")).encode()
            if not data or isinstance(understand(path, data, image.mtime_ns), Failure):
                return Success(False)
            change = FileChange(path, FileState(image.data, image.mtime_ns), FileState(data))
            transactions = Transactions(str(git.root))
            return transactions.recover().bind(lambda _: transactions.commit((change,)))


def _last_block(git: GitProcess, path: str) -> str | None:
    commits = git.run("log", f"--max-count={_LOOKED_BACK}", "--format=%H", "--", path)
    for commit in commits.map(lambda output: output.stdout.decode().split()).value_or([]):
        shown = git.run("show", f"{commit}:{path}")
        text = shown.map(lambda output: output.stdout.decode("utf-8", "replace")).value_or("")
        parts = split_note(text).value_or(None)
        if parts is not None and parts.block is not None:
            return parts.block
    return None


def _with_head(block: str, text: str) -> str:
    """The text below the whole frontmatter: the lines of it that the text still begins with are not doubled."""
    lines = [*block.splitlines(keepends=True), "---\n"]
    tails = ("".join(lines[at:]) for at in range(len(lines)))
    left = next((tail for tail in tails if text.startswith(tail)), "")
    return f"---\n{block}---\n{text[len(left) :] if left else chr(10) + text}"

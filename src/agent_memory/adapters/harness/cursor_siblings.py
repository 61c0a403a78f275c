"""Which conversations of Cursor are a sub-agent's: its printing mode keeps these beside the one that they work for, and
nothing in them says so."""

from __future__ import annotations

import os
from collections.abc import Iterator

from agent_memory.adapters.disk.json_lines import objects_in
from agent_memory.adapters.disk.lines import MAX_LINE_BYTES, Line, read_lines
from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.harness.any_json import mapping_at, objects_at, text_at
from agent_memory.adapters.harness.transcript_roots import TranscriptRoots, file_beside, transcript

TRANSCRIPTS = "agent-transcripts"
_SUB_AGENTS = "/subagents/"
_LOOKED_AT = 20


def is_sub_agents(path: str) -> bool:
    """Whether the transcript's place says that it is a sub-agent's."""
    return _SUB_AGENTS in path


def is_delegated(roots: TranscriptRoots, path: str, prompt: str) -> bool:
    """Whether a conversation beside this one handed exactly this prompt to a sub-agent. Of many the twenty that were
    written to at about the same time are looked at."""
    wanted = " ".join(prompt.split())
    return bool(wanted) and any(wanted in _delegated(roots, sibling) for sibling in _siblings(path))


def _siblings(path: str) -> list[str]:
    directory = _directory_of(path)
    if directory is None:
        return []
    try:
        names = os.listdir(directory)
    except (FileNotFoundError, NotADirectoryError):
        return []
    paths = [f"{directory}/{name}" if name.endswith(".jsonl") else f"{directory}/{name}/{name}.jsonl" for name in names]
    at = _changed_at(path)
    others = [other for other in paths if other != path and lies_there(other)]
    return sorted(others, key=lambda other: abs(_changed_at(other) - at))[:_LOOKED_AT]


def _directory_of(path: str) -> str | None:
    """The directory of all of a project's conversations: of this one's own, or that of its own directory."""
    parent, name = os.path.split(path)
    above, own = os.path.split(parent)
    return above if name.startswith(f"{own}.") else parent if own == TRANSCRIPTS else None


def _delegated(roots: TranscriptRoots, path: str) -> set[str]:
    with transcript(roots, path, "") as opened:
        file = file_beside(opened, path)
        if file is None or file.size_bytes > MAX_LINE_BYTES:
            return set()
        return set(_prompts_in(read_lines(file.descriptor, file.size_bytes)))


def _prompts_in(pieces: Iterator[object]) -> Iterator[str]:
    for piece in pieces:
        if not isinstance(piece, Line) or b'"prompt"' not in piece.data:
            continue
        for value in objects_in(piece.data).found:
            for block in objects_at(mapping_at(value, "message"), "content"):
                prompt = text_at(mapping_at(block, "input"), "prompt")
                if value.get("role") == "assistant" and prompt:
                    yield " ".join(prompt.split())


def _changed_at(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0

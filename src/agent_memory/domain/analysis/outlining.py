"""Looking at a note by itself for what an analysis keeps of its text."""

from __future__ import annotations

from agent_memory.domain.analysis.outline import Outline, Profile
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.text.code_spans import find_code
from agent_memory.domain.text.links import find_links


def outline_of(stored: StoredEntry) -> Outline:
    """The outline of one entry."""
    body = stored.body
    fences = find_code(body).fences if "```" in body or "~~~" in body else ()
    return Outline(
        Profile(len(body), _lines(body)),
        links=tuple(dict.fromkeys(link.target for link in find_links(body) if link.target.startswith("id__"))),
        code_lines=sum(_lines(body[start:end]) for start, end in fences),
        code_chars=sum(end - start for start, end in fences),
    )


def _lines(text: str) -> int:
    return sum(1 for line in text.split("\n") if line.strip())

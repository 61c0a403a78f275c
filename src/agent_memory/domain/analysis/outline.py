"""What is left to be known of a note's text once it has been compared with all others."""

from __future__ import annotations

from agent_memory.domain.entry import Meta, StoredEntry
from agent_memory.domain.findings import Profile
from agent_memory.domain.planning.directives import is_directive, is_directive_kind
from agent_memory.domain.text.code_spans import find_code
from agent_memory.domain.text.links import find_links
from agent_memory.values import frozen


@frozen
class Outline:
    """Of one note, whatever else is in the store."""

    profile: Profile
    links: tuple[str, ...] = ()
    """Ids that it links to, outside code, each once, in their order."""
    code_lines: int = 0
    """Lines of fenced code that are not blank."""
    code_chars: int = 0


def outline_of(stored: StoredEntry) -> Outline:
    """The outline of one entry."""
    body = stored.body
    fences = find_code(body).fences if "```" in body or "~~~" in body else ()
    return Outline(
        Profile(len(body), _lines(body), _commands(stored.meta, body)),
        links=tuple(dict.fromkeys(link.target for link in find_links(body) if link.target.startswith("id__"))),
        code_lines=sum(_lines(body[start:end]) for start, end in fences),
        code_chars=sum(end - start for start, end in fences),
    )


def _commands(meta: Meta, body: str) -> bool:
    return is_directive_kind(meta.kind) or is_directive(f"{meta.title}\n{meta.description}\n{body}")


def _lines(text: str) -> int:
    return sum(1 for line in text.split("\n") if line.strip())

"""What a note says in prose: without links, the line of links at its end, and fenced code."""

from __future__ import annotations

import re

from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.planning.linking import without_links
from agent_memory.domain.planning.statements import statements
from agent_memory.domain.text.code_spans import find_code
from agent_memory.domain.text.links import without_see_also
from agent_memory.domain.text.terms import content_terms
from agent_memory.domain.vocabulary import Kind

_SPAN = re.compile(r"`([^`\n]{2,80})`")
_MOMENTARY = (Kind.HANDOFF, Kind.TASK)


def said_in(body: str) -> str:
    """The body with each link replaced by its label, without the links at its end; code stays."""
    text = without_see_also(body)
    return "\n".join(map(without_links, text.split("\n"))) if "[[" in text else text


def said_terms(text: str) -> frozenset[str]:
    """The content words of a text, and the code that it names (each in backticks)."""
    named = {f"`{span.strip().lower()}`" for span in _SPAN.findall(text)} if "`" in text else set[str]()
    return content_terms(text) | named


def sentences_of(stored: StoredEntry) -> tuple[str, ...]:
    """The sentences of title and body outside fenced code, each once.

    None of a handoff or task: what they say was so at one moment, and the next one may say otherwise.
    """
    if stored.meta.kind in _MOMENTARY:
        return ()
    prose = said_in(_without_fences(stored.body))
    return tuple(dict.fromkeys((*statements(stored.meta.title), *statements(prose))))


def _without_fences(body: str) -> str:
    if "```" not in body and "~~~" not in body:
        return body
    parts, position = list[str](), 0
    for start, end in find_code(body).fences:
        parts.append(body[position:start])
        position = end
    return "\n".join((*parts, body[position:]))

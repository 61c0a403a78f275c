"""A text as it is compared: what may be written differently without anything being lost is made the same or taken out."""

from __future__ import annotations

import re

from agent_memory.domain.defragging.iso_dates import with_iso_dates
from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.text.code_spans import find_code
from agent_memory.domain.text.derive import derive_description
from agent_memory.domain.text.links import find_links

_LIST_NUMBER = re.compile(r"(?m)^([ \t>]*)\d{1,3}[.)](?=[ \t])")
_SHOUTED = re.compile(
    r"\b(?:NEVER|ALWAYS|MUST|NOT|DO|DON|ONLY|ALL|ANY|NO|NOTE|IMPORTANT|WARNING|CAUTION|ATTENTION|NUNCA|SEMPRE|NÃO|IMPORTANTE)\b"
)
"""Function words in capitals, which are acronyms to nobody."""
_WORD = re.compile(r"\S+")


def said_by(entry: MemoryEntry) -> str:
    """All that an entry says: title, description where it is more than the body's beginning, and body."""
    meta, body = entry.meta, entry.body
    is_derived = meta.description == derive_description(body) or meta.description.rstrip("…") in body
    return "\n".join((meta.title, *(() if is_derived else (meta.description,)), body))


def comparable(text: str) -> str:
    """The text without targets of links and numbers of lists, dates in one spelling, shouted words in lower case.

    What is in code stays as it is.
    """
    parts, position = list[str](), 0
    text = without_targets(text)
    for start, end in find_code(text).ranges:
        parts += [_spoken(text[position:start]), text[start:end]]
        position = end
    return "".join((*parts, _spoken(text[position:])))


def without_targets(text: str) -> str:
    """The text with each link replaced by its label, or by nothing where it has none."""
    parts, position = list[str](), 0
    for link in find_links(text):
        parts += [text[position : link.start], link.label or ""]
        position = link.end
    return "".join((*parts, text[position:]))


def _spoken(text: str) -> str:
    text = _SHOUTED.sub(lambda word: word[0].lower(), _LIST_NUMBER.sub(r"\1", text))
    return with_iso_dates(_WORD.sub(lambda word: _without_end(word[0]) if "/" in word[0] else word[0], text))


def _without_end(path: str) -> str:
    """A path or URL, the end of its sentence set apart from it."""
    bare = path.rstrip(".,;:!?")
    return f"{bare} {path[len(bare) :]}" if bare != path and (bare[-1:].isalnum() or bare[-1:] == "/") else path

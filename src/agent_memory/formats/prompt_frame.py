"""The frame that every prompt shares: the marker on the first line by which our own calls are recognised (P23), the nonce
on the second and nowhere else, and data from outside that is cleaned (P18), redacted (P20) and can close no fence."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from attrs import field, frozen
from attrs.validators import min_len

from agent_memory.domain.redaction import redact
from agent_memory.domain.text.plain_text import clean_text
from agent_memory.domain.transcripts.own_marks import PROMPT_MARKER

_PLACE = re.compile(r"\{\{(\w+)\}\}")


@frozen
class Frame:
    """The random words of one prompt, of at least 64 bits each."""

    nonce: str = field(validator=min_len(8))
    fence: str = field(validator=min_len(8))

    def fenced(self, text: str) -> str:
        """Plain text as it may stand in a fence."""
        for word in (self.nonce, self.fence):
            text = re.sub(re.escape(word), "[…]", text, flags=re.IGNORECASE)
        return text

    def note(self, id: str, text: str) -> str:
        """A note in full, in a fence of its own."""
        return f"<<<{self.fence} note {id}\n{self.fenced(text)}\n{self.fence}>>>"

    def filled(self, template: str, parts: Mapping[str, str]) -> str:
        """The prompt: marker, nonce, and the template with its places filled. Places in the parts are not filled again."""
        text = _PLACE.sub(lambda place: parts.get(place[1], place[0]), template.strip("\n"))
        return f"{PROMPT_MARKER}\nnonce: {self.nonce}\n\n{text}\n"


def template_problems(template: str, places: Collection[str]) -> tuple[str, ...]:
    """What makes a text unusable as the template of a prompt that has a `{{place}}` for each of these."""
    there = _PLACE.findall(template)
    missing = tuple(f"{{{{{place}}}}} is missing" for place in places if place not in there)
    return missing + tuple(f"{{{{{place}}}}} is unknown" for place in dict.fromkeys(there) if place not in places)


def plain(text: str) -> str:
    """One piece of text from outside, cleaned and redacted by itself: no secret reaches over its end."""
    return redact(clean_text(text).text).text


def fitting(lines: Iterable[str], max_chars: int) -> list[str]:
    """The first lines that fit, each with its line end."""
    kept: list[str] = []
    for line in lines:
        max_chars -= len(line) + 1
        if max_chars < 0:
            break
        kept.append(line)
    return kept

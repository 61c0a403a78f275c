"""The frame that every prompt shares: the marker on the first line by which our own calls are recognised (P23), the nonce
on the second and nowhere else, and data from outside that is cleaned (P18), redacted (P20) and can close no fence."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from agent_memory.domain.redaction import redact
from agent_memory.domain.text.plain_text import clean_text
from agent_memory.domain.transcripts.own_marks import PROMPT_MARKER

_PLACE = re.compile(r"\{\{(\w+)\}\}")


def template_problems(template: str, places: Collection[str]) -> tuple[str, ...]:
    """What makes a text unusable as the template of a prompt that has a `{{place}}` for each of these."""
    there = _PLACE.findall(template)
    missing = tuple(f"{{{{{place}}}}} is missing" for place in places if place not in there)
    return missing + tuple(f"{{{{{place}}}}} is unknown" for place in dict.fromkeys(there) if place not in places)


def fill_template(template: str, parts: Mapping[str, str], nonce: str) -> str:
    """The prompt: marker, nonce, and the template with its places filled. Places in the parts are not filled again."""
    filled = _PLACE.sub(lambda place: parts.get(place[1], place[0]), template.strip("\n"))
    return f"{PROMPT_MARKER}\nnonce: {nonce}\n\n{filled}\n"


def plain(text: str) -> str:
    """One piece of text from outside, cleaned and redacted by itself: no secret reaches over its end."""
    return redact(clean_text(text).text).text


def fenced(text: str, nonce: str, fence: str) -> str:
    """Plain text as it may stand in a fence."""
    for word in (nonce, fence):
        text = re.sub(re.escape(word), "[…]", text, flags=re.IGNORECASE)
    return text

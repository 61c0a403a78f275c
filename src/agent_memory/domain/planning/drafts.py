"""A proposed text made fit to be stored: nothing hidden in it (P18), no secret (P20), within the limits."""

from __future__ import annotations

from collections.abc import Iterable

from agent_memory.domain.change import Dropped
from agent_memory.domain.planning.body_checks import MAX_BODY_CHARS, text_problems
from agent_memory.domain.planning.linking import without_links
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.derive import MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS
from agent_memory.domain.text.plain_text import clean_text, one_line
from agent_memory.domain.text.tags import normal_tags

MAX_TAGS = 20

_MAX_SUBJECT_CHARS = 80
_MAX_AGENT_CHARS = 80
_MAX_REASON_CHARS = 500
_UNBOUNDED_CHARS = 1_000_000


def stored_line(text: str, max_chars: int = _UNBOUNDED_CHARS) -> str:
    """One clean line without secrets, at most `max_chars` characters."""
    return one_line(redact(one_line(text, _UNBOUNDED_CHARS)).text, max_chars)


def stored_subject(title: str) -> str:
    """What an entry is called in a report."""
    return stored_line(title, _MAX_SUBJECT_CHARS) or "an entry without a title"


def stored_refusal(dropped: Dropped) -> Dropped:
    """What a report says of an item that was refused before it came here."""
    reasons = tuple(stored_line(reason, _MAX_REASON_CHARS) for reason in dropped.reasons)
    return Dropped(stored_subject(dropped.subject), reasons)


def stored_title(text: str) -> str:
    """A clean title without secrets and links; it may be too long or empty."""
    return without_links(stored_line(text))


def stored_description(text: str) -> str:
    """A clean description without secrets and links, cut at its limit."""
    return one_line(without_links(stored_line(text)), MAX_DESCRIPTION_CHARS)


def stored_agent(text: str) -> str | None:
    """What an agent calls itself, as it is kept and looked for; None where nothing of it is left."""
    return stored_line(text, _MAX_AGENT_CHARS) or None


def stored_body(text: str) -> str:
    """A clean body without secrets, without blank lines around it."""
    return redact(clean_text(text).text).text.strip("\n").rstrip()


def stored_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """The normal tags without those that hold a secret; at most `MAX_TAGS`."""
    return normal_tags(text for text in texts if redact(text).text == text)[:MAX_TAGS]


def title_problems(title: str) -> tuple[str, ...]:
    """Why a stored title is not acceptable."""
    if not any(character.isalnum() for character in title):
        return ("the title is empty",)
    if len(title) > MAX_TITLE_CHARS:
        return (f"the title has {len(title):,} characters, at most {MAX_TITLE_CHARS} are allowed",)
    return tuple(f"the title {problem}" for problem in text_problems(title))


def body_problems(body: str, before: str = "") -> tuple[str, ...]:
    """Why a stored body is not acceptable; `before` is the body that it replaces."""
    if not any(character.isalnum() for character in body):
        return ("the body is empty",)
    if len(body) > MAX_BODY_CHARS:
        return (f"the body has {len(body):,} characters, at most {MAX_BODY_CHARS:,} are allowed",)
    return tuple(f"the body {problem}" for problem in text_problems(body, before))

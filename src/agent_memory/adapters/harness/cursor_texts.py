"""What a person typed, out of what Cursor records as a user's text (2025 to 2026.09).

Since the summer of 2026: `<timestamp>Tuesday, Sep 29, 2026, 2:29 AM (UTC-4)</timestamp>` and `<user_query>…</user_query>`,
each on lines of its own; before, the query alone; before that, the bare text. What stands outside the query is Cursor's:
rules, open files, the contents of attached ones.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from agent_memory.domain.transcripts.own_marks import without_own_text
from agent_memory.values import frozen

_TIMESTAMP = re.compile(r"<timestamp>([^<]{0,100})</timestamp>")
_CLOCK = re.compile(
    r"(?:[A-Za-z]+, )?([A-Za-z]{3})[a-z]* (\d{1,2}), (\d{4}),? (\d{1,2}):(\d\d)(?::(\d\d))?\s*([AP]M)?"
    r"\s*(?:\((?:UTC|GMT)(?:([+-])(\d{1,2})(?::?(\d\d))?)?\))?",
    re.ASCII,
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_OWN_LINE = re.compile(r"^<user_query>[ \t]*$", re.MULTILINE)
_OPENING, _CLOSING = "<user_query>", "</user_query>"
_WRAPPED = re.compile(r"<([a-z][a-z0-9_-]{2,40})(?:\s[^<>]{0,300})?>.*</\1>", re.DOTALL)
"""A text that is one element as a whole: nobody types that, and Cursor puts rules and tools into a session so."""


@frozen
class Query:
    """What is left of a text."""

    text: str = ""
    raw: str = ""
    """As typed, for recognising our own prompts."""
    at_ms: int | None = None
    """To the minute: the only clock of a transcript."""
    tagged: bool = False
    """It was inside the tags of a query."""


def typed_query(text: str, *, tags_expected: bool = False) -> Query:
    """The person's words in a text; none where it is all Cursor's. With `tags_expected` (others of the session had tags) a
    text without tags is Cursor's."""
    stamp = _TIMESTAMP.search(text[:1_000])
    at_ms = _ms_of_clock(stamp[1]) if stamp else None
    inside = _inside(text)
    if inside is not None:
        return Query(without_own_text(inside).strip(), inside.strip(), at_ms, tagged=True)
    rest = _TIMESTAMP.sub("", text, count=1).strip() if stamp else text.strip()
    if tags_expected or _WRAPPED.fullmatch(rest):
        return Query(at_ms=at_ms)
    return Query(without_own_text(rest).strip(), rest, at_ms)


def _inside(text: str) -> str | None:
    """The query comes last: a file attached above it may hold the tags too. Alone on their line they are Cursor's sooner
    than a person's."""
    closed_at = text.rfind(_CLOSING)
    if closed_at < 0:
        return None
    own_lines = list(_OWN_LINE.finditer(text, 0, closed_at))
    opened_at = own_lines[-1].start() if own_lines else text.find(_OPENING, 0, closed_at)
    return text[opened_at + len(_OPENING) : closed_at] if opened_at >= 0 else None


def _ms_of_clock(text: str) -> int | None:
    found = _CLOCK.fullmatch(text.strip())
    if found is None or found[1].title() not in _MONTHS:
        return None
    month, day, year, hour, minute, second, half, sign, zone_hours, zone_minutes = found.groups()
    hours = int(hour) % 12 + (12 if half == "PM" else 0) if half else int(hour)
    offset = timedelta(hours=int(zone_hours or 0), minutes=int(zone_minutes or 0))
    try:
        zone = timezone(-offset if sign == "-" else offset) if offset else UTC
        at = datetime(
            int(year), _MONTHS.index(month.title()) + 1, int(day), hours, int(minute), int(second or 0), tzinfo=zone
        )
    except ValueError:
        return None
    return int(at.timestamp()) * 1000

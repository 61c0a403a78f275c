"""What a person typed, out of what Cursor records as a user's text (2025 to 2026.09).

Since the summer of 2026: `<timestamp>Tuesday, Sep 29, 2026, 2:29 AM (UTC-4)</timestamp>` and `<user_query>…</user_query>`,
each on lines of its own; before, the query alone; before that, the bare text. What stands outside the query is Cursor's:
rules, open files, the contents of attached ones.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from attrs import frozen

from agent_memory.domain.transcripts.own_marks import typed_words

_TIMESTAMP = re.compile(r"<timestamp>([^<]{0,100})</timestamp>")
_CLOCK = re.compile(
    r"(?:[A-Za-z]+, )?([A-Za-z]{3})[a-z]* (\d{1,2}), (\d{4}),? (\d{1,2}):(\d\d)(?::(\d\d))?\s*([AP]M)?"
    r"\s*(?:\((?:UTC|GMT)(?:([+-])(\d{1,2})(?::?(\d\d))?)?\))?",
    re.ASCII,
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_OPENING, _CLOSING = "<user_query>", "</user_query>"
_OWN_LINE_CLOSING = re.compile(r"^</user_query>[ \t]*$", re.MULTILINE)
_MAX_ELEMENTS = 100
_ELEMENT = re.compile(r"\s*<([A-Za-z][\w-]*)(\s?/>)?")
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


def typed_query(*texts: str, tags_expected: bool = False) -> Query:
    """The person's words in the texts of one record; none where it is all Cursor's. With `tags_expected` (others of the
    session had tags) a text without tags is Cursor's."""
    text = "\n\n".join(texts)
    stamp = _TIMESTAMP.search(text[:1_000])
    at_ms = _ms_of_clock(stamp[1]) if stamp else None
    if _CLOSING in text.partition(_OPENING)[2]:
        inside = _inside(text)
        return Query(typed_words(inside), inside.strip(), at_ms, tagged=True)
    bare = (_TIMESTAMP.sub("", each, count=1).strip() for each in texts)
    rest = "\n\n".join(each for each in bare if each and not _WRAPPED.fullmatch(each))
    return Query(at_ms=at_ms) if tags_expected else Query(typed_words(rest), rest, at_ms)


def _inside(text: str) -> str:
    """What the one query holds that stands outside of all other elements; nothing where it cannot be told which that is. An
    attached file may hold any tag, so its element reaches to the last end of it."""
    found = ""
    at = 0
    for _ in range(_MAX_ELEMENTS):
        opened = _ELEMENT.match(text, at)
        if opened is None:
            return found if text.find(_OPENING, at) < 0 else ""
        tag, at = opened[1], opened.end()
        if tag == "user_query" and found:
            return ""
        if opened[2]:
            continue
        if tag == "user_query":
            own_line = _OWN_LINE_CLOSING.search(text, at) if text.startswith(">\n", at) else None
            end = own_line.start() if own_line else text.find(_CLOSING, at)
            found = text[at + 1 : max(at + 1, end)]
        else:
            end = text.find("</timestamp>", at) if tag == "timestamp" else text.rfind(f"</{tag}>", at)
        if end < 0:
            return found
        at = end + len(f"</{tag}>")
    return ""


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

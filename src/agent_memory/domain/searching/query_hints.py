"""What a query asks for beside its words: a kind of entry, the newest, a period, an id."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from functools import cache

from attrs import frozen

from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.text.ids import ID_PATTERN
from agent_memory.domain.vocabulary import Kind

_LOOKED_AT_CHARS = 2_000
"""Who asks for a kind or a time does so in a sentence: a pasted log does not."""

_ABOUT = r"(?=\s+(?:about|of|on|for|regarding|concerning|around|behind|sobre|acerca|para|de|do|da|del)\b|\s*[?:]|\s*$)"
_KIND_CUES = {
    Kind.DECISION: rf"(?:decisions?|decisão|decisões|decisión|decisiones){_ABOUT}"
    r"|(?:did|have) (?:we|i|you|they) (?:decided?|choo?sen?|chose|pick(?:ed)?|settled? on)|why (?:did|do) (?:we|i) (?:use|choose|pick)"
    r"|(?:was|were|been) (?:decided|chosen)",
    Kind.LESSON: rf"(?:lessons?|pitfalls?|gotchas?|lição|lições|lecci[oó]n(?:es)?){_ABOUT}|lessons? learn(?:ed|t)",
    Kind.PREFERENCE: rf"(?:preferences?|preferências?|preferencias?){_ABOUT}|(?:do|does|did) (?:i|we|the user|they|he|she) prefer",
    Kind.CONVENTION: rf"(?:conventions?|style guides?|convenções|convenção|convenci(?:ón|ones)){_ABOUT}",
    Kind.TASK: rf"(?:open|pending|remaining|unfinished) (?:tasks?|to-?dos?|work)|(?:tasks?|to-?dos?|tarefas?|tareas?){_ABOUT}"
    r"|(?:is|was) (?:still )?left to do|still (?:needs|need|has|have) to be done",
    Kind.HANDOFF: r"hand-?(?:off|over)s?|where (?:did (?:we|i) (?:stop|leave off)|were we)|pick up where|left off",
}
_NEWEST = (
    r"(?<!\w)(?:latest|newest|most recent(?:ly)?|recent(?:ly)?|current(?:ly)?|up[- ]to[- ]date|these days|nowadays|as of now|right now"
    r"|last time|mais recentes?|recentes?|recentemente|atual(?:mente)?|últim[oa]s?|más recientes?|recientes?|actual(?:mente)?)(?!\w)"
)

_PLAIN = re.IGNORECASE | re.ASCII
"""Case ignored as a look-up by `lower` does it: without ASCII, `ı` would be an `i`."""

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan janeiro enero",
            "february feb fevereiro febrero",
            "march mar março marzo",
            "april apr abril",
            "may maio mayo",
            "june jun junho junio",
            "july jul julho julio",
            "august aug agosto",
            "september sep sept setembro septiembre",
            "october oct outubro octubre",
            "november nov novembro noviembre",
            "december dec dezembro diciembre",
        ),
        1,
    )
    for name in names.split()
}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?\b"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_DATES = (
    rf"{_YEAR}-(?P<monthnumber>0[1-9]|1[0-2])-(?P<day>[0-2]\d|3[01])\b",
    rf"{_YEAR}-(?P<monthnumber>0[1-9]|1[0-2])\b",
    rf"{_MONTH}\s+{_DAY}(?:,?\s+{_YEAR})?",
    rf"{_DAY}\s+(?:of\s+|de\s+)?{_MONTH}(?:,?\s+(?:of\s+|de\s+)?{_YEAR})?",
    rf"{_MONTH},?\s+(?:of\s+|de\s+)?{_YEAR}",
    rf"(?:in|since|during|until|before|after|desde|em|en)\s+{_MONTH}",
    rf"(?:in|since|during|until|before|after|from|desde|em|en)\s+{_YEAR}",
)
_OPEN_END = r"(?:since|after|from|desde|depois de|después de)(?:\s+(?:in|the))?\s*$"
_OPEN_START = r"(?:before|until|till|as of|up to|by|antes de|até|hasta)(?:\s+the)?\s*$"
_RELATIVE = {
    "today": (0, 0),
    "yesterday": (1, 1),
    "this week": (6, 0),
    "last week": (13, 1),
    "this month": (30, 0),
    "last month": (61, 1),
    "hoje": (0, 0),
    "ontem": (1, 1),
    "hoy": (0, 0),
    "ayer": (1, 1),
}
_RELATIVE_TIME = rf"\b(?:{'|'.join(_RELATIVE)})\b"
_ID = re.compile(rf"(?<!\w){ID_PATTERN}(?!\w)")
_MOST_IDS = 20


@frozen
class Period:
    """From `start_ms` up to but not including `end_ms`, epoch ms in UTC; None is open."""

    start_ms: int | None
    end_ms: int | None

    def holds(self, at_ms: int) -> bool:
        """Whether an instant is in it."""
        return (self.start_ms is None or self.start_ms <= at_ms) and (self.end_ms is None or at_ms < self.end_ms)


@frozen
class QueryHints:
    """What a query asks for beside its words; mostly nothing."""

    kinds: frozenset[Kind] = frozenset()
    newest: bool = False
    """It asks for what is new or holds now."""
    periods: tuple[Period, ...] = ()
    ids: tuple[str, ...] = ()
    """In the order in which they are named, each once."""


def hints_of(query: str, now_ms: int) -> QueryHints:
    """What the query asks for. Any text has hints; a date that there is not (`31 February`) is none. A month or a day
    without a year is the last one that is not in the future."""
    asked = query[:_LOOKED_AT_CHARS]
    return QueryHints(
        frozenset(kind for kind, cues in _KIND_CUES.items() if _compiled(rf"(?<!\w)(?:{cues})").search(asked)),
        _compiled(_NEWEST).search(asked) is not None,
        _periods(asked, now_ms),
        tuple(dict.fromkeys(_ID.findall(query)))[:_MOST_IDS],
    )


@cache
def _compiled(expression: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    """Compiled when the first query is looked at, not when the module is loaded."""
    return re.compile(expression, flags)


def _periods(asked: str, now_ms: int) -> tuple[Period, ...]:
    found: list[tuple[int, int, Period]] = []
    for form in _DATES:
        for named in _compiled(rf"\b(?:{form})", _PLAIN).finditer(asked):
            if any(start < named.end() and named.start() < end for start, end, _ in found):
                continue
            period = _period_of(named.groupdict(), now_ms)
            if period is not None:
                found.append((named.start(), named.end(), _opened(period, asked, named)))
    today = now_ms - now_ms % DAY_MS
    for named in _compiled(_RELATIVE_TIME, _PLAIN).finditer(asked):
        first, last = _RELATIVE[named[0].lower()]
        period = Period(today - first * DAY_MS, today - (last - 1) * DAY_MS)
        found.append((named.start(), named.end(), _opened(period, asked, named)))
    return tuple(period for _, _, period in sorted(found, key=lambda each: each[:2]))


def _opened(period: Period, asked: str, named: re.Match[str]) -> Period:
    before, word = asked[max(0, named.start() - 20) : named.start()], named[0]
    if _compiled(_OPEN_END).search(before) or re.match(r"(?:since|after|from|desde)\b", word, re.IGNORECASE):
        return Period(period.start_ms, None)
    if _compiled(_OPEN_START).search(before) or re.match(r"(?:before|until)\b", word, re.IGNORECASE):
        return Period(None, period.end_ms)
    return period


def _period_of(named: dict[str, str | None], now_ms: int) -> Period | None:
    """The day, the month or the year that is named, in UTC; without a year the last one that is not in the future. None for a day
    that there is not."""
    name, number = named.get("month"), named.get("monthnumber")
    month = _MONTHS[name.lower()] if name else int(number or 0)
    day, year = int(named.get("day") or 0), int(named.get("year") or 0)
    today = datetime.fromtimestamp(now_ms / 1000, UTC).date()
    try:
        first = date(year or today.year, month or 1, day or 1)
        if not year and first > today:
            first = date(today.year - 1, month or 1, day or 1)
    except ValueError:
        return None
    if day or named.get("day"):
        end = first + timedelta(days=1)
    elif month:
        end = date(first.year + first.month // 12, first.month % 12 + 1, 1)
    else:
        end = date(first.year + 1, 1, 1)
    return Period(_ms(first), _ms(end))


def _ms(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000

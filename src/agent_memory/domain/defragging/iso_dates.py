"""Dates in one spelling, so that writing a date out differently is no loss."""

from __future__ import annotations

import re

_MONTHS = (
    ("jan", "january", "janeiro"),
    ("feb", "february", "fev", "fevereiro"),
    ("mar", "march", "março", "marco"),
    ("apr", "april", "abr", "abril"),
    ("may", "mai", "maio"),
    ("jun", "june", "junho"),
    ("jul", "july", "julho"),
    ("aug", "august", "ago", "agosto"),
    ("sep", "sept", "september", "set", "setembro"),
    ("oct", "october", "out", "outubro"),
    ("nov", "november", "novembro"),
    ("dec", "december", "dez", "dezembro"),
)
_NUMBER_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
_MONTH = rf"({'|'.join(sorted(_NUMBER_OF, key=len, reverse=True))})\.?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th|º)?"
_DAY_FIRST = re.compile(rf"\b{_DAY}(?:\s+(?:de|of))?\s+{_MONTH}(?:,|\s+de|\s+of)?\s+(\d{{4}})\b", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\s+{_DAY},?\s+(\d{{4}})\b", re.IGNORECASE)
_SLASHED = re.compile(r"(?<![\w/.-])(\d{4})/(\d{2})/(\d{2})(?![\w/-])")


def with_iso_dates(text: str) -> str:
    """The text with whole dates as `2026-02-13`: English and Portuguese months, and year, month and day with slashes."""
    text = _DAY_FIRST.sub(lambda date: _iso(date[3], date[2], date[1]), text)
    text = _MONTH_FIRST.sub(lambda date: _iso(date[3], date[1], date[2]), text)
    return _SLASHED.sub(r"\1-\2-\3", text)


def _iso(year: str, month: str, day: str) -> str:
    return f"{year}-{_NUMBER_OF[month.lower()]:02}-{int(day):02}"

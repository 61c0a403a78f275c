"""The days that a year, a month, a day of it name, as instants. Apart from `query_hints`, since few questions name one."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta


def bounds_ms(year: int | None, month: int | None, day: int | None, now_ms: int) -> tuple[int, int] | None:
    """When the day, the month or the year begins, and when the next one does, epoch ms in UTC; without a year the last one that is
    not in the future. None for a day that there is not."""
    today = datetime.fromtimestamp(now_ms / 1000, UTC).date()
    try:
        first = date(year or today.year, month or 1, day or 1)
        if not year and first > today:
            first = date(today.year - 1, month or 1, day or 1)
    except ValueError:
        return None
    return _ms(first), _ms(_after(first, has_month=month is not None, has_day=day is not None))


def _after(first: date, *, has_month: bool, has_day: bool) -> date:
    if has_day:
        return first + timedelta(days=1)
    if has_month:
        return date(first.year + first.month // 12, first.month % 12 + 1, 1)
    return date(first.year + 1, 1, 1)


def _ms(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000

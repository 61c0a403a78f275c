"""Words that differ by a slip."""

from __future__ import annotations

from collections.abc import Iterable

_LONG_CHARS, _VERY_LONG_CHARS = 5, 9


def slips_allowed(term: str) -> int:
    """How many slips a term of this length may have: none, one, or two. Names with digits or signs have none."""
    if not term.isalpha() or len(term) < _LONG_CHARS:
        return 0
    return 1 if len(term) < _VERY_LONG_CHARS else 2


def slips_of(term: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """The candidates that begin with the same character and differ by as many slips as are allowed, the least first; and
    the term's own beginnings, up to three characters shorter: what an ending has hidden from the stemmer."""
    most = slips_allowed(term)
    if not most:
        return ()
    letters = _letters(term)
    found: list[tuple[int, str]] = []
    for other in candidates:
        if other == term or other[:1] != term[0]:
            continue
        if len(other) >= _LONG_CHARS and len(term) - len(other) in (1, 2, 3) and term.startswith(other):
            found.append((1, other))
        elif (
            abs(len(other) - len(term)) <= most
            and (letters ^ _letters(other)).bit_count() <= 2 * most
            and (slips := _slips_between(term, other, most)) <= most
        ):
            found.append((slips, other))
    return tuple(other for _, other in sorted(found))


def _letters(term: str) -> int:
    mask = 0
    for character in term:
        mask |= 1 << (ord(character) & 63)
    return mask


def _slips_between(one: str, other: str, most: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between them (optimal string alignment); `most + 1`
    where there are more than `most`."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]

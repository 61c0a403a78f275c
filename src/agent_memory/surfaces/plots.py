"""Plots made of characters: bars and sparklines, in block elements or, where a stream cannot show those, in ASCII."""

from __future__ import annotations

from collections.abc import Sequence

from agent_memory.values import frozen


@frozen
class Ink:
    """What plots are drawn with."""

    levels: str
    """For a sparkline, from nothing to the most; the first one stands for nothing at all."""
    parts: str
    """For a bar: its last cell by how full it is, from a little to whole."""
    ellipsis: str
    """One cell, for what is left out of a text."""


BLOCKS = Ink("▁▂▃▄▅▆▇█", "▏▎▍▌▋▊▉█", "…")
ASCII = Ink("_.:-=+*#", "#", "~")


def ink_for(encoding: str | None) -> Ink:
    """Blocks where the encoding has them."""
    try:
        (BLOCKS.levels + BLOCKS.parts + BLOCKS.ellipsis).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return BLOCKS


def sparkline(amounts: Sequence[int], ink: Ink) -> str:
    """One cell for each of the amounts, as high as its share of the largest. What is not nothing is never drawn as
    nothing."""
    most = max(amounts, default=0)
    return "".join(ink.levels[_level(each, most, len(ink.levels) - 1)] for each in amounts)


def share_of(count: int, cells: int) -> int:
    """How many of so many amounts have to share one cell."""
    return max(-(-count // max(cells, 1)), 1)


def summed(amounts: Sequence[int], share: int) -> tuple[int, ...]:
    """Sums of so many amounts each; the last one ends with the last amount, the first one may be of fewer."""
    first = len(amounts) % share
    starts = range(first, len(amounts), share)
    head = (sum(amounts[:first]),) if first else ()
    return (*head, *(sum(amounts[start : start + share]) for start in starts))


def last_of(amounts: Sequence[int], share: int) -> tuple[int, ...]:
    """The last of so many amounts each, for what grows; the last one is the last amount."""
    return tuple(amounts[::-1][::share][::-1])


def bar(amount: int, most: int, cells: int, ink: Ink) -> str:
    """As long as the amount's share of the most, which takes all cells; nothing for nothing, and never nothing else."""
    if amount <= 0 or most <= 0:
        return ""
    steps = len(ink.parts)
    filled = max(round(min(amount, most) * cells * steps / most), 1)
    whole, rest = divmod(filled, steps)
    return ink.parts[-1] * whole + (ink.parts[rest - 1] if rest else "")


def _level(amount: int, most: int, top: int) -> int:
    return 0 if amount <= 0 else max(round(amount * top / most), 1)

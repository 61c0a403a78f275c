"""A line chart as SVG, both axes logarithmic: how something grows. Each line is named at its end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from attrs import frozen

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 78, 190, 44, 52
"""The margins around the plot; names of lines stand in the right one."""
LINE_HEIGHT = 15
COLOURS = ("#0b62a4", "#c4500c", "#2a7d3f", "#8a3ffc", "#6b6b6b", "#a11d5c")

Points = Sequence[tuple[float, float]]


@frozen
class Axis:
    """From the logarithm of a figure to a place on paper."""

    least: float
    most: float
    start: float
    end: float

    @classmethod
    def over(cls, figures: Sequence[float], start: float, end: float, *, decades: bool) -> Axis:
        """An axis that holds the figures; with `decades` it begins and ends at a power of ten."""
        least, most = math.log10(min(figures)), math.log10(max(figures))
        if decades or least == most:
            least, most = math.floor(least), max(math.ceil(most), math.floor(least) + 1)
        return cls(least, most, start, end)

    def at(self, figure: float) -> float:
        share = (math.log10(figure) - self.least) / (self.most - self.least)
        return round(self.start + share * (self.end - self.start), 1)

    def decades(self) -> list[float]:
        """The powers of ten on it."""
        return [10.0**power for power in range(math.ceil(self.least), math.floor(self.most) + 1)]


def line_chart(title: str, x_label: str, y_label: str, lines: Mapping[str, Points], dashed: Sequence[str] = ()) -> str:
    """The chart. ValueError without a point, or with a figure that has no logarithm. `dashed` lines were not measured here."""
    points = [point for line in lines.values() for point in line]
    if not points or min(min(point) for point in points) <= 0:
        raise ValueError(f"{title}: nothing to draw, or a figure that is not above zero")
    x = Axis.over([point[0] for point in points], LEFT, WIDTH - RIGHT, decades=False)
    y = Axis.over([point[1] for point in points], HEIGHT - BOTTOM, TOP, decades=True)
    ticks = sorted({point[0] for point in points})
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(LEFT, 24, title, 'font-size="15" font-weight="bold"'),
        *_grid(x, y, ticks),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, f"{x_label} (logarithmic)", 'text-anchor="middle"'),
        _text(18, (TOP + HEIGHT - BOTTOM) / 2, f"{y_label} (logarithmic)", _UPRIGHT),
        *_drawn(x, y, lines, dashed),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


_UPRIGHT = f'text-anchor="middle" transform="rotate(-90 18 {(TOP + HEIGHT - BOTTOM) / 2})"'


def _grid(x: Axis, y: Axis, ticks: Sequence[float]) -> Iterator[str]:
    for figure in y.decades():
        at = y.at(figure)
        yield f'<line x1="{LEFT}" y1="{at}" x2="{WIDTH - RIGHT}" y2="{at}" stroke="#d8d8d8"/>'
        yield _text(LEFT - 8, at + 4, f"{figure:,g}" if figure < 1e6 else f"{figure:,.0f}", 'text-anchor="end"')
    for figure in ticks:
        at = x.at(figure)
        yield f'<line x1="{at}" y1="{TOP}" x2="{at}" y2="{HEIGHT - BOTTOM}" stroke="#eeeeee"/>'
        yield _text(at, HEIGHT - BOTTOM + 18, f"{figure:,.0f}", 'text-anchor="middle"')


def _drawn(x: Axis, y: Axis, lines: Mapping[str, Points], dashed: Sequence[str]) -> Iterator[str]:
    ends = {name: y.at(points[-1][1]) for name, points in lines.items() if points}
    labels = _spread(ends)
    for number, (name, points) in enumerate((name, points) for name, points in lines.items() if points):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{x.at(across)},{y.at(up)}" for across, up in points)
        dash = ' stroke-dasharray="6 4"' if name in dashed else ""
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
        for across, up in points:
            yield f'<circle cx="{x.at(across)}" cy="{y.at(up)}" r="3" fill="{colour}"/>'
        end = x.at(points[-1][0])
        yield f'<line x1="{end + 5}" y1="{ends[name]}" x2="{WIDTH - RIGHT + 12}" y2="{labels[name]}" stroke="#aaaaaa" stroke-dasharray="1 3"/>'
        yield _text(WIDTH - RIGHT + 16, labels[name] + 4, name, f'fill="{colour}"')


def _spread(ends: Mapping[str, float]) -> dict[str, float]:
    """Where the names stand: as near to the ends of their lines as none covers another."""
    places: dict[str, float] = {}
    lowest = -math.inf
    for name, end in sorted(ends.items(), key=lambda each: each[1]):
        lowest = places[name] = max(end, lowest + LINE_HEIGHT)
    over = max(0.0, lowest - (HEIGHT - BOTTOM))
    return {name: round(place - over, 1) for name, place in places.items()}


def _text(x: float, y: float, text: str, further: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" {further}>{escape(text)}</text>'

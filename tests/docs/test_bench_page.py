"""The page of figures, and its charts, say what was measured."""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "docs"))

from bench_charts import bench_charts  # noqa: E402
from bench_figures import Measured  # noqa: E402
from bench_page import bench_page, bench_pages  # noqa: E402
from line_chart import HEIGHT, WIDTH, line_chart  # noqa: E402

KEPT = PROJECT / "docs" / "contributing" / "bench.json"
SVG = "{http://www.w3.org/2000/svg}"


def document(*figures: tuple[str, str, float, int | None], bench: str = "index", load: float = 0.5) -> str:
    piece = {
        "bench": bench,
        "arguments": [],
        "began_at": "2026-02-13T14:30Z",
        "load_before": load,
        "load_after": load,
        "figures": [{"of": of, "what": what, "value": value, "notes": notes} for of, what, value, notes in figures],
    }
    machine = {"system": "Linux x86_64", "cpus": "2", "python": "3.11.7", "sqlite": "3.40.1"}
    return json.dumps({"version": 1, "machine": machine, "pieces": [piece]})


def page(tmp_path: Path, text: str) -> str:
    path = tmp_path / "bench.json"
    path.write_text(text, "utf-8")
    return bench_page("", path)


QUERIES = (
    ("index", "query_p50_cpu_ms", 0.2, 1_000),
    ("index", "build_cpu_seconds", 1.0, 1_000),
    ("FTS5", "query_p50_cpu_ms", 0.1, 1_000),
    ("FTS5", "build_cpu_seconds", 0.1, 1_000),
    ("index", "query_p50_cpu_ms", 1.2, 10_000),
)


def test_a_figure_stands_beside_the_baseline_of_its_size(tmp_path: Path) -> None:
    text = page(tmp_path, document(*QUERIES))
    assert "| index | 0.20 ms (× 2.00) | 1.20 ms |\n| FTS5 | 0.10 ms | – |\n" in text
    assert (
        "1,000 notes: a question to the index takes 2.00 times as long as one to raw FTS5, the first build 10.0" in text
    )


def test_what_was_not_measured_is_left_out(tmp_path: Path) -> None:
    text = page(tmp_path, document(*QUERIES))
    assert "## The search index" in text
    assert "## Commands and hooks" not in text
    assert "tantivy" not in text.split("One question to the index alone")[1].split("\n\n")[1]


def test_a_busy_machine_is_called_busy(tmp_path: Path) -> None:
    assert "The machine was quiet (load 0.5 to 0.5)" in page(tmp_path, document(*QUERIES))
    assert "The machine was busy with other work for some of that time (load 9 to 9)" in page(
        tmp_path, document(*QUERIES, load=9)
    )


def test_a_wall_clock_of_a_busy_machine_is_left_out(tmp_path: Path) -> None:
    figures = [("list", what, 20.0, 10_000) for what in ("p50_cpu_ms", "p95_cpu_ms", "p50_ms", "p95_ms", "peak_mb")]
    row_of_list = "| `list` | 20.0 ms | – | 20.0 ms | 20.0 MB |"
    assert f"{row_of_list}\n" in page(tmp_path, document(*figures, bench="commands", load=9))
    quiet = document(*figures, bench="commands")
    assert f"{row_of_list} 20.0 ms | – | 20.0 ms |\n" in page(tmp_path, quiet)
    both = json.loads(quiet)
    both["pieces"] += json.loads(document(*QUERIES, load=9))["pieces"]
    assert f"{row_of_list} 20.0 ms | – | 20.0 ms |\n" in page(tmp_path, json.dumps(both))


def test_what_grows_is_told_by_the_slope_and_in_looks(tmp_path: Path) -> None:
    slopes_us = {"look at every note": 4.0, "list": 10.0, "capture --hook": 0.0}
    figures = [
        (name, f"{at}_cpu_seconds", 0.1 + slope_us * size / 1_000_000, size)
        for name, slope_us in slopes_us.items()
        for at in ("first", "again", "one_changed")
        for size in (1_000, 50_000)
    ]
    text = page(tmp_path, document(*figures, bench="scale"))
    assert text.count("| look at every note | 0.10 s | 0.30 s | 4.00 µs |") == 3
    assert text.count("| list | 0.11 s (× 1.06) | 0.60 s (× 2.00) | 10.0 µs (× 2.50) |") == 3
    assert text.count("| capture --hook | 0.10 s (× 0.96) | 0.10 s (× 0.33) | 0.00 µs (× 0.00) |") == 3


def test_the_published_page_holds_every_part_and_chart() -> None:
    text = (PROJECT / "docs" / "contributing" / "bench.md").read_text("utf-8")
    headings = {
        "index": "The search index",
        "commands": "Commands and hooks",
        "scale": "What grows",
        "bulk": "Sizes that",
        "retrieval": "What search finds",
    }
    measured = Measured.of(KEPT.read_text("utf-8"))
    assert [bench for bench, heading in headings.items() if (f"\n## {heading}" in text) != measured.has(bench)] == []
    assert measured.has("index")
    assert measured.has("scale")
    charts = re.findall(r"\]\((img/[\w-]+\.svg)\)", text)
    assert sorted(charts) == sorted(
        name.removeprefix("contributing/") for name, _ in bench_pages("", PROJECT / "docs") if "/img/" in name
    )
    assert len(charts) == len(bench_charts(KEPT)) > 3


def test_the_published_figures_name_no_place_of_the_machine_that_measured() -> None:
    text = KEPT.read_text("utf-8")
    assert "index" in text
    assert not re.search(r"/(?:tmp|work|home|root)/(?!ada/)", text)


# -- charts -----------------------------------------------------------------------------------------------------------


def drawn(**lines: list[tuple[float, float]]) -> ElementTree.Element:
    return ElementTree.fromstring(line_chart("Growth & decay", "notes", "ms", lines, ("b",)))


def test_a_chart_has_a_line_and_a_name_for_each_and_labelled_axes() -> None:
    chart = drawn(a=[(1_000, 0.1), (10_000, 1), (100_000, 10)], b=[(1_000, 5), (100_000, 400)])
    assert len(chart.findall(f"{SVG}polyline")) == 2
    assert len(chart.findall(f"{SVG}circle")) == 5
    texts = [each.text for each in chart.findall(f"{SVG}text")]
    assert {"a", "b", "Growth & decay", "notes (logarithmic)", "ms (logarithmic)", "1,000", "100,000", "0.1"} <= set(
        texts
    )


def test_ten_times_as_much_is_the_same_step_everywhere() -> None:
    chart = drawn(a=[(1_000, 0.1), (10_000, 1), (100_000, 10)])
    circles = [(float(each.attrib["cx"]), float(each.attrib["cy"])) for each in chart.findall(f"{SVG}circle")]
    (x1, y1), (x2, y2), (x3, y3) = circles
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.2)
    assert y2 - y1 == pytest.approx(y3 - y2, abs=0.2)
    assert y3 < y1


def test_everything_is_on_the_paper_and_no_name_covers_another() -> None:
    chart = drawn(
        a=[(1, 1), (2, 9.9)], b=[(1, 1), (2, 9.9)], c=[(1, 1), (2, 9.8)], d=[(1, 1), (2, 1.0)], e=[(1, 1), (2, 1.01)]
    )
    places = [(float(each.attrib["x"]), float(each.attrib["y"])) for each in chart.findall(f"{SVG}text")]
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places)
    names = sorted(float(each.attrib["y"]) for each in chart.findall(f"{SVG}text") if each.text in set("abcde"))
    assert len(names) == 5
    assert min(after - before for before, after in pairwise(names)) > 12


def test_what_was_not_measured_here_is_dashed() -> None:
    chart = drawn(a=[(1, 1), (2, 2)], b=[(1, 3), (2, 4)])
    assert ["stroke-dasharray" in each.attrib for each in chart.findall(f"{SVG}polyline")] == [False, True]


@pytest.mark.parametrize("lines", [{}, {"a": []}, {"a": [(1_000, 0.0)]}, {"a": [(-1.0, 2.0)]}])
def test_a_chart_of_what_has_no_logarithm_is_refused(lines: dict[str, list[tuple[float, float]]]) -> None:
    with pytest.raises(ValueError, match="Growth"):
        drawn(**lines)

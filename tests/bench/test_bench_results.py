"""What benches measured is one document, and a piece that is run again replaces what it left there."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import bench.__main__ as runner
import pytest
from attrs import evolve
from bench.results import KEPT_IN, Figure, Piece, Results, keep, kept, parsed, rendered, this_machine

PIECE = Piece(
    "index",
    ("--notes", "1000"),
    "2026-02-13T14:30Z",
    12.5,
    0.1,
    1.2,
    True,
    (Figure("FTS5", "query_p50_cpu_ms", 0.07, 1_000), Figure("bare python", "cold_ms", 9.5)),
)
RESULTS = Results({"system": "Linux x86_64", "cpus": "2"}, (PIECE, evolve(PIECE, bench="retrieval", arguments=())))


def test_a_document_says_all_that_was_measured() -> None:
    assert parsed(rendered(RESULTS)) == RESULTS
    assert parsed(rendered(Results({}))) == Results({})


def test_a_document_has_a_line_for_each_figure_so_that_two_can_be_compared() -> None:
    lines = rendered(RESULTS).splitlines()
    assert sum('"value": 0.07' in line for line in lines) == 2
    assert not any("0.07" in line and "9.5" in line for line in lines)


def test_a_document_of_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version 7"):
        parsed(rendered(RESULTS).replace('"version": 1', '"version": 7'))


def test_a_piece_run_again_replaces_itself_alone() -> None:
    again = evolve(PIECE, seconds=99.0, figures=())
    assert RESULTS.with_piece(again) == evolve(RESULTS, pieces=(again, RESULTS.pieces[1]))
    larger = evolve(PIECE, arguments=("--notes", "10000"))
    assert RESULTS.with_piece(larger).pieces == (*RESULTS.pieces, larger)


def test_figures_are_kept_where_somebody_asked_for_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kept.jsonl"
    keep(*PIECE.figures)
    monkeypatch.setenv(KEPT_IN, str(path))
    keep(*PIECE.figures)
    assert kept(path) == PIECE.figures


def test_the_machine_is_described_and_not_named() -> None:
    machine = this_machine()
    assert machine["python"] == platform.python_version()
    assert not any(platform.node() in value for value in machine.values() if platform.node())


def test_a_run_adds_to_what_the_file_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "figures.json"
    path.write_text(rendered(Results(this_machine(), RESULTS.pieces)), "utf-8")
    monkeypatch.setattr(runner, "run_piece", lambda name, further: evolve(PIECE, bench=name, arguments=further))
    assert runner.main(["startup", "index", "--notes", "1000", "--json", str(path)]) == 0
    pieces = parsed(path.read_text("utf-8")).pieces
    assert [(piece.bench, piece.arguments) for piece in pieces] == [
        ("index", ("--notes", "1000")),
        ("retrieval", ()),
        ("startup", ()),
    ]
    assert [each.name for each in tmp_path.iterdir()] == ["figures.json"]


def test_what_missed_its_goal_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(
        runner,
        "run_piece",
        lambda name, further: evolve(PIECE, bench=name, arguments=further, goals_met=name != "index"),
    )
    assert runner.main(["startup"]) == 0
    assert runner.main(["startup", "index", "--notes", "7"]) == 1
    assert capsys.readouterr().err == "not within their goals: index --notes 7\n"


@pytest.mark.slow
def test_a_small_store_has_every_figure(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    assert runner.main(["index", "--notes", "20", "--json", str(path)]) == 0
    results = parsed(path.read_text("utf-8"))
    assert [(piece.bench, piece.arguments) for piece in results.pieces] == [("index", ("--notes", "20"))]
    measured = {(figure.of, figure.what): figure.value for figure in results.pieces[-1].figures}
    assert measured["index", "query_p50_cpu_ms"] > 0
    assert measured["FTS5", "build_peak_mb"] > 1
    assert measured["one note changed", "refresh_cpu_ms"] > 0
    assert measured["write", "act_p50_ms"] > 0
    assert str(tmp_path) not in path.read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (rendered(evolve(RESULTS, machine={"system": "another"})), "on another machine"),
        ("{", "holds no figures of ours"),
        (json.dumps({"version": 1, "pieces": [{}]}), "holds no figures of ours"),
    ],
)
def test_a_file_that_cannot_be_added_to_is_left_alone(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "figures.json"
    path.write_text(text, "utf-8")
    with pytest.raises(SystemExit, match=said):
        runner.main(["capture", "--json", str(path)])
    assert path.read_text("utf-8") == text


def test_sizes_make_a_piece_each() -> None:
    pieces = [*runner.Wanted(("index", "bulk"), full=True).pieces()]
    assert [(name, words[0]) for name, words in pieces] == [("index", "--notes")] * 5 + [("bulk", "--full")]


def test_a_size_below_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        runner.main(["index", "--notes", "0"])
    assert "one note at least" in capsys.readouterr().err

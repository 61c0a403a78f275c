"""What benches measured is one document, and a piece that is run again replaces what it left there."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import bench.__main__ as runner
import pytest
from attrs import evolve
from bench.results import Figure, Piece, Results, parsed, rendered, this_machine

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

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
    "bulk",
    ("--full",),
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
    for words in (["reach"], ["bulk", "--full"]):
        assert runner.main(["--json", str(path), *words]) == 0
    pieces = parsed(path.read_text("utf-8")).pieces
    assert [(piece.bench, piece.arguments) for piece in pieces] == [
        ("bulk", ("--full",)),
        ("retrieval", ()),
        ("reach", ()),
    ]
    assert [each.name for each in tmp_path.iterdir()] == ["figures.json"]


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
        runner.main(["reach", "--json", str(path)])
    assert path.read_text("utf-8") == text

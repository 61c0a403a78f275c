"""What benches measured is one document, and a piece that is run again replaces what it left there."""

from __future__ import annotations

import json
import platform
import sys
from importlib import import_module
from pathlib import Path

import bench.__main__ as runner
import pytest
from attrs import evolve
from bench.__main__ import BENCHES
from bench.measure import BARE, run
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


# -- the benches can be run, and their figures are those of the process that was meant ---------------------------------


@pytest.mark.parametrize("name", BENCHES)
def test_each_explains_itself(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit, match="0"):
        import_module(f"bench.{name}").main()
    assert capsys.readouterr().out.startswith("usage:")


def test_the_peak_is_the_childs_own_and_not_that_of_the_bench() -> None:
    hoard = b"x" * 200_000_000
    small, large = run(BARE), run((sys.executable, "-c", "x = b'x' * 100_000_000"))
    assert small.peak_mb < 50 < 100 < large.peak_mb < len(hoard) / 1_000_000
    assert large.cpu_seconds > 0

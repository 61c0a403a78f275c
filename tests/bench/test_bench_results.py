"""What benches measured is one document, and a piece that is run again replaces what it left there."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest
from attrs import evolve
from bench.__main__ import BENCHES
from bench.results import Figure, Piece, Results, parsed, rendered

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


# -- the benches can be run, and their figures are those of the process that was meant ---------------------------------


@pytest.mark.parametrize("name", BENCHES)
def test_each_explains_itself(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit, match="0"):
        import_module(f"bench.{name}").main()
    assert capsys.readouterr().out.startswith("usage:")

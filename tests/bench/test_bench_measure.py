"""The benches can be run, and their figures are those of the process that was meant."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest
from bench.__main__ import BENCHES
from bench.measure import BARE, run


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

"""The benches can be run, and their figures are those of the process that was meant."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from bench.__main__ import BENCHES

REPOSITORY = Path(__file__).resolve().parents[2]
PARTS = {"__main__", "measure", "results", "engines", "operations", "invented_notes", "populated_home"}
"""Modules that benches are made of."""


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False)


def measured(program: str) -> subprocess.CompletedProcess[str]:
    """What a program prints that can use `run` on processes of its own."""
    return python("-c", f"import sys\nfrom bench.measure import *\n{program}")


def test_every_bench_is_listed_and_explains_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert set(BENCHES) == {path.stem for path in (REPOSITORY / "bench").glob("*.py")} - PARTS
    for name in BENCHES:
        monkeypatch.setattr(sys, "argv", [name, "--help"])
        with pytest.raises(SystemExit, match="0"):
            import_module(f"bench.{name}").main()
        assert capsys.readouterr().out.startswith("usage:")


def test_the_peak_is_the_childs_own_and_not_that_of_the_bench() -> None:
    program = """
hoard = b"x" * 200_000_000
small = run(BARE)
large = run((sys.executable, "-c", "x = b'x' * 100_000_000"))
print(small.peak_mb < 50, 100 < large.peak_mb < 200, large.seconds > 0, large.cpu_seconds > 0)
"""
    assert measured(program).stdout.split() == ["True"] * 4

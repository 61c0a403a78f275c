"""Search finds what it found before: the hand-written notes of a coding project, as files, through `Memory.search`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

FIGURES = """
import json
from bench.retrieval import Question, judged, quality_of
question = Question("?", frozenset({"b", "c"}))
half = quality_of([judged(["a", "b"], question), judged(["b", "c"], question)])
none = quality_of([judged([], question)])
print(json.dumps([[each.recall_1, each.recall_10, each.mrr, each.ndcg_10] for each in (half, none)]))
"""


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False)


def test_search_finds_the_hand_written_answers_by_words_alone(tmp_path: Path) -> None:
    written = tmp_path / "figures.json"
    done = python("-m", "bench.retrieval", str(tmp_path), "--mode", "bm25", "--json", str(written))
    assert done.returncode == 0, done.stderr
    found = {(each["data"], each["search"]): each for each in json.loads(written.read_text("utf-8"))}
    ours, plain = found["coding", "bm25"], found["coding", "FTS5 porter"]
    assert ours["questions"] >= 40
    assert ours["recall_10"] >= 95
    assert ours["recall_1"] >= 78
    assert ours["ndcg_10"] > plain["ndcg_10"]


def test_the_figures_are_what_their_names_say() -> None:
    half, none = json.loads(python("-c", FIGURES).stdout)
    assert half == pytest.approx([25.0, 75.0, 75.0, 100 * (1 + 0.38685) / 2], abs=0.01)
    assert none == [0.0, 0.0, 0.0, 0.0]

"""Search finds what it found before: the hand-written notes of a coding project, as files, through `Memory.search`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.retrieval import Question, judged, main, quality_of


def test_search_finds_the_hand_written_answers_by_words_alone(tmp_path: Path) -> None:
    written = tmp_path / "figures.json"
    assert main([str(tmp_path), "--mode", "bm25", "--json", str(written)]) == 0
    found = {(each["data"], each["search"]): each for each in json.loads(written.read_text("utf-8"))}
    ours, plain = found["coding", "bm25"], found["coding", "FTS5 porter"]
    assert ours["questions"] >= 40
    assert ours["recall_10"] >= 95
    assert ours["recall_1"] >= 78
    assert ours["ndcg_10"] > plain["ndcg_10"]


def test_the_figures_are_what_their_names_say() -> None:
    question = Question("?", frozenset({"b", "c"}))
    half = quality_of([judged(["a", "b"], question), judged(["b", "c"], question)])
    found = [half.recall_1, half.recall_10, half.mrr, half.ndcg_10]
    assert found == pytest.approx([25.0, 75.0, 75.0, 100 * (1 + 0.38685) / 2], abs=0.01)
    none = quality_of([judged([], question)])
    assert [none.recall_1, none.recall_10, none.mrr, none.ndcg_10] == [0.0, 0.0, 0.0, 0.0]

"""The retrieval bench: sets are read as documented, figures are what they are called, and any store can take part."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from bench.results import KEPT_IN
from bench.retrieval import Answers, Bootstrap, judged, main
from bench.sets import Corpus, Question

PAGE = Path(__file__).resolve().parents[2] / "docs" / "contributing" / "bench.md"
SERVER = """
import json, sys
texts = []
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message"}), flush=True)
        given = asked["params"].get("arguments", {})
        said, bad = "", "?" in given.get("query", "")
        if "content" in given:
            texts.append(given["content"])
            said = f"Chunk saved: id=`{len(texts)}`"
        elif not bad and "query" in given:
            words = given["query"].lower().split()
            found = [n for n, text in enumerate(texts, 1) if any(word in text.lower() for word in words)]
            said = "".join(f"### title\\n**id:** `{n}` | agent\\n\\ntext\\n" for n in found)
        result = {"content": [{"type": "text", "text": said}], "isError": bad}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@pytest.fixture
def figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(KEPT_IN, str(tmp_path / "figures.jsonl"))
    return tmp_path / "figures.jsonl"


def told(figures: Path) -> dict[tuple[str, str], float]:
    lines = map(json.loads, figures.read_text("utf-8").splitlines())
    return {(each["of"].removeprefix("coding, "), each["what"]): each["value"] for each in lines}


def test_search_finds_the_hand_written_answers_and_no_fewer_than_full_text_search(figures: Path) -> None:
    assert main([]) == 0
    found = told(figures)
    assert found["coding", "questions"] >= 40
    assert found["ours", "recall_10_percent"] >= 96
    assert found["ours", "ndcg_10_percent"] > found["fts5", "ndcg_10_percent"]


def test_the_figures_are_what_their_names_say() -> None:
    question = Question("?", frozenset({"b", "c"}))
    assert judged(["a", "b", "b"], question) == pytest.approx((0.5, 0.5, 0.38685, 0.5), abs=1e-4)
    assert judged([*"adefg", "b", "c"], question) == pytest.approx((0, 1, 0.42279, 1 / 6), abs=1e-4)
    assert judged([], question) == (0, 0, 0, 0)


def test_a_difference_is_paired_and_its_interval_is_that_of_its_draws() -> None:
    corpora = [Corpus((), tuple(Question(str(n), frozenset("a")) for n in range(4)))] * 6
    bootstrap = Bootstrap(corpora)
    better = Answers([[(0, each / 5 + 0.1, 0, 0)] * 4 for each in range(6)], 0)
    worse = Answers([[(0, each / 5, 0, 0)] * 4 for each in range(6)], 0)
    by_all = bootstrap.difference(better, worse)
    assert (by_all.value, by_all.low, by_all.high) == pytest.approx((10, 10, 10))
    spread = sorted(bootstrap.means(worse, 1))
    assert spread[0] < 35 < 50 < 65 < spread[-1]


def test_a_server_with_our_tools_and_the_documented_adapter_take_part(
    tmp_path: Path, figures: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(r"(?s)```python\n(.*?)```", PAGE.read_text("utf-8"))
    (tmp_path / "my_store.py").write_text(example)
    assert len(example.splitlines()) <= 12
    monkeypatch.syspath_prepend(tmp_path)
    server = shlex.join([sys.executable, "-c", SERVER])
    assert main(["--store", f"fts5,my_store:MyStore,theirs=mcp:{server}"]) == 0
    found = told(figures)
    assert found["my_store:MyStore", "recall_10_percent"] > 50
    assert found["theirs", "recall_10_percent"] > 10
    assert found["theirs", "difference_high_percent"] < 0
    assert re.search(r"refused \d+ questions", capsys.readouterr().out)

"""What a search found, in words."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from wcwidth import wcswidth

from agent_memory.cli.search import closing_line, hit_lines, plain_line
from agent_memory.note.note import Kind, Listed, Meta, Origin, StoredEntry, Tier
from agent_memory.recall.search_values import Mode, ScorePart, SearchAnswer, SearchHit
from agent_memory.text.instants import DAY_MS

NOW_MS = 1_771_000_205_123
META = Meta("id__a1b2c3", "Locks", NOW_MS, NOW_MS - 3 * DAY_MS, kind=Kind.LESSON, origin=Origin.EXTERNAL)
HIT = SearchHit(
    StoredEntry(Listed(META, "topics/Locks -- id__a1b2c3.md", "hash"), "the zebra lock"),
    0.934,
    {"zebra": 1.0},
    Tier.WARM,
    (ScorePart("words", 0.9, "zebra"), ScorePart("recency", -0.05)),
)


def shown(number: int, hit: SearchHit, **options: Any) -> list[str]:
    return list(hit_lines(number, hit, NOW_MS, **options))


def test_text_of_others_breaks_no_line_and_no_field() -> None:
    hostile = evolve(META, title="a\tb\nc\x1b[31m\u202ed")
    hit = evolve(
        HIT,
        stored=StoredEntry(evolve(HIT.listed, meta=hostile), HIT.stored.body),
        parts=(ScorePart("words", 1.0, "x\ny\tz"),),
    )
    line = plain_line(hit, explain=True)
    assert line.count("\t") == 9
    assert "\n" not in line
    assert line.split("\t")[6] == "a b cd"
    assert line.endswith("+1.000 words: x y z")
    said = shown(1, hit, colour=False, explain=True)
    assert "\x1b" not in "".join(said)
    assert all("\n" not in each and "\t" not in each for each in said)


def test_a_hit_for_people() -> None:
    assert shown(2, HIT, colour=False) == [
        "2. Locks",
        "   id__a1b2c3 · warm · lesson · from external · 3 d ago · 0.93",
        "   the zebra lock",
        "",
    ]
    archived = evolve(
        HIT, stored=StoredEntry(evolve(HIT.listed, archived=True), HIT.stored.body), superseded_by="id__c3d4e5"
    )
    lines = shown(1, archived, colour=False, explain=True)
    assert lines[1:] == [
        "   id__a1b2c3 · archived · lesson · from external · 3 d ago · 0.93", "   superseded by id__c3d4e5",
        "   the zebra lock", "   +0.900  words: zebra", "   -0.050  recency", "",
    ]  # fmt: skip
    coloured = "\n".join(shown(1, HIT, colour=True))
    assert "\x1b[1;33mzebra\x1b[0m" in coloured


def test_what_answered_is_said() -> None:
    assert closing_line(SearchAnswer((HIT,), Mode.BM25, matched=1)) == "1 note, found by words (bm25)."
    both = SearchAnswer((HIT, HIT), Mode.HYBRID, matched=1_400)
    assert closing_line(both) == "2 notes of 1,400 that match, found by words and by meaning (hybrid)."


@pytest.mark.parametrize("width", [20, 40, 80])
def test_no_line_of_a_hit_is_wider_than_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    meta = evolve(META, title="The zebra lock of 東京の倉庫 " * 5, scope="github.com/ada/" + "long" * 12)
    hit = evolve(HIT, stored=StoredEntry(evolve(HIT.listed, meta=meta), HIT.stored.body))
    lines = shown(10, hit, colour=False)
    assert max(map(wcswidth, lines)) <= width
    assert lines[0].startswith("10. The zebra")
    assert "superseded" not in " ".join(lines)

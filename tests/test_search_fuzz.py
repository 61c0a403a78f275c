"""Any text is a query, many times over, through the index on disk. AGENT_MEMORY_FUZZED_QUERIES says how many."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from agent_memory.bootstrap import open_memory
from agent_memory.domain.note_draft import NoteDraft
from agent_memory.domain.searching.search_request import Mode, SearchRequest

QUERIES = int(os.environ.get("AGENT_MEMORY_FUZZED_QUERIES", "20000"))
PIECES = (
    *[
        "zebra",
        "lock",
        "migration",
        "getUserLocale",
        "src/db/session.py",
        "C++",
        "C#",
        ".env",
        "a.b.c",
        "latest",
        "since",
        "decision",
        "about",
        "2024-02-30",
        "May",
    ],
    *"\"'`*()[]{}^:~-+?!|&\\/<>%$#@=;,._\x00\x1b\u202e\u200b\ud800\n\t",
    *[
        "AND",
        "OR",
        "NOT",
        "NEAR",
        "id__a1b2c3",
        "[[id__a1b2c3",
        "数据库",
        "데이터",
        "ข้อมูล",
        "naïve",
        "ſt",
        "ﬁ",
        "İ",
        "ı",
        "🦓",
        "👩\u200d🚀",
        "é",
    ],
)


def queries(seed: int) -> str:
    """A query of pieces, of any characters, or long."""
    chance = random.Random(seed)
    many = chance.choice((1, 2, 3, 5, 8, 20, 200))
    if chance.random() < 0.2:
        return "".join(chr(chance.choice((chance.randrange(0x300), chance.randrange(0x110000)))) for _ in range(many))
    return chance.choice(("", " ")).join(chance.choice(PIECES) for _ in range(many))


@pytest.mark.slow
def test_no_query_of_many_is_an_error(home: Path, root: Path) -> None:
    memory = open_memory(dict(os.environ), home, print).unwrap()
    for number in range(12):
        body = f"Note {number}: the zebra of C++ locks `session_{number}` in src/db/session.py; 数据库 🦓 naïve."
        memory.service.remember(NoteDraft(body, title=f"Zebra {number}")).unwrap()
    for seed in range(QUERIES):
        query = queries(seed)
        answer = memory.search(SearchRequest(query, mode=Mode.BM25)).unwrap()
        scores = [hit.score for hit in answer.hits]
        assert scores == sorted(scores, reverse=True), seed
        assert all(0 <= score <= 1 for score in scores), seed

"""Any text is a query, many times over, through the index on disk. AGENT_MEMORY_FUZZED_QUERIES says how many.

The queries are dealt to shards, so that several processes take part (`-n`), and a long run shows how far it has come.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from agent_memory.app import open_memory
from agent_memory.domain.note_draft import NoteDraft
from agent_memory.domain.searching.search import Mode, SearchRequest

QUERIES = int(os.environ.get("AGENT_MEMORY_FUZZED_QUERIES", "20000"))
SHARDS = max(2, QUERIES // 25_000)
PIECES = (
    "zebra", "lock", "migration", "getUserLocale", "src/db/session.py", "C++", "C#", ".env", "a.b.c", "latest", "since", "decision", "about", "2024-02-30", "May",
    *"\"'`*()[]{}^:~-+?!|&\\/<>%$#@=;,._\x00\x1b\u202e\u200b\ud800\n\t",
    "AND", "OR", "NOT", "NEAR", "id__a1b2c3", "[[id__a1b2c3", "数据库", "데이터", "ข้อมูล", "naïve", "ſt", "ﬁ", "İ", "ı", "🦓", "👩\u200d🚀", "é",
)  # fmt: skip
NOTES = (
    "The zebra of C++ locks `session_1` in src/db/session.py; 数据库 🦓 naïve.",
    "A migration may not lock the table: see getUserLocale, a.b.c and .env.\n\n```sh\nmemory search -- 'NOT NEAR'\n```",
    "데이터 is read since 2024-02-30; ข้อมูล is not. The latest decision is about C#.",
    "ﬁ and ſt fold, İ and ı do not; é is one letter or two, 👩\u200d🚀 one sign.",
)


def request_of(seed: int) -> SearchRequest:
    """A query of pieces, of any characters, or long; how much is asked for differs, too."""
    chance = random.Random(seed)
    many = chance.choices((1, 2, 3, 5, 8, 20, 200), (20, 20, 20, 20, 20, 10, 2))[0]
    limit = chance.choice((1, 3, 10))
    if chance.random() < 0.2:
        return SearchRequest("".join(_any_character(chance) for _ in range(many)), limit, Mode.BM25)
    query = chance.choice(("", " ")).join(chance.choice(PIECES) for _ in range(many))
    return SearchRequest(query, limit, Mode.BM25, archived=chance.random() < 0.1)


def _any_character(chance: random.Random) -> str:
    return chr(chance.choice((chance.randrange(0x300), chance.randrange(0x110000))))


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_query_of_many_is_an_error(home: Path, root: Path, shard: int) -> None:
    memory = open_memory(dict(os.environ), home, print).unwrap()
    for number, body in enumerate(NOTES):
        memory.service.remember(NoteDraft(body, title=f"Zebra {number}")).unwrap()
    found = 0
    for seed in range(shard, QUERIES, SHARDS):
        request = request_of(seed)
        answer = memory.search(request).unwrap()
        scores = [hit.score for hit in answer.hits]
        assert all(0 <= score <= 1 for score in scores), seed
        assert len(scores) <= request.limit, seed
        found += len(scores)
    assert found

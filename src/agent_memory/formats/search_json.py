"""The answer to a search as a JSON value: the entries of `list`, each with its score and where the query was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_memory.domain.entry import Usage, reads_of
from agent_memory.domain.searching.search import SearchAnswer, SearchHit, SearchRequest
from agent_memory.formats.entry_json import entry_document

_SCORE_DIGITS = 4


def search_document(request: SearchRequest, answer: SearchAnswer, usage: Mapping[str, Usage]) -> dict[str, Any]:
    """The best entries first. `marks` are half-open ranges of code points of `snippet`; `mode` is what answered, `matched`
    how many entries had something of the query; `usage` is by id, for others the frontmatter counts."""
    return {
        "query": request.query,
        "mode": answer.mode.value,
        "matched": answer.matched,
        "notices": list(answer.notices),
        "entries": [_hit(each, usage) for each in answer.hits],
    }


def _hit(hit: SearchHit, usage: Mapping[str, Usage]) -> dict[str, Any]:
    return {
        **entry_document(hit.listed, reads_of(hit.listed.meta, usage), tier=hit.tier),
        "score": round(hit.score, _SCORE_DIGITS),
        "snippet": hit.snippet.text,
        "marks": [list(each) for each in hit.snippet.marks],
        "parts": [
            {"name": each.name, "value": round(each.value, _SCORE_DIGITS), "detail": each.detail} for each in hit.parts
        ],
        "superseded_by": hit.superseded_by,
    }

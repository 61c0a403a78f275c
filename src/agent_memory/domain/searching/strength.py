"""How much of a query a hit has, so that scores tell a good match from a chance one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agent_memory.domain.searching.matching import MatchedWord, TermPart
from agent_memory.domain.searching.query_words import QueryWord


def strength_of(
    asked: Sequence[QueryWord], words: Sequence[MatchedWord], parts: Sequence[TermPart], cosine: float = 0.0
) -> float:
    """0 to 1: the root of the share of the query's words, by their worth, that the hit has; or how near in meaning it is, if
    that is more. A question in whole sentences names much that no entry says: hence the root. A word that no entry has is
    worth as much as the rarest; `Q2` is one word, whatever it is looked up by besides."""
    several = any(len(word.term) > 1 for word in words)
    worth = {word.term: word.idf for word in words if (word.df or word.others) and (len(word.term) > 1 or not several)}
    nowhere = sum(word.stretches and word.term not in worth for word in asked)
    whole = sum(worth.values()) + nowhere * max(worth.values(), default=0.0)
    most = sum(worth.get(part.term, 0.0) for part in parts)
    said = math.sqrt(min(most / whole, 1.0)) if whole > 0 else 0.0
    return max(said, min(max(cosine, 0.0), 1.0))

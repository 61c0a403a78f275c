"""How good the best hit of an answer is, so that scores tell a good match from a chance one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from agent_memory.domain.searching.matching import MatchedWord, TermPart


def strength_of(words: Sequence[MatchedWord], hits: Iterable[Sequence[TermPart]], cosine: float = 0.0) -> float:
    """0 to 1: the root of the share of the query's words, by their worth, that the hit with most of them has; or how near
    in meaning the best one is, if that is more. A question in whole sentences names much that no entry says: hence the
    root."""
    worth = {word.term: word.idf for word in words}
    whole = sum(worth.values())
    most = max((sum(worth.get(part.term, 0.0) for part in parts) for parts in hits), default=0.0)
    said = math.sqrt(min(most / whole, 1.0)) if whole > 0 else 0.0
    return max(said, min(max(cosine, 0.0), 1.0))

"""When two entries say the same, and when they are about the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.text.terms import content_terms

_SIMILAR = 0.5
"""Share of the smaller set of words that two entries must have in common."""
_FEWEST_WORDS = 3
"""Below this many words in common a likeness is chance."""


def body_hash(body: str) -> str:
    """SHA-256 of the UTF-8 of the body without leading and trailing white space, hex."""
    return hashlib.sha256(body.strip().encode("utf-8", "surrogatepass")).hexdigest()


def same_body(body: str, listed: Iterable[Listed]) -> Listed | None:
    """The first entry whose body is the same."""
    wanted = body_hash(body)
    return next((each for each in listed if each.body_hash == wanted), None)


def words_about(meta: Meta) -> frozenset[str]:
    """The words that say what an entry is about: of its title, description and tags, as stems."""
    tags = " ".join(tag.partition("__")[2] or tag for tag in meta.tags)
    return content_terms(f"{meta.title} {meta.description} {tags}")


def similar_entries(title: str, body: str, listed: Iterable[Listed], most: int = 3) -> tuple[Listed, ...]:
    """Entries about the same subject, the likest first: at least half of the words of the smaller are in both."""
    wanted = content_terms(f"{title} {body}")
    scored = ((_likeness(wanted, words_about(each.meta)), each) for each in listed)
    alike = sorted(((score, each) for score, each in scored if score >= _SIMILAR), key=lambda pair: -pair[0])
    return tuple(each for _, each in alike[:most])


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    common = len(one & other)
    return common / min(len(one), len(other)) if common >= _FEWEST_WORDS else 0.0

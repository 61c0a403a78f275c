"""When two entries say the same, and the words by which a listing knows what they are about."""

from __future__ import annotations

from agent_memory.digests import sha256
from agent_memory.domain.entry import Meta
from agent_memory.domain.text.terms import content_terms


def body_hash(body: str) -> str:
    """SHA-256 of the UTF-8 of the body without leading and trailing white space, hex."""
    return sha256(body.strip().encode("utf-8", "surrogatepass")).hexdigest()


def words_about(meta: Meta) -> frozenset[str]:
    """The words that say what an entry is about: of its title, description and tags, as stems."""
    return content_terms(text_about(meta))


def text_about(meta: Meta) -> str:
    """Where those words are taken from."""
    tags = " ".join([tag.partition("__")[2] or tag for tag in meta.tags])
    return f"{meta.title} {meta.description} {tags}"

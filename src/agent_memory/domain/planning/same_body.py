"""When two entries say the same, and the words by which a listing knows what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent_memory.digests import sha256
from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.packed_entries import column_of
from agent_memory.domain.text.terms import content_terms


def body_hash(body: str) -> str:
    """SHA-256 of the UTF-8 of the body without leading and trailing white space, hex."""
    return sha256(body.strip().encode("utf-8", "surrogatepass")).hexdigest()


def words_about(meta: Meta) -> frozenset[str]:
    """The words that say what an entry is about: of its title, description and tags, as stems."""
    return content_terms(text_about(meta))


def text_about(meta: Meta) -> str:
    """Where those words are taken from."""
    return _text_about(meta.title, meta.description, meta.tags)


def texts_about(entries: Sequence[Listed]) -> Iterable[str]:
    """The same of each of these."""
    return map(_text_about, *(column_of(entries, f"meta.{name}") for name in ("title", "description", "tags")))


def _text_about(title: str, description: str, tags: Iterable[str]) -> str:
    slugs = " ".join([tag.partition("__")[2] or tag for tag in tags])
    return f"{title} {description} {slugs}"

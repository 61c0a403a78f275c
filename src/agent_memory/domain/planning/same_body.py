"""When two entries say the same, and the words by which a listing knows what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from operator import not_

from agent_memory.digests import sha256
from agent_memory.domain.entry import Listed
from agent_memory.domain.packed_entries import column_of
from agent_memory.domain.text.terms import AnyOf, content_terms


def body_hash(body: str) -> str:
    """SHA-256 of the UTF-8 of the body without leading and trailing white space, hex."""
    return sha256(body.strip().encode("utf-8", "surrogatepass")).hexdigest()


def words_of_those_about(entries: Sequence[Listed], terms: frozenset[str]) -> Mapping[int, frozenset[str]]:
    """The words that say what an entry is about, those of its title, description and tags, as stems: of those of these entries
    that have one of the terms among them, by their places, in order."""
    titles, descriptions, tags = (column_of(entries, f"meta.{name}") for name in ("title", "description", "tags"))
    any_of = AnyOf(terms)
    with_term = {tag for tag in frozenset[str]().union(*tags) if any_of.in_text(_slug(tag))}
    in_tags = map(not_, map(with_term.isdisjoint, tags))
    in_texts = map(any_of.in_text, map(" ".join, zip(titles, descriptions, strict=True)))
    found = compress(range(len(tags)), map(any, zip(in_texts, in_tags, strict=True)))
    return {at: content_terms(_text_about(titles[at], descriptions[at], tags[at])) for at in found}


def _text_about(title: str, description: str, tags: Iterable[str]) -> str:
    return " ".join((title, description, *map(_slug, tags)))


def _slug(tag: str) -> str:
    return tag.partition("__")[2] or tag

"""What an analysis notices in one note by itself. It depends on nothing but the note, and is most of the work."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable

from agent_memory.domain.analysis.claims import Claim, assertions_of, claims_of, looked_at, words_without_values
from agent_memory.domain.analysis.denials import Denial, hash_of
from agent_memory.domain.analysis.outline import Outline
from agent_memory.domain.analysis.outlining import outline_of
from agent_memory.domain.analysis.said import said_in, said_terms, sentences_of
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.text.terms import content_terms
from agent_memory.values import frozen

_MOST_TERMS = 2_000


@frozen
class PackedClaim:
    """A claim with its words as numbers (`claims.Claim`)."""

    slot: str
    frame: tuple[int, ...]
    values: tuple[str, ...]
    snippet: str
    conditional: bool
    dates: tuple[str, ...]
    exclusive: bool


@frozen
class Noticed:
    """All that is compared of a note besides its frontmatter. Words are numbers of one `Vocabulary`, ascending."""

    digest: bytes
    """Of the body without links and white space; empty where nothing else is in it."""
    terms: array[int]
    """The content words of title and body, and the code they name."""
    title: array[int]
    """The content words of the title, without values."""
    about: array[int]
    """Those of title, description and tags."""
    claims: tuple[PackedClaim, ...]
    stated: array[int]
    """What it affirms and denies: of each statement the hash of its content words, 64 bits."""
    denials: tuple[Denial, ...]
    """Those of the statements that deny."""
    outline: Outline


def noticed_in(stored: StoredEntry, words: Vocabulary) -> Noticed:
    """What there is in one entry, which can be forgotten afterwards."""
    meta = stored.meta
    sentences = looked_at(sentences_of(stored))
    said = said_in(stored.body)
    title = words_without_values(meta.title)
    assertions = assertions_of(sentences)
    tags = " ".join(tag.partition("__")[2] or tag for tag in meta.tags)
    return Noticed(
        digest=_digest(said),
        terms=words.numbers(_some(said_terms(f"{meta.title}\n{said}"))),
        title=words.numbers(title),
        about=words.numbers(title | words_without_values(meta.description) | content_terms(tags)),
        claims=tuple(_packed(claim, words) for claim in claims_of(sentences)),
        stated=array("Q", [hash_of(each) for each in assertions]),
        denials=tuple(
            Denial(at, tuple(words.numbers(each.frame)), each.snippet)
            for at, each in enumerate(assertions)
            if each.denied
        ),
        outline=outline_of(stored),
    )


def _some(terms: frozenset[str]) -> Iterable[str]:
    """Of a very long text some words will do; which ones must not depend on anything but the text."""
    return sorted(terms)[:_MOST_TERMS] if len(terms) > _MOST_TERMS else terms


def _packed(claim: Claim, words: Vocabulary) -> PackedClaim:
    return PackedClaim(
        claim.slot,
        tuple(words.numbers(claim.frame)),
        claim.values,
        claim.snippet,
        claim.conditional,
        claim.dates,
        claim.exclusive,
    )


def _digest(said: str) -> bytes:
    plain = " ".join(said.split())
    if not any(map(str.isalnum, plain)):
        return b""
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).digest()[:16]

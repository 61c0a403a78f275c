"""What an analysis keeps of an entry: enough to compare it with 50,000 others, and never its body."""

from __future__ import annotations

import hashlib
import sys
from array import array

from attrs import frozen

from agent_memory.domain.analysis.claims import Claim, words_without_values
from agent_memory.domain.analysis.said import said_in, said_terms
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.entry import Meta, StoredEntry
from agent_memory.domain.findings import Profile
from agent_memory.domain.planning.directives import is_directive, is_directive_kind
from agent_memory.domain.text.code_spans import find_code
from agent_memory.domain.text.links import find_links
from agent_memory.domain.text.terms import content_terms
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Kind, Origin, Sensitivity

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


@frozen(eq=False)
class Features:
    """One live entry as the analysis knows it. Words are numbers of one `Vocabulary`."""

    id: str
    aliases: tuple[str, ...]
    supersedes: tuple[str, ...]
    kind: Kind
    scope: str
    origin: Origin
    is_secret: bool
    pinned: bool
    promoted: bool
    cites_turns: bool
    created_at_ms: int
    updated_at_ms: int
    valid_from_ms: int | None
    valid_until_ms: int | None
    expires_at_ms: int | None
    used: int
    last_used_at_ms: int | None
    tags: tuple[str, ...]
    digest: bytes
    """Of the body without links and white space; empty where nothing else is in it."""
    terms: array[int]
    """The content words of title and body, and the code they name; ascending."""
    title: tuple[int, ...]
    """The content words of the title, without values."""
    about: tuple[int, ...]
    """Those of title, description and tags."""
    links: tuple[str, ...]
    """Ids that it links to, outside code, each once."""
    claims: tuple[PackedClaim, ...]
    code_lines: int
    """Lines of fenced code that are not blank."""
    code_chars: int
    profile: Profile

    @property
    def is_global(self) -> bool:
        """Whether it holds everywhere."""
        return self.scope == GLOBAL_SCOPE


def features_of(stored: StoredEntry, claims: tuple[Claim, ...], words: Vocabulary) -> Features:
    """The features of one entry, which can be forgotten afterwards."""
    meta, body = stored.meta, stored.body
    fences = find_code(body).fences if "```" in body or "~~~" in body else ()
    said = said_in(body)
    title = words_without_values(meta.title)
    tags = " ".join(tag.partition("__")[2] or tag for tag in meta.tags)
    return Features(
        id=meta.id,
        aliases=meta.aliases,
        supersedes=meta.supersedes,
        kind=meta.kind,
        scope=sys.intern(meta.scope),
        origin=meta.origin,
        is_secret=meta.sensitivity is Sensitivity.SECRET,
        pinned=meta.pinned,
        promoted=meta.promoted_by is not None,
        cites_turns=any(source.turns for source in meta.sources),
        created_at_ms=meta.created_at_ms,
        updated_at_ms=meta.updated_at_ms,
        valid_from_ms=meta.valid_from_ms,
        valid_until_ms=meta.valid_until_ms,
        expires_at_ms=meta.expires_at_ms,
        used=meta.used,
        last_used_at_ms=meta.last_used_at_ms,
        tags=tuple(map(sys.intern, meta.tags)),
        digest=_digest(said),
        terms=_terms(f"{meta.title}\n{said}", words),
        title=words.numbers(title),
        about=words.numbers(title | words_without_values(meta.description) | content_terms(tags)),
        links=tuple(dict.fromkeys(link.target for link in find_links(body) if link.target.startswith("id__"))),
        claims=tuple(_packed(claim, words) for claim in claims),
        code_lines=sum(_lines(body[start:end]) for start, end in fences),
        code_chars=sum(end - start for start, end in fences),
        profile=Profile(len(body), _lines(body), _commands(meta, body)),
    )


def _commands(meta: Meta, body: str) -> bool:
    return is_directive_kind(meta.kind) or is_directive(f"{meta.title}\n{meta.description}\n{body}")


def _packed(claim: Claim, words: Vocabulary) -> PackedClaim:
    return PackedClaim(
        sys.intern(claim.slot),
        words.numbers(claim.frame),
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


def _terms(text: str, words: Vocabulary) -> array[int]:
    # Of a very long text some words will do; which ones must not depend on anything but the text.
    chosen = sorted(said_terms(text))[:_MOST_TERMS]
    return array("I", words.numbers(chosen))


def _lines(text: str) -> int:
    return sum(1 for line in text.split("\n") if line.strip())

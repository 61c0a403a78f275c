"""What an analysis keeps of an entry: enough to compare it with 50,000 others, and never its body."""

from __future__ import annotations

import sys
from array import array

from attrs import frozen

from agent_memory.domain.analysis.noticed import Noticed, PackedClaim
from agent_memory.domain.entry import Meta
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Kind, Origin, Sensitivity


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
    updated_at_ms: int
    valid_from_ms: int | None
    valid_until_ms: int | None
    expires_at_ms: int | None
    tags: tuple[str, ...]
    digest: bytes
    """Of the body without links and white space; empty where nothing else is in it."""
    terms: array[int]
    """The content words of title and body, and the code they name; ascending."""
    title: array[int]
    """The content words of the title, without values."""
    about: array[int]
    """Those of title, description and tags."""
    links: tuple[str, ...]
    """Ids that it links to, outside code, each once."""
    claims: tuple[PackedClaim, ...]
    body_chars: int

    @property
    def is_global(self) -> bool:
        """Whether it holds everywhere."""
        return self.scope == GLOBAL_SCOPE


def features_of(meta: Meta, noticed: Noticed) -> Features:
    """The features of one entry, from its frontmatter and what is noticed in it."""
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
        updated_at_ms=meta.updated_at_ms,
        valid_from_ms=meta.valid_from_ms,
        valid_until_ms=meta.valid_until_ms,
        expires_at_ms=meta.expires_at_ms,
        tags=tuple(map(sys.intern, meta.tags)),
        digest=noticed.digest,
        terms=noticed.terms,
        title=noticed.title,
        about=noticed.about,
        links=noticed.outline.links,
        claims=noticed.claims,
        body_chars=noticed.outline.profile.body_chars,
    )

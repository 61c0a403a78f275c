"""What an analysis keeps of each note, computed from its text, and which of several notes is to be believed."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping

from attrs import field, frozen, frozen as frozen_by_identity

from agent_memory.domain.analysis.claims import (
    Assertion,
    Claim,
    assertions_of,
    claims_of,
    words_without_values,
)
from agent_memory.domain.entry import Meta, StoredEntry, Usage
from agent_memory.domain.findings import Profile
from agent_memory.domain.text.markdown import find_code, find_links, without_links, without_see_also
from agent_memory.domain.text.salience import statements
from agent_memory.domain.text.terms import content_terms
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Kind, Origin, Sensitivity

_SPAN = re.compile(r"`([^`\n]{2,80})`")
_MOMENTARY = (Kind.HANDOFF, Kind.TASK)


def said_in(body: str) -> str:
    """The body with each link replaced by its label, without the links at its end; code stays."""
    text = without_see_also(body)
    return "\n".join(map(without_links, text.split("\n"))) if "[[" in text else text


def said_terms(text: str) -> frozenset[str]:
    """The content words of a text, and the code that it names (each in backticks)."""
    named = {f"`{span.strip().lower()}`" for span in _SPAN.findall(text)} if "`" in text else set[str]()
    return content_terms(text) | named


def _sentences_of(stored: StoredEntry) -> tuple[str, ...]:
    """The sentences of title and body outside fenced code, each once.

    None of a handoff or task: what they say was so at one moment, and the next one may say otherwise.
    """
    if stored.meta.kind in _MOMENTARY:
        return ()
    prose = said_in(_without_fences(stored.body))
    return tuple(dict.fromkeys((*statements(stored.meta.title), *statements(prose))))


def _without_fences(body: str) -> str:
    if "```" not in body and "~~~" not in body:
        return body
    parts, position = list[str](), 0
    for start, end in find_code(body).fences:
        parts.append(body[position:start])
        position = end
    return "\n".join((*parts, body[position:]))


MOST_IN_GROUP = 12
"""More entries side by side are more than anybody can judge at once."""

_MOST_TERMS = 2_000
_TRUST = list(Origin)


@frozen
class AnalysisFacts:
    """All that an analysis may depend on besides the entries themselves."""

    now_ms: int
    taken_ids: Container[object] = frozenset[str]()
    """Every id that is not free, casefolded: live ones, aliases, archived ones (`planning.taken_ids`). The ids and aliases
    of the entries that are analysed count as taken anyway."""
    usage: Mapping[str, Usage] = field(factory=dict[str, Usage])
    """Reads by id; an entry that is not in it has the reads of its frontmatter."""
    stale_days: int = 120
    left_alone: frozenset[str] = frozenset()
    """Entries that changed in 3 of the last 10 runs. They are in no finding that asks for another rewrite: only
    contradictions and dangling links name them, which are wrong however often they are touched."""
    hot_or_new: frozenset[str] = frozenset()
    """Entries of which time alone makes nothing, since they are read uncounted or came into the store lately: they are not
    stale, and no orphans."""


@frozen_by_identity(eq=False)
class Features:
    """One live note as the analysis knows it, without its body."""

    meta: Meta
    digest: bytes
    """Of the body without links and white space; empty where nothing else is in it."""
    terms: frozenset[str]
    """The content words of title and body, and the code that they name."""
    title: frozenset[str]
    """The content words of the title, without values."""
    about: frozenset[str]
    """Those of title, description and tags."""
    claims: tuple[Claim, ...]
    assertions: tuple[Assertion, ...]
    links: tuple[str, ...]
    """Ids that it links to, outside code, each once, in their order."""
    profile: Profile
    code_lines: int
    """Lines of fenced code that are not blank."""
    code_chars: int

    @property
    def id(self) -> str:
        return self.meta.id

    @property
    def scope(self) -> str:
        return self.meta.scope

    @property
    def is_secret(self) -> bool:
        """Whether nothing that it says may be quoted."""
        return self.meta.sensitivity is Sensitivity.SECRET

    @property
    def is_vouched_for(self) -> bool:
        """Whether a person pinned it, or promoted it."""
        return self.meta.pinned or self.meta.promoted_by is not None

    @property
    def since_ms(self) -> int:
        """Since when it is so, as far as it says."""
        return self.meta.updated_at_ms if self.meta.valid_from_ms is None else self.meta.valid_from_ms


def features_of(stored: StoredEntry) -> Features:
    """The features of one note, after which its body can be forgotten."""
    meta, body = stored.meta, stored.body
    sentences = _sentences_of(stored)
    said = said_in(body)
    title = words_without_values(meta.title)
    tags = " ".join(tag.partition("__")[2] or tag for tag in meta.tags)
    fences = find_code(body).fences if "```" in body or "~~~" in body else ()
    return Features(
        meta,
        digest=_digest(said),
        # Of a very long text some words will do; which ones must not depend on anything but the text.
        terms=frozenset(sorted(said_terms(f"{meta.title}\n{said}"))[:_MOST_TERMS]),
        title=title,
        about=title | words_without_values(meta.description) | content_terms(tags),
        claims=claims_of(sentences),
        assertions=assertions_of(sentences),
        links=tuple(dict.fromkeys(link.target for link in find_links(body) if link.target.startswith("id__"))),
        profile=Profile(len(body), _lines(body)),
        code_lines=sum(_lines(body[start:end]) for start, end in fences),
        code_chars=sum(end - start for start, end in fences),
    )


def _digest(said: str) -> bytes:
    plain = " ".join(said.split())
    if not any(map(str.isalnum, plain)):
        return b""
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).digest()[:16]


def _lines(text: str) -> int:
    return sum(1 for line in text.split("\n") if line.strip())


# -- which of several is to be believed -------------------------------------------------------------------------------


def precedence(entry: Features) -> tuple[bool, bool, int, int, bool, str]:
    """Sorts the entry that should win first: what a person pinned or promoted, then what is newer, then what is better
    sourced (the user before the agent, with cited turns before without). What is external wins against nothing else: a page
    must not get its way by being read last."""
    meta = entry.meta
    return (
        not entry.is_vouched_for,
        meta.origin is Origin.EXTERNAL,
        -entry.since_ms,
        _TRUST.index(meta.origin),
        not any(source.turns for source in meta.sources),
        meta.id,
    )


def in_precedence(entries: Iterable[Features]) -> tuple[Features, ...]:
    """The entries, the winner first."""
    return tuple(sorted(entries, key=precedence))


def same_reach(one: Features, other: Features) -> bool:
    """Whether there is a place in which both hold: of one scope, or one of them global."""
    return one.scope == other.scope or GLOBAL_SCOPE in (one.scope, other.scope)


def across_scopes(one: Features, other: Features) -> str:
    """What a reason says of a pair that cannot be merged; empty where it can."""
    if one.scope == other.scope:
        return ""
    place = other.scope if one.scope == GLOBAL_SCOPE else one.scope
    return f"; one is global, the other belongs to {place}, so they cannot be merged"


# -- groups that can be looked at together ----------------------------------------------------------------------------


def stars(pairs: Iterable[tuple[Features, Features]]) -> Iterator[tuple[Features, ...]]:
    """Groups of 2 to `MOST_IN_GROUP` entries, each of which is paired with the first. Every pair is in some group.

    The first of a group takes precedence. The same pairs in any order give the same groups.
    """
    partners: dict[Features, set[Features]] = defaultdict(set)
    for one, other in pairs:
        partners[one].add(other)
        partners[other].add(one)
    for centre in in_precedence(partners):
        while partners[centre]:
            group = (centre, *in_precedence(partners[centre])[: MOST_IN_GROUP - 1])
            for member in group:
                partners[member].difference_update(group)
            yield group


def slices(group: tuple[Features, ...]) -> Iterator[tuple[Features, ...]]:
    """A group of any size as groups of at most `MOST_IN_GROUP`, each led by the first."""
    first, others = group[0], group[1:]
    for start in range(0, len(others), MOST_IN_GROUP - 1):
        yield (first, *others[start : start + MOST_IN_GROUP - 1])

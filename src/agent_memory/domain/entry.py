"""The memory entry: one markdown file of knowledge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import attrgetter

from attrs import field, frozen

from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Harness, Importance, Kind, Origin, Sensitivity, Status
from agent_memory.errors import StoreIo

_path = attrgetter("path")


@frozen
class Source:
    """Where an entry comes from: some turns of one session."""

    harness: Harness
    thread_id: str | None = None
    repo: str | None = None
    cwd: str | None = None
    agent: str | None = None
    turns: tuple[int, ...] = ()


@frozen
class Meta:
    """The frontmatter, defaults filled in. Instants are epoch ms."""

    id: str
    title: str
    created_at_ms: int
    updated_at_ms: int
    description: str = ""
    kind: Kind = Kind.FACT
    tags: tuple[str, ...] = ()
    """Each with its prefix: `topic__x`, `area__y`."""
    status: Status = Status.CAPTURED
    origin: Origin = Origin.USER
    scope: str = GLOBAL_SCOPE
    importance: Importance = Importance.MEDIUM
    confidence: float | None = None
    sensitivity: Sensitivity = Sensitivity.NORMAL
    pinned: bool = False
    promoted_by: str | None = None
    used: int = 0
    """The frontmatter's copy; the ledger is the truth."""
    last_used_at_ms: int | None = None
    expires_at_ms: int | None = None
    valid_from_ms: int | None = None
    valid_until_ms: int | None = None
    aliases: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    sources: tuple[Source, ...] = field(default=())

    @property
    def thread_ids(self) -> tuple[str | None, ...]:
        return tuple([each.thread_id for each in self.sources])

    @property
    def turns(self) -> tuple[tuple[int, ...], ...]:
        return tuple([each.turns for each in self.sources])


@frozen
class MemoryEntry:
    """An entry as knowledge, wherever it is kept. `body` is markdown with `\\n` line ends, without frontmatter."""

    meta: Meta
    body: str

    @property
    def texts(self) -> tuple[str, str, str]:
        """All that a reader is told in words: title, description and body."""
        return self.meta.title, self.meta.description, self.body

    @property
    def whole(self) -> str:
        return "\n".join(self.texts)


@frozen
class Listed:
    """What a listing knows about one file, without its body."""

    meta: Meta
    path: str
    """Relative to the root, with `/`."""
    content_hash: str
    """SHA-256 of the file's bytes, hex."""
    archived: bool = False
    provisional_id: bool = False
    """The file has no id of its own: `meta.id` is what `doctor --fix` would write."""
    body_hash: str = ""
    """SHA-256 of the UTF-8 of the body without leading and trailing white space, hex: two entries that say the same."""
    conflicted: bool = False


@frozen
class StoredEntry:
    """One file, whole."""

    listed: Listed
    body: str

    @property
    def meta(self) -> Meta:
        return self.listed.meta

    @property
    def entry(self) -> MemoryEntry:
        return MemoryEntry(self.listed.meta, self.body)


@frozen
class UnreadableFile:
    """A file that is there but is no valid entry, or could not be read."""

    path: str
    problems: tuple[str, ...]
    io_error: StoreIo | None = None
    """What the operating system said, if that was the reason: then nobody knows which entry it is (P6)."""


@frozen
class Listing:
    """All files of `topics/` (or of the archive), by path."""

    entries: Sequence[Listed]
    unreadable: tuple[UnreadableFile, ...] = ()

    @cached_property
    def by_id(self) -> Mapping[str, Listed]:
        return {each.meta.id: each for each in self.entries}

    def bearers(self, id: str) -> tuple[Listed, ...]:
        """The entries that have this id or alias, compared without case, by path."""
        wanted = id.casefold()
        return tuple(sorted((each for each in self.entries if wanted in folded_ids(each)), key=_path))

    def with_body(self, hash: str) -> tuple[Listed, ...]:
        """The entries with a body of this `body_hash`, by path."""
        return tuple(sorted((each for each in self.entries if each.body_hash == hash), key=_path))


def folded_ids(listed: Listed) -> tuple[str, ...]:
    return tuple(id.casefold() for id in (listed.meta.id, *listed.meta.aliases))


@frozen
class Usage:
    """Reads of one entry, over all hosts' ledgers."""

    count: int
    last_at_ms: int | None


def reads_of(meta: Meta, usage: Mapping[str, Usage]) -> Usage:
    return usage.get(meta.id) or Usage(meta.used, meta.last_used_at_ms)


def last_read(meta: Meta, usage: Mapping[str, Usage]) -> int | None:
    """When it was last read, epoch ms, 0 where nobody knows; None where nobody has read it."""
    reads = reads_of(meta, usage)
    return (reads.last_at_ms or 0) if reads.count else None


def without_secret(entries: Sequence[Listed]) -> Sequence[Listed]:
    return tuple(each for each in entries if each.meta.sensitivity is not Sensitivity.SECRET)


def secret_ids(entries: Sequence[Listed]) -> frozenset[str]:
    return frozenset(each.meta.id for each in entries if each.meta.sensitivity is Sensitivity.SECRET)


def newest_first(entries: Sequence[Listed]) -> list[int]:
    """The places of these, the last changed first; of those that were changed together, by id."""
    return sorted(range(len(entries)), key=lambda at: (-entries[at].meta.updated_at_ms, entries[at].meta.id))

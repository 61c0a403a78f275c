"""A note and its metadata: its kind, status, origin, tier and sources, with their vocabularies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from enum import StrEnum
from functools import cached_property
from typing import Annotated, ClassVar, TypeAlias

from attrs import field, frozen

from agent_memory.errors import StoreIo
from agent_memory.text.ids import EntryId, content_hash
from agent_memory.text.instants import latest
from agent_memory.text.value_rules import shown


class Harness(StrEnum):
    """The agent program of a session; `manual` is a person at a terminal."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    CURSOR = "cursor"
    AMP = "amp"
    GEMINI = "gemini"
    OPENCODE = "opencode"
    COPILOT = "copilot"
    PI = "pi"
    GOOSE = "goose"
    AIDER = "aider"
    MANUAL = "manual"


NAMES: Mapping[str, str] = {
    Harness.CLAUDE_CODE: "Claude Code",
    Harness.CODEX: "Codex",
    Harness.CURSOR: "Cursor",
    Harness.AMP: "Amp",
    Harness.GEMINI: "Gemini CLI",
    Harness.OPENCODE: "opencode",
    Harness.COPILOT: "Copilot CLI",
    Harness.PI: "Pi",
    Harness.GOOSE: "Goose",
    Harness.AIDER: "Aider",
    Harness.MANUAL: "a person",
}


class Kind(StrEnum):
    """The sort of knowledge in a note."""

    DECISION = "decision"
    LESSON = "lesson"
    PREFERENCE = "preference"
    CONVENTION = "convention"
    FACT = "fact"
    TASK = "task"
    HANDOFF = "handoff"
    PROJECT = "project"


class Status(StrEnum):
    """How far a note has come; it never goes back. Declared in order."""

    CAPTURED = "captured"
    CONSOLIDATED = "consolidated"
    PROMOTED = "promoted"


class Origin(StrEnum):
    """Whose knowledge a note is. Declared from most to least trusted."""

    USER = "user"
    AGENT = "agent"
    EXTERNAL = "external"


class Importance(StrEnum):
    """How important a note is. Declared from least to most."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Sensitivity(StrEnum):
    """Who may see a note. Declared from open to strict."""

    NORMAL = "normal"
    PRIVATE = "private"
    SECRET = "secret"


GLOBAL_SCOPE = "global"
"""The scope of notes that apply everywhere; any other scope is one repository's key."""
SKILL_TAG = "topic__skill"
"""The tag of notes that hold the steps of a task, which `memory export skills` writes."""


def furthest(statuses: Iterable[Status]) -> Status:
    """Returns the furthest status; `captured` if there are none."""
    return max(statuses, key=list(Status).index, default=Status.CAPTURED)


def least_trusted(origins: Iterable[Origin]) -> Origin:
    """Returns the least trusted origin; `user` if there are none, which is neutral in a fold."""
    return max(origins, key=list(Origin).index, default=Origin.USER)


def strictest(sensitivities: Iterable[Sensitivity]) -> Sensitivity:
    """Returns the strictest sensitivity; `normal` if there are none."""
    return max(sensitivities, key=list(Sensitivity).index, default=Sensitivity.NORMAL)


def highest(importances: Iterable[Importance]) -> Importance:
    """Returns the highest importance; `low` if there are none."""
    return max(importances, key=list(Importance).index, default=Importance.LOW)


# -- tiers ------------------------------------------------------------------------------------------------------------
# Tiers: which notes every agent gets to see.


TIERS_FILE = "state/tiers.json"
"""The path of a store's tier list, relative to the root."""


class Tier(StrEnum):
    """Where a note is shown. Declared from nearest to farthest."""

    HOT = "hot"
    """Whole in the managed section."""
    WARM = "warm"
    """One line in the managed section."""
    COLD = "cold"
    """Found by search."""


@frozen
class TierList:
    """`state/tiers.json`: ids in the order in which they are shown; an id in neither tuple is cold. No id is in both."""

    hot: tuple[EntryId, ...] = field(default=(), metadata={"stated": True})
    warm: tuple[EntryId, ...] = field(default=(), metadata={"stated": True})

    def of(self, id: str) -> Tier:
        return Tier.HOT if id in self.hot else Tier.WARM if id in self.warm else Tier.COLD

    def without(self, ids: Set[str]) -> TierList:
        return TierList(*(tuple(id for id in tier if id not in ids) for tier in (self.hot, self.warm)))

    def where_unseen(self, current: TierList, seen: frozenset[str]) -> TierList:
        """Returns this list, with notes outside `seen` where `current` has them: they were not left out on purpose."""
        unseen = current.without(seen)
        kept = self.without({*unseen.hot, *unseen.warm})
        return TierList((*kept.hot, *unseen.hot), (*kept.warm, *unseen.warm))

    def with_warm(self, id: str) -> TierList:
        """Returns the list with the note first among the warm; unchanged if it is listed already."""
        return self if id in (*self.hot, *self.warm) else TierList(self.hot, (id, *self.warm))

    def with_hot(self, id: str) -> TierList:
        """Returns the list with the note hot: unchanged if it is already, else first, so that it is sure to be shown."""
        return self if id in self.hot else TierList((id, *self.hot), self.without({id}).warm)


class Relation(StrEnum):
    LINKS = "links"
    """In its body."""
    SUPERSEDES = "supersedes"
    """In its frontmatter."""


# -- a note -----------------------------------------------------------------------------------------------------------


def _turn_problem(number: int) -> str | None:
    return None if number >= 1 else f"is {shown(number)}, expected a turn number from 1"


def _confidence_problem(confidence: float) -> str | None:
    return None if 0 <= confidence <= 1 else f"is {shown(confidence)}, expected a number from 0 to 1"


TEAM_DIRECTORY = ".agents/memory"
"""Where a team keeps its notes, below the top of a work tree."""
OF_THE_TEAM = "the team's"
"""Marks a note from there wherever it is told."""
WITHHELD = "withheld until a person approves it (`memory review`)"
BY_A_PERSON = "person"
"""The value of `promotedBy` in a note that a person vouches for."""

TurnNumber: TypeAlias = Annotated[int, _turn_problem]
Confidence: TypeAlias = Annotated[float, _confidence_problem]


@frozen(slots=False)
class Source:
    has_other_keys: ClassVar[bool] = True
    """Frontmatter may have more."""

    harness: Harness
    thread_id: str | None = None
    repo: str | None = None
    cwd: str | None = None
    agent: str | None = None
    turns: tuple[TurnNumber, ...] = ()
    branch: str | None = None
    """The branch that was checked out when the session was captured, or that the session names."""
    commit: str | None = None
    imported: str | None = field(default=None, metadata={"sparse": True})
    """The record of another memory that it was made of: `claude:web/deploys.md`, `#` and a digest of what was made."""

    @property
    def cited(self) -> str:
        """Returns `, turn 3` or `, turns 3, 9`, to follow the session; empty if no turn is cited."""
        return f", turn{'s' * (len(self.turns) > 1)} {', '.join(map(str, self.turns))}" if self.turns else ""


@frozen(slots=False)
class Meta:
    """The frontmatter, defaults filled in. Instants are epoch ms."""

    id: str
    title: str
    created_at_ms: int
    updated_at_ms: int
    description: str = ""
    kind: Kind = Kind.FACT
    tags: tuple[str, ...] = ()
    """Each has a prefix: `topic__x`, `area__y`."""
    status: Status = Status.CAPTURED
    origin: Origin = Origin.USER
    scope: str = GLOBAL_SCOPE
    importance: Importance = Importance.MEDIUM
    confidence: float | None = None
    sensitivity: Sensitivity = Sensitivity.NORMAL
    pinned: bool = False
    promoted_by: str | None = None
    withheld: bool = False
    """True if no session sees it until a person approves it (`memory review`)."""
    cleared: tuple[str, ...] = ()
    """Digests of sentences that read like orders and are told all the same (`rules/tiers.py`)."""
    used: int = 0
    """A copy; the ledger is authoritative."""
    last_used_at_ms: int | None = None
    expires_at_ms: int | None = None
    valid_from_ms: int | None = None
    valid_until_ms: int | None = None
    aliases: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    sources: tuple[Source, ...] = field(default=())

    @property
    def all_ids(self) -> tuple[str, ...]:
        """Returns every id that finds the note: its own and its aliases."""
        return (self.id, *self.aliases)

    @property
    def is_secret(self) -> bool:
        """Returns whether nothing of the note may be shown unasked, or quoted."""
        return self.sensitivity is Sensitivity.SECRET

    def is_unheard(self, said_by: Origin) -> bool:
        """Returns whether the person says now what only a foreign source said until now, so that nobody was told."""
        return said_by is Origin.USER and self.is_foreign

    @property
    def is_foreign(self) -> bool:
        """Returns whether only a page, a tool or a file says it and no person vouches for it: no agent is told it unasked
        (P19)."""
        return self.origin is Origin.EXTERNAL and not self.is_vouched_for

    @property
    def is_vouched_for(self) -> bool:
        """Returns whether a person ran `memory promote` or `memory pin` on it; a `pinned: true` may come from an
        import."""
        return self.promoted_by == BY_A_PERSON and not self.is_secret

    @property
    def needs_vouching(self) -> bool:
        return self.is_secret or self.origin is not Origin.USER

    @property
    def best_tier(self) -> Tier:
        """Returns the nearest tier that the note's origin allows (P19): cold for secret and withheld notes, else hot
        for what the person said or vouches for, warm for what an agent concluded, cold for what a foreign source said.
        """
        if self.is_secret or self.withheld or self.is_foreign:
            return Tier.COLD
        return Tier.HOT if self.is_vouched_for or self.origin is Origin.USER else Tier.WARM

    @property
    def cites_a_turn(self) -> bool:
        """Returns whether the note names the turns of a session that it comes from."""
        return any(each.turns for each in self.sources)

    @property
    def since_ms(self) -> int:
        """Returns since when it holds, as far as the note says."""
        return self.updated_at_ms if self.valid_from_ms is None else self.valid_from_ms

    def shares_a_place_with(self, other: Meta) -> bool:
        """Returns whether both notes apply in some place: their scopes are the same, or one is global."""
        return self.scope == other.scope or GLOBAL_SCOPE in (self.scope, other.scope)

    @property
    def thread_ids(self) -> tuple[str | None, ...]:
        return tuple([each.thread_id for each in self.sources])


@frozen
class MemoryEntry:
    """A note, wherever it is kept. `body` is markdown with `\\n` line ends, without frontmatter."""

    meta: Meta
    body: str

    @property
    def texts(self) -> tuple[str, str, str]:
        """Returns the text that readers see: title, description and body."""
        return self.meta.title, self.meta.description, self.body

    @property
    def whole(self) -> str:
        return "\n".join(self.texts)


@frozen(slots=False)
class Listed:
    """A listed note, without its body."""

    meta: Meta
    path: str
    """Relative to the root, with `/`."""
    content_hash: str
    """SHA-256 of the file's bytes, hex."""
    archived: bool = False
    provisional_id: bool = False
    """True if the file has no id of its own: `meta.id` is what `doctor --fix` would write."""
    body_hash: str = ""
    """SHA-256 of the stripped body in UTF-8, hex: the same in notes that say the same."""
    conflicted: bool = False

    @property
    def is_team(self) -> bool:
        """Returns whether it is a note of the team in a checkout, and `path` is relative to the top of that."""
        return self.path.startswith(f"{TEAM_DIRECTORY}/")


def body_hash(body: str) -> str:
    """Returns the SHA-256 of the stripped body in UTF-8, hex."""
    return content_hash(body.strip().encode("utf-8", "surrogatepass"))


@frozen
class StoredEntry:
    """A note with its body and its file."""

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
    """A file that is not a valid note, or could not be read."""

    path: str
    problems: tuple[str, ...]
    io_error: StoreIo | None = None
    """The operating system's error, if that was the reason: then it is unknown which note it is (P6)."""


@frozen(slots=False)
class Listing:
    """All files of `topics/` (or of the archive), sorted by path."""

    entries: Sequence[Listed]
    unreadable: tuple[UnreadableFile, ...] = ()

    @cached_property
    def by_id(self) -> Mapping[str, Listed]:
        return {each.meta.id: each for each in self.entries}

    @cached_property
    def hashes(self) -> Mapping[str, str]:
        return {each.meta.id: each.content_hash for each in self.entries}


def folded_ids(listed: Listed) -> tuple[str, ...]:
    return tuple(map(str.casefold, listed.meta.all_ids))


@frozen(slots=False)
class Usage:
    """The reads of one note, over all hosts' ledgers."""

    count: int
    last_at_ms: int | None


def reads_of(meta: Meta, usage: Mapping[str, Usage]) -> Usage:
    """Returns the reads of a note, and of those that became part of it."""
    known = [usage[id] for id in meta.all_ids if id in usage]
    return Usage(sum([each.count for each in known]), latest(*[each.last_at_ms for each in known]))


def last_read(meta: Meta, usage: Mapping[str, Usage]) -> int | None:
    """Returns when the note was last read, epoch ms; 0 if that is unknown, None if it was never read."""
    reads = reads_of(meta, usage)
    return (reads.last_at_ms or 0) if reads.count else None


def without_secret(entries: Sequence[Listed]) -> Sequence[Listed]:
    return tuple(each for each in entries if not each.meta.is_secret)


def shown_to_agents(entries: Sequence[Listed]) -> Sequence[Listed]:
    return tuple(each for each in entries if not (each.meta.is_secret or each.meta.withheld))


def secret_ids(entries: Sequence[Listed]) -> frozenset[str]:
    return frozenset(each.meta.id for each in entries if each.meta.is_secret)


def newest_first(entries: Sequence[Listed]) -> list[Listed]:
    """Returns the notes, last changed first, then by id."""
    return sorted(entries, key=lambda each: (-each.meta.updated_at_ms, each.meta.id))


# -- the tier list between runs of defrag ------------------------------------------------------------------------------


def standing_tiers(tiers: TierList, live: Iterable[Meta]) -> TierList:
    """Returns the list with hot notes appended: pinned ones, and promoted ones that are in no list yet; oldest first."""
    hot, warm = frozenset(tiers.hot), frozenset(tiers.warm)
    added = [
        meta
        for meta in live
        if (meta.pinned or meta.is_vouched_for)
        and meta.id not in hot
        and not meta.is_secret
        and (meta.pinned or meta.id not in warm)
    ]
    new = tuple(meta.id for meta in sorted(added, key=lambda meta: (meta.created_at_ms, meta.id)))
    return TierList((*tiers.hot, *new), tuple(id for id in tiers.warm if id not in new))


def tiers_of(tiers: TierList, live: Sequence[Listed]) -> Mapping[str, Tier]:
    """Returns the tier of each note that is not cold, by id, hot ones in their order; never nearer than its own metadata
    allows."""
    standing = standing_tiers(tiers, (each.meta for each in live))
    listed = {**dict.fromkeys(standing.warm, Tier.WARM), **dict.fromkeys(standing.hot, Tier.HOT)}
    far = list(Tier).index
    best = {each.meta.id: each.meta.best_tier for each in live if each.meta.id in listed}
    return {id: max(tier, best[id], key=far) for id, tier in listed.items() if id in best}

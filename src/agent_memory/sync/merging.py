"""Merges two versions of the same thing that were changed on two machines: values, lists, lines, notes, and trees of
files.

`base` is the common ancestor; without one, whatever differs counts as changed on both sides.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from operator import add
from typing import Any, TypeVar

from attrs import astuple, evolve, field, fields, frozen

from agent_memory.note.file_name import id_in_name
from agent_memory.note.note import MemoryEntry, Meta, Source, furthest, highest, least_trusted, strictest
from agent_memory.rules.commit_message import IGNORE_FILE, is_ignored
from agent_memory.text.ids import ID_PATTERN
from agent_memory.text.instants import latest, latest_end

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)

_MOST_LINES = 20_000


def chosen(base: T | None, ours: T, theirs: T, both: Callable[[T, T], T], *, has_base: bool) -> T:
    """Returns the value of the side that changed it; if both did, what `both` makes of the two."""
    if ours == theirs:
        return ours
    if has_base and ours == base:
        return theirs
    if has_base and theirs == base:
        return ours
    return both(ours, theirs)


def united(base: Collection[H], first: Sequence[H], second: Sequence[H]) -> tuple[H, ...]:
    """Returns everything that either side holds, except what was in the base and is gone from one of them; each once,
    in the order of `first`, then what `second` adds. If only one side changed anything, its order is kept."""
    for unchanged, changed in ((first, second), (second, first)):
        if tuple(unchanged) == tuple(base):
            return tuple(dict.fromkeys(changed))
    there = dict.fromkeys((*first, *second))
    return tuple(each for each in there if each not in base or (each in first and each in second))


# -- lines (diff3) ----------------------------------------------------------------------------------------------------


def merged_text(base: str | None, one: str, other: str, labels: tuple[str, str]) -> str:
    """Returns both texts as one: no line that either side added is ever left out. Without a base, the lines that they
    share in the same order serve as one, so that a text that only says more than the other wins. If both had changed
    the same lines, their two versions stand between git's markers, with these `labels`."""
    if one == other or base == other:
        return one
    if base == one:
        return other
    ours, theirs = one.split("\n"), other.split("\n")
    if base is None:
        places = _places(ours, theirs)
        common = [line for at, line in enumerate(ours) if at in places]
    else:
        common = base.split("\n")
    lines: list[str] = []
    for before, mine, other_lines in _stretches(common, ours, theirs):
        if mine == other_lines or other_lines == before:
            lines += mine
        elif mine == before:
            lines += other_lines
        else:
            lines += [f"<<<<<<< {labels[0]}", *mine, "=======", *other_lines, f">>>>>>> {labels[1]}"]
    return "\n".join(lines)


def _stretches(
    base: Sequence[str], one: Sequence[str], other: Sequence[str]
) -> Iterator[tuple[Sequence[str], Sequence[str], Sequence[str]]]:
    """Yields the three texts cut at every line that all of them share: each such line, and what is between."""
    in_one, in_other = _places(base, one), _places(base, other)
    start = (0, 0, 0)
    for at, line in enumerate(base):
        if at in in_one and at in in_other:
            yield base[start[0] : at], one[start[1] : in_one[at]], other[start[2] : in_other[at]]
            yield [line], [line], [line]
            start = (at + 1, in_one[at] + 1, in_other[at] + 1)
    yield base[start[0] :], one[start[1] :], other[start[2] :]


def _places(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """Returns the positions of shared lines in the other text, by their positions in the one."""
    if max(len(before), len(after)) > _MOST_LINES:
        return {}
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return {block.a + each: block.b + each for block in blocks for each in range(block.size)}


def newer_first(one: MemoryEntry, other: MemoryEntry) -> tuple[MemoryEntry, MemoryEntry]:
    """Returns the two versions of a note: first the one with the later `updatedAt`, among equals the one with the
    greater content. Which one is ours makes no difference, so that both machines come to the same result."""
    newer, older = sorted((one, other), key=lambda each: (each.meta.updated_at_ms, repr(each)), reverse=True)
    return newer, older


def merged_meta(base: MemoryEntry | None, newer: MemoryEntry, older: MemoryEntry) -> Meta:
    """Returns the frontmatter of both. The id is the newer one's, the same on both machines."""

    def merged(name: str) -> Any:
        before = None if base is None else getattr(base.meta, name)
        one, other = getattr(newer.meta, name), getattr(older.meta, name)
        if name == "sources":
            return _united_sources(before or (), one, other)
        if name in _LISTS:
            return united(before or (), one, other)
        if name in _RAISED:
            return _RAISED[name](one, other)
        both = _IF_BOTH_CHANGED.get(name, lambda newest, _: newest)
        return chosen(before, one, other, both, has_base=base is not None)

    meta = Meta(**{each.name: merged(each.name) for each in fields(Meta)})
    # A person vouches for what they saw (P19): if the side without that promotion changed the text, it is withdrawn unless
    # the note is the person's own, as when a program edits.
    pairs = ((newer, older), (older, newer))
    is_changed = any(side.meta.promoted_by is None and side.texts != (base or other).texts for side, other in pairs)
    # Nor was a text approved that came with the other side.
    is_new = any(side.meta.withheld and side.texts != (base or other).texts for side, other in pairs)
    meta = evolve(meta, withheld=meta.withheld or is_new)
    is_unearned = meta.promoted_by is not None and is_changed and meta.needs_vouching
    return evolve(meta, promoted_by=None, pinned=False) if is_unearned else meta


def _united_sources(
    base: tuple[Source, ...], newer: tuple[Source, ...], older: tuple[Source, ...]
) -> tuple[Source, ...]:
    """Returns one source for each session and agent, with united turns."""
    turns_before, turns_newer, turns_older = (
        {evolve(each, turns=()): each.turns for each in sources} for sources in (base, newer, older)
    )
    sessions = united(tuple(turns_before), tuple(turns_newer), tuple(turns_older))

    def turns(session: Source) -> tuple[int, ...]:
        sides = [known[session] for known in (turns_newer, turns_older) if session in known]
        return tuple(sorted(united(turns_before.get(session, ()), sides[0], sides[-1])))

    return tuple(evolve(session, turns=turns(session)) for session in sessions)


_LISTS = ("tags", "aliases", "supersedes")
_RAISED: Mapping[str, Callable[[Any, Any], Any]] = {
    "status": lambda one, other: furthest((one, other)),
    "used": max,
    "last_used_at_ms": latest,
    "updated_at_ms": max,
}
"""Fields that never go back, whichever side changed them."""
_IF_BOTH_CHANGED: Mapping[str, Callable[[Any, Any], Any]] = {
    "origin": lambda one, other: least_trusted((one, other)),
    "importance": lambda one, other: highest((one, other)),
    "confidence": lambda one, other: min((each for each in (one, other) if each is not None), default=None),
    "sensitivity": lambda one, other: strictest((one, other)),
    "pinned": lambda one, other: one or other,
    "promoted_by": lambda one, other: one or other,
    "created_at_ms": min,
    "expires_at_ms": latest_end,
    "valid_from_ms": latest,
    "valid_until_ms": latest_end,
}
"""For any other field that both sides changed, the newer one's value stands."""


_LIVE, _RETIRED = "topics/", "archive/"


@frozen
class NoteCounts:
    """Notes by their fate from one tree to another."""

    created: int = 0
    changed: int = 0
    archived: int = 0
    removed: int = 0

    @property
    def any(self) -> bool:
        return bool(self.created or self.changed or self.archived or self.removed)

    def __add__(self, other: NoteCounts) -> NoteCounts:
        return NoteCounts(*map(add, astuple(self), astuple(other)))

    def words(self) -> str:
        """`2 new, 1 changed`; `no note` for none."""
        named = (("new", self.created), ("changed", self.changed), ("archived", self.archived), ("gone", self.removed))
        return ", ".join(f"{count} {word}" for word, count in named if count) or "no note"


def count_notes(before: Mapping[str, object], after: Mapping[str, object]) -> NoteCounts:
    """Returns how the live notes of two trees differ; values are compared as they are."""
    was, now = (
        {_key(path): (path, held) for path, held in files.items() if path.startswith(_LIVE)}
        for files in (before, after)
    )
    retired = {_key(path) for path in after if path.startswith(_RETIRED) and path.count("/") == 1}
    gone = was.keys() - now.keys()
    return NoteCounts(
        created=len(now.keys() - was.keys()),
        changed=sum(was[key] != now[key] for key in was.keys() & now.keys()),
        archived=len(gone & retired),
        removed=len(gone - retired),
    )


def _key(path: str) -> str:
    name = path.rpartition("/")[2]
    return id_in_name(name) or name


@frozen
class Remark:
    """Something about one path or note that a person should know: what happened to `subject`, in words."""

    subject: str
    what: str


@frozen
class SyncRequest:
    remote: str | None = None
    """The address of a remote that should be this store's from now on."""
    dry_run: bool = False
    after_purge: bool = False
    """Whether a person confirmed that a purge, here or on the other machine, should hold on both."""


@frozen
class Synced:
    """What a sync did, or a dry run would do."""

    remote: str
    branch: str
    received: NoteCounts = NoteCounts()
    sent: NoteCounts = NoteCounts()
    pushed: bool = False
    """Whether there was something to send: files, or the history of both."""
    merged: bool = False
    conflicts: tuple[Remark, ...] = ()
    remarks: tuple[Remark, ...] = ()
    forgotten: int = 0
    after_purge: bool = False
    dry_run: bool = False


def sentence_of(synced: Synced) -> str:
    if not (synced.pushed or synced.received.any or synced.merged or synced.forgotten):
        return f"Nothing to sync: this machine and {synced.remote} are the same."
    verbs = ("would receive", "send") if synced.dry_run else ("Received", "sent")
    start = "Dry run: " if synced.dry_run else ""
    received, sent = synced.received.words(), synced.sent.words()
    return f"{start}{verbs[0]} {received}; {verbs[1]} {sent} ({synced.remote}, branch {synced.branch})."


PLAIN_MODES = ("100644", "100755")
"""Of regular files, as git writes them."""
MAX_FILE_BYTES = 4 << 20
_MAX_NAME_BYTES = 255
_MAX_DEPTH = 8
_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f\\\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_OURS = re.compile(
    rf"topics/[^/]+|archive/(?:[^/]+|{ID_PATTERN}/(?:0|[1-9]\d{{0,18}})\.md)|usage/[A-Za-z0-9._-]+\.jsonl"
    r"|state/(?:[a-z_]+|(?:sessions|forgotten|rejected|review|keys)/[A-Za-z0-9._-]+)\.json",
    re.ASCII,
)
"""Notes with their versions, ledgers, and our bookkeeping."""
_INSTRUCTIONS = frozenset(
    ("agents.md", "claude.md", "claude.local.md", "gemini.md", "memory.config.json", "mcp.json", "makefile", "justfile")
)
_INERT = (".md", ".txt", ".json", ".jsonl", ".yaml", ".yml", ".toml", ".csv", ".png", ".jpg", ".jpeg", ".gif", ".pdf")


@frozen
class Leaf:
    """One file of a commit."""

    mode: str
    object_id: str
    size_bytes: int = 0


Tree = Mapping[str, Leaf]
"""By path, relative to the root, with `/`."""

Held = Leaf | bytes
"""A file that a commit has already, or new bytes."""

EMPTY: Tree = {}


@frozen
class MergedTree:
    """Every file of the merge."""

    files: Mapping[str, Held]
    outside: frozenset[str] = field(default=frozenset())
    """Paths that stay in git and are never written to disk."""
    conflicts: tuple[Remark, ...] = ()
    """Notes in which two versions of the same lines stand."""
    remarks: tuple[Remark, ...] = ()
    forgotten: int = 0
    """Files that were left out because they were forgotten on one of the machines."""


# -- what may come to the disk ----------------------------------------------------------------------------------------


def why_outside(path: str, leaf: Leaf) -> str | None:
    """Returns why a file of another machine's commit is not written here; None if it may be."""
    if leaf.mode not in PLAIN_MODES:
        odd = {"120000": "it is a symbolic link", "160000": "it is a submodule"}
        return odd.get(leaf.mode, "it is not a regular file")
    if leaf.size_bytes > MAX_FILE_BYTES:
        return f"it is larger than {MAX_FILE_BYTES >> 20} MiB"
    names = path.split("/")
    if len(names) > _MAX_DEPTH:
        return f"it lies deeper than {_MAX_DEPTH} directories"
    for name in names:
        encoded = name.encode("utf-8", "surrogateescape")
        is_text = encoded.decode("utf-8", "replace") == name and not _NOT_IN_NAMES.search(name)
        if name in ("", ".", "..") or not is_text or len(encoded) > _MAX_NAME_BYTES:
            return "not every system accepts its name"
        if name.startswith(".") and path != IGNORE_FILE:
            return "its name begins with a dot"
    folded = unicodedata.normalize("NFKC", path).casefold()
    if is_ignored(path) or is_ignored(folded):
        return "nothing of that directory is shared"
    if _OURS.fullmatch(path):
        return None
    directory, _, _ = folded.partition("/")
    if directory in ("topics", "archive", "state", "usage"):
        return f"it does not belong in {directory}/"
    name = folded.rpartition("/")[2]
    is_inert = name.endswith(_INERT) and name not in _INSTRUCTIONS
    return None if is_inert else "an agent or a tool might obey it"

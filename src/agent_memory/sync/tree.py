"""The files of a commit, which of them may come to this machine's disk, and how the notes of two commits differ."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from operator import add

from attrs import astuple, field, frozen

from agent_memory.note.file_name import id_in_name
from agent_memory.rules.commit_message import IGNORE_FILE, is_ignored
from agent_memory.store.note_files import MAX_FILE_BYTES
from agent_memory.text.ids import ID_PATTERN

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


PLAIN_MODES = ("100644", "100755")
"""Of regular files, as git writes them."""
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
    files: Mapping[str, Held]
    outside: frozenset[str] = field(default=frozenset())
    """Paths that stay in git and are never written to disk."""
    conflicts: tuple[Remark, ...] = ()
    """Notes in which two versions of the same lines stand."""
    remarks: tuple[Remark, ...] = ()
    forgotten: int = 0
    """Files that were left out because they were forgotten on one of the machines."""


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
        if name in ("", ".", "..") or not is_text or len(encoded) > 255:
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

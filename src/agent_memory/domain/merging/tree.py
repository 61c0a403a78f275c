"""What a commit holds, what a merge of two makes of it, and what of it may come to the disk from another machine (P21):
regular files, of names that mean nothing to any program, where a store has files.

Whatever else a remote holds stays in git and is never written: a symbolic link, a submodule, a name that begins with a
dot, a file of instructions or settings that an agent or a tool might obey.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from attrs import field, frozen

from agent_memory.domain.merging.synced import Remark
from agent_memory.domain.recording.recorded_paths import IGNORE_FILE, is_ignored
from agent_memory.domain.text.ids import is_id

PLAIN_MODES = ("100644", "100755")
"""Of regular files, as git writes them."""
MAX_FILE_BYTES = 4 << 20
_MAX_NAME_BYTES = 255
_MAX_DEPTH = 8
_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f\\\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_STATE = re.compile(r"state/(?:[a-z_]+|(?:sessions|forgotten|keys)/[A-Za-z0-9._-]+)\.json", re.ASCII)
_USAGE = re.compile(r"usage/[A-Za-z0-9._-]+\.jsonl", re.ASCII)
_VERSION = re.compile(r"(?:0|[1-9]\d{0,18})\.md", re.ASCII)
_INSTRUCTIONS = frozenset(
    ("agents.md", "claude.md", "claude.local.md", "gemini.md", "memory.config.json", "mcp.json", "makefile", "justfile")
)
_INERT = (".md", ".txt", ".json", ".jsonl", ".yaml", ".yml", ".toml", ".csv", ".png", ".jpg", ".jpeg", ".gif", ".pdf")
"""Endings of files that nothing runs."""


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
    """Files that were left out since they were forgotten on one of the machines."""


# -- what may come to the disk ----------------------------------------------------------------------------------------


def why_outside(path: str, leaf: Leaf) -> str | None:
    """Why a file of another machine's commit is not written here; None where it may be."""
    if leaf.mode not in PLAIN_MODES:
        odd = {"120000": "it is a symbolic link", "160000": "it is a submodule"}
        return odd.get(leaf.mode, "it is no regular file")
    if leaf.size_bytes > MAX_FILE_BYTES:
        return f"it is larger than {MAX_FILE_BYTES >> 20} MiB"
    return _name_problem(path) or _place_problem(path)


def _name_problem(path: str) -> str | None:
    names = path.split("/")
    if len(names) > _MAX_DEPTH:
        return f"it lies deeper than {_MAX_DEPTH} directories"
    for name in names:
        encoded = name.encode("utf-8", "surrogateescape")
        if name in ("", ".", "..") or _NOT_IN_NAMES.search(name) or encoded.decode("utf-8", "replace") != name:
            return "its name is none that every system takes"
        if len(encoded) > _MAX_NAME_BYTES:
            return "its name is too long"
        if name.startswith(".") and path != IGNORE_FILE:
            return "its name begins with a dot"
    return None


def _place_problem(path: str) -> str | None:
    first, _, rest = path.partition("/")
    folded = unicodedata.normalize("NFKC", path).casefold()
    if is_ignored(path) or is_ignored(folded):
        return "nothing of that directory is shared"
    match first:
        case "topics":
            return None if rest and "/" not in rest else "it lies in a directory below topics/"
        case "archive":
            directory, slash, name = rest.partition("/")
            if not slash:
                return None if rest else "it is no file of the archive"
            return None if is_id(directory) and _VERSION.fullmatch(name) else "it is no version of a note"
        case "state":
            return None if _STATE.fullmatch(path) else "it is no state of ours"
        case "usage":
            return None if _USAGE.fullmatch(path) else "it is no ledger of ours"
        case _:
            return _elsewhere_problem(folded)


def _elsewhere_problem(folded: str) -> str | None:
    if folded.split("/")[0] in ("topics", "archive", "state", "usage"):
        return "its name differs from ours in case only"
    name = folded.rpartition("/")[2]
    if name in _INSTRUCTIONS or not name.endswith(_INERT):
        return "an agent or a tool might obey it"
    return None

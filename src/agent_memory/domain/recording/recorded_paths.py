"""What a recorder keeps, and whose: the paths of a store as git sees them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from agent_memory.domain.redaction import redact

IGNORED = ("inbox/", "histories/", "runs/", ".cache/", ".transaction/", ".tmp-*", ".git.broken-*")
"""The lines of the store's `.gitignore`: what is transient, derived, or kept elsewhere."""

IGNORE_FILE = ".gitignore"
IGNORE_TEXT = "".join(f"{line}\n" for line in IGNORED)
"""What a new store's `IGNORE_FILE` holds."""

BOOKKEEPING = ("state", "usage")
"""Directories that only we write. Their changes ride along with the next record and are nobody's hand edit."""

_IGNORED_DIRECTORIES = tuple(line.rstrip("/") for line in IGNORED if line.endswith("/"))
_IGNORED_PREFIXES = tuple(line.rstrip("*") for line in IGNORED if line.endswith("*"))


def path_problem(path: str) -> str | None:
    """Why a path cannot be recorded, or None: it must be relative, and stay inside the root and outside `.git`."""
    parts = path.split("/")
    if not path or "\0" in path:
        return "it is no path"
    if path.startswith("/"):
        return "it is not relative to the root"
    if ".." in parts:
        return "it leaves the root"
    if parts[0].casefold() == ".git":
        return "it is git's own"
    return None


def is_ignored(path: str) -> bool:
    """True for what `IGNORED` keeps out of the history, whatever the `.gitignore` on disk says."""
    parts = path.split("/")
    return parts[0] in _IGNORED_DIRECTORIES or any(part.startswith(_IGNORED_PREFIXES) for part in parts)


def is_bookkeeping(path: str) -> bool:
    """True for a file of ours that rides along."""
    return path.split("/")[0] in BOOKKEEPING


def wanted_of(changed: Iterable[str], asked: Iterable[str]) -> tuple[str, ...]:
    """Those of the changed paths that are asked for, or lie in a directory that is; compared under NFC, in order."""
    names = {_plain(path) for path in asked}
    return tuple(path for path in changed if not names.isdisjoint(_with_parents(_plain(path))))


def _with_parents(path: str) -> tuple[str, ...]:
    parts = path.split("/")
    return tuple("/".join(parts[:count]) for count in range(1, len(parts) + 1))


def _plain(path: str) -> str:
    return unicodedata.normalize("NFC", "/".join(part for part in path.split("/") if part not in ("", ".")))


def holds_secret(path: str, text: str) -> bool:
    """True when redaction finds something in the text of a file, or in its name."""
    return bool(redact(text).found or redact(path).found)


def hand_edit_words(paths: tuple[str, ...]) -> tuple[str, str]:
    """Subject and body of the commit of a person's own changes."""
    count = len(paths)
    return f"hand edits: {count} file{'' if count == 1 else 's'}", "\n".join(paths)

"""The repositories in which this store was asked for on this machine, each with the key and the root commit that it had then.

By that a repository is known again when it was moved, renamed, or got another remote. One small file a repository, in
`~/.local/state/agent-memory/<hash of the root>.places/`: paths are this machine's, so nothing of it belongs into the store.
Imports C modules only, since a hook looks at one of them.
"""

import os
from _blake2 import blake2b

from agent_memory.adapters.disk.durable import make_directories, replace_loosely
from agent_memory.adapters.surroundings.repository import Repository, read_repository
from agent_memory.adapters.surroundings.root import home_of, local_state_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MAX_BYTES = 1 << 14


class KnownPlace:
    """A repository as it was seen last: its common directory, its key, and its root commit, empty where that is not known."""

    __slots__ = ("common", "root_commit", "scope")

    def __init__(self, common: str, scope: str, root_commit: str) -> None:
        self.common = common
        self.scope = scope
        self.root_commit = root_commit


class KnownPlaces:
    """Those of one store. What cannot be read counts as not seen, what cannot be written is seen the next time."""

    __slots__ = ("directory",)

    def __init__(self, home: str, real_root: str) -> None:
        self.directory = f"{local_state_directory(home)}/{_digest(real_root)}.places"

    def at(self, common: str) -> KnownPlace | None:
        """The repository with this common directory."""
        place = _read(f"{self.directory}/{_digest(common)}")
        return place if place is not None and place.common == common else None

    def has(self, repository: Repository) -> bool:
        """Whether there is nothing to remember: it was seen just as it is, or is none. One without a commit may get its first."""
        if repository.common is None:
            return True
        place = self.at(repository.common)
        if place is None or place.scope != repository.scope:
            return False
        return bool(place.root_commit) or repository.commit is None

    def all(self) -> "Iterator[KnownPlace]":
        """All of them, in no order."""
        try:
            names = os.listdir(self.directory)
        except OSError:
            return
        for name in names:
            place = _read(f"{self.directory}/{name}")
            if place is not None:
                yield place

    def put(self, place: KnownPlace) -> None:
        """Remember it as it is now; not where its path or its key holds a secret, which is written nowhere (P20)."""
        from agent_memory.adapters.surroundings.places_files import redacted_scope  # loads much: once a repository

        if any(redacted_scope(each) != each for each in (place.common, place.scope)):
            return
        text = f"{place.common}\n{place.scope}\n{place.root_commit}\n"
        if text.count("\n") != 3:  # a path with a line break is known by nothing
            return
        try:
            make_directories(self.directory)
            replace_loosely(f"{self.directory}/{_digest(place.common)}", (os.fsencode(text),))
        except OSError:
            return


def known_places(environ: "Mapping[str, str]", real_root: str) -> KnownPlaces | None:
    """Those of a store; None where no home is known."""
    home = home_of(environ)
    return None if home is None else KnownPlaces(home, real_root)


def repo_now(cwd: str, captured: str | None, *, environ: "Mapping[str, str]", known: KnownPlaces | None) -> str | None:
    """The key of the place where a session was, which may have been moved since it was captured with another."""
    if captured is None:
        return read_repository(cwd, environ, home_of(environ)).repo
    place = None if known is None or os.path.isdir(cwd) else known.at(captured.removeprefix("path:"))
    return captured if place is None else place.scope


def _digest(path: str) -> str:
    return blake2b(os.fsencode(path), digest_size=12).hexdigest()


def _read(path: str) -> KnownPlace | None:
    try:
        with open(path, "rb") as file:
            lines = os.fsdecode(file.read(_MAX_BYTES)).split("\n")
    except OSError:
        return None
    return KnownPlace(*lines[:3]) if len(lines) == 4 else None

"""Where sessions take place: the scope of a directory, and the repositories where this store was used on this machine.

Each is kept with the key and the root commit that it had then, by which a repository is recognised after it was moved,
renamed, or got another remote. One small file for each, in `~/.local/state/agent-memory/<hash of the root>.places/`:
paths belong to this machine, not to the store. Imports C modules only, since hooks read one of these files.
"""

import os
from _blake2 import blake2b

from agent_memory.capture.repository import GLOBAL_SCOPE, Repository, read_repository
from agent_memory.files.durable import make_directories, replace_file
from agent_memory.files.root import home_of, local_state_directory
from agent_memory.text.json_shape import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

UNBORN = "unborn "
"""Begins the mark of a repository without a commit."""
UNKNOWN = "?"
"""A root commit that is unknown and will not be looked up again: a shallow clone, a history too long for a hook."""

_SECONDS = 3.0
_SHORTEST_SECRET_CHARS = 15
"""The shortest match of a redaction rule that needs no context and only letters, digits and characters of names."""
_USUAL = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:")


def scope_of(
    cwd: str | None, environ: "Mapping[str, str]", arrive: "Callable[[Repository], None] | None" = None
) -> str:
    """Returns the scope key of the repository around a directory, or `global`; calls `arrive` with the place."""
    if cwd is None:
        return GLOBAL_SCOPE
    repository = read_repository(cwd, environ)
    if arrive is not None:
        arrive(repository)
    return redacted_scope(repository.scope)


class KnownPlace(Record):
    """A repository as it was last seen."""

    common: str
    """The directory shared by its work trees."""
    scope: str
    root_commit: str
    """Empty if unknown; before the first commit what `unborn_mark` returns."""


class KnownPlaces:
    """The known places of one store. Unreadable ones count as unknown; unwritable ones are recorded the next time."""

    __slots__ = ("directory",)

    def __init__(self, home: str, real_root: str) -> None:
        self.directory = f"{local_state_directory(home)}/{_digest(real_root)}.places"

    def at(self, common: str) -> KnownPlace | None:
        place = _read(f"{self.directory}/{_digest(common)}")
        return place if place is not None and place.common == common else None

    def has(self, repository: Repository) -> bool:
        """Returns whether nothing changed or it is not a repository. One without a commit may get its first."""
        if repository.common is None:
            return True
        place = _read(f"{self.directory}/{_digest(repository.common)}")
        if place is None or place.scope not in (repository.scope, _digest(repository.scope)):
            return False
        return repository.commit is None or not (place.root_commit == "" or place.root_commit.startswith(UNBORN))

    def all(self) -> "Iterator[KnownPlace]":
        try:
            names = os.listdir(self.directory)
        except OSError:
            return
        for name in names:
            place = _read(f"{self.directory}/{name}")
            if place is not None and place.common:
                yield place

    def put(self, place: KnownPlace) -> None:
        """Records its present state, or only that it was seen if path or key has a secret (P20)."""
        said = (place.common, place.scope)
        told = said if all(redacted_scope(each) == each for each in said) else ("", _digest(place.scope))
        text = f"{told[0]}\n{told[1]}\n{place.root_commit}\n"
        if text.count("\n") != 3:  # a path with a line break is never known
            return
        try:
            make_directories(self.directory)
            replace_file(f"{self.directory}/{_digest(place.common)}", os.fsencode(text), is_durable=False)
        except OSError:
            return


def known_places(environ: "Mapping[str, str]", real_root: str) -> KnownPlaces:
    return KnownPlaces(home_of(environ), real_root)


def repo_now(cwd: str, captured: str | None, *, environ: "Mapping[str, str]", known: KnownPlaces) -> str | None:
    """Returns the present key of a session's place, which may have moved since its capture."""
    if captured is None:
        return read_repository(cwd, environ).repo
    place = None if os.path.isdir(cwd) else known.at(captured.removeprefix("path:"))
    return captured if place is None else place.scope


def redacted_scope(scope: str) -> str:
    """Returns the scope without secrets, which directories' names may contain: it is written into notes and git."""
    if is_too_plain(scope):
        return scope
    from agent_memory.redaction.redact import redact_path  # loading the rules takes longer than a search

    return redact_path(scope)


def is_too_plain(scope: str) -> bool:
    """Returns whether every part is too short, and its characters too usual, for any rule of redaction."""
    place = scope.removeprefix("path:")
    is_usual = ":" not in place and "--" not in place and not set(place) - _USUAL
    return is_usual and all(len(part) < _SHORTEST_SECRET_CHARS for part in place.split("/"))


def root_commit_of(common: str, head: str | None) -> str:
    """Returns the first commit of a repository's trunk (`--first-parent`: a merged history has another), which survives
    moving and renaming. Without one the mark of the repository, UNKNOWN if git does not tell. Ignores the caller's git
    settings (P4)."""
    if head is None:
        return unborn_mark(common)
    if os.path.lexists(f"{common}/shallow"):
        return UNKNOWN
    said = git_says(common, "rev-list", "--first-parent", "--max-parents=0", head, "--")
    return UNKNOWN if said is None else said.strip() or UNKNOWN


def unborn_mark(common: str) -> str:
    """Returns what tells a repository from all others on this machine, after it was renamed, too: inode and time of a file
    that git writes only when it makes one. Empty where it is missing."""
    try:
        status = os.lstat(f"{common}/description")
    except OSError:
        return ""
    return f"{UNBORN}{status.st_ino} {status.st_mtime_ns}"


def git_says(common: str, *words: str, told: str = "", seconds: float = _SECONDS) -> str | None:
    """Returns what git says about a repository, to `told` on its standard input; None where it does not answer in time. The
    caller's environment and settings have no say (P4), and nothing is fetched."""
    import subprocess

    if seconds <= 0:
        return None
    environ = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",  # for a git that does not know the line above
        "GIT_NO_REPLACE_OBJECTS": "1",
        # Measured: `diff-tree --stdin` reads it for nothing, four times 40 ms with 100,000 files.
        "GIT_INDEX_FILE": f"{common}/{'index' if 'ls-files' in words else 'no-index'}",
        "LC_ALL": "C",
    }
    command = ("git", "-c", "core.fsmonitor=false", f"--git-dir={common}", *words)
    try:
        asked = subprocess.run(
            command, env=environ, cwd="/", capture_output=True, input=os.fsencode(told), timeout=seconds, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return asked.stdout.decode("utf-8", "replace")


def _digest(path: str) -> str:
    return blake2b(os.fsencode(path), digest_size=12).hexdigest()


def _read(path: str) -> KnownPlace | None:
    try:
        with open(path, "rb") as file:
            lines = os.fsdecode(file.read(1 << 14)).split("\n")
    except OSError:
        return None
    return KnownPlace(*lines[:3]) if len(lines) == 4 else None

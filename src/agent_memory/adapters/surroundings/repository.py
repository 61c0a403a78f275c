"""What a working directory's repository says about itself, read from the files of `.git` alone: no git process runs.

Follows https://git-scm.com/docs/gitrepository-layout: work trees (`.git` is a file, `commondir` names the shared
directory), packed refs, detached HEAD. Imports nothing but `os`, since capture uses it inside every turn of every agent.
Whatever cannot be read counts as absent: a session without a branch is better than none.
"""

import os
import stat

from agent_memory.domain.queueing.inbox_rules import commit_problem, ref_problem
from agent_memory.domain.queueing.scope import GLOBAL_SCOPE, scope_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_FILE_BYTES = 1 << 20
MAX_PACKED_REFS_BYTES = 1 << 25
TEMPORARY_DIRECTORIES = ("/tmp", "/var/tmp", "/dev/shm", "/var/folders")
_HEX_DIGITS = 64


class Repository:
    """A working directory's scope key, and the branch and commit that are checked out; None where there is none."""

    __slots__ = ("branch", "commit", "scope")

    def __init__(self, scope: str = GLOBAL_SCOPE, branch: str | None = None, commit: str | None = None) -> None:
        self.scope = scope
        self.branch = branch
        self.commit = commit


def read_repository(directory: str, environ: "Mapping[str, str]", home: str | None) -> Repository:
    """The repository that `directory` is in; scope `global` and nothing else where it is in none."""
    try:
        real = os.path.realpath(directory)
        found = git_directory_above(real)
        if found is None:
            return Repository()
        top_level, git_directory = found
        common = _common_directory(git_directory)
        branch, commit = _checked_out(git_directory, common)
        return Repository(
            scope_key(
                top_level,
                common,
                _remotes(common),
                None if home is None else os.path.realpath(home),
                _temporary_directories(environ),
            ),
            branch if ref_problem(branch) is None else None,
            commit if commit_problem(commit) is None else None,
        )
    except (OSError, ValueError):  # ValueError: a NUL in a path
        return Repository()


def _temporary_directories(environ: "Mapping[str, str]") -> tuple[str, ...]:
    own = environ.get("TMPDIR", "")
    named = (*TEMPORARY_DIRECTORIES, own) if own.startswith("/") else TEMPORARY_DIRECTORIES
    return tuple(os.path.realpath(path) for path in named)


def work_tree_above(directory: str) -> str | None:
    """The top of the git work tree that a directory is in; None where it is in none."""
    found = git_directory_above(os.path.realpath(directory))
    return None if found is None else found[0]


def git_directory_above(directory: str) -> tuple[str, str] | None:
    """The top of the work tree, and its git directory."""
    while True:
        candidate = os.path.join(directory, ".git")
        git_directory = _git_directory_at(candidate, directory)
        if git_directory is not None:
            return directory, git_directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def _git_directory_at(candidate: str, directory: str) -> str | None:
    try:
        mode = os.stat(candidate).st_mode
    except OSError:
        return None
    if stat.S_ISDIR(mode):
        return candidate if os.path.exists(f"{candidate}/HEAD") else None
    pointer = _read(candidate)
    if not pointer.startswith(b"gitdir:"):
        return None
    target = os.path.join(directory, os.fsdecode(pointer[len(b"gitdir:") :].strip()))
    return os.path.realpath(target) if os.path.exists(f"{target}/HEAD") else None


def _common_directory(git_directory: str) -> str:
    named = _read(f"{git_directory}/commondir").strip()
    return os.path.realpath(os.path.join(git_directory, os.fsdecode(named))) if named else git_directory


def _checked_out(git_directory: str, common: str) -> tuple[str | None, str | None]:
    head = _read(f"{git_directory}/HEAD").strip()
    if not head.startswith(b"ref:"):
        return None, os.fsdecode(head)
    ref = head[len(b"ref:") :].strip()
    if b".." in ref or not ref.startswith(b"refs/"):
        return None, None
    name = os.fsdecode(ref)
    loose = _read(f"{git_directory}/{name}").strip() or _read(f"{common}/{name}").strip()
    commit = os.fsdecode(loose) if loose else _packed_commit(common, ref)
    branch = name.removeprefix("refs/heads/")
    return (None if branch in (name, ".invalid") else branch), commit  # .invalid: refs are kept in another format


def _packed_commit(common: str, ref: bytes) -> str | None:
    """The id on the line `<id> <ref>` of `packed-refs`."""
    packed = _read(f"{common}/packed-refs", MAX_PACKED_REFS_BYTES)
    at = packed.find(b" " + ref + b"\n")
    if at < 0:
        return None
    start = packed.rfind(b"\n", max(0, at - _HEX_DIGITS - 1), at) + 1
    return os.fsdecode(packed[start:at])


def _remotes(common: str) -> tuple[tuple[str, str], ...]:
    return tuple(_remote_urls(os.fsdecode(_read(f"{common}/config"))))


def _remote_urls(config: str) -> "Iterator[tuple[str, str]]":
    """(remote, URL) in the order of a git config; https://git-scm.com/docs/git-config#_syntax."""
    remote = ""
    for line in config.replace("\\\n", "").split("\n"):
        line = line.strip()
        if line.startswith("["):
            section, _, rest = line[1:].partition("]")
            kind, _, quoted = section.partition(" ")
            remote = _unquoted(quoted.strip()) if kind.lower() == "remote" else ""
            line = rest.strip()
        key, has_value, value = line.partition("=")
        if remote and has_value and key.strip().lower() == "url":
            yield remote, _unquoted(value.strip())


def _unquoted(value: str) -> str:
    """A config value without quotes and without the comment behind it."""
    text, quoted, escaped = "", False, False
    for character in value:
        if escaped:
            text, escaped = text + character, False
        elif character == "\\":
            escaped = True
        elif character == '"':
            quoted = not quoted
        elif character in "#;" and not quoted:
            break
        else:
            text += character
    return text.strip()


def _read(path: str, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """The first bytes of a regular file; empty where there is none. O_NONBLOCK: a FIFO must not hold the harness up."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        status = os.fstat(descriptor)
        return os.read(descriptor, min(status.st_size, max_bytes)) if stat.S_ISREG(status.st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)

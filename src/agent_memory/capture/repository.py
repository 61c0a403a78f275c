"""Reads a working directory's repository from the files of `.git`, without running git.

Follows https://git-scm.com/docs/gitrepository-layout: work trees (`.git` is a file, `commondir` names the shared
directory), packed refs, detached HEAD. Imports only `os`, since capture uses it inside every turn of every agent. What
cannot be read counts as absent: a session without a branch is better than none.
"""

import os
import stat

from agent_memory.files.durable import read_regular
from agent_memory.files.root import home_of
from agent_memory.text.json_shape import Record
from agent_memory.text.value_rules import commit_problem, ref_problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GLOBAL_SCOPE = "global"
MAX_KEY_CHARS = 500

_URL_SCHEMES = frozenset(("ssh", "git", "http", "https", "git+ssh", "ssh+git", "git+https", "git+http", "ftp", "ftps"))

_SAME_HOSTS = {
    "ssh.github.com": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
"""Other names under which hosts serve the same repositories, for example SSH on port 443."""
_ALIASED_HOSTS = ("github.com-", "gitlab.com-", "bitbucket.org-")
"""Prefixes of entries in SSH configs that stand for these hosts with another key, as their documentation recommends."""


def path_scope(path: str) -> str:
    """Returns the key of a place known only by its path: a hash if a note could not store that."""
    key = f"path:{path}"
    if len(key) <= MAX_KEY_CHARS and key.isprintable():
        return key
    from hashlib import sha256

    return f"path:/{sha256(os.fsencode(path)).hexdigest()}"


def chosen_remote(remotes: "tuple[tuple[str, str], ...]") -> str:
    """Returns the URL of `origin`, else of the only remote, else nothing. `remotes` are (name, URL) in config order."""
    urls = dict(reversed(remotes))  # git fetches from the first of a remote's URLs
    if "origin" in urls:
        return urls["origin"]
    return next(iter(urls.values())) if len(urls) == 1 else ""


def is_within(path: str, directory: str) -> bool:
    """Returns whether a path is a directory or below it."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def remote_scope_key(url: str) -> str | None:
    """Returns `host/owner/repo` for a remote's URL or git's short form, the same for all forms of one repository:
    lowercase host, no credentials, port or `.git`; None for a local path."""
    found = _host_and_path(url.strip())
    if found is None:
        return None
    host, path = found
    parts = [part for part in path.split("/") if part]
    if parts and parts[-1].endswith(".git"):
        parts[-1] = parts[-1][: -len(".git")]
    parts = [part for part in parts if part]
    if not host or not parts or "." in parts or ".." in parts:
        return None
    if any("@" in part for part in parts):  # a password cut in two by a slash
        return None
    host = _SAME_HOSTS.get(host.lower(), host.lower())
    host = next((alias[:-1] for alias in _ALIASED_HOSTS if host.startswith(alias)), host)
    key = "/".join((host, *parts))
    return key if len(key) <= MAX_KEY_CHARS and key.isprintable() and " " not in key else None


def stated_scope(text: str) -> str | None:
    """Returns the scope that a person means by `global`, a repository's key or its URL, or else None: any other word,
    such as a typo of `global`, would become a scope of its own, with its notes shown nowhere."""
    stated = text.strip()
    if stated == GLOBAL_SCOPE:
        return stated
    if stated.startswith("path:"):
        is_key = stated.startswith("path:/") and len(stated) <= MAX_KEY_CHARS and stated.isprintable()
        return stated if is_key else None
    key = remote_scope_key(stated)
    return key if key is not None or ":" in stated else remote_scope_key(f"https://{stated}")


def _host_and_path(url: str) -> tuple[str, str] | None:
    """Returns host and path of a URL or of `[user@]host:path`, but not of a path or a transport helper's `x::…`."""
    scheme, has_scheme, rest = url.partition("://")
    if has_scheme:
        authority, _, path = rest.partition("?")[0].partition("#")[0].partition("/")
        return (_host_of(authority), path) if scheme.lower() in _URL_SCHEMES else None
    user, at, rest = url.rpartition("@") if "@" in url.partition(":")[0] else ("", "", url)
    if rest.startswith("["):
        host, _, path = rest.partition("]:")
        return (_host_of(host + "]"), path) if path else None
    host, colon, path = rest.partition(":")
    if not colon or "/" in user + host or path.startswith(":") or (len(host) == 1 and not at):
        return None  # a drive letter, in the last case
    return _host_of(host), path


def _host_of(authority: str) -> str:
    """Returns the host in `user:password@host:port`."""
    host = authority.rpartition("@")[2]
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0].rstrip(".")


# -- the repository of a working directory -----------------------------------------------------------------------------


MAX_FILE_BYTES = 1 << 20
_MOST_CLONES = 5
"""How many local clones of clones to follow: more are a circle."""
_HEX_DIGITS = 64


class Repository(Record):
    """A working directory's scope key, and the branch and commit checked out, if any."""

    scope: str = GLOBAL_SCOPE
    branch: str | None = None
    commit: str | None = None
    top: str = ""
    """The top of the work tree, or the directory itself."""
    common: str | None = None
    """The directory shared by all work trees of the repository."""

    @property
    def repo(self) -> str | None:
        """Returns the key for a capture."""
        return None if self.scope == GLOBAL_SCOPE else self.scope


def read_repository(directory: str, environ: "Mapping[str, str]") -> Repository:
    """Returns the repository around `directory`, or the directory as a place of its own. The home and the directories
    above it are never a place, even with a repository there (dotfiles, etckeeper)."""
    try:
        real = os.path.realpath(directory)
        real_home = os.path.realpath(home_of(environ))
    except (OSError, ValueError):  # ValueError: a NUL in a path
        return Repository()
    if is_within(real_home, real):
        return Repository()
    try:
        found = git_directory_above(real)
        if found is None or is_within(real_home, found[0]):
            return Repository(path_scope(real), top=real)
        top_level, git_directory = found
        common = _common_directory(git_directory)
        branch, commit = _checked_out(git_directory, common)
        return Repository(
            scope_at(common),
            branch if ref_problem(branch) is None else None,
            commit if commit_problem(commit) is None else None,
            top_level,
            common,
        )
    except (OSError, ValueError):
        return Repository(path_scope(real), top=real)


def scope_at(common: str, depth: int = _MOST_CLONES) -> str:
    """Returns the key of the repository with this common directory. A local clone has the key of its original."""
    config = os.fsdecode(_read(f"{common}/config"))
    url = chosen_remote(
        tuple((name, url) for kind, name, key, url in _settings(config) if (kind, key) == ("remote", "url"))
    )
    key = remote_scope_key(url)
    if key is not None:
        return key
    path = os.path.expanduser(url.removeprefix("file://"))
    if depth and path.startswith("/"):
        for candidate in (f"{path}/.git", path, f"{path}.git"):
            if os.path.isdir(candidate) and _has_head(candidate):
                cloned = _common_directory(os.path.realpath(candidate))
                return scope_at(cloned, depth - 1)
    return path_scope(common)


def scope_there(path: str, environ: "Mapping[str, str]") -> str | None:
    """Returns the key of what is at a path; empty for nothing, None if that cannot be told."""
    try:
        if not _is_there(path):
            return ""
        return scope_at(path) if _has_head(path) else read_repository(path, environ).scope
    except (OSError, ValueError):
        return None


def work_tree_above(directory: str) -> str | None:
    """Returns the top of the git work tree around a directory, or None. Raises OSError if that cannot be told (P6)."""
    found = git_directory_above(os.path.realpath(directory))
    return None if found is None else found[0]


def may_be_in_work_tree(directory: str) -> bool:
    """Returns whether a directory is, or may be, in a git work tree, where nothing private must be put (P6)."""
    try:
        return work_tree_above(directory) is not None
    except OSError:
        return True


def git_directory_above(directory: str) -> tuple[str, str] | None:
    """Returns the top of the work tree and its git directory. Raises OSError if that cannot be told."""
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
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISDIR(mode):
        return candidate if _has_head(candidate) else None
    pointer = read_regular(candidate, MAX_FILE_BYTES)
    if not pointer.startswith(b"gitdir:"):
        return None
    target = os.path.join(directory, os.fsdecode(pointer[len(b"gitdir:") :].strip()))
    return os.path.realpath(target) if _has_head(target) else None


def _has_head(git_directory: str) -> bool:
    return _is_there(f"{git_directory}/HEAD")


def _is_there(path: str) -> bool:
    """Returns whether the path exists; raises OSError if that cannot be told."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


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
    commit = _read(f"{git_directory}/{name}").strip() or _read(f"{common}/{name}").strip()
    if not commit:  # on the line `<id> <ref>` of `packed-refs`
        packed = _read(f"{common}/packed-refs", 1 << 25)
        at = packed.find(b" " + ref + b"\n")
        commit = packed[packed.rfind(b"\n", max(0, at - _HEX_DIGITS - 1), at) + 1 : at] if at >= 0 else b""
    branch = name.removeprefix("refs/heads/")
    # .invalid: refs are stored in another format
    return (None if branch in (name, ".invalid") else branch), os.fsdecode(commit) if commit else None


def _settings(config: str) -> "Iterator[tuple[str, str, str, str]]":
    """Yields (section, subsection, key, value) in the order of a git config, for sections with a quoted subsection;
    https://git-scm.com/docs/git-config#_syntax."""
    kind = name = ""
    for line in config.replace("\\\n", "").split("\n"):
        line = line.strip()
        if line.startswith("["):
            section, _, rest = line[1:].partition("]")
            kind, _, quoted = section.partition(" ")
            kind, name = kind.lower(), _unquoted(quoted.strip())
            line = rest.strip()
        key, has_value, value = line.partition("=")
        if name and has_value:
            yield kind, name, key.strip().lower(), _unquoted(value.strip())


def _unquoted(value: str) -> str:
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
    """Returns the first bytes of a regular file; empty if it is missing or unreadable."""
    try:
        return read_regular(path, max_bytes)
    except OSError:
        return b""

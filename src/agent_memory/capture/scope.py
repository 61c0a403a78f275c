"""The scope key: one name for a place of work, of a repository with a remote the same in every clone and worktree.

Pure and free of imports, since capture uses it inside every turn of every agent.
"""

GLOBAL_SCOPE = "global"
MAX_KEY_CHARS = 500

_URL_SCHEMES = frozenset(("ssh", "git", "http", "https", "git+ssh", "ssh+git", "git+https", "git+http", "ftp", "ftps"))

_SAME_HOSTS = {
    "ssh.github.com": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
    "vs-ssh.visualstudio.com": "dev.azure.com",
}
"""Other names under which hosts serve the same repositories, for instance SSH on the port of HTTPS."""
_ALIASED_HOSTS = ("github.com-", "gitlab.com-", "bitbucket.org-")
"""How entries of a person's SSH config begin that stand for these hosts with another key, as their documents advise."""


def path_scope(path: str) -> str:
    """Returns the key of a place that is known by its path alone; `global` where that could stand in no note."""
    key = f"path:{path}"
    return key if len(key) <= MAX_KEY_CHARS and key.isprintable() else GLOBAL_SCOPE


def chosen_remote(remotes: "tuple[tuple[str, str], ...]") -> str:
    """Returns the URL of `origin`, else of the only remote, else nothing. `remotes` are (name, URL) in the order of the
    config."""
    urls = dict(reversed(remotes))  # of a remote with several URLs, the first is where git fetches from
    if "origin" in urls:
        return urls["origin"]
    return next(iter(urls.values())) if len(urls) == 1 else ""


def is_within(path: str, directory: str) -> bool:
    """Tells whether a path is a directory or below it."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def remote_scope_key(url: str) -> str | None:
    """`host/owner/repo` of a remote's URL: lowercase host, no credentials, port or `.git`; None for a local path.

    Understood are URLs (`https://user:pass@host:8443/owner/repo.git`) and git's short form (`git@host:owner/repo`). The
    forms that one host has for one repository have one key.
    """
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
    if any("@" in part for part in parts):  # a password with a slash in it, cut in two
        return None
    key = "/".join(_one_name(host.lower(), parts))
    return key if len(key) <= MAX_KEY_CHARS and key.isprintable() and " " not in key else None


def stated_scope(text: str) -> str | None:
    """Returns the scope that a person means by `global`, a repository's key or its URL; None where it can be none of
    these.

    A word that is no key, such as a slip in `global`, would be a scope of its own, and its notes shown nowhere.
    """
    stated = text.strip()
    if stated == GLOBAL_SCOPE:
        return stated
    if stated.startswith("path:"):
        is_key = stated.startswith("path:/") and len(stated) <= MAX_KEY_CHARS and stated.isprintable()
        return stated if is_key else None
    key = remote_scope_key(stated)
    return key if key is not None or ":" in stated else remote_scope_key(f"https://{stated}")


def _one_name(host: str, parts: list[str]) -> list[str]:
    """Host and path in the form that a host uses in its web addresses. Azure's forms are `v3/org/project/repo` (SSH),
    `org/project/_git/repo` and, where both have one name, `org/_git/repo`; it was `org.visualstudio.com` before."""
    host = _SAME_HOSTS.get(host, host)
    host = next((alias[:-1] for alias in _ALIASED_HOSTS if host.startswith(alias)), host)
    if host.endswith(".visualstudio.com"):
        parts = [host.partition(".")[0], *(part for part in parts if part.lower() != "defaultcollection")]
        host = "dev.azure.com"
    if host == "dev.azure.com":
        parts = parts[1:] if parts[0] == "v3" and len(parts) == 4 else parts
        if parts[1:2] == ["_git"] and len(parts) == 3:
            parts = [parts[0], parts[2], parts[2]]
        elif parts[2:3] == ["_git"] and len(parts) == 4:
            parts = [*parts[:2], parts[3]]
    return [host, *parts]


def _host_and_path(url: str) -> tuple[str, str] | None:
    """Of a URL, or of `[user@]host:path`, where a slash before the first colon makes it a path, and `x::…` names a transport helper."""
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
        return None  # the last: a drive letter
    return _host_of(host), path


def _host_of(authority: str) -> str:
    """Returns the host of `user:password@host:port`; an IPv6 address without its brackets' port."""
    host = authority.rpartition("@")[2]
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0].rstrip(".")

"""Where the memories are kept: the one rule for the storage root and for the directories around it.

Imports nothing but `os` and `stat` (and `pwd` where HOME is not set), since capture uses it inside every turn of every agent.
"""

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROOT_VARIABLE = "AGENT_MEMORY_ROOT"
COMMONPLACE = "commonplace"
COMMONPLACE_ROOT = "commonplace/01_files/_utilities/agent-memories"


def home_of(environ: "Mapping[str, str]") -> str | None:
    """The person's home: HOME where it is an absolute path, else the password database's word, else None."""
    home = environ.get("HOME", "")
    if not home.startswith("/"):
        home = _home_in_password_database()
    return os.path.normpath(home) if home.startswith("/") else None


def _home_in_password_database() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def config_path(home: str) -> str:
    """The person's config file."""
    return f"{home}/.config/agent-memory/config.json"


def local_state_directory(home: str) -> str:
    """What belongs to this machine and not to the store: locks, the hook log, trust."""
    return f"{home}/.local/state/agent-memory"


def storage_root(environ: "Mapping[str, str]", configured: str | None = None) -> str | None:
    """AGENT_MEMORY_ROOT, else the configured `storage.root`, else the default; None where no home is known.

    `~` is the home. A relative AGENT_MEMORY_ROOT counts from the current directory, as in any shell; a relative
    `storage.root` counts from the home, since a config means one place wherever it is read. OSError: see `default_root`.
    """
    home = home_of(environ)
    named = environ.get(ROOT_VARIABLE)
    if named:
        return absolute(named, home, os.getcwd)
    if configured:
        return absolute(configured, home, lambda: home or "")
    return default_root(environ)


def default_root(environ: "Mapping[str, str]") -> str | None:
    """Inside `~/commonplace` where that exists, else `data_root`; None where no home is known. Raises OSError where that
    cannot be told: another store than that of every other day is never taken for it (P6)."""
    home = home_of(environ)
    if home is not None and is_directory(f"{home}/{COMMONPLACE}"):
        return f"{home}/{COMMONPLACE_ROOT}"
    return data_root(environ)


def data_root(environ: "Mapping[str, str]") -> str | None:
    """In the data directory; None where no home is known."""
    home = home_of(environ)
    data = environ.get("XDG_DATA_HOME", "")
    if data.startswith("/"):  # the XDG specification: a relative path is to be ignored
        return os.path.normpath(f"{data}/agent-memory")
    return None if home is None else f"{home}/.local/share/agent-memory"


def is_directory(path: str) -> bool:
    """Like `os.path.isdir`, but raises OSError where that cannot be told (P6)."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def absolute(path: str, home: str | None, base: "Callable[[], str]") -> str | None:
    """The path with `~` as the home, and from `base` where it is relative; None without the one of them that it needs."""
    if path == "~" or path.startswith("~/"):
        return None if home is None else os.path.normpath(home + path[1:])
    if path.startswith("/"):
        return os.path.normpath(path)
    start = base()
    return os.path.normpath(f"{start}/{path}") if start else None

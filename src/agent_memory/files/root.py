"""Where the memories are kept: the one rule for the storage root and for the directories around it; and the signs by which memory
knows its own calls of agents, so that it never captures them (P23).

Imports C modules and our own import-free ones only (and `pwd` where HOME is not set), since capture uses it inside every turn of
every agent.
"""

import os
import stat

from agent_memory.files.durable import read_regular
from agent_memory.files.json_lite import scan_json
from agent_memory.text.json_shape import is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

ROOT_VARIABLE = "AGENT_MEMORY_ROOT"
LOCAL_NAME = "memory.config.json"
"""The name of a config in the current directory."""
MAX_CONFIG_BYTES = 1 << 20
COMMONPLACE = "commonplace"
COMMONPLACE_ROOT = "commonplace/01_files/_utilities/agent-memories"


def home_of(environ: "Mapping[str, str]") -> str | None:
    """Returns the person's home: HOME where it is an absolute path, else the password database's word, else None."""
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
    """Returns the person's config file."""
    return f"{home}/.config/agent-memory/config.json"


def local_state_directory(home: str) -> str:
    """Returns what belongs to this machine and not to the store: locks, the hook log, trust."""
    return f"{home}/.local/state/agent-memory"


def storage_root(environ: "Mapping[str, str]", configured: str | None = None) -> str | None:
    """Returns AGENT_MEMORY_ROOT, else the configured `storage.root`, else the default; None where no home is known.

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
    """Returns the root inside `~/commonplace` where that exists, else `data_root`; None where no home is known. Raises OSError where that
    cannot be told: another store than that of every other day is never taken for it (P6)."""
    home = home_of(environ)
    if home is not None and is_directory(f"{home}/{COMMONPLACE}"):
        return f"{home}/{COMMONPLACE_ROOT}"
    return data_root(environ)


def data_root(environ: "Mapping[str, str]") -> str | None:
    """Returns the root in the data directory; None where no home is known."""
    home = home_of(environ)
    data = environ.get("XDG_DATA_HOME", "")
    if data.startswith("/"):  # the XDG specification: a relative path is to be ignored
        return os.path.normpath(f"{data}/agent-memory")
    return None if home is None else f"{home}/.local/share/agent-memory"


def root_and_doubt(environ: "Mapping[str, str]", home: str | None) -> tuple[str | None, str]:
    """Returns the root by a look at the person's config alone, and what puts it in doubt; `config_files` reads all of
    it, and checks it. The current directory's config has no say: it may come from a clone."""
    if environ.get(ROOT_VARIABLE) or home is None:
        return storage_root(environ), ""
    configured, doubt = _configured_root(config_path(home))
    try:
        return storage_root(environ, configured), doubt
    except OSError as error:
        return data_root(environ), doubt or f"{error.filename} cannot be looked at: {error.strerror}"


def own_config(path: str) -> "tuple[dict[str, Any] | None, str]":
    """Returns the person's config as it stands there, unchecked, None where there is none; and why it cannot be read."""
    try:
        config = scan_json(read_regular(path, MAX_CONFIG_BYTES).decode().removeprefix("\ufeff"))
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return None, f"{path} cannot be read: {error.strerror}"
    except (ValueError, RecursionError):
        return None, f"{path} is not JSON"
    return (config, "") if is_object(config) else (None, f"{path} is not a JSON object")


def _configured_root(path: str) -> tuple[str | None, str]:
    """Returns `storage.root` of the person's config, None where it says nothing; and why that cannot be told."""
    config, doubt = own_config(path)
    if config is None:
        return None, doubt
    storage = config.get("storage", {})
    root = storage.get("root") if is_object(storage) else 0
    if root is None or (isinstance(root, str) and root and "\0" not in root):
        return root, ""
    return None, f"storage.root in {path} is not a path"


def is_directory(path: str) -> bool:
    """Returns what `os.path.isdir` does, but raises OSError where that cannot be told (P6)."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def absolute(path: str, home: str | None, base: "Callable[[], str]") -> str | None:
    """Returns the path with `~` as the home, and from `base` where it is relative; None without the one of them that it
    needs."""
    if path == "~" or path.startswith("~/"):
        return None if home is None else os.path.normpath(home + path[1:])
    if path.startswith("/"):
        return os.path.normpath(path)
    start = base()
    return os.path.normpath(f"{start}/{path}") if start else None


# -- our own calls of agents ------------------------------------------------------------------------------------------

DEPTH_VARIABLE = "AGENT_MEMORY_DEPTH"
"""How many of our agent commands we are inside of; 0 or unset outside of any."""

CHILD_MARK = ".agent-memory-child"
"""A file of this name marks the working directory of our agent commands: nothing at or below it is captured."""


def is_own_call(environ: "Mapping[str, str]") -> bool:
    """Returns whether we are inside an agent command that we ourselves started."""
    return environ.get(DEPTH_VARIABLE, "").strip() not in ("", "0")


def is_marked(directory: str) -> bool:
    """Returns whether a directory is, or is below, the private directory of an agent command. What is not there any
    more is not marked itself."""
    while not os.path.lexists(f"{directory}/{CHILD_MARK}"):
        parent = os.path.dirname(directory)
        if parent == directory:
            return False
        directory = parent
    return True

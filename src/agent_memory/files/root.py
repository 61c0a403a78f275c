"""The location of the memories: the one rule for the storage root and the directories around it, and the marks by which
memory recognises its own calls of agents, so that it never captures them (P23).

Imports only C modules and our own import-free ones (and `pwd` if HOME is not set), since capture uses it inside every
turn of every agent.
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


TEAM_DIRECTORY = ".agents/memory"
"""As in `note.note`, which takes longer to load."""
MOST_TEAM_FILES = 256
"""A checkout's directory with more files is not read: it would slow every hook."""


def home_of(environ: "Mapping[str, str]") -> str:
    """Returns the person's home: HOME if it is an absolute path, else the password database's entry, else `/`, as in a
    container."""
    home = environ.get("HOME", "")
    if not home.startswith("/"):
        home = _home_in_password_database()
    return os.path.normpath(home) if home.startswith("/") else "/"


def _home_in_password_database() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def config_path(home: str) -> str:
    return f"{home}/.config/agent-memory/config.json"


def local_state_directory(home: str) -> str:
    """Returns the directory for what belongs to this machine and not to the store: locks, the hook log, trust."""
    return f"{home}/.local/state/agent-memory"


def pauses_path(home: str) -> str:
    """Returns the file that holds this machine's pauses."""
    return f"{local_state_directory(home)}/paused.json"


def storage_root(environ: "Mapping[str, str]", configured: str | None = None) -> str:
    """Returns AGENT_MEMORY_ROOT, else the configured `storage.root`, else the default.

    `~` is the home. A relative AGENT_MEMORY_ROOT is relative to the current directory, as in any shell; a relative
    `storage.root` to the home, since a config must mean one place wherever it is read. OSError: see `default_root`.
    """
    home = home_of(environ)
    named = environ.get(ROOT_VARIABLE)
    if named:
        return absolute(named, home, os.getcwd)
    if configured:
        return absolute(configured, home, lambda: home)
    return default_root(environ)


def default_root(environ: "Mapping[str, str]") -> str:
    """Returns the root inside `~/commonplace` if that exists, else `data_root`. Raises OSError if it cannot tell, rather
    than choose a different store than usual (P6)."""
    home = home_of(environ)
    if is_directory(f"{home}/{COMMONPLACE}"):
        return f"{home}/{COMMONPLACE_ROOT}"
    return data_root(environ)


def data_root(environ: "Mapping[str, str]") -> str:
    """Returns the root in the data directory."""
    data = environ.get("XDG_DATA_HOME", "")
    if data.startswith("/"):  # the XDG specification says to ignore relative paths
        return os.path.normpath(f"{data}/agent-memory")
    return f"{home_of(environ)}/.local/share/agent-memory"


def root_and_doubt(environ: "Mapping[str, str]") -> tuple[str, str]:
    """Returns the root according to the person's config alone, and what makes that doubtful; `config_files` reads and
    checks the whole config. The current directory's config is ignored: it may come from a clone."""
    if environ.get(ROOT_VARIABLE):
        return storage_root(environ), ""
    configured, doubt = _configured_root(config_path(home_of(environ)))
    try:
        return storage_root(environ, configured), doubt
    except OSError as error:
        return data_root(environ), doubt or f"{error.filename} cannot be looked at: {error.strerror}"


def own_config(path: str) -> "tuple[dict[str, Any] | None, str]":
    """Returns the person's config, unchecked, or None, and why it cannot be read."""
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
    """Returns `storage.root` of the person's config, if set, and why it cannot be told otherwise."""
    config, doubt = own_config(path)
    if config is None:
        return None, doubt
    storage = config.get("storage", {})
    root = storage.get("root") if is_object(storage) else 0
    if root is None or (isinstance(root, str) and root and "\0" not in root):
        return root, ""
    return None, f"storage.root in {path} is not a path"


def is_directory(path: str) -> bool:
    """Like `os.path.isdir`, but raises OSError if it cannot tell (P6)."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def absolute(path: str, home: str, base: "Callable[[], str]") -> str:
    """Returns the path with `~` expanded, relative to `base`; as it is, if that is empty."""
    if path == "~" or path.startswith("~/"):
        return os.path.normpath(f"{home.rstrip('/')}/{path[2:]}")
    if path.startswith("/"):
        return os.path.normpath(path)
    start = base()
    return os.path.normpath(f"{start.rstrip('/')}/{path}") if start else path


INCOGNITO_VARIABLE = "AGENT_MEMORY_INCOGNITO"
"""Set to anything but 0, it keeps memory out of a session."""

# -- our own calls of agents ------------------------------------------------------------------------------------------

DEPTH_VARIABLE = "AGENT_MEMORY_DEPTH"
"""The number of our agent commands that we are nested in; 0 or unset outside."""

CHILD_MARK = ".agent-memory-child"
"""A file of this name marks the working directory of our agent commands: nothing in or below it is captured."""


def is_own_call(environ: "Mapping[str, str]") -> bool:
    """Returns whether we run inside an agent command that we started."""
    return environ.get(DEPTH_VARIABLE, "").strip() not in ("", "0")


def is_marked(directory: str) -> bool:
    """Returns whether a directory (or, if it is missing, its parents) is in the private directory of an agent command."""
    while not os.path.lexists(f"{directory}/{CHILD_MARK}"):
        parent = os.path.dirname(directory)
        if parent == directory:
            return False
        directory = parent
    return True

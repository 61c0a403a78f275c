"""The root by a look at the config alone, for what begins before anything else is loaded: hooks, and a search's look ahead.

Free of imports but C modules and our own import-free ones; `config_files` reads all of a config, and checks it.
"""

from agent_memory.adapters.disk.durable import read_regular
from agent_memory.adapters.disk.json_lite import scan_json
from agent_memory.adapters.disk.root import ROOT_VARIABLE, config_path, data_root, storage_root
from agent_memory.domain.json_shape import is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_CONFIG_BYTES = 1 << 20
LOCAL_NAME = "memory.config.json"
"""The name of a config in the current directory."""


def root_and_doubt(environ: "Mapping[str, str]", home: str | None) -> tuple[str | None, str]:
    """The root, and what puts it in doubt. The current directory's config has no say: it may come from a clone."""
    if environ.get(ROOT_VARIABLE) or home is None:
        return storage_root(environ), ""
    configured, doubt = _configured_root(config_path(home))
    try:
        return storage_root(environ, configured), doubt
    except OSError as error:
        return data_root(environ), doubt or f"{error.filename} cannot be looked at: {error.strerror}"


def _configured_root(path: str) -> tuple[str | None, str]:
    """`storage.root` of the person's config, None where it says nothing; and why that cannot be told."""
    try:
        config = scan_json(read_regular(path, MAX_CONFIG_BYTES).decode().removeprefix("\ufeff"))
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return None, f"{path} cannot be read: {error.strerror}"
    except (ValueError, RecursionError):
        return None, f"{path} is not JSON"
    storage = config.get("storage", {}) if is_object(config) else None
    root = storage.get("root") if is_object(storage) else 0
    if root is None or (isinstance(root, str) and root and "\0" not in root):
        return root, ""
    return None, f"storage.root in {path} is not a path"

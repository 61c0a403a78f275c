"""The effective configuration: defaults, the person's own file, the current directory's file, the environment.

`~/.config/agent-memory/config.json` is the person's. `./memory.config.json` may come from a cloned repository: unless the
person has trusted exactly its bytes, it can set `search` and `inject` alone, and nothing about it is ever an error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import read_file
from agent_memory.adapters.surroundings.root import ROOT_VARIABLE, config_path, home_of, storage_root
from agent_memory.config import OPEN_SECTIONS, Config, preset_problem
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import ConfigInvalid, ConfigUnreadable, Error, HomeUnknown, PathRefused, StoreIo
from agent_memory.results import sealed
from agent_memory.wording import describe

if TYPE_CHECKING:
    from agent_memory.adapters.surroundings.config_documents import Document

LOCAL_NAME = "memory.config.json"
"""The name of a config in the current directory."""

MAX_CONFIG_BYTES = 1 << 20
DEFAULT = "default"
"""The source of a value that no file and no variable set."""


@frozen
class Effective:
    """The configuration that counts, and where each part of it comes from."""

    config: Config
    """`storage.root` is set and absolute; `~` in paths is the home."""
    sources: Mapping[str, str]
    """For each dotted key (`llm.command`, `llm.presets.mine`) the file or variable that set it; an absent key is default."""
    warnings: tuple[str, ...] = ()
    """Whole sentences about what of an untrusted config was ignored."""

    def source_of(self, key: str) -> str:
        """The file or variable that set a key, or `default`."""
        return self.sources.get(key, DEFAULT)


@frozen
class _Layer:
    """What one file sets."""

    source: str
    document: Document


def load_config(environ: Mapping[str, str], cwd: str | None) -> Result[Effective, Error]:
    """The effective configuration; `cwd` is None where there is no current directory.

    ConfigUnreadable and ConfigInvalid (with every problem) for the person's own file and for a trusted one; HomeUnknown
    where no root can be named. A link that leads nowhere is a config that cannot be read, not one that is missing (P6).
    """
    home = home_of(environ)
    own = Success(None) if home is None else _own_layer(config_path(home))
    match sealed(own):
        case Failure(error):
            return Failure(error)
        case Success(layer):
            layers = (layer,) if layer else ()
    local_path = None if cwd is None else os.path.join(cwd, LOCAL_NAME)
    match sealed(_local_layer(local_path, home)):
        case Failure(error):
            return Failure(error)
        case Success((local, warnings)):
            return _effective((*layers, *((local,) if local else ())), environ, home, warnings)


def read_config(path: str) -> Result[bytes | None, ConfigUnreadable]:
    """The bytes of a config file, through links; None where there is none. Never waits, never reads a special file."""
    match sealed(read_file(os.path.realpath(path), MAX_CONFIG_BYTES)):
        case Success(image):
            if image is None and os.path.islink(path):
                return Failure(ConfigUnreadable(path, "it is a symbolic link that leads nowhere"))
            return Success(None if image is None else image.data)
        case Failure(StoreIo(errno_name="ENOTDIR")):
            return Success(None)
        case Failure(StoreIo() | PathRefused() as error):
            return Failure(ConfigUnreadable(path, error.reason))
        case Failure(error):
            return Failure(ConfigUnreadable(path, describe(error)))


def _own_layer(path: str) -> Result[_Layer | None, Error]:
    match sealed(read_config(path)):
        case Failure(unreadable):
            return Failure(unreadable)
        case Success(content):
            if content is None:
                return Success(None)
            from agent_memory.adapters.surroundings.config_documents import parse_config

            return parse_config(content, path).map(lambda document: _Layer(path, document))


def _local_layer(path: str | None, home: str | None) -> Result[tuple[_Layer | None, tuple[str, ...]], Error]:
    """What the current directory's file sets, and what to warn of."""
    if path is None or (home is not None and os.path.realpath(path) == os.path.realpath(config_path(home))):
        return Success((None, ()))
    match sealed(read_config(path)):
        case Failure(unreadable):
            return Success((None, (f"{path} was ignored: {unreadable.reason}.",)))
        case Success(content):
            return Success((None, ())) if content is None else _judged(path, content, home)


def _judged(path: str, content: bytes, home: str | None) -> Result[tuple[_Layer | None, tuple[str, ...]], Error]:
    from agent_memory.adapters.surroundings.config_documents import parse_config

    trusted, warnings = _trust(path, content, home)
    parsed = parse_config(content, path)
    if trusted:
        return parsed.map(lambda document: (_Layer(path, document), warnings))
    match sealed(parsed):
        case Failure(invalid):
            problem = one_line(invalid.problems[0], 160)
            return Success((None, (*warnings, f"{path} was ignored, since it is not valid: {problem}.")))
        case Success(document):
            open_part = {key: value for key, value in document.items() if key in OPEN_SECTIONS}
            return Success((_Layer(path, open_part), (*warnings, *_ignored(path, document))))


def _trust(path: str, content: bytes, home: str | None) -> tuple[bool, tuple[str, ...]]:
    if home is None:
        return False, ()
    from agent_memory.adapters.surroundings.trust import TrustFile
    from agent_memory.domain.command.trusted_config import vouches_for

    match sealed(TrustFile(home).configs()):
        case Success(trusted):
            return vouches_for(trusted, os.path.realpath(path), content), ()
        case Failure(error):
            return False, (describe(error),)


def _ignored(path: str, document: Document) -> tuple[str, ...]:
    from agent_memory.adapters.surroundings.config_documents import closed_keys

    keys = closed_keys(document)
    if not keys:
        return ()
    named = one_line(", ".join(keys), 200)
    return (f"{path} sets {named}; ignored, since you have not trusted it. `memory trust {path}` if it is yours.",)


def _effective(
    layers: tuple[_Layer, ...], environ: Mapping[str, str], home: str | None, warnings: tuple[str, ...]
) -> Result[Effective, Error]:
    match sealed(_combined(layers)):
        case Failure(invalid):
            return Failure(invalid)
        case Success((config, sources)):
            if problem := preset_problem(config.llm):
                return Failure(ConfigInvalid(sources.get("llm.preset", layers[-1].source), (problem,)))
            if environ.get(ROOT_VARIABLE):
                sources["storage.root"] = ROOT_VARIABLE
            return _root(environ, config.storage.root).map(
                lambda root: Effective(_placed(config, root, home), sources, warnings)
            )


def _combined(layers: tuple[_Layer, ...]) -> Result[tuple[Config, dict[str, str]], ConfigInvalid]:
    """The values of all layers, the later ones winning, and what set each."""
    if not layers:
        return Success((Config(), {}))
    from agent_memory.adapters.surroundings.config_documents import config_of, merged, set_keys

    document: Document = {}
    sources: dict[str, str] = {}
    for layer in layers:
        document = merged(document, layer.document)
        sources |= dict.fromkeys(set_keys(layer.document), layer.source)
    combined = config_of(document).alt(lambda problems: ConfigInvalid(layers[-1].source, problems))
    return combined.map(lambda config: (config, sources))


def _root(environ: Mapping[str, str], configured: str | None) -> Result[str, Error]:
    try:
        root = storage_root(environ, configured)
    except FileNotFoundError:
        problem = "it is a relative path, and the current directory was removed"
        return Failure(ConfigInvalid(ROOT_VARIABLE, (problem,)))
    except OSError as error:
        return Failure(store_io(error, "look at", str(error.filename)))
    return Failure(HomeUnknown()) if root is None else Success(root)


def _placed(config: Config, root: str, home: str | None) -> Config:
    def absolute(paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_absolute(path, home) for path in paths)

    return evolve(
        config,
        storage=evolve(config.storage, root=root),
        agents_md=evolve(config.agents_md, targets=absolute(config.agents_md.targets)),
        capture=evolve(config.capture, transcript_roots=absolute(config.capture.transcript_roots)),
    )


def _absolute(path: str, home: str | None) -> str:
    """Like `storage.root`: a relative path counts from the home, since a config means one place wherever it is read."""
    if home is None:
        return path
    return os.path.normpath(os.path.join(home, path[2:] if path.startswith("~/") else "" if path == "~" else path))

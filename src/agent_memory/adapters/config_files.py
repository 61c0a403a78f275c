"""The effective configuration: defaults, the person's own file, the current directory's file, the environment.

`~/.config/agent-memory/config.json` is the person's. `./memory.config.json` may come from a cloned repository: unless the
person has trusted exactly its bytes, it can set `search` and `inject` alone, and nothing about it is ever an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.paths import read_file
from agent_memory.adapters.root import ROOT_VARIABLE, config_path, home_of, storage_root
from agent_memory.adapters.trust import TrustFile
from agent_memory.config import OPEN_SECTIONS, Config, preset_problem
from agent_memory.domain.plain_text import one_line
from agent_memory.domain.results import sealed
from agent_memory.domain.trusted_config import vouches_for
from agent_memory.errors import ConfigInvalid, ConfigUnreadable, Error, HomeUnknown, PathRefused, StoreIo
from agent_memory.formats.config_schema import key_rows
from agent_memory.formats.strict_document import parse_strict_json
from agent_memory.formats.strict_values import value_of
from agent_memory.wording import describe

LOCAL_NAME = "memory.config.json"
"""The name of a config in the current directory."""

MAX_CONFIG_BYTES = 1 << 20
DEFAULT = "default"
"""The source of a value that no file and no variable set."""

Document = Mapping[str, Any]


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
    where no root can be named.
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
            return Success(None if image is None else image.data)
        case Failure(StoreIo(errno_name="ENOTDIR")):
            return Success(None)
        case Failure(StoreIo() | PathRefused() as error):
            return Failure(ConfigUnreadable(path, error.reason))
        case Failure(error):
            return Failure(ConfigUnreadable(path, describe(error)))


def parse_config(content: bytes, path: str) -> Result[Document, ConfigInvalid]:
    """The keys that a config file sets, all known and all well formed; ConfigInvalid with every problem."""
    match sealed(parse_strict_json(content)):
        case Failure(problem):
            return Failure(ConfigInvalid(path, (problem,)))
        case Success(document):
            if not isinstance(document, dict):
                return Failure(ConfigInvalid(path, ("it must hold one object: { … }",)))
            document.pop("$schema", None)  # for editors
            return (
                value_of(document, Config).map(lambda _: document).alt(lambda problems: ConfigInvalid(path, problems))
            )


def closed_keys(document: Document) -> tuple[str, ...]:
    """The dotted keys in a config that only a trusted one may set."""
    return tuple(key for key in _set_keys(document) if key.partition(".")[0] not in OPEN_SECTIONS)


def _own_layer(path: str) -> Result[_Layer | None, Error]:
    match sealed(read_config(path)):
        case Failure(unreadable):
            return Failure(unreadable)
        case Success(content):
            if content is None:
                return Success(None)
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
    match sealed(TrustFile(home).configs()):
        case Success(trusted):
            return vouches_for(trusted, os.path.realpath(path), content), ()
        case Failure(error):
            return False, (describe(error),)


def _ignored(path: str, document: Document) -> tuple[str, ...]:
    keys = closed_keys(document)
    if not keys:
        return ()
    named = one_line(", ".join(keys), 200)
    return (f"{path} sets {named}; ignored, since you have not trusted it. `memory trust {path}` if it is yours.",)


def _effective(
    layers: tuple[_Layer, ...], environ: Mapping[str, str], home: str | None, warnings: tuple[str, ...]
) -> Result[Effective, Error]:
    merged: Document = {}
    sources: dict[str, str] = {}
    for layer in layers:
        merged = _merged(merged, layer.document)
        sources |= dict.fromkeys(_set_keys(layer.document), layer.source)
    match sealed(value_of(merged, Config)):
        case Failure(problems):
            return Failure(ConfigInvalid(layers[-1].source, problems))
        case Success(config):
            if problem := preset_problem(config.llm):
                return Failure(ConfigInvalid(sources.get("llm.preset", layers[-1].source), (problem,)))
            root = _root(environ, config.storage.root)
            if root is None:
                return Failure(HomeUnknown())
            if environ.get(ROOT_VARIABLE):
                sources["storage.root"] = ROOT_VARIABLE
            return Success(Effective(_placed(config, root, home), sources, warnings))


def _root(environ: Mapping[str, str], configured: str | None) -> str | None:
    try:
        return storage_root(environ, configured)
    except FileNotFoundError:  # a relative AGENT_MEMORY_ROOT in a directory that was removed
        return None


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


_OPEN_OBJECTS = frozenset(key for key, _, default, _ in key_rows(Config) if isinstance(default, dict))
"""Keys whose value maps names of the person's own choice; these merge name by name."""


def _holds_keys(where: str) -> bool:
    """Whether what stands here is merged key by key: a section, or an open object. A single preset is taken whole."""
    return "." not in where or where in _OPEN_OBJECTS


def _merged(far: Document, near: Document, path: str = "") -> dict[str, Any]:
    """Both, the nearer winning."""
    result = dict(far)
    for key, value in near.items():
        where = f"{path}{key}"
        deeper = isinstance(value, dict) and isinstance(result.get(key), dict) and _holds_keys(where)
        result[key] = _merged(result[key], value, f"{where}.") if deeper else value
    return result


def _set_keys(document: Document, path: str = "") -> Iterator[str]:
    """The dotted keys that a document sets, down to single presets and profiles."""
    for key, value in document.items():
        where = f"{path}{key}"
        if isinstance(value, dict) and _holds_keys(where):
            yield from _set_keys(value, f"{where}.")
        else:
            yield where

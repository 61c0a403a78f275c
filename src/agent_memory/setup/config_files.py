"""The effective configuration: defaults, the person's own file, the current directory's file, the environment.

`~/.config/agent-memory/config.json` is the person's. `./memory.config.json` may come from a cloned repository: unless the
person has trusted exactly its bytes, it can set `inject` alone, and nothing about it is ever an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, TypeAlias

from attrs import evolve, frozen

from agent_memory.capture.repository import is_within
from agent_memory.config import OPEN_SECTIONS, Config, preset_problem
from agent_memory.errors import ConfigInvalid, ConfigUnreadable, PathRefused, StoreIo, UsageInvalid
from agent_memory.files.durable import make_directories, replace_file
from agent_memory.files.locks import file_lock
from agent_memory.files.paths import JsonFile, as_store_io, read_image, store_io
from agent_memory.files.root import (
    LOCAL_NAME,
    MAX_CONFIG_BYTES,
    ROOT_VARIABLE,
    absolute,
    config_path,
    home_of,
    local_state_directory,
    storage_root,
)
from agent_memory.results import as_result, warning_of
from agent_memory.text.ids import content_hash
from agent_memory.text.instants import Instant
from agent_memory.text.json_codec import Format, InvalidValue, attributes_of, load_document, matching, value_of
from agent_memory.text.json_shape import is_object
from agent_memory.text.plain_text import one_line

Document: TypeAlias = Mapping[str, Any]


@frozen
class Effective:
    """The effective configuration, and where each part of it comes from."""

    config: Config
    """`storage.root` is set and absolute; `~` in paths is the home."""
    sources: Mapping[str, str]
    """For each dotted key (`llm.command`, `llm.presets.mine`) the file or variable that set it; a missing key has its
    default."""
    warnings: tuple[str, ...] = ()
    """Whole sentences about what was ignored in an untrusted config."""

    def source_of(self, key: str) -> str:
        """Returns the file or variable that set a key, or `default`."""
        return self.sources.get(key, "default")


@as_result
def load_config(environ: Mapping[str, str], cwd: str | None) -> Effective:
    """Returns the effective configuration; `cwd` is None to leave the file of a directory out.

    ConfigUnreadable and ConfigInvalid (with every problem) for the person's own file and for a trusted one. A dangling
    link is a config that cannot be read, not a missing one (P6).
    """
    home = home_of(environ)
    layers: dict[str, Document] = {}
    warnings: tuple[str, ...] = ()
    own_path = config_path(home)
    if (content := read_config(own_path)) is not None:
        layers[own_path] = parse_config(content, own_path)
    if cwd is not None:
        local_path = os.path.join(cwd, LOCAL_NAME)
        if os.path.realpath(local_path) != os.path.realpath(own_path):
            local, warnings = _local_config(local_path, home)
            layers |= {} if local is None else {local_path: local}
    document: Document = {}
    sources: dict[str, str] = {}
    for path, layer in layers.items():
        document = _merged(document, layer)
        sources |= dict.fromkeys(set_keys(layer), path)
    config: Config = value_of(document, Config)
    if problem := preset_problem(config.llm):
        raise ConfigInvalid(sources.get("llm.preset", next(reversed(layers), "")), (problem,))
    if environ.get(ROOT_VARIABLE):
        sources["storage.root"] = ROOT_VARIABLE
    try:
        root = storage_root(environ, config.storage.root)
    except FileNotFoundError:
        problem = "it is a relative path, and the current directory was removed"
        raise ConfigInvalid(ROOT_VARIABLE, (problem,)) from None
    except OSError as error:
        raise store_io(error, "look at", str(error.filename)) from None
    return Effective(_placed(config, root, home), sources, warnings)


def read_config(path: str) -> bytes | None:
    """Returns the bytes of a config file, through links; None if there is none. Never waits, never reads a special
    file."""
    try:
        image = read_image(os.path.realpath(path), MAX_CONFIG_BYTES)
    except (StoreIo, PathRefused) as error:
        if isinstance(error, StoreIo) and error.errno_name == "ENOTDIR":
            return None
        raise ConfigUnreadable(path, error.reason) from None
    if image is None and os.path.islink(path):
        raise ConfigUnreadable(path, "it is a symbolic link that leads nowhere")
    return None if image is None else image.data


def parse_config(content: bytes, path: str) -> dict[str, Any]:
    """Returns the keys that a config file sets, all known and valid; ConfigInvalid with every problem."""
    document = _object_in(content, path)
    document.pop("$schema", None)  # for editors
    try:
        value_of(document, Config)
    except InvalidValue as error:
        raise ConfigInvalid(path, error.problems) from error
    return document


def _object_in(content: bytes, path: str) -> dict[str, Any]:
    try:
        document = load_document(content)
        if not is_object(document):
            raise InvalidValue("it must hold one object: { … }")
    except InvalidValue as error:
        raise ConfigInvalid(path, error.problems) from error
    return document


def write_own_config(path: str, content: bytes) -> None:
    """Writes the person's own config file, through links. UsageInvalid with every problem if the bytes are not a valid
    config; nothing is changed then."""
    try:
        problem = preset_problem(value_of(parse_config(content, path), Config).llm)
    except ConfigInvalid as error:
        problem = "; ".join(error.problems)
    if problem:
        raise UsageInvalid(f"{path} was left as it is, since {problem}")
    real = os.path.realpath(path)
    with as_store_io("write", path):
        make_directories(os.path.dirname(real))
        replace_file(real, content)


def change_own_config(path: str, change: Callable[[dict[str, Any]], bool]) -> bool:
    """Changes the person's own config file by a function that says whether it changed anything, and returns whether the
    file is another one now. The caller holds the lock of setup. ConfigInvalid if it cannot be read as one, UsageInvalid if
    the change would not make it valid; nothing is changed then."""
    content = read_config(path) or b"{}\n"
    document = _object_in(content, path)
    changed = f"{json.dumps(document, indent=2, ensure_ascii=False)}\n".encode() if change(document) else content
    if changed != content:
        write_own_config(path, changed)
    return changed != content


def closed_keys(document: Document) -> tuple[str, ...]:
    """Returns the dotted keys in a config that only a trusted one may set."""
    return tuple(key for key in set_keys(document) if key.partition(".")[0] not in OPEN_SECTIONS)


def set_keys(document: Document) -> Iterator[str]:
    """Returns the dotted keys that a document sets, down to single presets and profiles."""
    return (key for key, value in leaves(document) if value != {})


def leaves(document: Document, path: str = "") -> Iterator[tuple[str, Any]]:
    """Returns every dotted key with its value, down to single presets and profiles."""
    for key, value in document.items():
        where = f"{path}{key}"
        if is_object(value) and _holds_keys(where) and (value or not path):
            yield from leaves(value, f"{where}.")
        else:
            yield where, value


def _merged(far: Document, near: Document, path: str = "") -> dict[str, Any]:
    result = dict(far)
    for key, value in near.items():
        where = f"{path}{key}"
        deeper = is_object(value) and is_object(result.get(key)) and _holds_keys(where)
        result[key] = _merged(result[key], value, f"{where}.") if deeper else value
    return result


def _holds_keys(where: str) -> bool:
    """Returns whether the value is merged key by key: a section, or an object of names of the person's own choice, like
    `llm.presets`. A single preset is taken whole."""
    section, _, key = where.partition(".")
    return not key or ("." not in key and is_object(attributes_of(attributes_of(Config)[section].type)[key].default))


def _local_config(path: str, home: str) -> tuple[Document | None, tuple[str, ...]]:
    """Returns what the current directory's file sets, None for a file that sets nothing, and the warnings."""
    try:
        content = read_config(path)
    except ConfigUnreadable as error:
        return None, (f"{path} was ignored: {error.reason}.",)
    if content is None:
        return None, ()
    trusts = as_result(TrustFile(home).vouches_for)(os.path.realpath(path), content)
    is_trusted, warnings = trusts.value_or(False), warning_of(trusts)
    try:
        document = parse_config(content, path)
    except ConfigInvalid as error:
        if is_trusted:
            raise
        problem = one_line(error.problems[0], 160)
        return None, (*warnings, f"{path} was ignored, because it is not valid: {problem}.")
    if document.pop("projects", None) is not None:  # hooks do not look at it
        warnings = (*warnings, f"`projects` in {path} was ignored: it counts in your own config file alone.")
    keys = () if is_trusted else closed_keys(document)
    if keys:
        named = one_line(", ".join(keys), 200)
        hint = f"ignored, because you have not trusted it. Run `memory trust {path}` if it is yours."
        warnings = (*warnings, f"{path} sets {named}; {hint}")
        document = {key: value for key, value in document.items() if key in OPEN_SECTIONS}
    return document, warnings


def _placed(config: Config, root: str, home: str) -> Config:
    # As for `storage.root`, a relative path counts from the home, since a config means one place wherever it is read.
    def placed(paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(absolute(path, home, lambda: home) for path in paths)

    return evolve(
        config,
        storage=evolve(config.storage, root=root),
        agents_md=evolve(config.agents_md, targets=placed(config.agents_md.targets)),
        capture=evolve(config.capture, transcript_roots=placed(config.capture.transcript_roots)),
    )


# -- which configs and team notes a person trusts: `~/.local/state/agent-memory/trusted.json` ----------------------------------------


@frozen
class TrustedConfig:
    """A trusted file, a config or a note of a team: exactly these bytes at exactly this place. With one more byte, or at
    another place, it is a different file. The directory of a team's notes has the key of its repository for bytes."""

    path: str
    """Its real path."""
    sha256: Annotated[str, matching("[0-9a-f]{64}", "is no SHA-256")]
    """SHA-256 of its bytes, in lower-case hexadecimal."""
    trusted_at_ms: Instant

    def is_of(self, content: bytes) -> bool:
        return self.sha256 == content_hash(content)


TRUSTED = Format(tuple[TrustedConfig, ...], member="configs")


class TrustFile:
    """The trusted configs of the person with this home. It lies outside every store and every repository, so that
    nothing that is cloned or synchronised can bring its own trust.

    {"version": 1, "configs": [{"path": …, "sha256": …, "trustedAt": "2026-…Z"}]}
    """

    def __init__(self, home: str) -> None:
        directory = local_state_directory(home)
        self.path = f"{directory}/trusted.json"
        self._lock_path = f"{directory}/trusted.lock"
        self._file = JsonFile(directory, "trusted.json", TRUSTED)

    def configs(self) -> tuple[TrustedConfig, ...]:
        """Returns all of them in the order in which they were trusted. A damaged list is an error, and trusts nothing."""
        return self._file.read() or ()

    def looked_at(self) -> Mapping[tuple[str, str], int]:
        """Returns when each was trusted (epoch ms), by path and content hash."""
        return {(each.path, each.sha256): each.trusted_at_ms for each in self.configs()}

    def vouches_for(self, path: str, content: bytes) -> bool:
        """Returns whether the person trusts this content at this real path."""
        return any(each.path == path and each.is_of(content) for each in self.configs())

    def add(self, path: str, content: bytes, at_ms: int) -> TrustedConfig:
        """Trusts exactly this content at this real path, replacing what was trusted there before. Durable."""
        return self.add_all(path, {path: content_hash(content)}, at_ms)[0]

    def add_all(self, path: str, hashes: Mapping[str, str], at_ms: int) -> tuple[TrustedConfig, ...]:
        """Trusts what has these hashes at these real paths, replacing what was trusted at `path` and below. Durable."""
        records = tuple(TrustedConfig(each, hash, at_ms) for each, hash in hashes.items())
        self._change(path, records)
        return records

    def remove(self, path: str) -> bool:
        """Removes the trust in this real path and all below. Returns whether there was any."""
        return self._change(path, ())

    def _change(self, path: str, records: tuple[TrustedConfig, ...]) -> bool:
        """Replaces what is trusted at `path` and below. Returns whether anything was."""
        with file_lock(self._lock_path, 10.0):
            trusted = self.configs()
            others = tuple(each for each in trusted if not is_within(each.path, path))
            self._file.write((*others, *records))
        return len(others) < len(trusted)

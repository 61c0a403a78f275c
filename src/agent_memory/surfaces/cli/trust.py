"""`memory trust`."""

from __future__ import annotations

import argparse
import os
import time

from returns.result import Failure, Result, Success

from agent_memory.adapters.agent.agent_environment import only_for_a_person
from agent_memory.adapters.surroundings.config_documents import closed_keys, parse_config
from agent_memory.adapters.surroundings.config_files import LOCAL_NAME, read_config
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.adapters.surroundings.trust import TrustFile
from agent_memory.domain.command.trusted_config import TrustedConfig
from agent_memory.domain.instants import iso_of
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import Error, HomeUnknown, UsageInvalid
from agent_memory.results import sealed
from agent_memory.surfaces.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", metavar="PATH", nargs="?", default=".", help=f"a config file, or the directory with its {LOCAL_NAME}"
    )
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--revoke", action="store_true", help="trust it no longer")
    act.add_argument("--list", action="store_true", help="list what is trusted")
    parser.epilog = (
        f"A {LOCAL_NAME} in the current directory can set `search` and `inject` only, since it may come from a cloned\n"
        "repository. Once you trust it, all of it counts: exactly these bytes, at exactly this place."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    home = home_of(os.environ)
    if home is None:
        return console.fail(HomeUnknown())
    trust = TrustFile(home)
    if arguments.list:
        return _list(trust, console)
    try:
        path = _config_at(arguments.path)
    except OSError as error:  # the current directory was removed
        return console.fail(UsageInvalid(f"{arguments.path} leads nowhere: {error.strerror}"))
    return _revoke(trust, path, console) if arguments.revoke else _trust(trust, path, console)


def _config_at(path: str) -> str:
    return os.path.realpath(os.path.join(path, LOCAL_NAME) if os.path.isdir(path) else path)


def _trust(trust: TrustFile, path: str, console: Console) -> int:
    refused = only_for_a_person("trust", os.environ)
    if isinstance(refused, Failure):
        return console.fail(refused.failure())
    match sealed(_read(path)):
        case Failure(error):
            return console.fail(error)
        case Success((content, keys)):
            added = trust.add(path, content, time.time_ns() // 1_000_000)
    if isinstance(added, Failure):
        return console.fail(added.failure())
    console.document({"trusted": path, "sha256": added.unwrap().sha256, "sets": list(keys)})
    console.out(f"Trusted, as it is now: {path}")
    console.out(f"It sets {one_line(', '.join(keys), 300)}." if keys else "It sets nothing that needed trust.")
    return 0


def _read(path: str) -> Result[tuple[bytes, tuple[str, ...]], Error]:
    """The bytes of a valid config, and what only a trusted one may set."""
    match sealed(read_config(path)):
        case Failure(unreadable):
            return Failure(unreadable)
        case Success(content):
            if content is None:
                return Failure(UsageInvalid(f"There is no file {path}", "Name the config, or go to its directory."))
            return parse_config(content, path).map(lambda document: (content, closed_keys(document)))


def _revoke(trust: TrustFile, path: str, console: Console) -> int:
    match sealed(trust.remove(path)):
        case Failure(error):
            return console.fail(error)
        case Success(was_trusted):
            console.document({"revoked": path, "wasTrusted": was_trusted})
            console.out(f"{'No longer trusted' if was_trusted else 'It was not trusted'}: {path}")
            return 0


def _list(trust: TrustFile, console: Console) -> int:
    match sealed(trust.configs()):
        case Failure(error):
            return console.fail(error)
        case Success(configs):
            console.document({"trusted": [_document(each) for each in configs]})
            for each in configs:
                console.out(f"{iso_of(each.trusted_at_ms)[:10]}  {each.path}  {_state(each)}".rstrip())
            if not configs:
                console.out("No config is trusted.")
            return 0


def _document(config: TrustedConfig) -> dict[str, object]:
    at = iso_of(config.trusted_at_ms)
    return {"path": config.path, "sha256": config.sha256, "trustedAt": at, "state": _state(config)}


def _state(config: TrustedConfig) -> str:
    """Whether it still counts."""
    match sealed(read_config(config.path)):
        case Failure(_):
            return "unreadable"
        case Success(content):
            if content is None:
                return "gone"
            return "" if config.is_of(content) else "changed since, not trusted"

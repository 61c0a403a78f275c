"""`memory trust`."""

from __future__ import annotations

import argparse
import os
import time

from agent_memory.adapters.agent.agent_environment import only_for_a_person
from agent_memory.adapters.surroundings.config_files import LOCAL_NAME, closed_keys, parse_config, read_config
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.adapters.surroundings.trust import TrustedConfig, TrustFile
from agent_memory.domain.instants import iso_of
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import ConfigUnreadable, HomeUnknown, UsageInvalid
from agent_memory.results import unwrap
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
        raise HomeUnknown()
    trust = TrustFile(home)
    if arguments.list:
        _list(trust, console)
        return 0
    try:
        path = os.path.realpath(
            os.path.join(arguments.path, LOCAL_NAME) if os.path.isdir(arguments.path) else arguments.path
        )
    except OSError as error:  # the current directory was removed
        raise UsageInvalid(f"{arguments.path} leads nowhere: {error.strerror}") from None
    if arguments.revoke:
        was_trusted = trust.remove(path)
        console.document({"revoked": path, "wasTrusted": was_trusted})
        console.out(f"{'No longer trusted' if was_trusted else 'It was not trusted'}: {path}")
    else:
        _trust(trust, path, console)
    return 0


def _trust(trust: TrustFile, path: str, console: Console) -> None:
    unwrap(only_for_a_person("trust", os.environ))
    content = read_config(path)
    if content is None:
        raise UsageInvalid(f"There is no file {path}", "Name the config, or go to its directory.")
    keys = closed_keys(parse_config(content, path))
    added = trust.add(path, content, time.time_ns() // 1_000_000)
    console.document({"trusted": path, "sha256": added.sha256, "sets": list(keys)})
    console.out(f"Trusted, as it is now: {path}")
    console.out(f"It sets {one_line(', '.join(keys), 300)}." if keys else "It sets nothing that needed trust.")


def _list(trust: TrustFile, console: Console) -> None:
    configs = trust.configs()
    documents = [
        {"path": each.path, "sha256": each.sha256, "trustedAt": iso_of(each.trusted_at_ms), "state": _state(each)}
        for each in configs
    ]
    console.document({"trusted": documents})
    for each in configs:
        console.out(f"{iso_of(each.trusted_at_ms)[:10]}  {each.path}  {_state(each)}".rstrip())
    if not configs:
        console.out("No config is trusted.")


def _state(config: TrustedConfig) -> str:
    """Whether it still counts."""
    try:
        content = read_config(config.path)
    except ConfigUnreadable:
        return "unreadable"
    if content is None:
        return "gone"
    return "" if config.is_of(content) else "changed since, not trusted"

"""What of a git history goes: every version of every file looked at, once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from attrs import field, frozen
from returns.result import Result

from agent_memory.adapters.git.blob_contents import contents_of
from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.errors import Error
from agent_memory.formats.export_stream import Choice, Key


@frozen
class Version:
    """One file as some commit has it."""

    path: str
    object_id: str


@frozen
class PurgeRules:
    """What goes, decided from the path alone or from what a file held."""

    drops_path: Callable[[str], bool]
    looks_at: Callable[[str], bool]
    """Paths whose versions are to be read."""
    version: Callable[[str, bytes], bytes | None]
    """What a version that was read holds from now on; None: it goes. The very bytes: it stays."""
    message: Callable[[str, bool], str]


@frozen
class Decided:
    choice: Choice
    gone: frozenset[str] = field(default=frozenset())
    """Object ids that must not be in the new repository."""


def decide_purge(old: GitProcess, rules: PurgeRules) -> Result[Decided, Error]:
    """What becomes of every version of every file. A blob goes only where no path and no version of it stays."""

    def chosen(versions: tuple[Version, ...]) -> Result[Decided, Error]:
        read = [each for each in versions if rules.looks_at(each.path)]
        return contents_of(old, {each.object_id for each in read}).map(
            lambda data: _choice(versions, read, data, rules)
        )

    return _versions(old).bind(chosen)


def _choice(
    versions: Iterable[Version], read: Iterable[Version], data: Mapping[str, bytes], rules: PurgeRules
) -> Decided:
    dropped: set[Key] = set()
    rewritten: dict[Key, bytes] = {}
    for each in read:
        if (held := data.get(each.object_id)) is None:
            continue
        instead = rules.version(each.path, held)
        if instead is None:
            dropped.add((each.path, each.object_id))
        elif instead != held:
            rewritten[each.path, each.object_id] = instead
    every = {(each.path, each.object_id) for each in versions}
    kept = frozenset(
        id
        for path, id in every
        if not rules.drops_path(path) and (path, id) not in dropped and (path, id) not in rewritten
    )
    gone = frozenset(id for _, id in every) - kept
    return Decided(Choice(rules.drops_path, frozenset(dropped), rewritten, kept, rules.message), gone)


def _versions(old: GitProcess) -> Result[tuple[Version, ...], Error]:
    """Every (path, blob) of every commit that any ref, or HEAD, leads to."""
    asked = old.must(
        "log", "--all", "--raw", "-z", "-m", "--root", "--no-renames", "--no-abbrev", "--format=", "--no-show-signature"
    )
    return asked.map(_read_raw)


def _read_raw(output: bytes) -> tuple[Version, ...]:
    words = [word for word in output.split(b"\0") if word]
    found: dict[Version, None] = {}
    for head, path in zip(words[::2], words[1::2], strict=False):
        fields = head.lstrip(b"\n:").split(b" ")
        for id in fields[2:4]:
            if id.strip(b"0"):
                found[Version(os.fsdecode(path), id.decode("ascii"))] = None
    return tuple(found)

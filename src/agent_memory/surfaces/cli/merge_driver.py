"""`memory merge-driver`: what git calls when a person merges a store by hand (gitattributes(5), "custom merge driver")."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from returns.result import Failure

from agent_memory.adapters.disk.durable import replace_file
from agent_memory.adapters.disk.paths import read_image, store_io
from agent_memory.errors import PathRefused
from agent_memory.formats.merged_tree import driven_merge
from agent_memory.results import as_result
from agent_memory.surfaces.console import Console

_IN_CONFLICT = 1
_MAX_BYTES = 64 << 20


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("base", metavar="BASE", type=Path, help="%%O: the common ancestor; empty where there is none")
    parser.add_argument("ours", metavar="OURS", type=Path, help="%%A: our version, which the result replaces")
    parser.add_argument("theirs", metavar="THEIRS", type=Path, help="%%B: the other version")
    parser.add_argument("path", metavar="PATH", help="%%P: where the file lies in the store")
    parser.epilog = (
        "For git, and for `git pull` by hand; `memory sync` sets it up. Exit codes: 0 merged, 1 both had changed the "
        "same lines (the result holds both), or the file cannot be merged (it is left as it was)."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    done = _merge(arguments, console)
    if isinstance(done, Failure):
        return console.fail(done.failure())
    console.document({"path": arguments.path, "conflicted": done.unwrap() == _IN_CONFLICT})
    return done.unwrap()


@as_result
def _merge(arguments: argparse.Namespace, console: Console) -> int:
    base, ours, theirs = (_read(file) for file in (arguments.base, arguments.ours, arguments.theirs))
    merged = driven_merge(arguments.path, base, ours, theirs)
    if merged is None:
        console.err(f"memory: {arguments.path!r} cannot be merged; it was left as it was.")
        return _IN_CONFLICT
    path = os.path.abspath(arguments.ours)
    try:
        replace_file(path, merged.data)
    except OSError as error:
        raise store_io(error, "write", path) from error
    return _IN_CONFLICT if merged.conflicted else 0


def _read(file: Path) -> bytes:
    image = read_image(os.path.abspath(file), _MAX_BYTES)
    if image is None:
        raise PathRefused(str(file), "it is not there")
    return image.data

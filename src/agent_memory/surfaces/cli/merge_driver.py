"""`memory merge-driver`: what git calls when a person merges a store by hand (gitattributes(5), "custom merge driver")."""

from __future__ import annotations

import argparse
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.bootstrap.merging import read_merged, write_merged
from agent_memory.errors import Error
from agent_memory.formats.driven_merge import driven_merge
from agent_memory.results import sealed
from agent_memory.surfaces.console import Console

_IN_CONFLICT = 1


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
    def merge(base: bytes, ours: bytes, theirs: bytes) -> Result[int, Error]:
        merged = driven_merge(arguments.path, base, ours, theirs)
        if merged is None:
            console.err(f"memory: {arguments.path!r} cannot be merged; it was left as it was.")
            return Success(_IN_CONFLICT)
        return write_merged(arguments.ours, merged.data).map(lambda _: _IN_CONFLICT if merged.conflicted else 0)

    files = (arguments.base, arguments.ours, arguments.theirs)
    match sealed(read_merged(files).bind(lambda data: merge(*data))):
        case Failure(error):
            return console.fail(error)
        case Success(code):
            console.document({"path": arguments.path, "conflicted": code == _IN_CONFLICT})
            return code

"""A program that rewrites a repository by rules of its own, for `purge_history`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from agent_memory.care.purging import Verdict, rewrite

GONE = "topics/gone.md"


def version(path: str, read: Callable[[], bytes]) -> Verdict:
    if path == GONE or read().startswith(b"DROP"):
        return "goes"
    return read().replace(b"secret", b"plain") if b"secret" in read() and path.startswith("topics/") else "stays"


if __name__ == "__main__":
    rewrite(version, lambda text, touched: "forgotten\n" if touched else text, Path(sys.argv[1]))

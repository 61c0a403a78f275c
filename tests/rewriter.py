"""A program that rewrites a repository by rules of its own, for `purge_history`."""

from __future__ import annotations

import sys
from pathlib import Path

from agent_memory.adapters.forgetting.purging import PurgeRules, rewrite

GONE = "topics/gone.md"
RULES = PurgeRules(
    lambda path: path == GONE,
    lambda path: path.startswith("topics/"),
    lambda path, data: None if data.startswith(b"DROP") else data.replace(b"secret", b"plain"),
    lambda text, touched: "forgotten\n" if touched else text,
)

if __name__ == "__main__":
    rewrite(RULES, Path(sys.argv[1]))

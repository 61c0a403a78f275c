"""Whatever the umask, what the program writes is for its owner alone (P22)."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

from memory_process import LIMIT_SECONDS, Memory
from program_on_path import directory_of_memory
from swept_scenes import FORGOTTEN, HOOKED, payload_of, talk

CALLS: tuple[tuple[str, ...], ...] = (
    ("remember", "The tide table is in docs/tides.csv, and never in the wiki."),
    ("capture", "--title", "Weir", "--body", "The weir opens at 3.2 m."),
    ("capture", "--hook", "--harness", "claude-code"),
    ("capture", "--hook", "--harness", "emacs"),  # which is a line in the log of hooks
    ("consolidate",),
    ("read", "the first note"),
    ("defrag",),
    ("undo",),
    ("state", "set", "lamp.level", '"low"'),
    ("search", "tides"),
    ("forget", "--session", FORGOTTEN, "--yes"),
    ("inject", "--hook", "--harness", "claude-code"),
)
WRITTEN = (
    "topics/Weir*", "runs/*/footprint-1.json", "runs/undone.json", "runs/deliveries/log.jsonl", "runs/tiering.json",
    "usage/*", "state/tiers.json", "state/sessions/*", "state/keys/*", "state/forgotten/id*", "histories/*",
    ".transaction", ".cache/store.db", ".git/objects/*/*", "inbox/.processed/*", "../.local/state/agent-memory/*.lock",
    "../.local/state/agent-memory/hook-log.jsonl",
)  # fmt: skip


def test_nobody_else_may_look(home: Path) -> None:
    memory = Memory(home)
    talk(memory, HOOKED, "Remember that the pier is 120 m long and has 14 lamps, see docs/pier.md.")
    talk(memory, FORGOTTEN, "Remember that the zanzibar deploys run from the release branch only.")
    for words in CALLS:
        first = next((memory.root / "topics").glob("*.md")).stem[-10:] if "read" in words else ""
        subprocess.run(
            [directory_of_memory() / "memory", *(first if word == "the first note" else word for word in words)],
            input=payload_of("UserPromptSubmit" if "inject" in words else "Stop", HOOKED, home),
            cwd=home,
            env=memory.environment(),
            umask=0,
            timeout=LIMIT_SECONDS,
            check=True,
        )
    ours = [each for top in (memory.root, home / ".local/state") for each in (top, *top.rglob("*"))]
    assert [each for each in ours if stat.S_IMODE(each.stat().st_mode) & 0o077] == []
    assert [each for each in WRITTEN if not list(memory.root.glob(each))] == []

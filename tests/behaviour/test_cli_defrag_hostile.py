"""`memory defrag` with agents that answer all that an agent should not."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conservation import ill_formed, oracle, violations
from faults import snapshot
from memory_process import Memory
from tidying_homes import CLAUDE, CODEX, configure, id_of, kept, write_notes

GOOD = {
    "ok", "fenced", "thinking-tags", "bom-crlf", "prompt-echo-then-ok", "stderr-flood", "orphan-grandchild-keeps-pipe",
}  # fmt: skip
UNSERVED = {
    "exit-nonzero-with-valid-stdout", "killed-after-half", "hang", "hang-after-output", "ignores-sigterm",
    "rate-limit-text",
}  # fmt: skip
CHECKED = {"rename-collision", "unknown-ids", "wipe-archive-all", "wipe-merge-all", "everything-hot"}
SHAPELESS = {"merge-self", "split-to-nothing", "unknown-action"}
"""Not one action of the reply is of the contract's shape."""
SHORT = {"ok", "hang", "truncated", "unknown-action", *CHECKED}


def modes() -> list[Any]:
    tool = Path(__file__).resolve().parents[3] / "shared" / "tools" / "fake_llm.py"
    if not tool.exists():
        return []
    listed = subprocess.run([sys.executable, str(tool), "--list"], capture_output=True, text=True, check=True)
    return [pytest.param(mode, marks=[] if mode in SHORT else [pytest.mark.slow]) for mode in listed.stdout.split()]


@pytest.mark.shared
@pytest.mark.parametrize("mode", modes())
def test_whatever_a_hostile_agent_answers_nothing_is_lost(home: Path, shared: Path, tmp_path: Path, mode: str) -> None:
    """P9, P12-P15, by both oracles."""
    memory = Memory(home)
    write_notes(memory)
    command = shlex.join([sys.executable, str(shared / "tools" / "fake_llm.py"), mode, "defrag"])
    configure(memory, command, llm={"timeoutSeconds": 2})
    before = Path(shutil.copytree(memory.root, tmp_path / "before"))
    done = memory("defrag", "--json")
    assert "Traceback" not in done.err
    assert oracle(shared, before, memory.root, 0.26) == []
    assert violations(snapshot(before), snapshot(memory.root), most_changed=5) == []
    if mode in UNSERVED:
        assert done.code == 40, done
    elif mode in GOOD:
        assert (done.code, done.document["actions"]) == (0, [])
        assert id_of("keeper") in done.document["tiers"]["hot"]
    elif mode in CHECKED:
        assert done.code == 0, done
        if mode not in ("everything-hot", "unknown-ids"):
            assert done.document["refused"]
    else:
        assert done.code in ((50,) if mode in SHAPELESS else (0, 50)), done
    if done.code in (40, 50):
        assert kept(memory).keys() == {f"memories/{path}" for path in snapshot(before)}
    for name in (CLAUDE, CODEX):
        if (home / name).exists():
            assert ill_formed((home / name).read_bytes()) == []
    configure(memory, None)
    assert memory("defrag").code == 0
    assert oracle(shared, before, memory.root, 0.6) == []
    assert memory("undo").code == 0

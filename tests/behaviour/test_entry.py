from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hook_calls import payload

REPORT = """
import os, sys
before = set(sys.modules)
from agent_memory.cli import entry
sys.argv = ["memory", *sys.argv[1:]]
real = os._exit
def report(code):
    os.write(1, " ".join(sorted(set(sys.modules) - before)).encode())
    real(code)
os._exit = report
entry.main()
"""

C_MODULES = {"_json", "select", "errno", "gc", "time"}


def modules_after(words: list[str], data: bytes) -> set[str]:
    finished = subprocess.run(
        [sys.executable, "-S", "-c", REPORT, *words],
        input=data,
        stdout=subprocess.PIPE,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )
    return set(finished.stdout.decode().split())


def test_the_hook_imports_c_modules_and_our_own_light_ones_only(root: Path) -> None:
    imported = modules_after(["capture", "--harness", "claude-code", "--hook"], payload())
    ours = {name for name in imported if name.startswith("agent_memory")}
    assert imported - ours <= C_MODULES
    assert len(list((root / "inbox").iterdir())) == 1
    assert "agent_memory.capture.hook" in ours
    modules = {name for name in ours if not any(other.startswith(f"{name}.") for other in ours)}
    assert len(modules) <= 17


def test_a_hook_with_something_to_log_imports_no_more_than_the_log(root: Path, home: Path) -> None:
    imported = modules_after(["capture", "--harness", "claude-code", "--hook"], b"{}")
    others = {name for name in imported if not name.startswith("agent_memory")}
    assert others <= C_MODULES
    assert "agent_memory.capture.hook_files" in imported


def test_importing_the_package_imports_nothing_else() -> None:
    script = "import sys; before = set(sys.modules); import agent_memory; print(*(set(sys.modules) - before))"
    finished = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=True, text=True)
    assert finished.stdout.split() == ["agent_memory"]

"""A forked call is told from one that was started anew by nothing but its speed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from forked_program import PROGRAM, run_program

LIMIT_SECONDS = 60


def started_anew(
    words: list[str | bytes], data: bytes, cwd: Path, environ: Mapping[str, str] = os.environ
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, *PROGRAM, *words]
    return subprocess.run(command, input=data, capture_output=True, cwd=cwd, env=environ, check=False)


@pytest.mark.parametrize(
    ("words", "data", "code"),
    [
        (["list", "--json"], b"", 0),
        (["read", "--json", "id__zzzzzz"], b"", 20),
        (["read", b"\xff\xe9"], b"", 2),
        (["edit", "--nonsense"], b"", 2),
        (["capture", "--harness", "claude-code", "--hook"], b"not json", 0),
    ],
)
def test_code_and_streams_are_a_new_processes(words: list[str | bytes], data: bytes, code: int, root: Path) -> None:
    forked = run_program(words, data, root.parent, os.environ, LIMIT_SECONDS)
    anew = started_anew(words, data, root.parent)
    assert forked.returncode == code
    assert (forked.returncode, forked.stdout, forked.stderr) == (anew.returncode, anew.stdout, anew.stderr)


def test_a_call_has_the_environment_the_directory_and_the_input_it_was_given(root: Path) -> None:
    elsewhere = root.parent / "elsewhere"
    elsewhere.mkdir()
    environ = {**os.environ, "AGENT_MEMORY_ROOT": str(root.parent / "other")}
    done = run_program(["remember", "-", "--json"], b"Deploys run at noon.", elsewhere, environ, LIMIT_SECONDS)
    stored = json.loads(done.stdout)
    assert not root.exists()
    assert (root.parent / "other" / stored["path"]).read_text().endswith("Deploys run at noon.\n")
    run_program(["generate-agents-md", "--target", "AGENTS.md"], b"", elsewhere, environ, LIMIT_SECONDS)
    assert (elsewhere / "AGENTS.md").exists()


def test_a_sitecustomize_runs_before_the_call_and_can_end_it(root: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import os; os.write(2, b'customized'); os.kill(os.getpid(), 9)")
    done = run_program(["list"], b"", root.parent, {**os.environ, "PYTHONPATH": str(tmp_path)}, LIMIT_SECONDS)
    assert (done.returncode, done.stdout, done.stderr) == (-9, b"", b"customized")

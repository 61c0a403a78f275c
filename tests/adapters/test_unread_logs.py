"""Health where what tells of trouble cannot be read itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_memory import app
from agent_memory.adapters.inbox.hook_files import LOG_NAME, log_hook_problem
from faults import failing_on


@pytest.mark.parametrize("name", [LOG_NAME, "owed.json"])
def test_a_log_that_cannot_be_read_is_not_taken_for_an_empty_one_p6(home: Path, root: Path, name: str) -> None:
    (root / "runs").mkdir(parents=True)
    (root / "runs" / "owed.json").write_text('[{"paths": [], "subject": "x"}]')
    log_hook_problem(str(home), str(root), "codex", "payload", "it is not JSON")
    memory = app.open_memory(os.environ, None, lambda _: None).unwrap()
    whole = memory.health().unwrap()
    assert ([each.message for each in whole.hook_problems], whole.unrecorded) == (["it is not JSON"], 1)
    with failing_on(name, "open"):
        health = memory.health().unwrap()
    assert len(health.warnings) > len(whole.warnings)
    assert any(name in each and "Input/output error" in each for each in health.warnings)

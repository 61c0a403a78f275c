"""Trials of a harness's hook: what arrived is removed again, and what cannot be looked at is not taken for nothing."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from agent_memory.adapters.setup.installation import SelfTests
from agent_memory.domain.installing.plan import SESSION, SelfTest


@pytest.fixture
def tests(tmp_path: Path) -> SelfTests:
    (tmp_path / "memories" / "inbox").mkdir(parents=True)
    (tmp_path / "memories" / "inbox" / "another.json").write_text("{}")
    return SelfTests({"PATH": os.environ["PATH"]}, str(tmp_path), tmp_path / "memories")


def arriving(tests: SelfTests) -> SelfTest:
    return SelfTest(
        "cursor", f"echo {SESSION} > {shlex.quote(str(tests.root))}/inbox/trial.json", {"session_id": SESSION}
    )


def entries(tests: SelfTests) -> list[str]:
    return sorted(path.name for path in (tests.root / "inbox").iterdir())


def test_a_session_that_arrives_is_removed_and_no_other(tests: SelfTests) -> None:
    assert not tests.run(arriving(tests))
    assert entries(tests) == ["another.json"]


def test_nothing_that_arrives_is_told(tests: SelfTests) -> None:
    tested = tests.run(SelfTest("cursor", "true", {}))
    assert "nothing arrived" in tested


@pytest.mark.parametrize("call", ["listdir", "unlink"])
def test_an_inbox_that_cannot_be_looked_at_is_not_an_empty_one_p6(
    tests: SelfTests, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Any, **_: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, call, refuse)
    tested = tests.run(arriving(tests))
    assert "cannot be looked at and removed" in tested
    assert "Permission denied" in tested

"""The guards of the suite itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def test_a_test_that_chose_no_home_cannot_write_to_one() -> None:
    with pytest.raises(OSError, match="Not a directory"):
        Path("~/.config").expanduser().mkdir(parents=True)


def test_a_test_that_chose_a_home_can_write_to_it(home: Path) -> None:
    Path("~/.config").expanduser().mkdir(parents=True)
    assert (home / ".config").is_dir()


def test_no_variable_of_ours_or_of_a_harness_reaches_a_test() -> None:
    assert [name for name in os.environ if name.startswith(("AGENT_MEMORY_", "CLAUDE", "GIT_"))] == []

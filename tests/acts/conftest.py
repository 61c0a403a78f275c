from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_memory.app import Memory, open_memory


@pytest.fixture
def memory(root: Path, home: Path) -> Memory:
    config = home / ".config/agent-memory/config.json"
    config.parent.mkdir(parents=True)
    config.write_text('{"storage": {"autoCommit": false}}')
    return open_memory(os.environ, home, print).unwrap()

"""Every harness that can be set up: a new one is one module and one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent_memory.domain.installing import (
    amp,
    claude_code,
    codex,
    copilot,
    cursor,
    gemini,
    goose,
    manual,
    opencode,
    pi,
    vscode,
)
from agent_memory.domain.installing.ground import Ground
from agent_memory.domain.installing.wanted import HarnessSetup

SETUPS: Mapping[str, Callable[[Ground], HarnessSetup]] = {
    module.NAME: module.setup
    for module in (claude_code, codex, cursor, amp, gemini, opencode, copilot, pi, goose, vscode, manual)
}
"""By the harness's name."""

"""Every answer of a hostile agent command to a defrag prompt, as far as its text alone tells (P9)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from returns.result import Failure, Result, Success

from agent_memory.note.note import Listed, Meta, StoredEntry, TierList
from agent_memory.prompt.prompt import Frame, plan_defrag_budget, render_defrag_prompt
from agent_memory.prompt.reply import decode_reply, parse_defrag_reply
from agent_memory.prompt.shipped_files import read_shipped
from agent_memory.redaction.redact import redact
from agent_memory.rules.agent_request import DefragRequest
from agent_memory.rules.plan import DefragProposal, kind_of

pytestmark = pytest.mark.shared

NONCE = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
IDS = tuple(f"id__aaaaa{n}" for n in range(1, 10))
STORED = tuple(StoredEntry(Listed(Meta(id, f"Note {id}", 5, 5), f"topics/{id}.md", id), "Port 8080.") for id in IDS)

GOOD = ("ok", "fenced", "thinking-tags", "bom-crlf", "prompt-echo-then-ok", "stderr-flood", "dup-keys")
FOR_THE_PLAN_CHECK = {
    "wipe-archive-all": ("archive", 9),
    "wipe-merge-all": ("merge", 1),
    "rename-collision": ("rename", 9),
    "unknown-ids": ("archive", 1),
    "everything-hot": ("", 0),
}
"""Of the contract's shape: what is wrong with them only the store tells. The kind of each action, and how many."""

BY_THE_RUNNER = {
    "exit-nonzero-with-valid-stdout", "hang", "hang-after-output", "orphan-grandchild-keeps-pipe", "ignores-sigterm",
    "endless",
}  # fmt: skip
"""Whatever they print, it is the process that is at fault: the runner's tests have them."""


def prompt() -> str:
    template = read_shipped("prompts/defrag.md")
    catalog = tuple(each.listed for each in STORED)
    request = DefragRequest("", NONCE, catalog, STORED, now_ms=5)
    budget = plan_defrag_budget(template, 120_000, catalog).unwrap()
    text, _ = render_defrag_prompt(template, request, Frame(NONCE, "0a1b2c3d4e5f6071"), budget, 3)
    return text


def answered(shared: Path, mode: str) -> Result[DefragProposal, Any]:
    command = [sys.executable, "-IS", str(shared / "tools" / "fake_llm.py"), mode, "defrag"]
    output = subprocess.run(command, input=prompt().encode(), capture_output=True, check=False).stdout
    return decode_reply(output).bind(lambda text: parse_defrag_reply(redact(text).text, NONCE))


def test_whatever_is_answered_is_a_proposal_or_refused_with_reasons(shared: Path) -> None:
    words = [sys.executable, "-IS", str(shared / "tools" / "fake_llm.py"), "--list"]
    modes = set(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split())
    assert modes >= {*GOOD, *FOR_THE_PLAN_CHECK, *BY_THE_RUNNER}
    for mode in sorted(modes - BY_THE_RUNNER):
        result = answered(shared, mode)
        if mode in GOOD:
            assert result == Success(DefragProposal(tiers=TierList(IDS[:2], IDS[2:4]))), mode
        elif mode in FOR_THE_PLAN_CHECK:
            kind, count = FOR_THE_PLAN_CHECK[mode]
            assert [kind_of(action) for action in result.unwrap().actions] == [kind] * count, mode
        else:
            assert isinstance(result, Failure), (mode, result)
            assert result.failure().reasons

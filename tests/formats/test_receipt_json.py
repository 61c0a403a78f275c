"""The receipt as it is written down."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_memory.domain.installing.receipt import FileRecord, Placed, Receipt, SectionRecord
from agent_memory.domain.installing.wanted import Element, Member, Part, Whole
from agent_memory.errors import StateCorrupt
from agent_memory.formats.receipt_json import parse_receipt, render_receipt

HASH = "0" * 64
RECEIPT = Receipt(
    files=(
        FileRecord(
            "/home/ada/.claude/settings.json",
            "jsonc",
            HASH,
            HASH,
            (
                Placed(Element(("hooks", "Stop"), {"a": [1]}, "memory", "mark"), Part.HOOKS, ("claude-code",)),
                Placed(Member(("mcpServers", "x"), {"command": "é"}, None, True, True), None, ("claude-code", "codex")),
            ),
        ),
        FileRecord("/home/ada/plugin.ts", "whole", None, HASH, (Placed(Whole("// x\n"), Part.HOOKS, ("amp",)),)),
    ),
    sections=(SectionRecord("/home/ada/.claude/CLAUDE.md", None, ("claude-code",)),),
    made_directories=("/home/ada/.config/amp",),
)


@pytest.mark.parametrize("receipt", [RECEIPT, Receipt()])
def test_it_is_read_back_as_it_was(receipt: Receipt) -> None:
    assert parse_receipt(render_receipt(receipt), "/r") == receipt


def _changed(**members: Any) -> bytes:
    return json.dumps({**json.loads(render_receipt(RECEIPT)), **members}).encode()


def _file(**members: Any) -> bytes:
    document = json.loads(render_receipt(RECEIPT))
    document["files"][0] |= members
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        render_receipt(RECEIPT)[:-40],
        _changed(version=2),
        _changed(files={}),
        _changed(madeDirectories=["relative"]),
        _file(path="../x"),
        _file(syntax="ini"),
        _file(after="x"),
        _file(before=7),
        _file(placed=[{"kind": "other", "part": None, "harnesses": []}]),
        _file(placed=[{"kind": "whole", "part": "nonsense", "harnesses": [], "text": "x"}]),
        _file(placed=[{"kind": "whole", "part": None, "harnesses": "amp", "text": "x"}]),
    ],
)
def test_a_damaged_one_is_no_empty_one(data: bytes) -> None:
    """P6"""
    with pytest.raises(StateCorrupt):
        parse_receipt(data, "/r")

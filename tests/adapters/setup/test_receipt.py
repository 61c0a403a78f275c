"""The receipt as it is written down."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_memory.adapters.setup.setup_files import RECEIPT
from agent_memory.domain.installing.plan import Element, FileRecord, Member, Part, Receipt, SectionRecord, Whole
from agent_memory.errors import StateCorrupt

HASH = "0" * 64
INSTALLED = Receipt(
    files=(
        FileRecord(
            "/home/ada/.claude/settings.json",
            "jsonc",
            HASH,
            HASH,
            (
                Element(("hooks", "Stop"), {"a": [1]}, "memory", "mark", Part.HOOKS, ("claude-code",)),
                Member(("mcpServers", "x"), {"command": "é"}, None, True, True, None, ("claude-code", "codex")),
            ),
        ),
        FileRecord("/home/ada/plugin.ts", "whole", None, HASH, (Whole("// x\n", Part.HOOKS, ("amp",)),)),
    ),
    sections=(SectionRecord("/home/ada/.claude/CLAUDE.md", None, ("claude-code",)),),
    made_directories=("/home/ada/.config/amp",),
)


@pytest.mark.parametrize("receipt", [INSTALLED, Receipt()])
def test_it_is_read_back_as_it_was(receipt: Receipt) -> None:
    assert RECEIPT.parse(RECEIPT.render(receipt).encode(), "/r") == receipt


def _changed(**members: Any) -> bytes:
    return json.dumps({**json.loads(RECEIPT.render(INSTALLED)), **members}).encode()


def _file(**members: Any) -> bytes:
    document = json.loads(RECEIPT.render(INSTALLED))
    document["files"][0] |= members
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        RECEIPT.render(INSTALLED)[:-40].encode(),
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
        RECEIPT.parse(data, "/r")


def test_one_of_an_earlier_version_is_read() -> None:
    placed = [
        {
            "part": "hooks",
            "harnesses": ["amp"],
            "kind": "element",
            "keys": ["hooks", "Stop"],
            "value": {"a": [1]},
            "command": "c",
            "mark": "m",
        },
        {
            "part": None,
            "harnesses": ["amp"],
            "kind": "member",
            "keys": ["storage", "root"],
            "value": "~/m",
            "command": None,
            "optional": True,
            "stays": False,
        },
        {"part": "hooks", "harnesses": ["amp"], "kind": "whole", "text": "x"},
    ]
    document = {
        "version": 1,
        "files": [{"path": "/x", "syntax": "jsonc", "before": None, "after": HASH, "placed": placed}],
        "sections": [{"path": "/y", "before": None, "harnesses": ["generate-agents-md"]}],
        "madeDirectories": ["/z"],
    }
    assert RECEIPT.parse(json.dumps(document).encode(), "/r") == Receipt(
        files=(
            FileRecord(
                "/x",
                "jsonc",
                None,
                HASH,
                (
                    Element(("hooks", "Stop"), {"a": [1]}, "c", "m", Part.HOOKS, ("amp",)),
                    Member(("storage", "root"), "~/m", None, True, harnesses=("amp",)),
                    Whole("x", Part.HOOKS, ("amp",)),
                ),
            ),
        ),
        sections=(SectionRecord("/y", None, ("generate-agents-md",)),),
        made_directories=("/z",),
    )

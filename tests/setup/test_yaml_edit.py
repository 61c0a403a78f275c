"""Put in and cut out: what was there stays byte for byte."""

from __future__ import annotations

from typing import Any

import pytest

from agent_memory.setup.plan import Member
from agent_memory.setup.settings_edit import (
    EditRefused,
    cut_yaml,
    parse_yaml,
    put_yaml,
)

VALUE: dict[str, Any] = {"enabled": True, "type": "stdio", "cmd": "/usr/bin/memory", "args": ["mcp"], "envs": {}}
SERVER = Member(("extensions", "agent-memory"), VALUE, "/usr/bin/memory")

DOCUMENTS = [
    "",
    "# only a comment\n",
    "GOOSE_MODEL: x # why\n",
    "GOOSE_MODEL: x",
    "extensions:\n  developer:\n    enabled: true\n    type: builtin\nGOOSE_MODEL: x\n",
    "extensions:\n  developer:\n    enabled: true",
    "extensions:\n    developer: # four blanks\n        enabled: true\n\n# about the model\nGOOSE_MODEL: x\n",
    "extensions: {}\nGOOSE_MODEL: x\n",
    "extensions: {developer: {enabled: true}}\n",
    "extensions:\nGOOSE_MODEL: x\n",
    "extensions: # none yet\n",
    "GOOSE_MODEL: x\r\nextensions:\r\n  developer:\r\n    enabled: true\r\n",
    "extensions:\n  developer:\n    note: |\n      text: not a key\n\n      more\nz: 1\n",
    "---\nGOOSE_MODEL: x\n",
    "extensions:\n  developer:\n    args:\n    - a\n    - b\n  # below\n\nz: [1, 2]\n",
]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_what_is_put_in_and_cut_out_leaves_every_byte(text: str) -> None:
    after = put_yaml(text, SERVER)
    assert parse_yaml(after)["extensions"]["agent-memory"] == VALUE
    assert cut_yaml(after, SERVER, text) == text


@pytest.mark.parametrize("text", DOCUMENTS)
def test_what_was_added_elsewhere_stays(text: str) -> None:
    after = put_yaml(text, SERVER)
    by_hand = after + ("" if after.endswith("\n") else "\n") + "mine: 1 # note\n"
    cut = cut_yaml(by_hand, SERVER, text)
    before = parse_yaml(text) or {}
    assert parse_yaml(cut) == {**before, "mine": 1}
    assert cut.endswith("mine: 1 # note\n")


def test_ours_goes_even_after_somebody_edited_it() -> None:
    before = "extensions:\n  developer:\n    enabled: true\nGOOSE_MODEL: x # why\n"
    after = put_yaml(before, SERVER).replace('type: "stdio"', 'type: "stdio" # hm\n    timeout: 5')
    assert cut_yaml(after, SERVER, before) == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "line"),
        ("- a\n", "no mapping"),
        ("extensions: x\n", "extensions is no mapping"),
        ("extensions:\n  agent-memory: {cmd: another}\n", "is there already"),
        ("a: &x 1\nb: *x\n", "anchors"),
        ("a: 1\na: 2\n", "duplicate"),
        ("a: 1\n---\nb: 2\n", ""),
        ("{a: 1}\n", "without touching the rest"),
    ],
)
def test_a_document_that_cannot_hold_ours_is_refused(text: str, words: str) -> None:
    with pytest.raises(EditRefused) as refused:
        put_yaml(text, SERVER)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "text", ["? [[x]]\n", "a:\n  ? [[x]]\n", "a: !!int\n", "a: !!bool maybe\n", "a: !!timestamp x\n"]
)
def test_what_the_reader_of_yaml_stumbles_over_is_a_refusal(text: str) -> None:
    for act in (lambda: parse_yaml(text), lambda: put_yaml(text, SERVER)):
        with pytest.raises(EditRefused):
            act()

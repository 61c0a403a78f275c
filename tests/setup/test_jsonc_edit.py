"""Put in and cut out: what was there stays byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.setup.plan import Element, Member
from agent_memory.setup.settings_edit import (
    EditRefused,
    cut_json,
    parse_jsonc,
    put_json,
)

COMMAND = "/usr/bin/memory capture --harness claude-code --hook"
MARK = "capture --harness claude-code --hook"
GROUP: dict[str, Any] = {"hooks": [{"type": "command", "command": COMMAND, "timeout": 10}]}
STOP = Element(("hooks", "Stop"), GROUP, COMMAND, MARK)
END = Element(("hooks", "SessionEnd"), GROUP, COMMAND, MARK)
SERVER = Member(("mcpServers", "agent-memory"), {"command": "/usr/bin/memory", "args": ["mcp"]}, "/usr/bin/memory")
TARGET = Element(("agentsMd", "targets"), "~/.claude/CLAUDE.md")
ALL = (STOP, END, SERVER, TARGET)

DOCUMENTS = [
    "",
    "\n",
    "  \n\n",
    "{}",
    "{}\n",
    "{ }",
    "{\n}",
    "{\n\n}\n",
    "{ /* nothing yet */ }",
    "{\n  // nothing yet\n}\n",
    "// only a comment",
    "/* only */\n",
    '{"a":1}',
    '{"a": 1}\n',
    '{"a": [1, 2], "b": {"c": null}}',
    '{\n  "a": 1\n}\n',
    '{\n\t"a": 1,\n\t"b": 2\n}\n',
    '{\r\n    "a": 1\r\n}\r\n',
    '\ufeff{\n  "a": 1\n}\n',
    '{\n  "a": 1, // why\n}\n',
    '{\n  "a": 1 // why\n}\n',
    '{\n  "a": 1 /* why */, /* and */ // more\n  // below\n}\n',
    '{\n  "a": 1\n  // the last word\n}',
    '{\n  "hooks": {}\n}\n',
    '{\n  "hooks": {\n  }\n}\n',
    '{\n  "hooks": { "Stop": [] }\n}\n',
    '{\n  "hooks": {\n    "Stop": [ /* none */ ]\n  }\n}\n',
    '{\n  "hooks": {\n    "Stop": [\n      {"hooks": [{"type": "command", "command": "say done"}]}\n    ]\n  }\n}\n',
    '{\n  "hooks": {\n    "Stop": [\n      {"hooks": [{"type": "command", "command": "say done"}]}, // loud\n    ],\n  },\n}\n',
    '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}],"PreToolUse":[]},"model":"opus"}',
    '{\n  "mcpServers": {"other": {"command": "x"}},\n  "agentsMd": {"targets": ["~/a.md"]}\n}\n',
    '{"text": "braces { [ and // no comment \\" \\u00e9 /* */"}',
    '{"a": 1e400, "b": -0, "c": 12345678901234567890}',
]


def put_all(text: str, entries: tuple[Element | Member, ...] = ALL) -> str:
    for entry in entries:
        text = put_json(text, entry)
    return text


def cut_all(text: str, baseline: str | None, entries: tuple[Element | Member, ...] = ALL) -> str:
    for entry in entries:
        text = cut_json(text, entry, baseline)
    return text


def value_of(text: str) -> Any:
    node = parse_jsonc(text)
    return None if node is None else node.value


@pytest.mark.parametrize("text", DOCUMENTS)
@pytest.mark.parametrize("entries", [(each,) for each in ALL] + [ALL, ALL[::-1]])
def test_what_is_put_in_and_cut_out_leaves_every_byte(text: str, entries: tuple[Element | Member, ...]) -> None:
    with_ours = put_all(text, entries)
    assert with_ours != text
    assert cut_all(with_ours, text, entries) == text
    assert cut_all(with_ours, text, entries[::-1]) == text


HAND_EDITS = [
    ('"model": "opus"', '"model": "sonnet"'),
    ('{\n  "env"', '{\n  "first": true,\n  "env"'),
    ('"A": "1"', '"A": "1", "B": "2"'),
    ("// the person's", "// the person's own, changed"),
    ('"say done"', '"say it is done"'),
]
WRITTEN = """{
  "env": {"A": "1"}, // the person's
  "model": "opus",
  "hooks": {
    "Stop": [
      { "hooks": [{ "type": "command", "command": "say done" }] }
    ]
  }
}
"""


@pytest.mark.parametrize(("old", "new"), HAND_EDITS)
def test_an_edit_by_hand_elsewhere_stays(old: str, new: str) -> None:
    assert old in WRITTEN
    assert cut_all(put_all(WRITTEN).replace(old, new), WRITTEN) == WRITTEN.replace(old, new)


def test_ours_is_found_in_a_group_that_somebody_put_a_hook_of_theirs_into() -> None:
    theirs = {"type": "command", "command": "say done"}
    text = json.dumps({"hooks": {"Stop": [{"hooks": [theirs, GROUP["hooks"][0]]}]}}, indent=2)
    assert value_of(cut_json(text, STOP, "{}")) == {"hooks": {"Stop": [{"hooks": [theirs]}]}}


def test_a_comment_that_somebody_put_into_an_object_of_ours_stays() -> None:
    text = put_json('{"a": 1}', SERVER).replace('"mcpServers": {', '"mcpServers": { /* mine */ ')
    assert "/* mine */" in cut_json(text, SERVER, '{"a": 1}')


def test_a_line_comment_in_front_of_ours_does_not_swallow_what_follows() -> None:
    text = '{\n  "a": 1, // note\n  "mcpServers": {"agent-memory": {"command": "/usr/bin/memory"}}, "z": 2\n}\n'
    assert value_of(cut_json(text, SERVER, '{"a": 1}')) == {"a": 1, "z": 2}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "line 1, column 2: expected a key"),
        ('{"a": }', "line 1, column 7: expected a value"),
        ('{"a": 1 "b": 2}', "expected a comma"),
        ("{'a': 1}", "in double quotes"),
        ('{"a": NaN}', "is no number"),
        ('{"a": 1} x', "more text follows"),
        ('{"a": [,]}', "line 1, column 8: expected a value before the comma"),
        ("{,}", "line 1, column 2: expected a value before the comma"),
        ('{"a": 1, "a": 2}', "stands twice"),
        ('{"a": "x', "unterminated"),
        ("/* never closed", "expected a value"),
        ('{"a": ' + "[" * 100 + "]" * 100 + "}", "too deeply"),
        ("[]", "the document is a list, expected an object"),
        ('{"hooks": []}', "hooks is a list, expected an object"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop is an object, expected a list"),
        ('{"hooks": "x"}', "hooks is a single value"),
        ('{"a": "\\q"}', "escape"),
    ],
)
def test_a_document_that_cannot_hold_ours_is_refused(text: str, words: str) -> None:
    with pytest.raises(EditRefused) as refused:
        put_json(text, STOP)
    assert words in str(refused.value)


# -- any document -----------------------------------------------------------------------------------------------------

_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8)
)
_KEYS = st.sampled_from(["hooks", "Stop", "mcpServers", "agentsMd", "a", "b", "ü"])
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3), max_leaves=8
)
_COINS = st.booleans()
_BLANKS = st.sampled_from(["", " ", "\n", "\n  ", "\t", "\r\n", " // c\n", "/* c */", " /* , } */ ", "\n// x\n\n"])


@st.composite
def written(draw: Any, value: Any) -> str:
    """A document with this value, with blanks, comments and trailing commas anywhere."""

    def blank() -> str:
        return str(draw(_BLANKS))

    ascii_only = draw(_COINS)

    def one(value: Any) -> str:
        if isinstance(value, dict):
            parts = [f"{blank()}{json.dumps(k)}{blank()}:{blank()}{one(v)}{blank()}" for k, v in value.items()]
        elif isinstance(value, list):
            parts = [f"{blank()}{one(v)}{blank()}" for v in value]
        else:
            return json.dumps(value, ensure_ascii=ascii_only)
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        trailing = "," if parts and draw(_COINS) else ""
        return opening + ",".join(parts) + trailing + blank() + closing

    return blank() + one(value) + blank()


@settings(max_examples=150)
@given(st.dictionaries(_KEYS, _VALUES, max_size=4).flatmap(written))
def test_any_document_comes_back_byte_for_byte(text: str) -> None:
    put_in: list[Element | Member] = []
    after = text
    for entry in ALL:
        try:
            edited = put_json(after, entry)
        except EditRefused:
            continue
        assert edited != after
        put_in.append(entry)
        after = edited
    assert cut_all(after, text, tuple(put_in)) == text

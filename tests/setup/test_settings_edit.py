"""Put in and cut out: what was there stays byte for byte; and what a whole file becomes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st

from agent_memory.rules.change import TargetFile
from agent_memory.setup.plan import Element, Entry, FileRecord, Member, PlannedFile, Syntax, Whole
from agent_memory.setup.settings_edit import EditRefused, cut, parse_settings, put
from agent_memory.setup.settings_revision import with_placed, without_placed

COMMAND = "/usr/bin/memory capture --harness claude-code --hook"
MARK = "capture --harness claude-code --hook"
GROUP: dict[str, Any] = {"hooks": [{"type": "command", "command": COMMAND, "timeout": 10}]}
STOP = Element(("hooks", "Stop"), GROUP, COMMAND, MARK)
END = Element(("hooks", "SessionEnd"), GROUP, COMMAND, MARK)
SERVER = Member(("mcpServers", "agent-memory"), {"command": "/usr/bin/memory", "args": ["mcp"]}, "/usr/bin/memory")
TARGET = Element(("agentsMd", "targets"), "~/.claude/CLAUDE.md")
ALL = (STOP, END, SERVER, TARGET)

DOCUMENTS = [
    "", "\n", "  \n\n", "{}", "{}\n", "{ }", "{\n}", "{\n\n}\n", "{ /* nothing yet */ }", "{\n  // nothing yet\n}\n",
    "// only a comment", "/* only */\n", '{"a":1}', '{"a": 1}\n', '{"a": [1, 2], "b": {"c": null}}', '{\n  "a": 1\n}\n',
    '{\n\t"a": 1,\n\t"b": 2\n}\n', '{\r\n    "a": 1\r\n}\r\n', '\ufeff{\n  "a": 1\n}\n', '{\n  "a": 1, // why\n}\n',
    '{\n  "a": 1 // why\n}\n', '{\n  "a": 1 /* why */, /* and */ // more\n  // below\n}\n',
    '{\n  "a": 1\n  // the last word\n}', '{\n  "hooks": {}\n}\n', '{\n  "hooks": {\n  }\n}\n',
    '{\n  "hooks": { "Stop": [] }\n}\n', '{\n  "hooks": {\n    "Stop": [ /* none */ ]\n  }\n}\n',
    '{\n  "hooks": {\n    "Stop": [\n      {"hooks": [{"type": "command", "command": "say done"}]}\n    ]\n  }\n}\n',
    '{\n  "hooks": {\n    "Stop": [\n      {"hooks": [{"type": "command", "command": "say done"}]}, // loud\n    ],\n  },\n}\n',
    '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}],"PreToolUse":[]},"model":"opus"}',
    '{\n  "mcpServers": {"other": {"command": "x"}},\n  "agentsMd": {"targets": ["~/a.md"]}\n}\n',
    '{"text": "braces { [ and // no comment \\" \\u00e9 /* */"}', '{"a": 1e400, "b": -0, "c": 12345678901234567890}',
]  # fmt: skip


def put_all(text: str, entries: tuple[Element | Member, ...] = ALL) -> str:
    for entry in entries:
        text = put(text, entry, "jsonc")
    return text


def cut_all(text: str, baseline: str | None, entries: tuple[Element | Member, ...] = ALL) -> str:
    for entry in entries:
        text = cut(text, entry, "jsonc", baseline)
    return text


def value_of(text: str) -> Any:
    return parse_settings(text, "jsonc")


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
    ('"model": "opus",\n', '"model":   "opus",\n\n'),
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
    assert value_of(cut(text, STOP, "jsonc", "{}")) == {"hooks": {"Stop": [{"hooks": [theirs]}]}}


def test_a_comment_that_somebody_put_into_an_object_of_ours_stays() -> None:
    text = put('{"a": 1}', SERVER, "jsonc").replace('"mcpServers": {', '"mcpServers": { /* mine */ ')
    assert "/* mine */" in cut(text, SERVER, "jsonc", '{"a": 1}')


def test_a_line_comment_in_front_of_ours_does_not_swallow_what_follows() -> None:
    text = '{\n  "a": 1, // note\n  "mcpServers": {"agent-memory": {"command": "/usr/bin/memory"}}, "z": 2\n}\n'
    assert value_of(cut(text, SERVER, "jsonc", '{"a": 1}')) == {"a": 1, "z": 2}


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
            edited = put(after, entry, "jsonc")
        except EditRefused:
            continue
        assert edited != after
        put_in.append(entry)
        after = edited
    assert cut_all(after, text, tuple(put_in)) == text


# -- TOML, YAML -------------------------------------------------------------------------------------------------------

TABLE = Member(("mcp_servers", "agent-memory"), {"command": "/usr/bin/memory", "args": ["mcp"]}, "/usr/bin/memory")
VALUE: dict[str, Any] = {"enabled": True, "type": "stdio", "cmd": "/usr/bin/memory", "args": ["mcp"], "envs": {}}
MAPPING = Member(("extensions", "agent-memory"), VALUE, "/usr/bin/memory")
ENTRIES: Mapping[Syntax, Member] = {"toml": TABLE, "yaml": MAPPING}
TOML = [
    "",
    "\n",
    "# only a comment\n",
    "# no line end",
    'model = "o3" # why\n',
    'model = "o3"',
    'model = "o3"\r\n\r\n[features]\r\nhooks = true\r\n',
    '[mcp_servers.other]\ncommand = "x"\n\n[features]\nhooks = true\n',
    '[mcp_servers]\n[mcp_servers.other]\ncommand = "x"\n',
    'mcp_servers = { other = { command = "x" } } # inline\nmodel = "o3"\n',
    'mcp_servers.other.command = "x"\n',
    '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "say done"\n\n\n',
    'text = """\n[mcp_servers.agent-memory]\ncommand = "not a table"\n"""\n',
    "when = 1979-05-27T07:32:00Z\nodd = nan\nbig = 0xdead_beef\n",
]
YAML = [
    "", "# only a comment\n", "GOOSE_MODEL: x # why\n", "GOOSE_MODEL: x",
    "extensions:\n  developer:\n    enabled: true\n    type: builtin\nGOOSE_MODEL: x\n",
    "extensions:\n  developer:\n    enabled: true",
    "extensions:\n    developer: # four blanks\n        enabled: true\n\n# about the model\nGOOSE_MODEL: x\n",
    "extensions: {}\nGOOSE_MODEL: x\n", "extensions: {developer: {enabled: true}}\n", "extensions:\nGOOSE_MODEL: x\n",
    "extensions: # none yet\n", "GOOSE_MODEL: x\r\nextensions:\r\n  developer:\r\n    enabled: true\r\n",
    "extensions:\n  developer:\n    note: |\n      text: not a key\n\n      more\nz: 1\n", "---\nGOOSE_MODEL: x\n",
    "extensions:\n  developer:\n    args:\n    - a\n    - b\n  # below\n\nz: [1, 2]\n",
]  # fmt: skip
BOTH: list[tuple[Syntax, str]] = [*(("toml", each) for each in TOML), *(("yaml", each) for each in YAML)]


@pytest.mark.parametrize(("syntax", "text"), BOTH)
def test_a_table_or_mapping_that_is_put_in_and_cut_out_leaves_every_byte(syntax: Syntax, text: str) -> None:
    entry = ENTRIES[syntax]
    after = put(text, entry, syntax)
    assert parse_settings(after, syntax)[entry.keys[0]]["agent-memory"] == entry.value
    assert cut(after, entry, syntax, text) == text


@pytest.mark.parametrize(("syntax", "text"), [each for each in BOTH if "mcp_servers =" not in each[1]])
def test_what_was_added_behind_ours_stays(syntax: Syntax, text: str) -> None:
    after, added = put(text, ENTRIES[syntax], syntax), {"toml": "\n[mine]\nx = 1\n", "yaml": "mine: 1 # note\n"}[syntax]
    shorter = cut(after + ("" if after.endswith("\n") else "\n") + added, ENTRIES[syntax], syntax, text)
    expected = {**(parse_settings(text, syntax) or {}), **parse_settings(added, syntax)}
    assert repr(parse_settings(shorter, syntax)) == repr(expected)  # a NaN is not equal to itself
    assert shorter.endswith(added)
    assert shorter.startswith(text) or syntax == "yaml"


@pytest.mark.parametrize(
    ("syntax", "before", "ours", "edited"),
    [
        ("toml", '# mine\nmodel = "o3"\n', 'args = ["mcp"]', 'args = ["mcp", "--verbose"] # louder'),
        (
            "yaml",
            "extensions:\n  developer:\n    enabled: true\nGOOSE_MODEL: x # why\n",
            'type: "stdio"',
            'type: "stdio" # hm\n    timeout: 5',
        ),
    ],
)
def test_ours_goes_even_after_somebody_edited_it(syntax: Syntax, before: str, ours: str, edited: str) -> None:
    after = put(before, ENTRIES[syntax], syntax)
    assert ours in after
    shorter = cut(after.replace(ours, edited), ENTRIES[syntax], syntax, before)
    assert shorter.startswith(before)
    assert parse_settings(shorter, syntax) == parse_settings(before, syntax)


def test_tables_that_codex_adds_below_ours_go_with_it_and_what_stands_behind_stays() -> None:
    before = 'model = "o3"\n'
    behind = "\n# mine\n[mine]\nx = 1\n"
    below = '\n[mcp_servers.agent-memory.tools.search_context]\napproval_mode = "approve"\n'
    shorter = cut(put(before, TABLE, "toml") + below + behind, TABLE, "toml", before)
    assert shorter.startswith(before)
    assert shorter.endswith(behind)
    assert parse_settings(shorter, "toml") == {"model": "o3", "mine": {"x": 1}}


@pytest.mark.parametrize(
    "text", ["? [[x]]\n", "a:\n  ? [[x]]\n", "a: !!int\n", "a: !!bool maybe\n", "a: !!timestamp x\n"]
)
def test_what_the_reader_of_yaml_stumbles_over_is_a_refusal(text: str) -> None:
    for act in (lambda: parse_settings(text, "yaml"), lambda: put(text, MAPPING, "yaml")):
        with pytest.raises(EditRefused):
            act()


@pytest.mark.parametrize(
    ("syntax", "text", "words"),
    [
        ("jsonc", "{", "line 1, column 2: expected a key"),
        ("jsonc", "{'a': 1}", "in double quotes"),
        ("jsonc", '{"a": [,]}', "line 1, column 8: expected a value before the comma"),
        ("jsonc", '{"a": "x', "unterminated"),
        ("jsonc", "[]", "the document is a list, expected an object"),
        ("jsonc", '{"hooks": "x"}', "hooks is a single value"),
        ("toml", 'mcp_servers = "x"\n', "mcp_servers is a single value, expected a table"),
        ("toml", "a = 1\na = 2\n", "overwrite"),
        ("yaml", "extensions: x\n", "extensions is a single value, expected a mapping"),
        ("yaml", "a: 1\na: 2\n", "duplicate"),
    ],
)
def test_a_document_that_cannot_hold_ours_is_refused(syntax: Syntax, text: str, words: str) -> None:
    with pytest.raises(EditRefused) as refused:
        put(text, ENTRIES.get(syntax, STOP), syntax)
    assert words in str(refused.value)


# -- whole files --------------------------------------------------------------------------------------------------------


def installed(data: bytes | None, *wanted: Entry, before: PlannedFile | None = None) -> PlannedFile:
    record = None if before is None else before.record
    assert record is None or isinstance(record, FileRecord)
    placed = (evolve(each, harnesses=("cursor",)) for each in wanted)
    return with_placed(TargetFile("/x", "/x", data), "jsonc", record, None if before is None else before.backup, placed)


def removed(data: bytes, before: PlannedFile) -> bytes | None:
    assert isinstance(before.record, FileRecord)
    return without_placed(TargetFile("/x", "/x", data), before.record, before.backup, frozenset(("cursor",))).after


def test_a_new_place_of_the_program_replaces_the_old_one() -> None:
    moved = [evolve(each, value=json.loads(json.dumps(each.value).replace("/usr", "/opt"))) for each in (STOP, SERVER)]
    moved = [evolve(each, command=str(each.command).replace("/usr", "/opt")) for each in moved]
    once = installed(b'{"a": 1}', STOP, SERVER)
    again = installed(once.after, *moved, before=once)
    assert json.loads(again.after or b"") == json.loads(installed(b'{"a": 1}', *moved).after or b"")
    assert removed(again.after or b"", again) == b'{"a": 1}'


def test_the_version_that_came_with_ours_stays_for_hooks_of_somebody_elses() -> None:
    planned = installed(None, Member(("version",), 1, optional=True, stays=True), STOP)
    document = json.loads(planned.after or b"")
    document["hooks"]["stop"] = [{"command": "say done"}]
    left = {"version": 1, "hooks": {"stop": [{"command": "say done"}]}}
    assert json.loads(removed(json.dumps(document).encode(), planned) or b"") == left


def test_what_is_no_text_or_somebody_elses_file_is_refused() -> None:
    for data in (b"\xff", b"{\0}"):
        with pytest.raises(EditRefused):
            installed(data, STOP)
    with pytest.raises(EditRefused):
        with_placed(TargetFile("/x", "/x", b"// theirs\n"), "whole", None, None, (Whole("// ours\n"),))

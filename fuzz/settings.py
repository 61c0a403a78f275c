"""The settings files of harnesses, in which setup puts hooks: what is put in is there, and can be taken out again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent_memory.setup.plan import Element, Member
from agent_memory.setup.settings_edit import (
    EditRefused,
    cut_json,
    cut_toml,
    cut_yaml,
    has,
    parse_settings,
    put_json,
    put_toml,
    put_yaml,
)
from fuzz.target import Target

_HOOK = {"hooks": [{"type": "command", "command": "memory capture --harness codex --hook", "timeout": 5}]}
_JSON_SPOTS = (
    Member(("mcpServers", "memory"), {"command": "memory", "args": ["mcp"]}),
    Element(("hooks", "Stop"), _HOOK),
)
_TABLE_SPOTS = (Member(("mcp_servers", "memory"), {"command": "memory", "args": ["mcp"]}),)


def _check(data: bytes) -> None:
    """The first line names the syntax."""
    name, _, content = data.partition(b"\n")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return
    for put, cut, spots in _EDITS.get(name.decode("utf-8", "replace"), ()):
        syntax = name.decode()
        for spot in spots:
            try:
                written = put(text, spot)
            except EditRefused:
                continue
            before = parse_settings(text, syntax)  # type: ignore[arg-type] # one of the names below
            assert has(parse_settings(written, syntax), spot), "what was put in is not there"  # type: ignore[arg-type]
            left = parse_settings(cut(written, spot, text), syntax)  # type: ignore[arg-type]
            assert (left or {}) == (before or {}), "taken out, it is not as before"


_Edit = tuple[Callable[[str, Any], Any], Callable[[str, Any, Any], Any], tuple[Any, ...]]
_EDITS: dict[str, tuple[_Edit, ...]] = {
    "jsonc": ((put_json, cut_json, _JSON_SPOTS),),
    "toml": ((put_toml, cut_toml, _TABLE_SPOTS),),
    "yaml": ((put_yaml, cut_yaml, _TABLE_SPOTS),),
}
SETTINGS = Target(
    "settings",
    _check,
    ("jsonc\n", "toml\n", "yaml\n", "mcpServers", "hooks", "Stop", "memory", "mcp_servers", "[mcp_servers]\n", "[mcp_servers.memory]\n", "[[x]]\n", "// comment\n", "/*", "*/", ",",
     '"""', "'''", "# c\n", "---\n", "&a ", "*a", "<<: *a", "\t", "\r\n", "\ufeff", "{", "}", "[", "]", "1e999", "1979-05-27T07:32:00Z", "a.b = 1\n", "\u0085", "\\u0000"),
)  # fmt: skip

"""The settings files of harnesses, in which setup puts hooks: what is put in is there, and can be taken out again."""

from __future__ import annotations

from agent_memory.setup.plan import Element, Member, Syntax
from agent_memory.setup.settings_edit import EditRefused, Spot, cut, parse_settings, put, value_at
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
    for syntax, spot in _SPOTS.get(name.decode("utf-8", "replace"), ()):
        try:
            written = put(text, spot, syntax)
        except EditRefused:
            continue
        before = parse_settings(text, syntax)
        found = value_at(parse_settings(written, syntax), spot.keys)
        assert spot.value in (found if isinstance(spot, Element) else (found,)), "what was put in is not there"
        left = parse_settings(cut(written, spot, syntax, text), syntax)
        assert (left or {}) == (before or {}), "taken out, it is not as before"


_SPOTS: dict[str, list[tuple[Syntax, Spot]]] = {
    "jsonc": [("jsonc", each) for each in _JSON_SPOTS],
    "toml": [("toml", each) for each in _TABLE_SPOTS],
    "yaml": [("yaml", each) for each in _TABLE_SPOTS],
}
SETTINGS = Target(
    "settings",
    _check,
    ("jsonc\n", "toml\n", "yaml\n", "mcpServers", "hooks", "Stop", "memory", "mcp_servers", "[mcp_servers]\n", "[mcp_servers.memory]\n", "[[x]]\n", "// comment\n", "/*", "*/", ",",
     '"""', "'''", "# c\n", "---\n", "&a ", "*a", "<<: *a", "\t", "\r\n", "\ufeff", "{", "}", "[", "]", "1e999", "1979-05-27T07:32:00Z", "a.b = 1\n", "\u0085", "\\u0000"),
)  # fmt: skip

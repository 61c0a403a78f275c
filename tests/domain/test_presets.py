"""The built-in presets: what each is called with."""

from __future__ import annotations

import json

import pytest

from agent_memory.domain.command import PRESETS, Preset

NO_TOOLS = {
    "claude": ("--tools", "--strict-mcp-config", "--no-session-persistence", "--settings"),
    "codex": ("--ephemeral", "--sandbox", "--ignore-user-config", "--ignore-rules", "features.hooks=false"),
    "gemini": ("none", "plan"),
    "copilot": ("--available-tools=", "--disable-builtin-mcps", "--no-custom-instructions"),
    "opencode": ("--pure",),
    "pi": ("--no-tools", "--no-extensions", "--no-session"),
    "llm": ("-n",),
    "ollama": ("--think=false",),
}


@pytest.mark.parametrize("name", NO_TOOLS)
def test_tools_hooks_and_sessions_are_switched_off(name: str) -> None:
    assert set(NO_TOOLS[name]) <= set(PRESETS[name].argv)


def test_hooks_are_off_where_a_file_or_a_variable_says_so() -> None:
    assert json.loads(PRESETS["gemini"].files["gemini-settings.json"]) == {"hooksConfig": {"enabled": False}}
    assert PRESETS["gemini"].env["GEMINI_CLI_SYSTEM_SETTINGS_PATH"] == "{private}/gemini-settings.json"
    assert json.loads(PRESETS["opencode"].env["OPENCODE_PERMISSION"]) == {"*": "deny"}
    assert "disableAllHooks" in " ".join(PRESETS["claude"].argv)


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("claude", ("claude", "--model", "M", "-p")),
        ("codex", ("codex", "exec", "-m", "M", "--ephemeral")),
        ("opencode", ("opencode", "run", "-m", "M", "--pure")),
        ("llm", ("llm", "-m", "M", "-n")),
        ("ollama", ("ollama", "run", "M", "--nowordwrap")),
    ],
)
def test_a_model_goes_where_the_command_expects_it(name: str, start: tuple[str, ...]) -> None:
    assert PRESETS[name].with_model("M")[: len(start)] == start
    assert PRESETS[name].with_model(None) == PRESETS[name].argv


@pytest.mark.parametrize("preset", PRESETS.values(), ids=list(PRESETS))
def test_variables_are_exact_names_and_none_is_named_twice(preset: Preset) -> None:
    assert len(set(preset.variables)) == len(preset.variables)
    assert all(name.isidentifier() and name == name.upper() for name in preset.variables)

"""What the presets call, and what a command says when it cannot serve, told apart from what it answers (P9)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from agent_memory.presets import MESSAGE_MAX_CHARS, PRESETS, Preset, failure_cause, message_cause

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


MESSAGES = [
    ("login", "Invalid API key · Please run /login"),
    ("login", "Not logged in. Please run `codex login` first."),
    ("login", "Error: Please run `claude setup-token` to authenticate."),
    ("login", "OAuth token has expired. Please obtain a new token or refresh your existing token."),
    ("login", "✗ Authentication required. Run: agent login"),
    ("login", "Error: No API key found"),
    ("login", "You need to log in before you can use this."),
    ("login", 'API Error: 401 {"type":"error","error":{"type":"authentication_error"}}'),
    ("login", "Failed to authenticate. API Error: 401 OAuth token revoked"),
    ("quota", "Credit balance is too low"),
    ("quota", "You exceeded your current quota, please check your plan and billing details."),
    ("quota", "You’re out of extra usage · resets 3pm"),
    ("rate-limit", "You've hit your usage limit. Try again at 3pm."),
    ("rate-limit", "You’ve reached your 5-hour limit."),
    ("rate-limit", "Claude usage limit reached. Your limit will reset at 7pm."),
    ("rate-limit", "Session limit reached ∙ resets 9pm"),
    ("rate-limit", 'API Error: 429 {"type":"error","error":{"type":"rate_limit_error"}}'),
    ("rate-limit", "ERROR: Too Many Requests"),
    ("rate-limit", 'API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}'),
    ("network", "Unable to connect to API (ECONNREFUSED)"),
    ("network", "API Error: Connection error."),
    ("network", "API Error: 500 Internal server error"),
    ("network", "fetch failed"),
    ("config", "Error: unknown option '--tools'"),
    ("config", "Error: model 'qwen9' not found"),
    ("config", "Prompt is too long"),
]
ANSWERS = [
    "",
    "I'm sorry, but I can't help with that.",
    "There is nothing worth keeping in this session about rate limits and logins.",
    "The user asked why the API answered 429 Too Many Requests and we added a backoff.",
    '{"entries": [], "skipped": "rate limit reached"}',
    'Rate limits were the topic. {"version": 1, "entries": []}',
    "Usage limit reached. " + "The session went on to discuss what to do about it. " * 20,
    "An error 401 was discussed at length.",
]


@pytest.mark.parametrize(("cause", "reply"), MESSAGES)
def test_a_reply_that_is_only_a_message_is_recognised_p9(cause: str, reply: str) -> None:
    assert message_cause(f"\n{reply}\n") == cause


@pytest.mark.parametrize("reply", ANSWERS)
def test_what_may_be_an_answer_is_not_taken_for_a_message(reply: str) -> None:
    assert message_cause(reply) is None


@pytest.mark.parametrize(
    ("cause", "printed"),
    [
        ("login", "HTTP 401"),
        ("rate-limit", "HTTP/1.1 429 nope"),
        ("network", "Error: connect ECONNREFUSED 127.0.0.1:11434"),
        ("network", "Post https://x: dial tcp: lookup x"),
        (None, "Segmentation fault (core dumped)"),
        (None, "SyntaxError: Unexpected token"),
    ],
)
def test_signs_of_a_cause_in_what_a_failed_command_printed(cause: str | None, printed: str) -> None:
    assert failure_cause(printed) == cause


@given(st.text(max_size=800))
def test_any_text_has_a_reading(text: str) -> None:
    causes = {None, "login", "quota", "rate-limit", "network", "config"}
    assert message_cause(text) in causes
    assert failure_cause(text) in causes


@given(st.text(min_size=MESSAGE_MAX_CHARS + 1, max_size=MESSAGE_MAX_CHARS + 50, alphabet="ab"))
def test_a_long_reply_is_an_answer_whatever_it_begins_with(text: str) -> None:
    assert message_cause("Usage limit reached. " + text) is None

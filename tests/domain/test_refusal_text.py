"""What an agent command says when it cannot serve, told apart from what it answers (P9)."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agent_memory.domain.command import MESSAGE_MAX_CHARS, failure_cause, message_cause

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


@pytest.mark.parametrize(("cause", "printed"), MESSAGES)
def test_the_same_words_are_found_anywhere_in_what_a_failed_command_printed(cause: str, printed: str) -> None:
    assert failure_cause(f"[info] starting\nTrace id 12\n{printed}\nat main.js:401:7") == cause


@pytest.mark.parametrize(
    ("cause", "printed"),
    [
        ("login", "HTTP 401"),
        ("login", "status code: 403"),
        ("rate-limit", "HTTP/1.1 429 nope"),
        ("rate-limit", "exceptions.ThrottlingException: Rate exceeded"),
        ("network", "Error: connect ECONNREFUSED 127.0.0.1:11434"),
        ("network", "getaddrinfo ENOTFOUND api.example.com"),
        ("network", "Post https://x: dial tcp: lookup x"),
        (None, ""),
        (None, "Segmentation fault (core dumped)"),
        (None, "Traceback: main.py line 401, in f\nKeyError: 429"),
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

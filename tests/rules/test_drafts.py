"""A proposed text made fit to be stored, and what makes it unfit."""

from __future__ import annotations

import pytest

from agent_memory.rules.change import Dropped
from agent_memory.rules.drafts import (
    is_looping,
    stored_agent,
    stored_refusal,
    stored_subject,
    text_problems,
)

TOKEN = "ghp_" + "A1b2C3d4" * 4 + "E5f6"


def test_what_a_report_quotes_is_clean_and_short() -> None:
    assert stored_subject(f"a\nb {TOKEN}") == "a b [redacted:github-token]"
    assert len(stored_subject("x" * 300)) == 80
    refused = stored_refusal(Dropped("\u200b", (f"It is {TOKEN}", "y" * 900)))
    assert refused.subject == "a note without a title"
    assert refused.reasons[0] == "It is [redacted:github-token]"
    assert len(refused.reasons[1]) == 500


@pytest.mark.parametrize(("said", "kept"), [("claude\ncode", "claude code"), ("\u200b", None), ("", None)])
def test_an_agent_is_called_what_is_left_of_its_name(said: str, kept: str | None) -> None:
    assert stored_agent(said) == kept
    assert len(stored_agent("z" * 300) or "") == 80


@pytest.mark.parametrize(
    "text",
    [
        "Port 9090.\n\n(rest unchanged)", "Port 9090.\n... rest of the note ...",
        "The rest of the note remains unchanged.", "The remaining sections are the same as before.",
        "# Ports\n[previous content]", "# Ports\n[... existing text ...]", "<!-- existing content here -->",
        "```py\nx = 1\n# ... existing code ...\n```", "Port 9090 (unchanged)", "Port 9090 … [omitted]", "…unchanged",
        "Porta 9090.\nResto inalterado.",
    ],
)  # fmt: skip
def test_an_elision_is_found(text: str) -> None:
    assert any("leaves text out" in problem for problem in text_problems(text))


@pytest.mark.parametrize(
    "text",
    [
        "The API is unchanged since version 2.", "The rest of the team uses Linux.",
        "Values stay the same between restarts.", "The existing users keep their passwords (existing users only).",
        "REST endpoints are the same in both clusters.", "Use `git rebase` for the rest of the branch.",
        "The rest is unchanged when the cache is warm.", "It waits… then it fails.",
        "| a | b |\n|---|---|\n| 1 | 2 |\n" * 3,
        "- run the tests\n- run the linter\n- run the build\n- run the docs\n" * 1, "=" * 200,
    ],
)  # fmt: skip
def test_honest_text_has_no_problem(text: str) -> None:
    assert text_problems(text) == ()


def test_an_elision_that_was_there_before_is_no_new_one() -> None:
    text = "The log says [rest of the lines omitted]."
    assert text_problems(text)
    assert text_problems(text, before=text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "The user prefers tabs. " * 20,
        "always the same line\n" * 20,
        "a" * 120,
        "Fine words at first, and then it goes on and on and on and on " + "and on " * 60,
    ],
)
def test_a_loop_is_found(text: str) -> None:
    assert is_looping(text)


def test_a_long_honest_text_is_no_loop() -> None:
    words = [f"word{n}" for n in range(1_000)]
    assert not is_looping(" ".join(words))
    assert not is_looping("\n".join(f"- `{word}`: the setting for {word}" for word in words[:100]))
    assert not is_looping("")

"""A proposed text made fit to be stored, and what makes it unfit."""

from __future__ import annotations

import pytest

from agent_memory.domain.change import Dropped
from agent_memory.domain.planning.drafts import (
    body_problems,
    stored_agent,
    stored_body,
    stored_refusal,
    stored_subject,
    stored_tags,
    title_problems,
)

TOKEN = "ghp_" + "A1b2C3d4" * 4 + "E5f6"


def honest(chars: int) -> str:
    """So many characters of words that do not repeat."""
    return " ".join(f"word{n}" for n in range(chars))[:chars]


def test_a_title_and_a_body_may_be_as_long_as_they_may_be() -> None:
    assert title_problems(honest(200)) == ()
    assert title_problems(honest(201)) == ("the title has 201 characters, at most 200 are allowed",)
    assert body_problems(honest(8_000)) == ()
    assert body_problems(honest(8_001)) == ("the body has 8,001 characters, at most 8,000 are allowed",)


def test_a_body_loses_blank_lines_around_it_and_no_indentation() -> None:
    assert stored_body("\n\n    code X\n  X \n\n") == "    code X\n  X"
    assert stored_body("X marks it X") == "X marks it X"


def test_what_a_report_quotes_is_clean_and_short() -> None:
    assert stored_subject(f"a\nb {TOKEN}") == "a b [redacted:github-token]"
    assert len(stored_subject("x" * 300)) == 80
    refused = stored_refusal(Dropped("\u200b", (f"It is {TOKEN}", "y" * 900)))
    assert refused.subject == "an entry without a title"
    assert refused.reasons[0] == "It is [redacted:github-token]"
    assert len(refused.reasons[1]) == 500


@pytest.mark.parametrize(("said", "kept"), [("claude\ncode", "claude code"), ("\u200b", None), ("", None)])
def test_an_agent_is_called_what_is_left_of_its_name(said: str, kept: str | None) -> None:
    assert stored_agent(said) == kept
    assert len(stored_agent("z" * 300) or "") == 80


def test_a_tag_that_is_a_secret_is_no_tag_p20() -> None:
    assert stored_tags(("deploy", TOKEN, "ci")) == ("topic__deploy", "topic__ci")

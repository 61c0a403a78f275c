"""The prose of a message, and its sentences."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.extraction.text import (
    MAX_CHARS,
    MESSAGE_CHARS,
    blocks_of,
    cut,
    in_third_person,
    joined,
    plain,
    sentences_of,
)
from conversations import agent, notes, user


def test_blocks_know_their_label_and_the_heading_or_the_line_that_leads_to_them() -> None:
    message = "## Cause\n\nThe key was wrong.\n\n**Fix:** it is right.\n\nWhat changed:\n- **Key**: by day\n- Test"
    told = [(block.label, block.section, block.text) for block in blocks_of(message) if block.text]
    assert told == [
        ("", "Cause", "The key was wrong."),
        ("Fix", "", "it is right."),
        ("", "", "What changed:"),
        ("Key", "What changed:", "by day"),
        ("", "What changed:", "Test"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "> somebody else said it", "| a | table |", "def total(cart): return 0", "const total = cart.total;",
        "from cart import total", "2026-02-10T09:00:00Z started", "ERROR: no such cart", "    at Cart.total(cart.js)",
        "+++ b/src/cart.py", "$ make test", "<system-reminder>", "{}();[]==>><<!!",
    ],
)  # fmt: skip
def test_what_a_machine_or_somebody_else_wrote_is_no_prose(line: str) -> None:
    assert [block.text for block in blocks_of(f"Said before.\n{line}\n\nSaid after.")] == [
        "Said before.",
        "Said after.",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "from now on, use the store (not the cache)",
        "let's go with the second one (it is simpler)",
        "return early when the cart is empty",
        "import the carts of last year first",
        "class names are singular (Cart, Order)",
        "use these in order: a, b",
    ],
)
def test_ordinary_sentences_that_begin_like_code_are_prose(line: str) -> None:
    assert [block.text for block in blocks_of(line)] == [line]


def test_an_unclosed_fence_hides_the_rest() -> None:
    assert [block.text for block in blocks_of("Said.\n```\nnot said\n\nnot said either")] == ["Said."]


def test_plain_text_keeps_code_and_loses_markup_and_places() -> None:
    assert (
        plain("**Bold** `a_*b*` [docs](https://x.y) at `cart.py:12-14` (line 12) ✅")
        == "Bold `a_*b*` docs at `cart.py`"
    )


def test_sentences_end_at_points_that_end_something() -> None:
    text = "It uses `a.b. c` e.g. v1.9.0 of cart.py. Then it stops! Does it? Yes"
    assert sentences_of(text) == ("It uses `a.b. c` e.g. v1.9.0 of cart.py.", "Then it stops!", "Does it?", "Yes")


def test_a_cut_ends_at_a_clause_and_leaves_nothing_open() -> None:
    assert cut("The key was the day in UTC, and the harbour is far ahead of it", 40) == "The key was the day in UTC"
    assert cut("Use `one` and then `another long name` here", 30) == "Use `one` …"
    assert cut("short") == "short"


def test_joining_keeps_whole_sentences() -> None:
    assert joined("One.", "Two.") == "One. Two."
    assert joined("One.", "x" * MAX_CHARS) == "One."


def test_third_person_leaves_code_alone() -> None:
    told = "I changed `I` so that you see it in your terminal."
    assert in_third_person(told) == "The agent changed `I` so that the user sees it in the user's terminal."


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_read_without_a_crash_and_no_word_is_invented(text: str) -> None:
    for block in blocks_of(text):
        assert "".join(sentences_of(block.text)).replace(" ", "") == block.text.replace(" ", "")
        assert len(cut(block.text)) <= MAX_CHARS


@pytest.mark.parametrize(
    "piece", ["*", "`", "(", "**a", "[a](", "- ", "no, ", "we always ", "remember ", "a.b ", "<a ", "1. "]
)
def test_long_repetitions_are_read_to_their_end(piece: str) -> None:
    """A backtracking pattern would not come to its end."""
    assert sum(len(block.text) for block in blocks_of(piece * 20_000)) <= MESSAGE_CHARS
    assert len(notes(user(piece * 20_000), agent(piece * 20_000), user(piece * 20))) <= 2

"""P12: a claim of which only the opposite is left."""

from __future__ import annotations

import pytest

from agent_memory.domain.defragging.changed_claims import turned_claims

RETRIES, NEVER_RETRIES = "The worker retries failed jobs", "The worker never retries failed jobs"


def test_a_claim_that_is_held_with_the_opposite_polarity_only_is_turned() -> None:
    assert turned_claims(f"{RETRIES}.", f"{NEVER_RETRIES}.") == (RETRIES,)
    assert turned_claims(f"{NEVER_RETRIES}.", f"{RETRIES}.") == (NEVER_RETRIES,)
    assert turned_claims(f"{RETRIES}.", f"{NEVER_RETRIES}. {RETRIES}.") == ()


def test_any_content_word_of_a_drop_names_it() -> None:
    assert turned_claims(f"{RETRIES}.", f"{NEVER_RETRIES}.", ("retries", "the port")) == ()
    assert turned_claims(f"{RETRIES}.", f"{NEVER_RETRIES}.", ("the port", "retries")) == ()
    assert turned_claims(f"{RETRIES}.", f"{NEVER_RETRIES}.", ("the port", "never")) == (RETRIES,)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Never use npm.", "Install pnpm, npm."),  # one word claims nothing
        ("The worker retries failed jobs.", "The worker never retries old jobs."),  # much the same is another claim
        ("Never push to main on Fridays.", "Push to main. Do not push to main."),  # what denies it is as much like it
        ("Never push to main on Fridays. Push to main.", "Push to main."),  # the sources say that themselves
    ],
)
def test_what_is_only_like_the_opposite_is_not(before: str, after: str) -> None:
    assert turned_claims(before, after) == ()


def test_half_of_the_words_are_enough_to_turn_a_denial() -> None:
    assert turned_claims("Never push to main on Fridays.", "Push to main on Mondays.") == (
        "Never push to main on Fridays",
    )

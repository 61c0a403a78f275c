import pytest

from agent_memory.domain.history import History, Role, Turn
from agent_memory.domain.planning.origin import Claim, origin_of
from agent_memory.domain.transcripts.own_marks import marked_review, pasted_review, without_pasted_review
from agent_memory.domain.transcripts.turns import turn_chars
from agent_memory.domain.vocabulary import Harness, Origin

FOUND = "`load_cart` doesn't take the lock, so two requests may empty the same cart."


@pytest.mark.parametrize(
    "introduced",
    [
        f"evaluate this feedback from copilot:\n\n{FOUND}",
        f"Got this comment from a reviewer, what say you?\n\n{FOUND}",
        f"A review comment: {FOUND}",
        f"Another agent reviewed your work:\n\n1. {FOUND}",
        f"the linter complains:\n{FOUND}",
        f"fix these\n\n_⚠️ Potential issue_ {FOUND}",
        f"look:\n\n- **High**: {FOUND}\n- **Low**: The docs never name the currency.",
    ],
)
def test_a_review_that_the_person_pasted_is_found(introduced: str) -> None:
    span = pasted_review(introduced)
    assert span is not None
    assert FOUND in introduced[slice(*span)]
    assert FOUND not in without_pasted_review(introduced)


@pytest.mark.parametrize(
    "own",
    [
        "No, we never lock the carts of guests.",
        "Check the Copilot comments on the PR.\n\nDon't do anything with them, just say whether we should act on them.",
        "Here is my feedback:\n\n- the button is too big\n- the header should name the customer",
        "The reviewer is on holiday this week, so merge it yourself when the build is green.",
    ],
)
def test_what_the_person_says_about_reviews_is_theirs(own: str) -> None:
    assert pasted_review(own) is None


def test_a_short_request_behind_the_review_is_the_person_s() -> None:
    said = f"Review from the bot:\n\n{FOUND}\n\nPlease fix only this one."
    assert without_pasted_review(said).split("\n")[-1] == "Please fix only this one."
    assert marked_review(said) == (
        f"Review from the bot:\n[pasted review, not the person's words:]\n{FOUND}\n[end of the pasted review]\n"
        "Please fix only this one."
    )


def test_what_a_pasted_review_says_is_not_the_person_s_word() -> None:
    def session(text: str) -> History:
        return History(Harness.CLAUDE_CODE, "s", (Turn(1, Role.USER, text, "r1"),))

    claim = Claim("`load_cart` doesn't take the lock", FOUND)
    assert origin_of(claim, [1], session(FOUND)) is Origin.USER
    assert origin_of(claim, [1], session(f"evaluate this feedback from copilot:\n\n{FOUND}")) is Origin.AGENT


def test_the_marks_are_counted_where_a_prompt_is_divided() -> None:
    said = f"evaluate this feedback from copilot:\n\n{FOUND}"
    turn = Turn(1, Role.USER, said, "r1")
    assert turn_chars(turn) - turn_chars(Turn(1, Role.AGENT, said, "r1")) >= len(marked_review(said)) - len(said)

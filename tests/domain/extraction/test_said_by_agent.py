"""What the agent found out: from its closing words, in English and Portuguese, and what must not pass for it."""

from __future__ import annotations

import pytest

from agent_memory.domain.history import ToolCall
from agent_memory.domain.vocabulary import Kind
from conversations import EDIT, agent, notes, tool, user, work_on

ASKED = "The cart total is wrong for guests."


@pytest.mark.parametrize(
    ("closing", "title"),
    [
        (
            "The root cause was that `total()` read the price before the discount was applied.",
            "`total()` read the price before the discount was applied",
        ),
        (
            "Fixed. The issue was that `Cart.total` cached the price of the first guest.",
            "`Cart.total` cached the price of the first guest",
        ),
        (
            "It turns out that `Decimal` rounds half to even, so 2.5 became 2.",
            "`Decimal` rounds half to even, so 2.5 became 2",
        ),
        (
            "**Root cause:** `total()` read the price before the discount was applied.",
            "`total()` read the price before the discount was applied",
        ),
        (
            "The webhook failed because `nginx` drops headers with underscores.",
            "The webhook failed because `nginx` drops headers with underscores",
        ),
        (
            "A causa raiz era que `total()` lia o preço antes do desconto.",
            "`total()` lia o preço antes do desconto",
        ),
        (
            "Corrigido. O problema era que `Cart.total` guardava o preço do primeiro convidado.",
            "`Cart.total` guardava o preço do primeiro convidado",
        ),
    ],
)
def test_the_cause_that_was_found_is_a_lesson(closing: str, title: str) -> None:
    (note,) = notes(*work_on(ASKED, closing))
    assert note.kind is Kind.LESSON
    assert note.title == title
    assert note.turns == (4,)


def test_a_lesson_names_the_remedy_and_what_was_asked() -> None:
    closing = "The bug was in `total()`: it read the guest price twice.\n\n**Fix:** `total()` now reads it once."
    (note,) = notes(*work_on("Guests see a wrong total price.", closing))
    assert note.body.split("\n\n") == [
        "The bug was in `total()`: it read the guest price twice.",
        "Remedy: `total()` now reads it once.",
        "The user had asked: “Guests see a wrong total price.”",
    ]


def test_a_finding_during_the_work_counts_when_the_closing_words_confirm_it() -> None:
    found = agent("Found it! The default `max_age` is 0, which means that `Session` never expires.", EDIT)
    confirmed = agent("Done. I set `max_age` to one day so that a `Session` expires.")
    elsewhere = agent("Done. I moved the banner below the header.")
    (note, *_) = notes(user("Sessions stay open."), found, tool("ok"), confirmed)
    assert note.title == "Fixed: The default `max_age` is 0, which means that `Session` never expires"
    assert note.turns == (2, 4)
    assert notes(user("Sessions stay open."), found, tool("ok"), elsewhere) == ()


@pytest.mark.parametrize(
    "closing",
    [
        "The problem was probably that `total()` read the price twice.",
        "The issue might have been caused by `Cart.total`.",
        "All tests pass and the lint is clean.",
        "Should I fix the problem that was in `Cart.total`?",
        "Let me check what the root cause in `Cart.total` was.",
        "```\nThe root cause was that `total()` read the price twice.\n```",
        "> The root cause was that `total()` read the price twice.",
        "It works now.",
        "O problema era provavelmente o `Cart.total`.",
        "Todos os testes passam.",
    ],
)
def test_guesses_states_plans_and_quotations_are_no_lessons(closing: str) -> None:
    assert notes(*work_on(ASKED, closing)) == ()


def test_what_the_agent_says_without_having_worked_is_no_lesson() -> None:
    said = "The root cause was that `total()` read the price twice."
    assert notes(user("What was it again?"), agent(said)) == ()
    assert len(notes(*work_on("What was it again?", said))) == 1


@pytest.mark.parametrize("objection", ["No, it still fails.", "that didn't work", "Continua a falhar."])
def test_a_conclusion_that_the_person_rejects_goes(objection: str) -> None:
    wrong = work_on(ASKED, "The root cause was that `total()` read the price twice.")
    right = work_on(objection, "The root cause was the rounding in `Decimal.quantize` of each line.")
    assert len(notes(*wrong)) == 1
    (note,) = notes(*wrong, *right)
    assert "rounding" in note.title


def test_an_explanation_that_changed_nothing_is_no_lesson_unless_it_was_found_out() -> None:
    asked = (user("How does `Cart` expire?"), agent("", ToolCall("Read", "src/cart.py", "src/cart.py")), tool("code"))
    explained = "`Cart.load` must hold the lock because `expire()` runs in another thread."
    found_out = "It turns out that `Cart.load` takes no lock, so `expire()` can empty it meanwhile."
    assert notes(*asked, agent(explained)) == ()
    assert [note.kind for note in notes(*asked, agent(found_out))] == [Kind.LESSON]
    assert [note.kind for note in notes(*work_on(ASKED, explained))] == [Kind.LESSON]


def test_line_numbers_are_left_out() -> None:
    (note,) = notes(*work_on(ASKED, "The bug was in `src/cart.py:120-131`: `total()` (line 124) read the price twice."))
    assert note.body.startswith("The bug was in `src/cart.py`: `total()` read the price twice.")


def test_the_agent_is_not_i_to_a_later_reader() -> None:
    (note,) = notes(*work_on(ASKED, "The issue was that I edited `cart.py` in another checkout than your tests use."))
    assert note.title == "The agent edited `cart.py` in another checkout than the user's tests use"


def test_a_name_with_my_in_it_stays_a_name() -> None:
    (note,) = notes(*work_on(ASKED, "The issue was that my patch of `cart.py` was read by oh-my-posh as an I/O error."))
    assert note.title == "The agent's patch of `cart.py` was read by oh-my-posh as an I/O error"


def test_a_title_does_not_end_before_the_point_is_made() -> None:
    closing = (
        "The root cause: `pay()` is keyed by `host:port`, but the client splits it, and the lookup only used `host`."
    )
    (note,) = notes(*work_on(ASKED, closing))
    assert note.title == "`pay()` is keyed by `host:port`, but the client splits it, and the lookup only used `host`"


@pytest.mark.parametrize(
    "closing",
    [
        "Low: the example in `cart.md` is weak because it discards the `Result`.",
        "The `Cart` page now says that totals are cents because `Decimal` rounds.",
        "I didn't request a reviewer because `ana` is the only one who knows `Cart`.",
        "I used `--force-with-lease` instead of `--force` so that nothing of `main` is lost.",
        "The `cart` branch still needs to be merged into `main`.",
        "**Next steps:** Notified the reviewer of `cart.py` and its tests.",
    ],
)
def test_reports_and_how_the_session_was_carried_out_make_none(closing: str) -> None:
    assert notes(*work_on(ASKED, closing)) == ()


def test_a_remedy_tells_the_fix_and_not_the_failure_again() -> None:
    closing = (
        "The root cause: `total()` never rounds the guest price.\n\n**Fix:** The guest price was only read after the discount. "
        "`total()` now rounds the guest price once."
    )
    (note,) = notes(*work_on(ASKED, closing))
    assert note.title == "Fixed: `total()` never rounds the guest price"
    assert "Remedy: `total()` now rounds the guest price once." in note.body


def test_a_fault_that_nobody_says_to_be_mended_makes_no_note() -> None:
    assert notes(*work_on(ASKED, "The root cause: `total()` reads the guest price twice and never rounds it.")) == ()

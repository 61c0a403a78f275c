"""What a session leaves open."""

from __future__ import annotations

import pytest

from agent_memory.extraction.extract import extracted
from agent_memory.note.note import Kind
from conversations import MUCH_LATER_MS, agent, history, notes, user, work_on


@pytest.mark.parametrize(
    "closing",
    [
        "Still open: the mail worker reads the old `total()`.",
        "Remaining: the mail worker reads the old `total()`.",
        "The mail worker still needs to be moved to `Cart.total`.",
        "Ainda falta mover o worker de mail para `Cart.total`.",
    ],
)
def test_what_the_agent_says_is_left_to_do_is_a_task_at_the_end_of_the_session(closing: str) -> None:
    last = work_on("The cart total is wrong for guests.", closing)
    (note,) = notes(*last)
    assert note.kind is Kind.TASK
    for wrapped_up in ("thanks a lot", "commit this please", "ok, create a branch and push it"):
        (still,) = notes(*last, user(wrapped_up), agent("Done."))
        assert still.title == note.title
    assert notes(*last, *work_on("Then do that now.", "Done, all of it.")) == ()


@pytest.mark.parametrize(
    ("said", "done"),
    [
        ("TODO: move the mail worker to the new totals.", "Moved the mail worker to the new totals."),
        ("In the future, I'd like to add a login for guests.", "Added a login for guests."),
        ("We still need to migrate the old carts before June.", "Migrated the old carts, well before June."),
        (
            "Ainda falta migrar os carrinhos antigos antes de junho.",
            "Migrar os carrinhos antigos antes de junho: feito.",
        ),
    ],
)
def test_what_the_person_says_is_left_to_do_is_a_task_until_it_is_done(said: str, done: str) -> None:
    (note,) = notes(user(said))
    assert note.kind is Kind.TASK
    assert Kind.TASK not in [one.kind for one in notes(user(said), *work_on("go ahead", done))]


@pytest.mark.parametrize(
    "closing",
    [
        "Fixed the cart. Still to do: move the mail worker to the new totals.",
        "Fixed. The mail worker still needs to be moved.",
    ],
)
def test_it_is_not_done_because_the_agent_says_that_it_is_left_to_do(closing: str) -> None:
    said = (user("TODO: move the mail worker to the new totals."), *work_on("now the cart", closing))
    assert Kind.TASK in [one.kind for one in notes(*said)]


@pytest.mark.parametrize(
    "closing",
    [
        "Next steps: open the cart in a browser to confirm the total.",
        "Próximos passos: mover o worker de mail para `Cart.total`.",
        "Comments updated (the doc of `Cart` now says which total is unverified), and the memory names both carts.",
        "If it still fails on an old volume, reset the database of the cart.",
    ],
)
def test_what_the_agent_suggests_to_do_next_makes_no_note(closing: str) -> None:
    assert notes(*work_on("The cart total is wrong for guests.", closing)) == ()


def test_nothing_is_open_at_the_end_of_a_window_that_is_not_the_last() -> None:
    window = history(*work_on("Page the order list.", "Still open: the mail worker reads the old `total()`."))
    assert extracted(window, now_ms=MUCH_LATER_MS, final_window=False).entries == ()

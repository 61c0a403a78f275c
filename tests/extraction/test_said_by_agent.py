"""What the agent found out: from its closing words, in English and Portuguese, and what must not pass for it."""

from __future__ import annotations

import pytest

from agent_memory.note.note import Kind
from agent_memory.session.history import ToolCall
from conversations import EDIT, agent, notes, tool, user, work_on

ASKED = "The cart total is wrong for guests."
STAYS = "SQLite stores a decimal as text."
CAUSE = f"The root cause was that `total()` read the price twice. {STAYS}"


@pytest.mark.parametrize(
    ("closing", "title"),
    [
        (
            "The root cause was that `total()` read the price as text. SQLite stores a decimal as text unless the column is numeric.",
            "SQLite stores a decimal as text unless the column is numeric",
        ),
        (
            "Fixed. The issue was that `Cart.total` cached the price. The cache of Werkzeug keeps no type, so that every value returns as text.",
            "The cache of Werkzeug keeps no type, so that every value returns as text",
        ),
        (
            "The query failed because Postgres only uses the index of `orders` where the query names the month.",
            "The query failed because Postgres only uses the index of `orders` where the query names the month",
        ),
        (
            "**Root cause:** `total()` was called by two workers. In Celery a task has to be registered by name.",
            "In Celery a task has to be registered by name",
        ),
        (
            "The webhook failed because `nginx` needs `underscores_in_headers` for such names.",
            "The webhook failed because `nginx` needs `underscores_in_headers` for such names",
        ),
        (
            "O problema era que `total()` lia o preço como texto. O SQLite guarda um decimal como texto quando a coluna o permite.",
            "O SQLite guarda um decimal como texto quando a coluna o permite",
        ),
    ],
)
def test_what_stays_true_of_a_cause_that_was_found_is_a_lesson(closing: str, title: str) -> None:
    (note,) = notes(*work_on(ASKED, closing))
    assert note.kind is Kind.LESSON
    assert note.title == title
    assert note.turns == (4,)


@pytest.mark.parametrize(
    "closing",
    [
        "The root cause was that `total()` read the price before the discount was applied.",
        "Fixed. The issue was that `Cart.total` cached the price of the first guest. It was never cleared.",
        "**Root cause:** `total()` never rounds the guest price.\n\n**Fix:** `total()` now rounds the guest price once.",
        "The issue was that I edited `cart.py` in another checkout than your tests use.",
        "The crash happened because `Session.close()` ran twice. Docker was still starting.",
        "A causa raiz era que `total()` lia o preço antes do desconto.",
        "The export was empty because `rows()` skipped each region without a name.\n\n**Fix:** `rows()` now takes every region.",
        "**Root cause:** Guests come by Nginx. The price only existed in the Nginx of the shop.\n\n**Fix:** Added the price.",
        "The previous fix made two changes that don't work on Netlify: `total()` has no relay there, because it is local.",
        "The bug was that `gap` was 12 pixels. In React that is extra space between letters of the total.",
        "The problem was the `price` literals and quotes in the labels of the diagram of the cart that guests see — Mermaid chokes on them.",
    ],
)
def test_a_cause_in_the_code_at_hand_is_over_once_it_is_mended_and_makes_no_note(closing: str) -> None:
    assert notes(*work_on(ASKED, closing)) == ()


def test_a_lesson_names_the_remedy_and_what_was_asked() -> None:
    closing = (
        f"The bug was in `total()`: it read the guest price twice. {STAYS}\n\n**Fix:** `total()` now reads it once."
    )
    (note,) = notes(*work_on("Guests see a wrong total price.", closing))
    assert note.body.split("\n\n") == [
        f"The bug was in `total()`: it read the guest price twice. {STAYS}",
        "Remedy: `total()` now reads it once.",
        "The user had asked: “Guests see a wrong total price.”",
    ]


def test_a_finding_during_the_work_counts_when_the_closing_words_confirm_it() -> None:
    found = agent(
        "Found it! In Flask the default `max_age` is 0, which means that `Session` never expires. The `Session` hangs.",
        EDIT,
    )
    confirmed = agent("Done. I set `max_age` to one day so that a `Session` expires.")
    elsewhere = agent("Done. I moved the banner below the header.")
    (note, *_) = notes(user("Sessions stay open."), found, tool("ok"), confirmed)
    assert note.title == "In Flask the default `max_age` is 0, which means that `Session` never expires"
    assert note.turns == (2, 4)
    assert notes(user("Sessions stay open."), found, tool("ok"), elsewhere) == ()


@pytest.mark.parametrize(
    "closing",
    [
        "The problem was probably that `total()` read the price twice.",
        "The issue might have been caused by `Cart.total`.", "All tests pass and the lint is clean.",
        "Should I fix the problem that was in `Cart.total`?", "Let me check what the root cause in `Cart.total` was.",
        "```\nThe root cause was that `total()` read the price twice.\n```",
        "> The root cause was that `total()` read the price twice.", "It works now.",
        "O problema era provavelmente o `Cart.total`.", "Todos os testes passam.",
    ],
)  # fmt: skip
def test_guesses_states_plans_and_quotations_are_no_lessons(closing: str) -> None:
    assert notes(*work_on(ASKED, closing)) == ()


def test_what_the_agent_says_without_having_worked_is_no_lesson() -> None:
    assert notes(user("What was it again?"), agent(CAUSE)) == ()
    assert len(notes(*work_on("What was it again?", CAUSE))) == 1


@pytest.mark.parametrize("objection", ["No, it still fails.", "that didn't work", "Continua a falhar."])
def test_a_conclusion_that_the_person_rejects_goes(objection: str) -> None:
    wrong = work_on(ASKED, CAUSE)
    right = work_on(objection, "The root cause was the rounding of each line. The Stripe client needs whole cents.")
    assert len(notes(*wrong)) == 1
    (note,) = notes(*wrong, *right)
    assert "whole cents" in note.title


def test_an_explanation_that_changed_nothing_is_no_lesson_unless_it_was_found_out() -> None:
    asked = (user("How does `Cart` expire?"), agent("", ToolCall("Read", "src/cart.py", "src/cart.py")), tool("code"))
    explained = "`Cart.load` must hold the lock because `expire()` runs in another thread."
    found_out = "It turned out that `Cart.load` took no lock. SQLite has one lock for the whole file."
    assert notes(*asked, agent(explained)) == ()
    assert [note.kind for note in notes(*asked, agent(found_out))] == [Kind.LESSON]
    assert [note.kind for note in notes(*work_on(ASKED, explained))] == [Kind.LESSON]


def test_line_numbers_are_left_out() -> None:
    (note,) = notes(
        *work_on(ASKED, f"The bug was in `src/cart.py:120-131`: `total()` (line 124) read the price twice. {STAYS}")
    )
    assert note.body.startswith("The bug was in `src/cart.py`: `total()` read the price twice.")


def test_the_agent_is_not_i_to_a_later_reader() -> None:
    closing = f"The issue was that I edited `cart.py` in another checkout than your tests use. {STAYS}"
    (note,) = notes(*work_on(ASKED, closing))
    assert "that the agent edited `cart.py` in another checkout than the user's tests use" in note.body


def test_a_name_with_my_in_it_stays_a_name() -> None:
    closing = f"The issue was that my patch of `cart.py` was read by oh-my-posh as an I/O error. {STAYS}"
    (note,) = notes(*work_on(ASKED, closing))
    assert "that the agent's patch of `cart.py` was read by oh-my-posh as an I/O error" in note.body


def test_a_title_does_not_end_before_the_point_is_made() -> None:
    closing = "The lookup failed. The root cause: `redis` is keyed by `host:port`, but the client splits it, and the lookup only used `host`."
    (note,) = notes(*work_on(ASKED, closing))
    assert note.title == "`redis` is keyed by `host:port`, but the client splits it, and the lookup only used `host`"


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
        f"The root cause: `total()` never rounds the guest price. {STAYS}\n\n**Fix:** The guest price was only read after the discount. "
        "`total()` now rounds the guest price once."
    )
    (note,) = notes(*work_on(ASKED, closing))
    assert note.title == STAYS.rstrip(".")
    assert "Remedy: `total()` now rounds the guest price once." in note.body


@pytest.mark.parametrize(
    "closing",
    [
        # The session changed the file, or defined anew what the statement is about.
        "The bug was in `total()`. The list in `cart.py` names `Decimal` only, and Stripe uses whole cents for totals.",
        "The bug was in `total()`. `ROUNDING` only has the modes of Python, and Stripe uses another one.",
        # The mend is told beside it.
        "**Root cause:** `total()` will fail when the key of a guest is gone from the table.\n\n**Fix:** `total()` now asks first.",
        # How it was.
        "**Before:** The `total()` failed because Postgres has no price for guests.\n\n**Fix:** `total()` now asks once.",
        "**Bug:** When `total()` is called on a remote Redis, it would ask for the password of a host. That blocks.\n\n**Fix:** `total()` now asks once.",
        "The bug was in `total()`. When Redis is on another machine of the shop, it returned nothing.\n\n**Fix:** `total()` now asks once.",
        # Nobody else's work is named where it says how something works.
        "The bug was in `total()`, seen with Docker. `PATTERN` is a plain list of names, so guests match.\n\n**Fix:** `total()` now asks.",
    ],
)
def test_what_the_session_mended_is_no_lesson_in_whatever_tense_it_is_told(closing: str) -> None:
    edit = ToolCall("Edit", "ROUNDING = UP => ROUNDING = HALF_EVEN", path="/srv/shop/src/cart.py", writes=True)
    assert notes(user(ASKED), agent("", edit), tool("ok"), agent(closing)) == ()


def test_a_later_change_of_the_file_counts_too() -> None:
    found = (
        "The bug was in `total()`. The list in `modes.py` names `Decimal` only, and Stripe uses whole cents for totals."
    )
    edit = ToolCall("Edit", "A => B", path="/srv/shop/src/modes.py", writes=True)
    assert len(notes(*work_on(ASKED, found))) == 1
    assert notes(*work_on(ASKED, found), user("mend that, too"), agent("", edit), tool("ok"), agent("Done.")) == ()


def test_a_place_in_brackets_behind_a_label_belongs_to_the_label() -> None:
    closing = (
        "**Root cause** (`cart.py:69`): `git credential fill` asks on the terminal when no configured helper has credentials. That blocks.\n\n"
        "**Fix**: Set `GIT_TERMINAL_PROMPT=0` there."
    )
    (note,) = notes(*work_on(ASKED, closing))
    assert note.title == "`git credential fill` asks on the terminal when no configured helper has credentials"
    assert "Remedy: Set `GIT_TERMINAL_PROMPT=0` there." in note.body


@pytest.mark.parametrize(
    "elsewhere",
    [
        "Moved the guest banner, so that the price of the `header` is read once.",
        "## Fix\n\nI took the way that the reviewer wanted. Prices of other people are unaffected.",
    ],
)
def test_a_remedy_is_only_what_names_the_cause_or_is_called_so(elsewhere: str) -> None:
    (note,) = notes(
        *work_on(ASKED, f"The bug was in `total()`: the guest price was read twice. {STAYS}\n\n{elsewhere}")
    )
    assert "Remedy" not in note.body


def test_a_fault_that_nobody_says_to_be_mended_makes_no_note() -> None:
    fault = "The root cause: `total()` reads the guest price twice and never rounds it."
    assert notes(*work_on(ASKED, f"{fault} {STAYS}")) == ()


@pytest.mark.parametrize(
    ("closing", "title"),
    [
        ("`Cart` stays a plain list since the templates index into it.", "`Cart` stays a plain list since the templates index into it"),
        ("Done.\n\n- `RETRIES` is 0 in `shop.toml` on purpose.", "`RETRIES` is 0 in `shop.toml` on purpose"),
        (
            "`make e2e` still fails because the runner has no display.",
            "`make e2e` still fails because the runner has no display",
        ),
        ("O `Cart` é uma lista porque os modelos leem por índice.", "O `Cart` é uma lista porque os modelos leem por índice"),
    ],
)  # fmt: skip
def test_why_the_code_is_so_or_a_check_still_fails_is_told_where_nothing_is_changed_later(
    closing: str, title: str
) -> None:
    (note,) = notes(*work_on(ASKED, closing))
    assert (note.kind, note.title) == (Kind.LESSON, title)
    rewrite = ToolCall("Edit", "class Cart: ...; RETRIES = 3; é", path="/srv/shop/shop.toml", writes=True)
    later = (user("mend that, too"), agent("", rewrite), tool("ok"), agent("Done."))
    assert not notes(*work_on(ASKED, closing), *later) or "é" in title


@pytest.mark.parametrize(
    "closing",
    [
        "I left `.cache/` alone since it is untracked.", "Your `Cart` is a list because you index into it.",
        "`total()` fails since the price is text.", "`Cart` was a list because the templates indexed into it.",
        "Added `Decimal` since the totals are money.", "`make e2e` still passes because the display exists.",
        "Keep `Cart` as it is, since the templates index into it.", "It is a list because `Cart` is one.",
    ],
)  # fmt: skip
def test_reasons_of_the_session_and_of_faults_are_not_told(closing: str) -> None:
    assert notes(*work_on(ASKED, closing)) == ()

"""What the agent answered when its work was over: which answers are kept, under which title, and what is left out of them."""

from __future__ import annotations

import pytest
from attrs import evolve

from agent_memory.extraction.extract import extracted
from agent_memory.extraction.said_by_agent import ANSWER_CHARS
from agent_memory.note.note import Harness, Kind
from agent_memory.session.history import ToolCall
from conversations import MUCH_LATER_MS, agent, history, notes, tool, user, work_on

ASKED = "The cart total is wrong for guests."
STAYS = "SQLite stores a decimal as text."
CAUSE = f"`total()` read the price twice because {STAYS}"
MANY_FILES = "Files:\n- `shop/cart.py`: the rounded corners\n- `shop/demo.py`: a preview, two green buttons\n- `docs/cart.md`: a page, prices, taxes, some pictures"
EXPLAINED = (
    "`Cart.load` takes the lock of the table, and `expire()` runs in a second thread because the page must not wait. "
    "Carts of guests expire after one day, those of members never, and the worker deletes both at midnight by the clock of the shop. "
    "A basket of a newsletter holds prices of the day of its sending, which the accounts compare with invoices each quarter."
)


@pytest.mark.parametrize(
    ("closing", "title"),
    [
        (
            "The query failed because Postgres only uses the index of `orders` where the query names the month.",
            "The query failed because Postgres only uses the index of `orders` where the query names the month",
        ),
        ("`Cart` stays a plain list since the templates index into it.", "`Cart` stays a plain list since the templates index into it"),
        ("Done.\n\n- `RETRIES` is 0 in `shop.toml` on purpose.", "`RETRIES` is 0 in `shop.toml` on purpose"),
        (
            "The `git config` of the test only changes its own repository since it names no `--global`.",
            "The `git config` of the test only changes its own repository since it names no `--global`",
        ),
        (
            "`make smoke` is skipped because `fcntl` is not available on Windows.",
            "`make smoke` is skipped because `fcntl` is not available on Windows",
        ),
        ("It is done. (This is the plan. `Cart` stays a list since the templates index into it.)", "`Cart` stays a list since the templates index into it"),
        ("O `Cart` é uma lista porque os modelos leem por índice.", "O `Cart` é uma lista porque os modelos leem por índice"),
    ],
)  # fmt: skip
def test_what_stays_true_and_why_is_a_lesson(closing: str, title: str) -> None:
    (note,) = notes(*work_on(ASKED, closing))
    assert (note.kind, note.title, note.turns) == (Kind.LESSON, title, (4,))


def test_an_answer_is_kept_as_it_was_given_with_what_was_asked() -> None:
    answer = f"{CAUSE} I changed it on my branch.\n\n**Fix:** `total()` now reads it once:\n\n```python\nprice = line.price\n```"
    (note,) = notes(*work_on(ASKED, f"Done.\n\n{answer}\n\nWant me to push?"))
    assert note.body == f"The agent's answer to “{ASKED}”:\n\n{answer}"
    assert note.description == CAUSE
    (after_an_order,) = notes(*work_on("Read the price once in the cart.", answer))
    assert after_an_order.body == answer


def test_what_the_agent_wants_to_be_heeded_is_kept_whatever_else_it_lists() -> None:
    closing = (
        "Added the two libraries.\n\nUpdated `AGENTS.md`.\n\nNote: the third library is copied and no program loads it."
    )
    (note,) = notes(*work_on("copy the libraries", closing))
    assert (note.kind, note.title) == (Kind.LESSON, "The third library is copied and no program loads it")


@pytest.mark.parametrize(
    ("sentence", "title"),
    [
        (
            "Added a `limits()` call to `load_cart()` so that `.cart/limits` is created by `shop init --quiet`.",
            "Added a `limits()` call to `load_cart()` so that `.cart/limits` is created by `shop init --quiet`",
        ),
        (
            "The new files pass `make check` (3 pre-existing pages fail formatting, untouched).",
            "The new files pass `make check` (3 pre-existing pages fail formatting, untouched)",
        ),
        (
            "The `stripe` client was built from its sources (`pip install -e .`) because the package of the index lacks our patches of 2026.",
            "The `stripe` client was built from its sources because the package of the index lacks our patches of 2026",
        ),
    ],
)  # fmt: skip
def test_of_a_changelog_the_line_that_says_why_makes_a_note_with_the_rest_beside_it(sentence: str, title: str) -> None:
    rest = "- `shop/cart.py`: wrapper with `strength` and `offset`\n- `shop/demo.py`: a preview with two round buttons\n- `docs/cart.md`: a page with a table"
    (note,) = notes(*work_on("add the limits", f"Done.\n\n{sentence}\n\nFiles:\n{rest}"))
    assert (note.kind, note.title) == (Kind.LESSON, title)
    assert "two round buttons" in note.body


def test_what_an_answer_says_of_the_code_that_it_offers_to_change_is_over_with_the_change() -> None:
    found = f"{EXPLAINED}\n\n**Want me to build a fixed version?** It takes a few minutes."
    looked = (
        user("Why do carts expire?"),
        agent("", ToolCall("Read", "cart.py", "cart.py")),
        tool("code"),
        agent(found),
    )
    assert len(notes(*looked)) == len(notes(*looked, user("How long is a day?"), agent("24 hours."))) == 1
    assert notes(*looked, *work_on("yes, and one day more", "Done.")) == ()


def test_what_only_tells_how_the_code_is_makes_no_note() -> None:
    looked = (user("How do carts expire?"), agent("", ToolCall("Read", "src/cart.py", "src/cart.py")), tool("code"))
    assert notes(*looked, agent(EXPLAINED.replace(" because the page must not wait", ""))) == ()
    (note,) = notes(*looked, agent(EXPLAINED))
    assert note.kind is Kind.LESSON
    assert "invoices each quarter" in note.body


@pytest.mark.parametrize(
    "closing",
    [
        # Guesses, states, plans and quotations.
        "The problem was probably that `total()` read the price twice.",
        "The issue might have been caused by `Cart.total`.", "All tests pass and the lint is clean.",
        "Should I fix the problem that was in `Cart.total`?", "Let me check what the root cause in `Cart.total` was.",
        "```\nThe root cause was that `total()` read the price twice.\n```",
        "> The root cause was that `total()` read the price twice.", "It works now.",
        "O problema era provavelmente o `Cart.total`.", "Todos os testes passam.",
        "From the code, likely culprits for the delay:\n1. `Cart.total()` which reads the price twice\n2. `Money` caches it",
        # A fault that is over once it is mended, in a word or two.
        "The root cause was that `total()` read the price before the discount was applied.",
        "Fixed. The issue was that `Cart.total` cached the price of the first guest. It was never cleared.",
        "The issue was that I edited `cart.py` in another checkout than your tests use.",
        # Reports, and how the session was carried out.
        "Low: the example in `cart.md` is weak because it discards the `Result`.",
        "The `Cart` page now says that totals are cents because `Decimal` rounds.",
        "I didn't request a reviewer because `ana` is the only one who knows `Cart`.",
        "I used `--force-with-lease` instead of `--force` so that nothing of `main` is lost.",
        "The `cart` branch still needs to be merged into `main`.",
        f"`make smoke` was skipped because `SHOP_KEY` is unavailable.\n\n{MANY_FILES}",
        f"The threads of `ana` were not answered because that was not explicitly requested.\n\n{MANY_FILES}",
        f"`shop init` has not been executed in plan mode because it creates branches.\n\n{MANY_FILES}",
        "I left `.cache/` alone since it is untracked.", "Added `Decimal` since the totals are money.",
        # Of this very moment.
        f"Added the table.\n\n{MANY_FILES}\n\n`npm.cmd run build` passes.",
        f"Pushed. Netlify will deploy it again in ~2 min.\n\n{MANY_FILES}",
        f"Verification: `npm run build` passes.\n\n{MANY_FILES}",
        f"Bead `cart-7` is closed.\n\n{MANY_FILES}", f"PR merge state is `CLEAN`.\n\n{MANY_FILES}",
        f"SHOP-12 is reviewed, tested, marked Done and reported to `ana`.\n\n{MANY_FILES}",
        # Where something is, and what is to be made.
        f"Design doc: docs/plans/2026-01-02-flaky-runs-plan.md\n\n{MANY_FILES}",
        f"Beads:\n\n- `cart-7`: keep prices as `Money` artifacts\n- `cart-8`: the table of `Money`\n\n{MANY_FILES}",
        "Keep `Cart` as it is, since the templates index into it.", "It is a list because `Cart` is one.",
    ],
)  # fmt: skip
def test_what_says_of_nothing_how_it_is_makes_no_note(closing: str) -> None:
    assert notes(*work_on(ASKED, closing)) == ()


def test_words_that_go_on_from_a_label_stand_behind_it_in_the_title() -> None:
    closing = f"- **An index of `carts`** — declined, since the table is a snapshot of one day\n\n{MANY_FILES}"
    (note,) = notes(*work_on("answer the review", closing))
    assert note.title == "An index of `carts`: declined, since the table is a snapshot of one day"


@pytest.mark.parametrize("asked", ["what are you doing", "Is it ready to merge now?", "status?", "Done?"])
def test_what_is_answered_to_a_question_how_the_work_stands_is_over_with_the_next_step(asked: str) -> None:
    assert len(notes(*work_on("How do carts expire?", EXPLAINED))) == 1
    assert notes(*work_on(asked, EXPLAINED)) == ()


def test_of_a_long_answer_the_changelog_goes_first_and_paragraphs_stay_whole() -> None:
    told = [
        f"The price of part {number} is read from `part_{number}.toml`, which the shop keeps." for number in range(40)
    ]
    reason = "`Cart` stays a plain list since the templates index into it."
    code = "The loop is this:\n\n```python\n" + "total += line.price\n" * 200 + "```"
    changed = ("Added `part_0.toml` with the prices.", "**Tests:** `make test` passes.", code)
    (note,) = notes(*work_on(ASKED, "\n\n".join((*changed, *told[:-1], reason))))
    answer = note.body.partition("”:\n\n")[2].split("\n\n")
    assert ANSWER_CHARS - 200 < sum(map(len, answer)) <= ANSWER_CHARS
    assert {*answer} <= {reason, *told}
    assert answer[-1] == reason


def test_what_is_said_in_a_chat_without_tools_is_general_knowledge_but_in_aider() -> None:
    said = (user("What was it again?"), agent(CAUSE))
    assert notes(*said) == ()
    assert len(notes(*work_on("mend it", "Done."), *said)) == 1
    chat = evolve(history(*said), harness=Harness.AIDER)  # whose transcript shows no tools
    assert len(extracted(chat, now_ms=MUCH_LATER_MS).entries) == 1


@pytest.mark.parametrize(
    "objection",
    [
        "No, it still fails.",
        "Continua a falhar.",
        "but why do we need this at all?",
        "let the root cause of `total()` be, where is the price stored?",
    ],
)
def test_an_answer_that_the_person_does_not_accept_goes(objection: str) -> None:
    wrong = work_on(ASKED, CAUSE)
    right = work_on(objection, "Each line is rounded because the Stripe client needs whole cents.")
    assert len(notes(*wrong)) == 1
    (note,) = notes(*wrong, *right)
    assert "whole cents" in note.title


def test_an_answer_on_which_the_person_had_to_decide_goes() -> None:
    asks = work_on(ASKED, f"{CAUSE}\n\nShould it be a column of numbers?")
    assert len(notes(*asks)) == 1
    assert notes(*asks, *work_on("fine with me", "Done.")) == ()

    assert len(notes(*asks, *work_on("yes, and call it `price`", "Done."))) == 1


def test_what_the_agent_recommends_waits_for_the_person() -> None:
    told = f"{CAUSE}\n\nI recommend a column of numbers since `total()` adds them."
    assert len(notes(*work_on(ASKED, told))) == len(notes(*work_on(ASKED, told), *work_on("go ahead", "Done."))) == 1
    assert notes(*work_on(ASKED, told), *work_on("first show me the page of the shop", "Done.")) == ()


def test_a_question_that_is_only_answered_leaves_the_answer_before_as_it_is() -> None:
    asks_on = "Do carts of members never expire?"
    assert len(notes(*work_on(ASKED, EXPLAINED), user(asks_on), agent("They never do."))) == 1
    assert notes(*work_on(ASKED, EXPLAINED), *work_on(asks_on, "Now they do.")) == ()


def test_a_paragraph_that_asks_the_person_is_none_of_the_answer() -> None:
    (note,) = notes(
        *work_on(
            ASKED, f"{EXPLAINED}\n\nOne thing is pending: the day. Do you want two of them?\n\nNeed from you: the key."
        )
    )
    assert "pending" not in note.body
    assert "key" not in note.body


def test_a_secret_in_an_answer_takes_only_its_paragraph_along() -> None:
    (note,) = notes(*work_on(ASKED, f"{CAUSE}\n\nThe key is `[redacted:api-key]` here."))
    assert STAYS in note.body
    assert "redacted" not in note.body

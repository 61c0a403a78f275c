"""What counts as a correction of the person."""

from __future__ import annotations

import pytest

from agent_memory.extraction.extract import Correction, corrections_in
from conversations import agent, history, tool, user


def test_only_what_corrects_the_agent_and_lasts_beyond_the_task_is_a_correction() -> None:
    said = history(
        user("Never use npm in this repository. Add the retry to the mail worker."),
        agent("I added a cron job that retries the mails."),
        tool("No, use Celery instead of a cron job."),
        user("No, use Redis streams instead of a cron job."),
        agent("Done."),
        user("Try again. Does the queue hold invoices?"),
        agent("It does."),
        user("We never commit generated files in this repository."),
    )
    assert corrections_in(said) == (
        Correction(4, "use Redis streams instead of a cron job.", "a cron job"),
        Correction(8, "We never commit generated files in this repository."),
    )
    assert corrections_in(history(*((user("Never use npm in this repository."),) * 2))) == ()


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("I told you, unit tests go to tests/unit", "unit tests go to tests/unit"),
        ("No, unit tests belong in tests/unit.", "unit tests belong in tests/unit."),
        ("As I said before: migrations are written by hand.", "migrations are written by hand."),
        ("Don't force-push to main, never!", "Don't force-push to main, never!"),
        ("Stop. Deploys run from main only.", "Deploys run from main only."),
        ("You wrote the message wrong again: commit messages are imperative.", "commit messages are imperative."),
        ("Don't forget the tests.", None),
        ("No, add the retry to the mail worker.", None),
        ("Stop. I want to think about the mail worker first.", None),
        ("Again, please run the unit tests.", None),
        ("I told you to fix the mail worker.", None),
        ("No, is the mail worker written in Go?", None),
        ("The mail worker is written in Go.", None),
        ("You can run the unit tests again, the database is up.", None),
    ],
)
def test_a_correction_is_plain_where_the_person_objects_or_repeats(said: str, found: str | None) -> None:
    spoken = (user("Add the retry."), agent("Added."), user(said), agent("Done."))
    assert [each.text for each in corrections_in(history(*spoken))] == [found] * (found is not None)


def test_a_bare_no_may_answer_a_question_of_the_agent() -> None:
    asked = (user("Add the retry."), agent("Is the database MySQL?"))
    assert corrections_in(history(*asked, user("No, the database is Postgres 16."), agent("Done."))) == ()
    again = history(*asked, user("No, I told you, the database is Postgres 16."), agent("Done."))
    assert corrections_in(again) == (Correction(3, "the database is Postgres 16."),)

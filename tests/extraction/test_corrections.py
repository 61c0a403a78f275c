"""What counts as a correction of the person."""

from __future__ import annotations

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

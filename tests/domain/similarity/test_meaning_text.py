from __future__ import annotations

from agent_memory.domain.similarity.meaning_text import meaning_text


def test_it_is_title_description_and_what_the_body_says() -> None:
    body = "Build bin, then mcp.\n\nSee also: [[id__a1b2c3]]"
    assert meaning_text("Build", "In which order", body) == "Build\nIn which order\nBuild bin, then mcp."


def test_a_description_that_the_body_repeats_counts_once() -> None:
    assert meaning_text("Build", "Build bin, then…", "Build bin, then mcp.") == "Build\nBuild bin, then mcp."


def test_parts_that_are_missing_leave_no_gap() -> None:
    assert meaning_text("", "", "") == ""
    assert meaning_text("Build", "", "") == "Build"


def test_of_an_endless_body_the_beginning_will_do() -> None:
    assert len(meaning_text("Build", "", "word " * 100_000)) < 10_000

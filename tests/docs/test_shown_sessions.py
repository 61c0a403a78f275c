"""What a page shows of a terminal is what its commands print."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from program_on_path import directory_of_memory

PROJECT = Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "docs"))

from shown_sessions import differences, is_shown, played, refreshed, shown_steps  # noqa: E402

PAGES = ["tutorial.md", "llm-commands.md", "recover.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_prints_what_the_page_shows(page: str) -> None:
    steps = shown_steps((PROJECT / "docs" / page).read_text("utf-8"))
    assert len(steps) > 5
    different = differences(steps, played(steps, directory_of_memory()))
    assert not different, "\n\n".join([*different, f"see it with: python docs/shown_sessions.py docs/{page} --write"])


def test_another_output_and_a_failure_are_told_and_the_page_is_mended() -> None:
    page = "```console\n$ echo a\nb\n$ echo c\nc\n$ echo d; false\ne\n```\n"
    steps = shown_steps(page)
    results = played(steps)
    first, second = differences(steps, results)
    assert first.startswith("$ echo a\nexit code 0\n")
    assert first.endswith("-b\n+a")
    assert second.startswith("$ echo d; false\nexit code 1\n")
    assert refreshed(page, steps, results) == page.replace("\nb\n", "\na\n")


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("Pinned id__a1b2c3  Ports\n", "Pinned id__k3J9xQ\tPorts\n", True),
        ("a\n…\nz\n", "a\nb\nc\nz\n", True),
        ("a\n…\nz\n", "a\nb\nc\ny\n", False),
        ("this line is cut off he…\n", "that line is cut off here\n", False),
        ("2 h ago, 2026-02-13 14:30\n", "yesterday, 2027-01-01 00:00\n", True),
        *(
            (f"read {ago} by you\n", "read just now by you\n", True)
            for ago in ("1 minute ago", "59 minutes ago", "2 hours ago", "1 d ago")
        ),
        ("last changed today: 1 of 48 calls today\n", "last changed 1 day ago: 0 of 48 calls today\n", True),
    ],
)
def test_what_differs_between_two_runs_is_not_compared(shown: str, printed: str, same: bool) -> None:
    assert is_shown(shown, printed) == same


def test_a_page_that_shows_what_is_printed_is_played() -> None:
    showing = [
        page.name
        for page in sorted((PROJECT / "docs").rglob("*.md"))
        if any(step.shown for step in shown_steps(page.read_text("utf-8")))
    ]
    assert sorted(showing) == sorted(PAGES)

"""`docs/promises.md` names tests that are there and say which promise they hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
ROWS = dict(
    re.findall(r"^\| P(\d+) \|.*\| (.*) \|$", (PROJECT / "docs" / "promises.md").read_text("utf-8"), flags=re.MULTILINE)
)


def names(number: str, text: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9])P{number}(?![0-9A-Za-z])", text.replace("_", " "), re.IGNORECASE) is not None


def test_every_promise_has_its_row() -> None:
    assert list(ROWS) == [str(number) for number in range(1, 29)]


@pytest.mark.parametrize("number", ROWS)
def test_the_tests_of_a_promise_name_it(number: str) -> None:
    files = re.findall(r"`([\w/]+\.py)`", ROWS[number])
    tests = [PROJECT / ("" if file.startswith("bench/") else "tests") / file for file in files]
    assert tests or ROWS[number] == "not yet"
    for path in tests:
        assert path.name.startswith("histories") or names(number, path.read_text("utf-8")), (
            f"{path} does not name P{number}"
        )


def test_a_promise_that_a_test_names_is_not_left_out() -> None:
    held = "".join(
        path.read_text("utf-8") for path in (PROJECT / "tests").rglob("test_*.py") if path.parent.name != "docs"
    )
    assert names("7", held)
    for number, row in ROWS.items():
        assert row != "not yet" or not names(number, held), (
            f"P{number} is held by a test now: say so in docs/promises.md"
        )

"""`docs/promises.md` shows for each promise the tests that name it; one that no test names cannot be published."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "docs"))

from promises_page import held_by, promises_page  # noqa: E402

ROW = '[P7]\npromise = "Nothing is lost."\nfigure = "20 of 20"\nby = "make slow"\n'


@pytest.fixture
def tests(tmp_path: Path) -> Path:
    """A directory of tests of which one names P7."""
    directory = tmp_path / "tests" / "domain"
    directory.mkdir(parents=True)
    (directory / "test_queue.py").write_text('def test_all_arrive():\n    """P7."""\n', "utf-8")
    (directory / "test_other.py").write_text("def test_nothing():\n    assert 'P17'\n", "utf-8")
    return directory.parent


def test_all_promises_are_in_order() -> None:
    page = (PROJECT / "docs" / "contributing/promises.md").read_text("utf-8")
    assert re.findall(r"^\| P(\d+) \|", page, flags=re.MULTILINE) == [str(number) for number in range(1, 29)]


def test_a_promise_is_shown_with_its_tests_and_its_figure(tmp_path: Path, tests: Path) -> None:
    (tmp_path / "promises.toml").write_text(ROW, "utf-8")
    page = promises_page("", tmp_path / "promises.toml", tests)
    assert "| P7 | Nothing is lost. | [1](#p7) | 20 of 20 (`make slow`) |\n" in page
    assert page.endswith("### P7\n\n- `tests/domain/test_queue.py`\n")


def test_a_promise_that_no_test_names_is_refused(tmp_path: Path, tests: Path) -> None:
    (tmp_path / "promises.toml").write_text(ROW + ROW.replace("P7", "P17"), "utf-8")
    with pytest.raises(SystemExit, match="no test names P17"):
        promises_page("", tmp_path / "promises.toml", tests)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("def test_p7_holds():\n    pass\n", {7: {"test_x.py": ""}}),
        ('"""P7 and P12."""\ndef test_it():\n    pass\n', {7: {"test_x.py": ""}, 12: {"test_x.py": ""}}),
        ('import pytest\n@pytest.mark.slow\ndef test_it():\n    """P7"""\n', {7: {"test_x.py": "slow"}}),
        ('import pytest\n@pytest.mark.sweep\ndef test_it():\n    """P7"""\n', {7: {"test_x.py": "sweep"}}),
        ('import pytest\npytestmark = pytest.mark.slow\ndef test_it():\n    """P7"""\n', {7: {"test_x.py": "slow"}}),
        (
            'import pytest\npytestmark = pytest.mark.faults\n@pytest.mark.slow\ndef test_it():\n    """P7"""\n',
            {7: {"test_x.py": "slow"}},
        ),
        ('"""P7 without a test."""\n', {}),
        ('def test_http():\n    """HTTP7, P7x and xP7 are no promises."""\n', {}),
    ],
)
def test_a_test_holds_what_its_name_or_a_docstring_names(
    tmp_path: Path, text: str, held: dict[int, dict[str, str]]
) -> None:
    (tmp_path / "test_x.py").write_text(text, "utf-8")
    assert held_by(tmp_path) == held

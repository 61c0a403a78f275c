"""What is changed, and which tests have to notice."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

SOURCE = Path("src")
PACKAGE = SOURCE / "agent_memory"


@frozen
class Subject:
    """Some modules and their own tests: what everybody calls is not judged by everybody's tests."""

    modules: tuple[str, ...]
    """Patterns of paths below the package."""
    tests: tuple[str, ...]
    """Patterns of paths below `tests`."""

    def sources(self) -> tuple[Path, ...]:
        """The modules, in the order of their names."""
        return tuple(sorted(path for pattern in self.modules for path in PACKAGE.glob(pattern)))

    def test_files(self) -> tuple[Path, ...]:
        """The files of tests, in the order of their names."""
        return tuple(sorted(path for pattern in self.tests for path in Path("tests").glob(pattern)))


_PLAN_TESTS = "drafts origin every_plan planning related"
_DEFRAG_TESTS = "plan_defrag every_plan merge_and_split information due tidied"

SUBJECTS: Mapping[str, Subject] = {
    "ids": Subject(
        ("text/ids.py", "note/file_name.py", "note/note_format.py"),
        ("text/test_ids.py", "note/test_file_name.py", "note/test_note.py"),
    ),
    "splice": Subject(("section/section_splice.py",), ("section/test_section_splice*.py",)),
    "consolidate": Subject(
        tuple(
            f"rules/{name}.py" for name in ("change", "drafts", "information", "origin", "plan_window", "shown", "plan")
        ),
        (
            *(f"rules/test_{name}.py" for name in _PLAN_TESTS.split()),
            "text/test_salience.py",
        ),
    ),
    "defrag": Subject(
        ("rules/plan_defrag.py", "rules/tidied.py"),
        tuple(f"rules/test_{name}.py" for name in _DEFRAG_TESTS.split()),
    ),
    "redaction": Subject(("redaction/*.py",), ("redaction/test_*.py",)),
}
"""By the name that is given to `make mutants`."""

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


_PLANNING = "directives drafts origin planning planning_properties related salience"

SUBJECTS: Mapping[str, Subject] = {
    "ids": Subject(
        ("note/file_name.py",),
        ("domain/test_id*.py", "domain/test_file_name*.py"),
    ),
    "splice": Subject(("section/section_splice.py",), ("formats/test_section_splice*.py",)),
    "consolidate": Subject(
        ("domain/planning/*.py", "rules/plan.py"),
        tuple(f"domain/test_{name}.py" for name in _PLANNING.split()),
    ),
    "defrag": Subject(
        ("domain/defragging/*.py",),
        ("domain/defragging/test_*.py", "domain/tidying/test_due.py", "domain/tidying/test_surplus.py"),
    ),
    "redaction": Subject(
        ("redaction/redact.py", "domain/redacting/*.py"),
        ("domain/test_redaction.py", "domain/test_redacting_*.py", "domain/redacting/test_*.py"),
    ),
}
"""By the name that is given to `make mutants`."""

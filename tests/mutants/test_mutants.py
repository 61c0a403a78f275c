"""What `make mutants` says of a change, and that nothing is explained which is not there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from mutants.explained import reasons_by_change
from mutants.making import lines_by_function
from mutants.subjects import PACKAGE, SUBJECTS


@pytest.fixture(autouse=True)
def root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_subject_has_modules_and_tests(name: str) -> None:
    assert SUBJECTS[name].sources()
    assert all("def test_" in path.read_text(encoding="utf-8") for path in SUBJECTS[name].test_files())
    assert SUBJECTS[name].test_files()


def test_what_is_explained_is_there() -> None:
    """An explanation of code that was changed is one for nothing. Quotes in f-strings are those of Python's version."""
    sources = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path
        for subject in SUBJECTS.values()
        for path in subject.sources()
    }
    for change in reasons_by_change():
        place, _, lines = change.partition(": ")
        module = next(each for each in sources if place.startswith(f"{each}."))
        known = lines_by_function(ast.parse(sources[module].read_text(encoding="utf-8")))
        before = lines.partition(" → ")[0].replace('"', "'")
        there = " ".join(line.strip() for line in known[place.removeprefix(f"{module}.").rpartition(".")[2]])
        assert before in there.replace('"', "'"), change

"""The search without atheris: it finds a bug behind several conditions, and one bug does not hide another."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from types import ModuleType

import pytest
from fuzz.line_search import LineSearch
from fuzz.reached import ReachedLines
from fuzz.target import Target

STEPS = 12_000
PARSER = """
import json


def parse(data):
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return
    if not isinstance(value, dict):
        raise TypeError("no object")
    if "origin" not in value:
        return
    kind = value["kind"] if "kind" in value else None
    if kind is None:
        return
    answers = value["answers"] if "answers" in value else None
    if answers is None:
        return
    raise LookupError("all three at once")
"""


@pytest.fixture
def parser(tmp_path: Path) -> ModuleType:
    """A parser with two bugs, as one of the package."""
    path = tmp_path / "agent_memory" / "parser.py"
    path.parent.mkdir()
    path.write_text(PARSER)
    spec = importlib.util.spec_from_file_location("parser", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def found(parser: ModuleType, lines: ReachedLines) -> set[type[Exception]]:
    words = ("origin", "kind", "answers", *(f"word{number}" for number in range(25)))
    search = LineSearch(Target("toy", parser.parse, words), random.Random(5), lines)
    search.begin([b'{"text": "x"}'])
    errors = [tried.error for tried in (search.step() for _ in range(STEPS)) if tried.error is not None]
    assert len(errors) == len({type(error) for error in errors}), "a bug is told once"
    return {type(error) for error in errors}


def test_what_reached_further_leads_to_a_bug_behind_three_conditions(parser: ModuleType) -> None:
    assert found(parser, ReachedLines()) == {TypeError, LookupError}

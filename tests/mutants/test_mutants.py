"""What `make mutants` says of a change, and that nothing is explained which is not there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from mutants.explained import reasons_by_change
from mutants.making import described, lines_by_function
from mutants.subjects import PACKAGE, SUBJECTS

MUTATED = '''
def x_port__mutmut_orig(text: str = "") -> str:
    """The port."""
    return text.strip().removeprefix(
        "port"
    )


def x_port__mutmut_1(text: str = "") -> str:
    """The port."""
    return text.strip().removesuffix("port")


def x_port__mutmut_2(text: str = "XX") -> str:
    """The port."""
    return text.strip().removeprefix("port")


class Refusal:
    def xǁRefusalǁsays__mutmut_orig(self):
        return f"it is {self.name!r}"

    def xǁRefusalǁsays__mutmut_1(self):
        return f"XXit is {self.name!r}XX"

    def xǁRefusalǁsays__mutmut_2(self):
        return f"IT IS {self.name!r}"

    def xǁRefusalǁsays__mutmut_3(self):
        return None
'''


@pytest.fixture(autouse=True)
def root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])


def test_a_change_is_told_by_its_function_and_its_lines_however_they_are_laid_out() -> None:
    names = [f"x_port__mutmut_{n}" for n in (1, 2)] + [f"xǁRefusalǁsays__mutmut_{n}" for n in (1, 2, 3)]
    found = tuple(described(PACKAGE / "rules" / "ports.py", MUTATED, names))
    assert [(each.name, each.change) for each in found] == [
        (
            "agent_memory.rules.ports.x_port__mutmut_1",
            "rules.ports.port: return text.strip().removeprefix('port') → return text.strip().removesuffix('port')",
        ),
        ("agent_memory.rules.ports.x_port__mutmut_2", "rules.ports.port: text: str='' → text: str='XX'"),
        # Which words a sentence for people has, nothing has to notice; that there is one, a test has to.
        (
            "agent_memory.rules.ports.xǁRefusalǁsays__mutmut_3",
            "rules.ports.Refusal.says: return f'it is {self.name!r}' → return None",
        ),
    ]
    assert found[2].function == "agent_memory.rules.ports.xǁRefusalǁsays"


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_subject_has_modules_and_tests(name: str) -> None:
    assert SUBJECTS[name].sources()
    assert all("def test_" in path.read_text(encoding="utf-8") for path in SUBJECTS[name].test_files())
    assert SUBJECTS[name].test_files()


def test_what_is_explained_is_there() -> None:
    """An explanation of code that was changed is one for nothing."""
    sources = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path
        for subject in SUBJECTS.values()
        for path in subject.sources()
    }
    for change in reasons_by_change():
        place, _, lines = change.partition(": ")
        module = next(each for each in sources if place.startswith(f"{each}."))
        known = lines_by_function(ast.parse(sources[module].read_text(encoding="utf-8")))
        before = lines.partition(" → ")[0]
        assert before in " ".join(
            line.strip() for line in known[place.removeprefix(f"{module}.").rpartition(".")[2]]
        ), change

"""The mutants of a module, made by mutmut: each function once as it is, once for each change, and a switch between them."""

from __future__ import annotations

import ast
import difflib
import re
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from attrs import frozen

from mutants.subjects import PACKAGE, SOURCE, Subject

TREES = Path(".mutants")
"""By subject, the package with its mutants in it, below `src`: two subjects may be judged at a time."""

_SEPARATOR = "ǁ"
"""What mutmut puts around the name of a class."""

_SENTENCE = re.compile(r"""(?<!\w)f?'[^'\n]*\w \w[^'\n]*'|(?<!\w)f?"[^"\n]*\w \w[^"\n]*\"""")


@frozen
class Mutant:
    """One change of one function."""

    name: str
    """As mutmut's switch knows it: module and function, mangled, and a number."""
    change: str
    """`module.function: line before → line after`, however the source is laid out; the package is left out."""

    @property
    def function(self) -> str:
        """The function as mutmut's switch reports that it was called."""
        return self.name.rpartition("__mutmut_")[0]


def make_mutants(subject: Subject, tree: Path, names: Collection[str] = ()) -> tuple[Mutant, ...]:
    """Write the package into `tree` with the subject's modules mutated, or those of these names, and say which mutants
    there are."""
    from mutmut.mutation.file_mutation import mutate_file_contents  # type: ignore[import-not-found, unused-ignore] # nobody needs it but for this

    shutil.rmtree(tree / PACKAGE, ignore_errors=True)
    shutil.copytree(PACKAGE, tree / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    found: list[Mutant] = []
    for path in subject.sources():
        if names and path.stem not in names:
            continue
        mutated = mutate_file_contents(str(path), path.read_text(encoding="utf-8"))
        (tree / path).write_text(mutated.code, encoding="utf-8")
        found += described(path, mutated.code, mutated.mutant_names)
    return tuple(found)


def described(path: Path, code: str, names: Iterable[str]) -> Iterable[Mutant]:
    """The mutants of these names in a module that mutmut has mutated, without those that only word a sentence anew."""
    module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    bodies = lines_by_function(ast.parse(code))
    for name in names:
        mangled = name.rpartition("__mutmut_")[0]
        function = mangled.removeprefix("x").removeprefix("_").strip(_SEPARATOR).replace(_SEPARATOR, ".")
        before, after = bodies[f"{mangled}__mutmut_orig"], bodies[name]
        if _is_wording(before, after):
            continue
        place = f"{module.partition('.')[2]}.{function}"
        yield Mutant(f"{module}.{name}", f"{place}: {_difference(before, after)}")


def lines_by_function(module: ast.Module) -> Mapping[str, list[str]]:
    """The lines of each function by its name, then its parameters: each statement on one line, whatever the layout."""
    return {
        node.name: [line for statement in node.body for line in ast.unparse(statement).split("\n")] + _signature(node)
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef)
    }


def _is_wording(before: list[str], after: list[str]) -> bool:
    """Whether only a sentence for people reads differently: which words say it is nothing that a test should hold."""
    return _worded(before) == _worded(after)


def _worded(lines: list[str]) -> str:
    return _SENTENCE.sub(lambda text: text[0].replace("XX", "").casefold(), "\n".join(lines))


def _signature(function: ast.FunctionDef) -> list[str]:
    return [ast.unparse(function.args)]


def _difference(before: list[str], after: list[str]) -> str:
    lines = [line for line in difflib.ndiff(before, after) if line[:1] in "+-"]
    sides = (" ".join(line[2:].strip() for line in lines if line[0] == sign) for sign in "-+")
    return " → ".join(sides)

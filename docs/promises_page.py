"""`promises.md`: each promise, the tests that name it, and its last figure."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attrs import frozen

_NUMBER = re.compile(r"(?<![A-Za-z0-9])P(\d{1,2})(?![0-9A-Za-z])", re.IGNORECASE)


@frozen
class Promise:
    """One row of `promises.toml`. `figure` and `by` are empty where counting tests is all there is to say."""

    number: int
    promise: str
    figure: str
    by: str


def promises_page(notice: str, promises_file: Path, tests: Path) -> str:
    """The page. SystemExit when no test names a promise: it would be kept by luck."""
    promises = list(_promises(promises_file))
    held = held_by(tests)
    unheld = [f"P{each.number}" for each in promises if not held.get(each.number)]
    if unheld:
        raise SystemExit(f"no test names {', '.join(unheld)} in its name or docstring")
    return (
        "# Promises\n\n"
        + notice
        + "\nWhat must never break. A test that holds a promise names it (`P7`) in its name or docstring; no promise is without one.\n"
        "Those marked *faults* are run by `make faults`, those marked *slow* by `make slow`, those marked *sweep* by `make promises`, all others by\n"
        "`make test`; CI runs the first and the last.\n\n"
        "| | promise | files of tests | last figure |\n|---|---|---|---|\n"
        + "".join(_row(each, held[each.number]) for each in promises)
        + "\n## Tests by promise\n"
        + "".join(_tests(each, held[each.number]) for each in promises)
    )


def held_by(tests: Path) -> Mapping[int, Mapping[str, str]]:
    """For each promise the files (below `tests`, with `/`) that hold tests naming it, and the suite of the first of those to
    be run: "" is everybody's, then come `faults`, `slow` and `sweep`."""
    held: dict[int, dict[str, str]] = {}
    for path in sorted(tests.rglob("test_*.py")):
        text = path.read_text("utf-8")
        if path.parent.name != "docs" and _NUMBER.search(text.replace("_", " ")):
            for number, suite in _named(ast.parse(text)):
                files = held.setdefault(number, {})
                name = path.relative_to(tests).as_posix()
                files[name] = min(files.get(name, suite), suite)
    return held


def _promises(path: Path) -> Iterator[Promise]:
    for name, row in tomllib.loads(path.read_text("utf-8")).items():
        yield Promise(int(name.removeprefix("P")), row["promise"], row["figure"], row["by"])


def _named(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Each promise that a test names, or the docstring above it, and the suite of that test."""
    of_all = [each for each in module.body if isinstance(each, ast.Assign)]
    by_module = set(_NUMBER.findall(ast.get_docstring(module) or ""))
    for each in ast.walk(module):
        if isinstance(each, ast.FunctionDef) and each.name.startswith("test_"):
            suite = _suite([*of_all, *each.decorator_list])
            words = f"{each.name.replace('_', ' ')} {ast.get_docstring(each) or ''}"
            for number in by_module | set(_NUMBER.findall(words)):
                yield int(number), suite
        elif isinstance(each, ast.ClassDef) and each.name.startswith("Test"):
            for number in _NUMBER.findall(ast.get_docstring(each) or ""):
                yield int(number), _suite([*of_all, *each.decorator_list])


def _suite(marks: Sequence[ast.AST]) -> str:
    marked = " ".join(map(ast.unparse, marks))
    return next((suite for suite in ("sweep", "slow", "faults") if f"mark.{suite}" in marked), "")


def _row(promise: Promise, files: Mapping[str, str]) -> str:
    by = f" (`{promise.by}`)" if promise.by else ""
    return f"| P{promise.number} | {promise.promise} | [{len(files)}](#p{promise.number}) | {promise.figure}{by} |\n"


def _tests(promise: Promise, files: Mapping[str, str]) -> str:
    lines = "".join(f"- `tests/{name}`{f' *{suite}*' if suite else ''}\n" for name, suite in files.items())
    return f"\n### P{promise.number}\n\n{lines}"

"""See `surfaces.light_imports`; each in a process of its own, since what is loaded stays so."""

from __future__ import annotations

import subprocess
import sys

import pytest

# A measured process has some of them before anything else.
LOAD = (
    "import sys\nbefore = set(sys.modules)\n"
    "from agent_memory.surfaces.light_imports import load_argparse, load_returns, load_sqlite3\n"
)
USE = (
    "from returns.result import Failure, Result, Success\n"
    "made: Result[int, str] = Success(1).map(lambda one: one + 1).bind(lambda two: Failure(str(two)))\n"
    "match made:\n"
    "    case Failure(said):\n"
    "        print(said, made == Failure('2'), Success(1).value_or(0), Failure('x').lash(lambda _: Success(3)).unwrap())\n"
)
USED = "2 True 1 3\n"
SPARED = {"inspect", "typing_extensions", "returns.interfaces", "returns.interfaces.equable", "returns.primitives.laws"}
TALK = (
    "import argparse\n"
    "parser = argparse.ArgumentParser(prog='p')\n"
    "parser.add_argument('--number', type=int, help='how many')\n"
    "print(parser.format_help())\n"
    "try:\n    parser.parse_args(['--number', 'x'])\nexcept SystemExit as ended:\n    print(ended.code)\n"
)
ASK = (
    "import sqlite3\n"
    "with sqlite3.connect(':memory:') as known:\n"
    "    known.execute('create table t (a integer, b blob, c text)')\n"
    "    known.execute('insert into t values (?, ?, ?)', (1, b'x', 'y'))\n"
    "    print(known.execute('select * from t').fetchall())\n"
)


def done_by(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, timeout=60, check=False
    )


def said(program: str) -> str:
    done = done_by(program)
    assert done.stderr == ""
    return done.stdout


def other_version(difference: str) -> str:
    """A program that does this, indented, each time when the module `name` was imported."""
    return (
        "import builtins\n"
        "original = builtins.__import__\n"
        "def imported(name, *rest):\n"
        "    module = original(name, *rest)\n"
        f"{difference}"
        "    return module\n"
        "builtins.__import__ = imported\n"
    )


def test_results_work_and_none_of_the_modules_was_loaded_for_them() -> None:
    loaded = f"print(sorted({SPARED} & set(sys.modules) - before))\n"
    assert said(f"{LOAD}load_returns()\n{loaded}{USE}") == f"[]\n{USED}"
    # Else there would be nothing to spare.
    for name in SPARED - {"inspect"}:
        assert repr(name) in said(f"import sys\nbefore = set(sys.modules)\nimport returns.result\n{loaded}")


@pytest.mark.parametrize(("load", "use", "spared"), [("argparse", TALK, "gettext"), ("sqlite3", ASK, "datetime")])
def test_a_library_does_the_same_without_what_it_is_spared(load: str, use: str, spared: str) -> None:
    without = done_by(f"{LOAD}load_{load}()\n{use}print({spared!r} in set(sys.modules) - before)\n")
    whole = done_by(f"import sys\n{use}print({spared!r} in sys.modules)\n")
    assert without.stderr == whole.stderr
    assert without.stdout.splitlines()[:-1] == whole.stdout.splitlines()[:-1] != []
    assert (without.stdout.splitlines()[-1], whole.stdout.splitlines()[-1]) == ("False", "True")


def test_interfaces_that_are_wanted_afterwards_are_the_real_ones() -> None:
    wanted = "from returns.interfaces.equable import Equable\nprint(Equable.__module__, hasattr(Equable, 'equals'))\n"
    assert said(f"{LOAD}load_returns()\n{wanted}{USE}") == f"returns.interfaces.equable True\n{USED}"


def test_a_version_whose_results_inherit_what_we_ask_of_them_gets_the_real_interfaces() -> None:
    inheriting = other_version(
        "    known = sys.modules.get('returns.result')\n"
        "    if name == 'returns.result' and 'returns.interfaces.failable' not in sys.modules and hasattr(known.Result, 'lash'):\n"
        "        del known.Result.lash\n"
    )
    assert said(f"{LOAD}{inheriting}load_returns()\n{USE}") == USED


def test_whoever_wants_the_two_modules_afterwards_gets_the_real_ones() -> None:
    wanted = "import inspect, typing_extensions\nprint(inspect.isclass(int), typing_extensions.deprecated.__module__)\n"
    assert said(f"{LOAD}load_returns()\n{wanted}") in ("True typing_extensions\n", "True warnings\n")


def test_what_is_loaded_already_stays_what_it_is() -> None:
    first = "import inspect, typing_extensions\nknown = inspect, typing_extensions\n"
    after = "print(known == (sys.modules['inspect'], sys.modules['typing_extensions']))\n"
    assert said(f"{first}{LOAD}load_returns()\nload_returns()\n{after}{USE}") == f"True\n{USED}"


def test_a_version_that_wants_more_of_them_gets_the_real_ones() -> None:
    more = other_version(
        "    if name == 'returns.primitives.container' and not hasattr(sys.modules['inspect'], 'signature'):\n"
        "        raise ImportError('cannot import name signature from inspect')\n"
    )
    kept = "builtins.__import__ = original\nprint(hasattr(original('inspect'), 'signature'))\n"
    assert said(f"{LOAD}{more}load_returns()\n{kept}{USE}") == f"True\n{USED}"

"""See `surfaces.light_returns`; each in a process of its own, since what is loaded stays so."""

from __future__ import annotations

import subprocess
import sys

# A measured process has one of them before anything else.
LOAD = "import sys\nbefore = set(sys.modules)\nfrom agent_memory.surfaces.light_returns import load_returns\n"
USE = (
    "from returns.result import Failure, Result, Success\n"
    "made: Result[int, str] = Success(1).map(lambda one: one + 1).bind(lambda two: Failure(str(two)))\n"
    "match made:\n"
    "    case Failure(said):\n"
    "        print(said, made == Failure('2'), Success(1).value_or(0), Failure('x').lash(lambda _: Success(3)).unwrap())\n"
)
USED = "2 True 1 3\n"


def said(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr == ""
    return done.stdout


def test_results_work_and_neither_module_was_loaded_for_them() -> None:
    loaded = "print(sorted({'inspect', 'typing_extensions'} & set(sys.modules) - before))\n"
    assert said(f"{LOAD}load_returns()\n{loaded}{USE}") == f"[]\n{USED}"
    # Else there would be nothing to spare.
    assert "'typing_extensions'" in said(f"import sys\nbefore = set(sys.modules)\nimport returns.result\n{loaded}")


def test_whoever_wants_the_two_modules_afterwards_gets_the_real_ones() -> None:
    wanted = "import inspect, typing_extensions\nprint(inspect.isclass(int), typing_extensions.deprecated.__module__)\n"
    assert said(f"{LOAD}load_returns()\n{wanted}") in ("True typing_extensions\n", "True warnings\n")


def test_what_is_loaded_already_stays_what_it_is() -> None:
    first = "import inspect, typing_extensions\nknown = inspect, typing_extensions\n"
    after = "print(known == (sys.modules['inspect'], sys.modules['typing_extensions']))\n"
    assert said(f"{first}{LOAD}load_returns()\nload_returns()\n{after}{USE}") == f"True\n{USED}"


def test_a_version_that_wants_more_of_them_gets_the_real_ones() -> None:
    more = (
        "import builtins\n"
        "original = builtins.__import__\n"
        "def wanting(name, *rest):\n"
        "    module = original(name, *rest)\n"
        "    if name == 'returns.primitives.container' and not hasattr(sys.modules['inspect'], 'signature'):\n"
        "        raise ImportError('cannot import name signature from inspect')\n"
        "    return module\n"
        "builtins.__import__ = wanting\n"
    )
    kept = "builtins.__import__ = original\nprint(hasattr(original('inspect'), 'signature'))\n"
    assert said(f"{LOAD}{more}load_returns()\n{kept}{USE}") == f"True\n{USED}"

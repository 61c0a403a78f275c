"""The tests of a subject, run against each of its mutants: `python -m mutants.judging SUBJECT [MODULE …]`.

They are collected and run once as they are, which shows what each of them reaches. Then a process is forked for each
mutant that runs the tests that reach it, quick ones first, until one fails. So a mutant takes milliseconds and not the
second that pytest needs to begin. Results are printed as lines of JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import math
import os
import resource
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mutants.making import TREES, Mutant, make_mutants
from mutants.subjects import SOURCE, SUBJECTS, Subject

if TYPE_CHECKING:
    from hypothesis import settings

MOST_EXAMPLES = 10
"""Of each property: it is tried again for every mutant."""
_MOST_STEPS = 8
_TIMES_SLOWER, _LEAST_SECONDS, _MEMORY_BYTES = 5, 3, 4 << 30
"""What a mutant may use, compared with the code as it is: one that never ends is noticed, too."""
_SETTINGS = "_hypothesis_internal_use_settings"
"""Where Hypothesis keeps what `@settings` said of a test."""

_QUICK = "not takes_time and not read_to_its_end"
"""Tests of how long something takes say nothing here, and take long."""

KILLED, SURVIVED, ENDLESS, UNREACHED = "killed", "survived", "endless", "unreached"
_RESULT_OF = {0: SURVIVED, 1: KILLED}


class Trial:
    """A plugin of pytest that judges mutants in place of running the tests once."""

    def __init__(self, subject: Subject, mutants: Sequence[Mutant], jobs: int) -> None:
        self._subject = subject
        self._mutants = mutants
        self._jobs = jobs
        self._costs: dict[str, float] = {}
        self._reaching: defaultdict[str, list[Any]] = defaultdict(list)
        self._running: dict[int, Mutant] = {}
        self._failed: Counter[tuple[str, str]] = Counter()
        """How many mutants of a function a test has noticed: it is asked first about the next."""
        self._ears, self._mouth = os.pipe()
        os.set_blocking(self._ears, False)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for item in session.items:
            _limit_examples(item)
            self._run_once(item)
        if session.testsfailed:
            raise pytest.UsageError("the tests fail without any mutant")
        gc.collect()
        gc.freeze()
        for mutant in self._mutants:
            if len(self._running) >= self._jobs:
                self._wait_for_one()
            if tests := self._in_order(mutant):
                self._begin(mutant, tests, session)
            else:
                _tell(mutant, UNREACHED)
        while self._running:
            self._wait_for_one()
        return True

    def _run_once(self, item: Any) -> None:
        from mutmut.state import state  # type: ignore[import-not-found, unused-ignore]

        state()._stats.clear()
        begun = time.process_time()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        self._costs[item.nodeid] = time.process_time() - begun
        for function in state()._stats:
            self._reaching[function].append(item)

    def _in_order(self, mutant: Mutant) -> list[Any]:
        """The tests that reach a mutant, those first that are likely to fail, then the quick ones."""

        def key(item: Any) -> tuple[float, float]:
            return -self._failed[mutant.function, item.nodeid], self._costs[item.nodeid]

        return sorted(self._reaching[mutant.function], key=key)

    def _begin(self, mutant: Mutant, tests: Sequence[Any], session: pytest.Session) -> None:
        sys.stdout.flush()
        child = os.fork()
        if child:
            self._running[child] = mutant
            return
        status = 1
        try:
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            _switch_to(mutant.name)
            _forget_what_was_kept(self._subject)
            for item in tests:
                self._limit_seconds(item)
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if session.testsfailed:
                    os.write(self._mouth, f"{json.dumps([mutant.function, item.nodeid])}\n".encode())
                    break
            else:
                status = 0
        finally:
            os._exit(status)

    def _limit_seconds(self, item: Any) -> None:
        """A test that takes many times longer than it did never ends: the process does, in its place."""
        seconds = math.ceil(time.process_time() + _LEAST_SECONDS + _TIMES_SLOWER * self._costs[item.nodeid])
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))

    def _wait_for_one(self) -> None:
        child, status = os.wait()
        with contextlib.suppress(BlockingIOError):
            self._failed.update(tuple(json.loads(line)) for line in os.read(self._ears, 1 << 16).splitlines())
        mutant = self._running.pop(child, None)
        if mutant is not None:
            _tell(mutant, _RESULT_OF.get(os.waitstatus_to_exitcode(status), ENDLESS))


def _switch_to(name: str) -> None:
    from mutmut.mutation.trampoline import set_mutant_under_test  # type: ignore[import-not-found, unused-ignore]

    set_mutant_under_test(name)


def _forget_what_was_kept(subject: Subject) -> None:
    """What the subject has worked out once, and kept, came from the code as it was."""
    for path in subject.sources():
        module = sys.modules.get(".".join(path.relative_to(SOURCE).with_suffix("").parts))
        for value in vars(module).values() if module else ():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def _limit_examples(item: Any) -> None:
    """A few examples of each property, the same each time, and none made smaller: that it fails is all that is asked."""
    from hypothesis import settings  # here, since pytest wants to be there before it

    test = getattr(item.obj, "__func__", item.obj)
    if hasattr(test, _SETTINGS):
        setattr(test, _SETTINGS, _limited(getattr(test, _SETTINGS)))
    machine = getattr(item.cls, "settings", None)
    if isinstance(machine, settings):
        item.cls.settings = _limited(machine)


def _limited(full: settings) -> settings:
    from hypothesis import Phase, settings

    return settings(
        full,
        max_examples=min(full.max_examples, MOST_EXAMPLES),
        stateful_step_count=min(full.stateful_step_count, _MOST_STEPS),
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        report_multiple_bugs=False,
    )


def _tell(mutant: Mutant, result: str) -> None:
    line = json.dumps({"name": mutant.name, "change": mutant.change, "result": result}, ensure_ascii=False)
    os.write(_OUT, f"{line}\n".encode())


_OUT = os.dup(1)


def main() -> int:
    parser = argparse.ArgumentParser(prog="mutants.judging", description=__doc__)
    parser.add_argument("subject", choices=SUBJECTS)
    parser.add_argument(
        "modules",
        nargs="*",
        metavar="MODULE",
        help="those of the subject whose file is called so; all of them by default",
    )
    parser.add_argument("--tests", metavar="WORD", help="only the files of tests that have this in their names")
    parser.add_argument(
        "--survivors", type=Path, metavar="FILE", help="only those of an earlier run, whose output it is"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    os.dup2(2, 1)  # what pytest prints is none of the results
    subject = SUBJECTS[arguments.subject]
    tree = TREES / arguments.subject
    mutants = make_mutants(subject, tree, arguments.modules)
    if arguments.survivors:
        earlier = map(json.loads, arguments.survivors.read_text(encoding="utf-8").splitlines())
        alive = {each["change"] for each in earlier if each["result"] in (SURVIVED, UNREACHED)}
        mutants = tuple(each for each in mutants if each.change in alive)
    _switch_to("stats")
    sys.path.insert(0, str((tree / "src").resolve()))
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", f"pythonpath={tree / 'src'} tests ."]
    tests = [str(path) for path in subject.test_files() if (arguments.tests or "") in path.name]
    return int(
        pytest.main(
            [*options, "-m", "not slow and not sweep and not shared", "-k", _QUICK, *tests],
            plugins=[Trial(subject, mutants, arguments.jobs)],
        )
    )


if __name__ == "__main__":
    sys.exit(main())

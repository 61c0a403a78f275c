"""One target, for so many seconds: `python -m fuzz.engine NAME SECONDS DIRECTORY`.

By atheris where it is installed (`pip install atheris`, on Linux), which follows the branches that an input takes; else by
mutations of the seeds, and of what reached a line that they do not. An input that breaks the target is left in DIRECTORY as
`crash-…`, and the process ends with 1. What reached further stays in DIRECTORY/corpus, where the next run begins.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import random
import sys
import time
import traceback
from pathlib import Path

from fuzz.line_search import LineSearch
from fuzz.mutation import MAX_BYTES, mutated
from fuzz.target import CASES, SEEDS, Target

MAX_SECONDS_AN_INPUT = 30
MAX_MEMORY_MIB = 2048


def main(name: str, seconds: int, directory: Path) -> int:
    """0, or 1 where an input broke the target."""
    (directory / "corpus").mkdir(parents=True, exist_ok=True)
    try:
        import atheris  # type: ignore[import-untyped, import-not-found, unused-ignore] # nobody needs it but for this
    except ImportError:
        return _search(_target(name), seconds, directory)
    with atheris.instrument_imports(include=["agent_memory"], enable_loader_override=False):
        target = _target(name)
        # What is only imported when it is needed is to be followed, too.
        for seed in target.seeds():
            target.check(seed)

    def mutation(data: bytes, max_size: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if chance.random() < 0.5:
            return mutated(data, chance, target.words)[:max_size]
        return bytes(atheris.Mutate(data, max_size))

    found = [str(each) for each in (SEEDS / name, CASES / name) if each.is_dir()]
    options = [
        f"-max_total_time={seconds}",
        f"-timeout={MAX_SECONDS_AN_INPUT}",
        f"-rss_limit_mb={MAX_MEMORY_MIB}",
        f"-max_len={MAX_BYTES}",
        f"-artifact_prefix={directory}/",
        "-print_final_stats=1",
    ]
    atheris.Setup([name, *options, str(directory / "corpus"), *found], target.check, custom_mutator=mutation)
    atheris.Fuzz()
    return 0


def _target(name: str) -> Target:
    # Here, and not above: what atheris is to follow is imported under its eyes.
    target: Target = importlib.import_module("fuzz.targets").TARGETS[name]
    return target


def _search(target: Target, seconds: int, directory: Path) -> int:
    search = LineSearch(target, random.Random(os.urandom(8)))
    search.begin([*target.seeds(), *target.cases(), *_contents(directory / "corpus")])
    runs = further = broken = 0
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        tried = search.step()
        runs += 1
        if tried.is_further:
            further += 1
            _kept(directory / "corpus", "", tried.data)
        if tried.error is not None:
            broken += 1
            traceback.print_exception(tried.error)
            print(f"{target.name} is broken by {_kept(directory, 'crash-', tried.data)}", file=sys.stderr)
    print(f"{target.name}: {runs:,} inputs, {further:,} of them reached further", file=sys.stderr)
    return 1 if broken else 0


def _kept(directory: Path, prefix: str, data: bytes) -> Path:
    path = directory / f"{prefix}{hashlib.sha1(data).hexdigest()}"
    path.write_bytes(data)
    return path


def _contents(directory: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(directory.iterdir())]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))

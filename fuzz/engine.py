"""One target, for so many seconds: `python -m fuzz.engine NAME SECONDS DIRECTORY`.

By atheris where it is installed (`pip install atheris`, on Linux), which follows the branches that an input takes; else by
mutations of the seeds alone. An input that breaks the target is left in DIRECTORY as `crash-…`, and the process ends with 1.
What atheris found interesting stays in DIRECTORY/corpus, where the next run begins.
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
        return _mutate_seeds(_target(name), seconds, directory)
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


def _mutate_seeds(target: Target, seconds: int, directory: Path) -> int:
    inputs = [*target.seeds(), *target.cases()]
    chance = random.Random(os.urandom(8))
    ends = time.monotonic() + seconds
    runs = 0
    while time.monotonic() < ends:
        data = mutated(chance.choice(inputs), chance, target.words)
        try:
            target.check(data)
        except Exception:  # noqa: BLE001 - whatever it raises is what is looked for
            traceback.print_exc()
            path = directory / f"crash-{hashlib.sha1(data).hexdigest()}"
            path.write_bytes(data)
            print(f"{target.name} is broken by {path}", file=sys.stderr)
            return 1
        runs += 1
    print(f"{target.name}: {runs:,} inputs", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))

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

from fuzz.mutation import MAX_BYTES, mutated
from fuzz.reached import ReachedLines
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
    """Each input that reaches a line for the first time is changed in its turn; a few of any are, too."""
    inputs = [*target.seeds(), *target.cases(), *_contents(directory / "corpus")]
    lines, broken, runs = ReachedLines(), set[str](), 0
    for data in inputs:
        lines.reached_more(target.check, data)
    known = len(inputs)
    chance = random.Random(os.urandom(8))
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        newest = inputs[known:] if len(inputs) > known and chance.random() < 0.5 else inputs
        data = mutated(chance.choice(newest), chance, target.words)
        runs += 1
        try:
            is_further = lines.reached_more(target.check, data)
        except Exception as error:  # noqa: BLE001 - whatever it raises is what is looked for
            # One bug must not hide the others: what breaks at another place is another.
            if (place := _place_of(error)) not in broken:
                broken.add(place)
                traceback.print_exc()
                print(f"{target.name} is broken by {_kept(directory, 'crash-', data)}", file=sys.stderr)
            continue
        if is_further:
            inputs.append(data)
            _kept(directory / "corpus", "", data)
    print(f"{target.name}: {runs:,} inputs, {len(inputs) - known:,} of them reached further", file=sys.stderr)
    return 1 if broken else 0


def _place_of(error: BaseException) -> str:
    *_, last = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} at {last.filename}:{last.lineno}"


def _kept(directory: Path, prefix: str, data: bytes) -> Path:
    path = directory / f"{prefix}{hashlib.sha1(data).hexdigest()}"
    path.write_bytes(data)
    return path


def _contents(directory: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(directory.iterdir())]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))

"""Look for inputs that break a parser: `python -m fuzz [--minutes M] [NAME …]`.

M minutes, shared by the targets (1 for each by default). What breaks one is left in `.fuzz/NAME/crash-…`: mend the parser,
and keep the input, made small, as `fuzz/cases/NAME/<what it is>`, where the tests try it ever after.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from fuzz.targets import TARGETS

DIRECTORY = Path(".fuzz")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(TARGETS))
    parser.add_argument("--minutes", type=float, default=0, help="for all of them together")
    arguments = parser.parse_args()
    names = arguments.names or list(TARGETS)
    if unknown := [name for name in names if name not in TARGETS]:
        parser.error(f"there is no target {unknown[0]}")
    seconds = round(max(1, (arguments.minutes or len(names)) * 60 / len(names)))
    broken = []
    for name in names:
        print(f"== {name}: {seconds} s", flush=True)
        if subprocess.run(
            [sys.executable, "-m", "fuzz.engine", name, str(seconds), str(DIRECTORY / name)], check=False
        ).returncode:
            broken.append(name)
    if broken:
        print(f"broken: {', '.join(broken)}; the inputs are in {DIRECTORY}/NAME/crash-…", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

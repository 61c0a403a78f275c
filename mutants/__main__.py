"""Whether the tests notice a change: `python -m mutants [--jobs N] [SUBJECT …]`.

Prints for each subject how many mutants there are and how many of them survive, and every survivor that
`mutants/explained.toml` does not explain. Exits 1 where there is one. Needs mutmut 3 (`pip install mutmut`), and fork.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping

from mutants.explained import reasons_by_change
from mutants.judging import ENDLESS, KILLED, SURVIVED, UNREACHED
from mutants.subjects import SUBJECTS


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="SUBJECT", help=", ".join(SUBJECTS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutants at a time")
    arguments = parser.parse_args()
    names = arguments.names or list(SUBJECTS)
    if unknown := [name for name in names if name not in SUBJECTS]:
        parser.error(f"there is no subject {unknown[0]}")
    reasons = reasons_by_change()
    return 1 if sum(_report(name, arguments.jobs, reasons) for name in names) else 0


def _report(name: str, jobs: int, reasons: Mapping[str, str]) -> int:
    """How many survivors of a subject nobody has explained."""
    results = _results(name, jobs)
    counts = Counter(result for _, result in results)
    alive = [change for change, result in results if result in (SURVIVED, UNREACHED)]
    unexplained = [change for change in alive if change not in reasons]
    print(
        f"{name}: {len(results):,} mutants, {counts[KILLED]:,} killed, {counts[ENDLESS]:,} never ended, "
        f"{len(alive) - len(unexplained):,} survive for a reason, {len(unexplained):,} for none that is known",
        flush=True,
    )
    for change in unexplained:
        print(f"  {change}", flush=True)
    return len(unexplained)


def _results(name: str, jobs: int) -> list[tuple[str, str]]:
    command = [sys.executable, "-m", "mutants.judging", name, "--jobs", str(jobs)]
    run = subprocess.run(command, capture_output=True, check=False)
    if run.returncode:
        raise SystemExit(f"{name}: the tests could not be run\n{run.stderr.decode(errors='replace')[-4_000:]}")
    lines = map(json.loads, run.stdout.decode().splitlines())
    return [(line["change"], line["result"]) for line in lines]


if __name__ == "__main__":
    sys.exit(main())

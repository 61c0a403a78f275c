"""All benches, one after another: `python -m bench [--full] [NAME …]`.

Each runs in a process of its own and can be run alone (`python -m bench.capture --help`). `--full` adds what takes
minutes and gigabytes. Every figure stands beside a baseline of the same run: compare ratios, not milliseconds.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

BENCHES = {
    "startup": "how soon commands answer",
    "capture": "what a capture costs a harness",
    "listing": "10,000 entries",
    "index": "the search index, beside FTS5 and tantivy",
    "consolidate": "one long session, end to end",
    "histories": "transcripts of every size",
    "scale": "a gigabyte, a line of 100 MB, a full inbox",
    "retrieval": "what search finds",
    "redaction": "what is removed, and how fast",
    "extraction": "what the built-in agent keeps",
    "analysis": "what is wrong with a store",
    "defrag": "tidying a store, end to end",
}
WITH_FULL = ("index", "histories", "scale", "analysis", "defrag")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    parser.add_argument("--full", action="store_true", help="the largest sizes too")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in BENCHES]:
        parser.error(f"there is no bench {unknown[0]}")
    failed = []
    for name in arguments.names or BENCHES:
        print(f"== {name}: {BENCHES[name]}\n", flush=True)
        further = ["--full"] if arguments.full and name in WITH_FULL else []
        if subprocess.run([sys.executable, "-m", f"bench.{name}", *further], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"not within their goals: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Listing a store of many entries: cold, warm, and after one change, beside the least that any listing must do.

    python -m bench.listing [--entries 10000] [--runs 7]

The baseline is `os.scandir` with a `stat` of each file; every figure is the median of runs that alternate with it, in one
process, imports left out. Warm means a new `StoreFiles` that finds the cache of the one before: what each command does.
Peak memory is that of a process that lists once, cold and warm. Goal: warm within 8 times the
baseline, which is about 100 ms for 10,000 entries on a quiet machine.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.measure import COMPARED, print_table

from agent_memory.files.locks import KernelLocks
from agent_memory.note.file_name import file_name_of
from agent_memory.note.note import Harness, Kind, MemoryEntry, Meta, Source
from agent_memory.note.note_format import render_note
from agent_memory.store.store_files import StoreFiles
from agent_memory.text.ids import mint_id

GOAL = 8.0
ENTRIES = 10_000
CREATED_MS = 1_771_000_205_123

MEASURED = """
import re, resource, sys
from pathlib import Path
from agent_memory.files.locks import KernelLocks
from agent_memory.store.store_files import StoreFiles
root = Path(sys.argv[1])
StoreFiles(root, KernelLocks(root)).list().unwrap()
if sys.platform == "darwin":
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000_000)
else:  # on Linux the other figure starts with the parent's
    print(int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) / 1_000)
"""


def entry(number: int) -> MemoryEntry:
    title = f"Lesson {number}: retries of the payment worker need an idempotency key"
    source = Source(
        Harness.CLAUDE_CODE, f"{number:08x}-7425-40de-944b-e07fc1f90ae7", "github.com/o/r", "/srv/r", turns=(3, 9)
    )
    meta = Meta(
        mint_id(title, CREATED_MS + number, ()),
        title,
        CREATED_MS + number,
        CREATED_MS + number,
        "What was learnt when the worker charged a card twice.",
        Kind.LESSON,
        ("topic__payments", "area__backend"),
        sources=(source,),
    )
    return MemoryEntry(
        meta, f"The worker retried request {number} without a key.\n\nWith `Idempotency-Key` it is safe.\n" * 3
    )


def fill(root: Path, entries: int) -> list[Path]:
    topics = root / "topics"
    topics.mkdir(parents=True)
    paths = []
    for number in range(entries):
        each = entry(number)
        path = topics / file_name_of(each.meta)
        path.write_text(render_note(each))
        paths.append(path)
    return paths


def list_store(root: Path) -> int:
    return len(StoreFiles(root, KernelLocks(root)).list().unwrap().entries)


def scan(root: Path) -> int:
    with os.scandir(root / "topics") as found:
        return sum(each.stat(follow_symlinks=False).st_size > 0 for each in found)


def elapsed_ms(act: Callable[[Path], int], root: Path, expected: int) -> float:
    start = time.perf_counter()
    found = act(root)
    elapsed = (time.perf_counter() - start) * 1000
    if found != expected:
        raise SystemExit(f"{found} entries were listed, not {expected}")
    return elapsed


def peak_mb(root: Path) -> float:
    finished = subprocess.run([sys.executable, "-c", MEASURED, root], capture_output=True, text=True, check=True)
    return float(finished.stdout)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=ENTRIES)
    parser.add_argument("--runs", type=int, default=7)
    arguments = parser.parse_args(argv)
    work = Path(tempfile.mkdtemp(prefix="agent-memory-bench-"))
    os.environ["HOME"] = str(work)
    try:
        root, entries = work / "store", arguments.entries
        paths = fill(root, entries)
        cache = root / ".cache"
        time.sleep(2.1)  # what was written less than two seconds ago is read again
        colds, memories = [], []
        for _ in range(2):
            shutil.rmtree(cache, ignore_errors=True)
            colds.append(elapsed_ms(list_store, root, entries))
        memories.append(peak_mb(root))
        shutil.rmtree(cache)
        memories.insert(0, peak_mb(root))
        scans, warms, changed = [], [], []
        for number in range(arguments.runs):
            scans.append(elapsed_ms(scan, root, entries))
            warms.append(elapsed_ms(list_store, root, entries))
            paths[number].write_text(paths[number].read_text() + "\nOne more line.\n")
            changed.append(elapsed_ms(list_store, root, entries))
            time.sleep(2.1)
            list_store(root)
        baseline = statistics.median(scans)
        cold_mb, warm_mb = (f"{each:.0f} MB" for each in memories)
        rows = [
            (name, f"{statistics.median(times):,.1f} ms", f"{statistics.median(times) / baseline:.1f}", peak)
            for name, times, peak in (
                ("scandir + stat", scans, ""),
                ("cold", colds, cold_mb),
                ("warm", warms, warm_mb),
                ("one changed", changed, ""),
            )
        ]
        print_table(f"{entries:,} entries listed", COMPARED, rows)
    finally:
        shutil.rmtree(work)
    return 1 if statistics.median(warms) / baseline > GOAL else 0


if __name__ == "__main__":
    sys.exit(main())

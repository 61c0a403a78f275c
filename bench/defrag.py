"""What tidying a store takes, as a process from start to end: scan, analyse, ask, check, apply, publish, commit.

    python -m bench.defrag [--entries 200 10000] [--runs 3] [--full]

The stores are those of `bench.analysis`. Measured are: a process that reads every note, as the baseline; `memory defrag`
with an agent command that answers at once and changes the tiers only; the run after it, in which nothing is new; and
`memory defrag` with the built-in. Every run but the second begins with a store that was never tidied, its notes recorded
in git before. The size of the prompt and its limit stand below. `--full` adds 50,000 entries.
Ratios are those of CPU time, git and the agent command included. Exits 1 where a run takes more than GOAL times that of
the reading and LEAST_SECONDS, or LIMIT_MB of memory, or where the prompt is over its limit.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.analysis import REPOSITORY, invented, write_store
from bench.measure import Took, alternating, cpu_seconds, median_ms, peak_mb, print_table, run, scratch_environment

GOAL = 150.0
LEAST_SECONDS = 5.0
LIMIT_MB = 400
MAX_PROMPT_CHARS = 120_000
"""The default of `llm.maxPromptChars`."""

_ANSWER = """
import json, re, sys
prompt = sys.stdin.buffer.read().decode()
with open(sys.argv[1], "w") as file:
    file.write(str(len(prompt)))
(nonce,) = re.findall(r"^nonce: (\\S+)$", prompt, re.MULTILINE)
best = re.findall(r"(?m)^(id__\\w+) \\| [^|]+ \\| \\w+/(\\w+)", prompt)
ids = [id for id, tier in best if tier == "hot"]
print(json.dumps({"version": 1, "nonce": nonce, "actions": [], "tiers": {"hot": ids[:5], "warm": ids[5:40]}}))
"""


class Stores:
    """Homes with the same store of `count` entries, and what is run in them."""

    def __init__(self, memory: str, work: Path, count: int) -> None:
        self.memory, self.work = memory, work
        self.template, self.home = work / "template", work / "home"
        root = self.template / "store"
        root.mkdir(parents=True)
        write_store(invented(count).entries, root / "topics")
        self._configure(self.template, None)
        # The first commit is that of 10,000 hand edits: not what a run of every day takes.
        run([memory, "remember", "The store is there."], environ=scratch_environment(self.template), cwd=self.template)
        run([memory, "consolidate"], environ=scratch_environment(self.template), cwd=self.template)

    def read(self) -> Took:
        return run(
            (sys.executable, "-m", "bench.analysis", "--act", "read", str(self.template / "store/topics")),
            cwd=REPOSITORY,
        )

    def with_agent(self) -> Took:
        self._fresh(shlex.join([sys.executable, "-c", _ANSWER, str(self.work / "prompt-chars")]))
        return self._defrag()

    def again(self) -> Took:
        """After `with_agent`: nothing is new."""
        return self._defrag()

    def builtin(self) -> Took:
        self._fresh(None)
        return self._defrag()

    @property
    def prompt_chars(self) -> int:
        return int((self.work / "prompt-chars").read_text())

    def _fresh(self, command: str | None) -> None:
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.copytree(self.template, self.home)
        self._configure(self.home, command)

    def _configure(self, home: Path, command: str | None) -> None:
        path = home / ".config" / "agent-memory" / "config.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        llm = {} if command is None else {"llm": {"command": command}}
        path.write_text(json.dumps({**llm, "agentsMd": {"targets": ["~/AGENTS.md"]}}))

    def _defrag(self) -> Took:
        return run([self.memory, "defrag"], environ=scratch_environment(self.home), cwd=self.home)


def measure(memory: str, count: int, runs: int, work: Path) -> bool:
    """Prints the table for a store of `count` entries; whether the goals were met."""
    stores = Stores(memory, work, count)
    measured: Mapping[str, Callable[[], Took]] = {
        "read every note": stores.read,
        "with an agent that answers at once": stores.with_agent,
        "again, nothing new": stores.again,
        "with the built-in": stores.builtin,
    }
    took = alternating(measured, runs, warmups=0)
    said = took["with the built-in"][0].stdout.decode().strip().splitlines()[-1]
    base_seconds = cpu_seconds(took["read every note"])
    rows = [
        (
            name,
            f"{median_ms(each):,.0f} ms",
            f"{cpu_seconds(each):,.2f} s",
            f"{cpu_seconds(each) / base_seconds:,.1f}",
            f"{peak_mb(each):,.0f} MB",
        )
        for name, each in took.items()
    ]
    print_table(f"{count:,} entries; the built-in: {said[:80]}", ("", "median", "CPU", "ratio", "peak memory"), rows)
    print(f"  prompt: {stores.prompt_chars:,} of {MAX_PROMPT_CHARS:,} characters\n", flush=True)
    slowest_seconds = max(map(cpu_seconds, took.values()))
    peak = max(map(peak_mb, took.values()))
    within_time = slowest_seconds <= max(GOAL * base_seconds, LEAST_SECONDS)
    return within_time and peak <= LIMIT_MB and stores.prompt_chars <= MAX_PROMPT_CHARS


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, nargs="+", default=[200, 10_000], metavar="N")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--full", action="store_true", help="50,000 entries too")
    parser.add_argument("--memory", default=f"{sysconfig.get_path('scripts')}/memory", help="the command to measure")
    arguments = parser.parse_args(argv)
    met = []
    for count in [*arguments.entries, *([50_000] if arguments.full else [])]:
        with tempfile.TemporaryDirectory(prefix="agent-memory-bench-") as work:
            met.append(measure(arguments.memory, count, arguments.runs, Path(work)))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())

"""How many of our functions a command executes, and in how many files they stand.

    python -m bench.reach

Six notes, one session of docs/demo. What counts is how much somebody has to read to follow one command; there is no threshold.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

DEMO = Path(__file__).resolve().parents[1] / "docs" / "demo" / "session.jsonl"
SESSION = "b19c5100-4b94-45e6-bd8c-ad7d7f3c7591"

REACHED = """
import json, os, sys
import agent_memory
package, into = os.path.dirname(agent_memory.__file__), sys.argv.pop(1)
called = set()
def noted(frame, event, argument):
    if event == "call":
        called.add(frame.f_code)
def ended(code):
    sys.setprofile(None)
    ours = {(each.co_filename, each.co_firstlineno) for each in called if each.co_filename.startswith(package)
            and each.co_flags & 1 and each.co_name not in ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>")}
    with open(into, "w") as told:
        json.dump([len(ours), len({path for path, _ in ours})], told)
    really(code)
really, os._exit = os._exit, ended
sys.setprofile(noted)
from agent_memory.cli.entry import run
run()
"""


def reach(home: Path, words: Sequence[str], stdin: str = "") -> tuple[int, int]:
    """Functions and files of one `memory` process."""
    told = home / "reach.json"
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-c", REACHED, str(told), *words]
    subprocess.run(command, input=stdin, text=True, env=environ, cwd=home, check=True, stdout=subprocess.DEVNULL)
    functions, files = json.loads(told.read_text())
    return functions, files


def main() -> int:
    """Prints a line a command."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with tempfile.TemporaryDirectory(prefix="agent-memory-reach-") as work:
        home = Path(work)
        transcript = home / ".claude" / "projects" / "demo" / f"{SESSION}.jsonl"
        transcript.parent.mkdir(parents=True)
        transcript.write_bytes(DEMO.read_bytes())
        stop = {"session_id": SESSION, "transcript_path": str(transcript), "cwd": str(home), "hook_event_name": "Stop"}
        hook = ("capture", "--harness", "claude-code", "--hook")
        found = {"capture --hook": reach(home, hook, json.dumps(stop)), "consolidate": reach(home, ("consolidate",))}
        (note, *_) = sorted((home / ".local/share/agent-memory/topics").iterdir())
        id = note.stem[-10:]
        found["read ID"] = reach(home, ("read", id))
        found["search WORDS"] = reach(home, ("search", "--mode", "bm25", "quota"))
        found["defrag"] = reach(home, ("defrag",))
    for name, (functions, files) in found.items():
        print(f"{name}: {functions:,} functions in {files} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())

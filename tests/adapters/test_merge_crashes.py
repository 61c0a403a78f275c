"""A process that applies merges and edits is killed at a call that changes the disk; an independent oracle looks at what is
left (P2, P12, P15, P16)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import evolve, frozen

from agent_memory.adapters.disk.locks import KernelLocks
from agent_memory.adapters.store.store_files import StoreFiles
from agent_memory.domain.change import Change, Create, Receipt, Replace, Retire, Together
from agent_memory.domain.entry import MemoryEntry, Meta
from agent_memory.domain.undo_run import Footprint
from agent_memory.domain.vocabulary import TierList
from agent_memory.formats.bookkeeping_json import FOOTPRINT
from faults import snapshot

MS = 1_771_000_205_123
FACTS = {
    "id__aaaaaa": "The api listens on port 9090, never on 8080.",
    "id__bbbbbb": "Deploys run from `main` with ./bin/deploy.sh, see [[id__aaaaaa]].",
    "id__cccccc": "Do not cache https://example.org/feed longer than 15.5 minutes.",
    "id__dddddd": "RETRY_LIMIT is 3, see [[id__bbbbbb]].",
    "id__eeeeee": "The `tsc` watcher ignores src/generated/api.ts.",
}
CALLS = ("write", "fsync", "replace", "link", "unlink", "mkdir", "rmdir", "utime")

KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[4])
from test_merge_crashes import CALLS, merge
root, k, calls_file = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
calls = 0
def dying(real):
    def call(*args, **kwargs):
        global calls
        calls += 1
        if calls == k:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **kwargs)
    return call
for name in CALLS:
    setattr(os, name, dying(getattr(os, name)))
merge(root)
Path(calls_file).write_text(str(calls))
"""


def entry(id: str, title: str, body: str, aliases: tuple[str, ...] = ()) -> MemoryEntry:
    return MemoryEntry(Meta(id, title, MS, MS, "About.", aliases=aliases), body)


def store(root: Path) -> StoreFiles:
    return StoreFiles(root, KernelLocks(root))


def fill(root: Path) -> None:
    created = [Create(entry(id, f"Fact {id[-1]}", body)) for id, body in FACTS.items()]
    store(root).apply(created, tiers=TierList(("id__aaaaaa",), ("id__bbbbbb", "id__cccccc"))).unwrap()


def merge(root: Path) -> Receipt:
    """Two entries become one, one is divided, one edited under a new title, and the tiers are others."""
    there = store(root)
    stored = {id: there.read(id).unwrap() for id in FACTS}
    hashes = {id: each.listed.content_hash for id, each in stored.items()}
    a, b, c, d, e = FACTS
    together = entry("id__mmmmm1", "Merged", f"{FACTS[a]}\n{FACTS[b]}", (a, b))
    parts = [
        entry("id__ppppp1", "Feed", "Do not cache https://example.org/feed.", (c,)),
        entry("id__ppppp2", "For how long", "No longer than 15.5 minutes."),
    ]
    edited = evolve(stored[e].entry, meta=evolve(stored[e].meta, title="The watcher"), body=f"{FACTS[e]} Always.")
    changes: list[Change | Together] = [
        Together("merge", (Retire(a, hashes[a]), Retire(b, hashes[b]), Create(together))),
        Together("refused", (Create(entry("id__qqqqq1", "Never", "Never.")), Retire(d, "0" * 64))),
        Together("split", (Retire(c, hashes[c]), *map(Create, parts))),
        Replace(edited, hashes[e]),
    ]
    return there.apply(changes, tiers=TierList(("id__mmmmm1",), (e,)), run_id="run").unwrap()


@frozen
class Prepared:
    """A filled root to copy, all its files without and with the merge, and how many calls that takes."""

    root: Path
    before: dict[str, bytes]
    after: dict[str, bytes]
    calls: int


@pytest.fixture
def prepared(home: Path) -> Prepared:
    root, done = home / "root", home / "done"
    fill(root)
    shutil.copytree(root, done)
    calls = home / "calls"
    assert killed_at(0, done, calls) == 0
    return Prepared(root, snapshot(root), snapshot(done), int(calls.read_text()))


def killed_at(k: int, root: Path, calls: Path) -> int:
    here = Path(__file__).parent
    words = [sys.executable, "-c", KILLED, str(root), str(k), str(calls), str(here)]
    return subprocess.run(words, env={**os.environ, "PYTHONPATH": str(here.parent)}).returncode


@pytest.mark.shared
def test_a_process_killed_somewhere_loses_nothing(prepared: Prepared, shared: Path) -> None:
    sweep(prepared, shared, step=prepared.calls // 3)


@pytest.mark.shared
@pytest.mark.slow
def test_a_process_killed_anywhere_loses_nothing(prepared: Prepared, shared: Path) -> None:
    sweep(prepared, shared, step=1)


def sweep(prepared: Prepared, shared: Path, step: int) -> None:
    outcomes = []
    for k in range(step, prepared.calls + 1, step):
        root = Path(shutil.copytree(prepared.root, prepared.root.with_name(f"killed {k}")))
        assert killed_at(k, root, root.with_name("calls")) == -signal.SIGKILL, k
        assert not oracle(shared, prepared.root, root, "I1", "I4"), k  # nothing is nowhere, at no moment
        store(root).list().unwrap()
        assert not oracle(shared, prepared.root, root), k
        store(root).apply([]).unwrap()  # whoever writes next clears away what had been prepared
        assert snapshot(root) in (prepared.before, prepared.after), k
        outcomes.append(snapshot(root) == prepared.after)
        merge_again(root, done=outcomes[-1])
        assert notes(snapshot(root)) == notes(prepared.after), k
        undo(root)
        assert notes(snapshot(root)) == notes(prepared.before), k
        shutil.rmtree(root)
    assert False in outcomes
    assert True in outcomes


def oracle(shared: Path, before: Path, after: Path, *only: str) -> list[str]:
    words = [sys.executable, str(shared / "tools/store_oracle.py"), str(before), str(after), "--max-changed", "1"]
    said = subprocess.run(words, capture_output=True, text=True).stdout.splitlines()
    assert said
    return [line for line in said if line != "ok" and (not only or line.startswith(only))]


@pytest.mark.shared
def test_the_oracle_sees_what_is_lost(prepared: Prepared, shared: Path) -> None:
    shutil.copytree(prepared.root, prepared.root.with_name("damaged"))
    next(prepared.root.with_name("damaged").glob("topics/*id__aaaaaa.md")).unlink()
    assert oracle(shared, prepared.root, prepared.root.with_name("damaged"), "I1")


def merge_again(root: Path, *, done: bool) -> None:
    if not done:
        merge(root)


def undo(root: Path) -> None:
    (left,) = (root / "runs/run").iterdir()
    footprint: Footprint = FOOTPRINT.parse(left.read_bytes(), str(left))
    store(root).revert(footprint, "undo").unwrap()


def notes(files: dict[str, bytes]) -> dict[str, bytes]:
    return {path: data for path, data in files.items() if not path.startswith("runs/")}

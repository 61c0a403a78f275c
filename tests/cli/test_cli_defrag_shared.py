"""`memory defrag` on a store of 200 notes, made by consolidating recorded sessions twice, with what is wrong in it planted."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from agent_memory.rules.findings import FindingKind
from conservation import ill_formed, oracle, violations
from faults import snapshot
from memory_process import Memory
from tidying_homes import CLAUDE, CODEX, configure, defrag, everything, id_of, kept, write_notes

TIDIES = Path(__file__).parents[1] / "fixtures" / "agents" / "tidies.py"
REPOSITORY = Path(__file__).resolve().parents[2]
NOTES = 200
MOST_RUNS = 12
LIKE = "near-duplicate, overlap"

Pair = frozenset[str]

INVENT = """
import json, sys, time
from pathlib import Path
from attrs import evolve
from bench.analysis import NOW_MS, invented
from agent_memory.note.file_name import file_name_of
from agent_memory.note.note_format import render_note
late_ms = time.time_ns() // 1_000_000 - NOW_MS
store = invented(int(sys.argv[1]))
# What is broken before is broken afterwards: the oracles ask whether any link leads nowhere.
dangling = set().union(*store.planted.pop("dangling-link"))
for each in store.entries:
    if each.meta.id in dangling:
        continue
    meta = each.meta
    ends_ms = None if meta.expires_at_ms is None else meta.expires_at_ms + late_ms
    at_ms = {"created_at_ms": meta.created_at_ms + late_ms, "updated_at_ms": meta.updated_at_ms + late_ms}
    note = evolve(each, meta=evolve(meta, expires_at_ms=ends_ms, **at_ms))
    (Path(sys.argv[2]) / file_name_of(note.meta)).write_text(render_note(note))
print(json.dumps({kind: [sorted(pair) for pair in pairs] for kind, pairs in store.planted.items()}))
"""
"""A process of its own: the directory of the benches' tests bears the name of the benches."""


@frozen
class Planted:
    """A home with that store, and which of its notes each planted fault is about."""

    memory: Memory
    faults: Mapping[str, set[Pair]]

    def copy(self, home: Path) -> Memory:
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(self.memory.home, home, symlinks=True)
        return Memory(home, self.memory.environ)


@pytest.fixture(scope="module")
def planted(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Planted:
    ours = {name: "" for name in os.environ if name.startswith(("AGENT_MEMORY_", "XDG_", "CLAUDE", "GIT_"))}
    memory = Memory(tmp_path_factory.mktemp("planted") / "home", ours)
    memory.home.mkdir()
    configure(memory, None)
    for _ in range(2):
        consolidate_recorded(memory, shared)
    live = len(memory.notes())
    assert 10 < live < NOTES - 60
    faults = invented(memory, NOTES - live + 10)
    write_notes(memory, {"keeper": "Never push to `release` without the tag v2.x."})
    assert memory("generate-agents-md").code == 0
    assert len(memory.notes()) >= NOTES
    return Planted(memory, faults)


def consolidate_recorded(memory: Memory, shared: Path) -> None:
    project = memory.home / ".claude" / "projects" / "recorded"
    project.mkdir(parents=True, exist_ok=True)
    for number, recorded in enumerate(sorted((shared / "fixtures" / "claude-code").rglob("*.jsonl"))):
        path = project / f"s{number}.jsonl"
        shutil.copy(recorded, path)
        memory.capture_session(f"s{number}", path)
    assert memory("consolidate").code == 0


def invented(memory: Memory, count: int) -> dict[str, set[Pair]]:
    """Notes of random words as the bench of the analysis invents them, written; which of them each fault is about."""
    words = [sys.executable, "-c", INVENT, str(count), str(memory.root / "topics")]
    said = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    return {kind: set(map(frozenset, pairs)) for kind, pairs in json.loads(said).items()}


def settled(memory: Memory, shared: Path) -> list[dict[str, Any]]:
    """The documents of the runs until one has nothing to change; each of them watched by both oracles."""
    documents = []
    for _ in range(MOST_RUNS):
        before = memory.home.with_name("before")
        shutil.rmtree(before, ignore_errors=True)
        shutil.copytree(memory.root, before)
        live = len(memory.notes())
        document = defrag(memory)
        assert oracle(shared, before, memory.root, 0.26) == []
        assert violations(snapshot(before), snapshot(memory.root), most_changed=max(3, live // 4)) == []
        for name in (CLAUDE, CODEX):
            assert ill_formed((memory.home / name).read_bytes()) == []
        documents.append(document)
        if not document["actions"] and not document["deferred"] and not document["retiered"]:
            return documents
    raise AssertionError(f"no end after {MOST_RUNS} runs: {documents[-1]}")


def undo_all(memory: Memory, before: dict[str, bytes], documents: list[dict[str, Any]]) -> None:
    """Back, run by run, to the same bytes (P16)."""
    changing = [each for each in documents if each["actions"] or each["retiered"]]
    for document in reversed(changing):
        undone = memory("undo", "--json")
        assert undone.code == 0, undone
        assert undone.document["undid"] == document["run"]
    assert {path: data for path, data in kept(memory).items() if "tiers.json" not in path} == {
        path: data for path, data in before.items() if "tiers.json" not in path
    }


def heir(memory: Memory, id: str) -> str | None:
    """The live note to which an id leads."""
    done = memory("read", id, "--json")
    return done.document["id"] if done.code == 0 else None


@pytest.mark.shared
@pytest.mark.slow
def test_a_scripted_agent_does_the_right_thing(planted: Planted, shared: Path, tmp_path: Path) -> None:
    memory = planted.copy(tmp_path / "home")
    configure(memory, shlex.join([sys.executable, str(TIDIES)]))
    before = kept(memory)
    documents = settled(memory, shared)
    faults = planted.faults
    for kind in (FindingKind.DUPLICATE, FindingKind.CONTRADICTION, LIKE):
        together = sum(len({heir(memory, id) for id in pair}) == 1 for pair in faults[kind])
        assert together >= 0.7 * len(faults[kind]), (kind, documents)
    for pair in faults[FindingKind.EXPIRED]:
        assert heir(memory, *pair) is None
    long = [id for pair in faults[FindingKind.OVERSIZED] for id in pair]
    assert all(heir(memory, id) not in (id, None) for id in long)
    assert memory("doctor", "--fix").code == 0
    assert len(memory("list", "--json").document["entries"]) > 100
    assert memory("defrag").out == "nothing to change\n"  # it counts what was read meanwhile
    untouched = everything(memory)
    assert memory("defrag").out == "nothing to change\n"
    assert everything(memory) == untouched
    undo_all(memory, before, documents)


@pytest.mark.shared
@pytest.mark.slow
def test_the_builtin_does_the_right_thing(planted: Planted, shared: Path, tmp_path: Path) -> None:
    memory = planted.copy(tmp_path / "home")
    before = kept(memory)
    documents = settled(memory, shared)
    faults = planted.faults
    assert all(len({heir(memory, id) for id in pair}) == 1 for pair in faults[FindingKind.DUPLICATE])
    assert all(heir(memory, *pair) is None for pair in faults[FindingKind.EXPIRED])
    left = {frozenset(each["ids"]) for each in documents[0]["left"]}
    assert faults[FindingKind.CONTRADICTION] <= left
    assert memory("defrag").code == 0  # it counts what was read meanwhile
    untouched = everything(memory)
    assert memory("defrag", "--json").document["actions"] == []
    assert everything(memory) == untouched
    undo_all(memory, before, documents)


GOOD = {
    "ok", "fenced", "thinking-tags", "bom-crlf", "prompt-echo-then-ok", "stderr-flood", "orphan-grandchild-keeps-pipe",
}  # fmt: skip
UNSERVED = {
    "exit-nonzero-with-valid-stdout", "killed-after-half", "hang", "hang-after-output", "ignores-sigterm",
    "rate-limit-text",
}  # fmt: skip
CHECKED = {"rename-collision", "unknown-ids", "wipe-archive-all", "wipe-merge-all", "everything-hot"}
SHAPELESS = {"merge-self", "split-to-nothing", "unknown-action"}
"""Not one action of the reply is of the contract's shape."""
SHORT = {"ok", "hang", "truncated", *CHECKED, *SHAPELESS}


def modes() -> list[Any]:
    tool = Path(__file__).resolve().parents[3] / "shared" / "tools" / "fake_llm.py"
    if not tool.exists():
        return []
    listed = subprocess.run([sys.executable, str(tool), "--list"], capture_output=True, text=True, check=True)
    return [pytest.param(mode, marks=[] if mode in SHORT else [pytest.mark.slow]) for mode in listed.stdout.split()]


@pytest.mark.shared
@pytest.mark.parametrize("mode", modes())
def test_whatever_a_hostile_agent_answers_nothing_is_lost(home: Path, shared: Path, tmp_path: Path, mode: str) -> None:
    """P9, P12-P15, by both oracles."""
    memory = Memory(home)
    write_notes(memory)
    command = shlex.join([sys.executable, str(shared / "tools" / "fake_llm.py"), mode, "defrag"])
    configure(memory, command, llm={"timeoutSeconds": 2})
    before = Path(shutil.copytree(memory.root, tmp_path / "before"))
    done = memory("defrag", "--json")
    assert "Traceback" not in done.err
    assert oracle(shared, before, memory.root, 0.26) == []
    assert violations(snapshot(before), snapshot(memory.root), most_changed=5) == []
    if mode in UNSERVED:
        assert done.code == 40, done
    elif mode in GOOD:
        assert (done.code, done.document["actions"]) == (0, [])
        assert id_of("keeper") in done.document["tiers"]["hot"]
    elif mode in CHECKED:
        assert done.code == 0, done
        if mode not in ("everything-hot", "unknown-ids"):
            assert done.document["refused"]
    else:
        assert done.code in ((50,) if mode in SHAPELESS else (0, 50)), done
    if done.code in (40, 50):
        assert kept(memory).keys() == {f"memories/{path}" for path in snapshot(before)}
    for name in (CLAUDE, CODEX):
        if (home / name).exists():
            assert ill_formed((home / name).read_bytes()) == []
    configure(memory, None)
    assert memory("defrag").code == 0
    assert oracle(shared, before, memory.root, 0.6) == []
    assert memory("undo").code == 0

"""A whole `memory defrag` is killed, or refused by the disk, at each call that changes it; the next one leaves what no
trouble would have left (P2, P3, P5, P12-P17)."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import Any

import pytest

from conservation import broken, ill_formed, oracle, violations
from faults import snapshot
from memory_process import Memory
from tidying_homes import CLAUDE, CODEX, OVER, calls_of, copied, id_of, kept, killed, sensible, struck_at, tidying_home

pytestmark = pytest.mark.faults

NOTHING: dict[str, Any] = {"actions": []}
RULES = b"# My rules\r\n\r\nBe brief.\r\n"


@pytest.fixture
def template(tmp_path: Path) -> Memory:
    """The store that wants tidying, its notes recorded, so that every commit to come is a run's."""
    once = {**sensible(), "when": f"{id_of(OVER)} | lesson"}
    memory = tidying_home(tmp_path / "template", NOTHING, NOTHING, once)
    assert memory("archive", memory.remembered("The lamp is on the third floor.")).code == 0
    return memory


def left(memory: Memory) -> dict[str, object]:
    """All that a run leaves but for its times and its name: files, commits, and what the log tells."""
    said = ("machine", "result", "summary", "actions", "kept")
    return {
        **{path: re.sub(rb"(?m)^updatedAt: .*$", b"updatedAt: *", data) for path, data in kept(memory).items()},
        "log": [[run[key] for key in said] for run in memory("log", "--json").document["runs"]],
        "commits": commits(memory),
        "halves": sorted(str(path) for path in memory.root.glob("runs/*/*.json") if path.name == "defrag.json"),
    }


def commits(memory: Memory) -> list[str]:
    """Every commit, in words; git finds nothing wrong and nothing left to commit.

    What a refused commit left behind dangles until it is packed away, or is staged as new and gone again (`AD`).
    """
    assert memory.git("fsck", "--no-progress", "--no-dangling") == ""
    status = memory.git("status", "--porcelain", "--", ":!usage", ":!state").splitlines()
    assert [line for line in status if not line.startswith("AD ")] == []
    return memory.git("log", "--format=%an: %s%n%b").splitlines()


def check_whole(memory: Memory, before: dict[str, bytes], number: int) -> None:
    """What holds at the moment of the trouble, and without any repair: a note is what it was or what it became, and no
    target is half a section (P2)."""
    now = snapshot(memory.root)
    live_or_kept = {data for path, data in now.items() if path.endswith(".md")}
    for path, data in before.items():
        if path.startswith(("topics/", "archive/")):
            assert data in live_or_kept, (number, path)
    for name in (CLAUDE, CODEX):
        data = (memory.home / name).read_bytes() if (memory.home / name).exists() else b""
        assert data in (b"", RULES) or ill_formed(data) == [], (number, name)


def test_killed_somewhere_it_is_finished_by_the_next_run(template: Memory) -> None:
    sweep_kills(template, first=9, step=40)


@pytest.mark.slow
def test_killed_anywhere_it_is_finished_by_the_next_run(template: Memory) -> None:
    sweep_kills(template, first=1, step=1)


@pytest.mark.shared
@pytest.mark.slow
def test_killed_anywhere_an_independent_oracle_finds_nothing_lost(template: Memory, shared: Path) -> None:
    seen = set()
    for number, crashed in killed(template, "defrag", first=2, step=3):
        lost = [each for each in oracle(shared, template.root, crashed.root) if each.startswith(("I1", "I4"))]
        assert not lost, (number, lost)
        assert crashed("list").code == 0
        assert oracle(shared, template.root, crashed.root) == [], number
        assert crashed("defrag").code == 0
        assert oracle(shared, template.root, crashed.root) == [], number
        assert crashed("undo").code == 0
        assert oracle(shared, template.root, crashed.root) == [], number
        seen.add(number)
    assert len(seen) > 20
    damaged = copied(template, "damaged")
    next(damaged.root.glob("topics/*keeper*")).unlink()
    assert oracle(shared, template.root, damaged.root)


def sweep_kills(template: Memory, first: int, step: int) -> None:
    straight = copied(template, "straight")
    before = snapshot(straight.root)
    assert straight("defrag").code == 0
    expected = left(straight)
    assert violations(before, snapshot(straight.root), most_changed=5) == []
    for number, crashed in killed(template, "defrag", first=first, step=step):
        check_whole(crashed, before, number)
        assert broken(snapshot(crashed.root)) == [] or (crashed.root / ".transaction").exists(), number
        done = crashed("defrag")
        assert done.code == 0, (number, done)
        # Where the run had been all but over, the next one is a run of its own, in which the agent finds nothing to do.
        found = without_idle_runs(left(crashed))
        assert found == expected, (number, {key for key in expected if found.get(key) != expected[key]}, done)
        assert violations(before, snapshot(crashed.root), most_changed=5) == [], number
        assert len(crashed.prompts()) <= 2, number
        assert crashed("undo").code == 0
        assert {path: data for path, data in kept(crashed).items() if path.endswith(".md")} == notes(template), number


def without_idle_runs(state: dict[str, object]) -> dict[str, object]:
    log = state["log"]
    assert isinstance(log, list)
    return {**state, "log": [run for run in log if run[2] != "nothing to change"]}


def notes(memory: Memory) -> dict[str, bytes]:
    return {path: data for path, data in kept(memory).items() if path.endswith(".md")}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=["full disk", "bad disk"])
def test_a_call_that_fails_somewhere_is_one_error_and_nothing_is_half_done(template: Memory, number: int) -> None:
    sweep_failures(template, number, first=2, step=90)


@pytest.mark.slow
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=["full disk", "bad disk"])
def test_a_call_that_fails_anywhere_is_one_error_and_nothing_is_half_done(template: Memory, number: int) -> None:
    sweep_failures(template, number, first=1, step=1)


def sweep_failures(template: Memory, number: int, first: int, step: int) -> None:
    straight = copied(template, "straight")
    before = snapshot(straight.root)
    assert struck_at(straight, 0, "defrag").code == 0
    expected = {path: data for path, data in left(straight).items() if "/" in path}
    for place in range(first, calls_of(straight) + 1, step):
        refused = copied(template, "refused")
        done = struck_at(refused, place, "defrag", errno=number)
        assert done.code in (0, 20, 40, 70), (place, done)
        # The agent's own words are told where it got no prompt, and they may be a traceback.
        assert done.code == 40 or "Traceback" not in done.err, (place, done)
        assert done.code == 0 or len(done.err.splitlines()) >= 1, (place, done)
        check_whole(refused, before, place)
        assert broken(snapshot(refused.root)) == [], place
        again = refused("defrag")
        assert again.code == 0, (place, done, again)
        found = left(refused)
        assert {path: found.get(path) for path in expected} == expected, (place, done, again)
        assert violations(before, snapshot(refused.root), most_changed=5) == [], place

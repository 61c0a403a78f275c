"""P5: whatever disk call fails, is cut short or is a process's last, there is one error value or success, the store is as
before or as after, and nothing is left lying about."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from disk_faults import KILL, NONE, Fault, calls_of, preloaded_library, struck
from fault_sweep import MOST_SHOWN, Sweep, spread
from swept_calls import SCENES
from swept_scenes import FORGOTTEN, Scene, busy_home, notes_of
from traced_calls import Traced

pytestmark = pytest.mark.faults

SOME = {
    "capture by a hook": 31,
    "capture": 101,
    "search at first": 331,
    "inject by a hook": 331,
    "state set": 151,
    "consolidate": 901,
}
"""Every how many-th fault is tried in the normal suite."""

OF_THE_KERNEL = ("capture", "capture by a hook", "read", "consolidate", "defrag", "undo", "generate-agents-md")
"""What is swept by system calls, too, which takes a process of its own each."""

MOST_MISSED = 0.1
"""Of faults that struck another call than the one meant, since the process made more or fewer calls before it."""

LEAST_FAULTS = 12
"""So many are tried of each call, however few disk calls it makes: a sweep that tries nothing holds nothing."""


@pytest.fixture(scope="module")
def kept() -> Iterator[Path]:
    """A home in which much has happened, to be copied beside itself; in memory, where there is such a place."""
    preloaded_library()
    memory_disk = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory_disk if memory_disk.is_dir() else None) as directory:
        home = busy_home(Path(directory) / "home").home
        yield Path(shutil.copytree(home, home.with_name("kept"), symlinks=True))


@pytest.mark.parametrize("name", SOME)
def test_some_disk_calls_that_fail(kept: Path, name: str) -> None:
    sweep = Sweep(kept, kept.with_name("home"), SCENES[name])
    assert sweep.complaints(lambda found: found[7 :: SOME[name]]) == []
    assert sweep.outcomes.total() > 0


@pytest.mark.sweep
@pytest.mark.parametrize("name", SCENES)
def test_any_disk_call_that_fails(
    kept: Path, name: str, every: int, record_property: Callable[[str, object], None]
) -> None:
    sweep = Sweep(kept, kept.with_name("home"), SCENES[name])
    complaints = sweep.complaints(lambda found: spread(found, every, LEAST_FAULTS))
    tried = ", ".join(f"{count} {how}" for how, count in sorted(sweep.outcomes.items()))
    record_property("figure", f"P5 {name}: {sweep.outcomes.total()} faults ({tried}), {len(complaints)} complaints")
    assert not complaints, "\n".join(each[:MOST_SHOWN] for each in complaints)
    assert sweep.outcomes.total() >= LEAST_FAULTS


@pytest.mark.sweep
@pytest.mark.parametrize("name", OF_THE_KERNEL)
def test_any_system_call_that_fails(
    kept: Path, name: str, every: int, record_property: Callable[[str, object], None]
) -> None:
    """P5: whoever makes the call, by the C library or without it."""
    sweep = Sweep(kept, kept.with_name("home"), SCENES[name], Traced())
    complaints = sweep.complaints(lambda found: spread(found, every, LEAST_FAULTS))
    tried = ", ".join(f"{count} {how}" for how, count in sorted(sweep.outcomes.items()))
    record_property(
        "figure", f"P5 {name}, system calls: {sweep.outcomes.total()} faults ({tried}), {len(complaints)} complaints"
    )
    assert not complaints, "\n".join(each[:MOST_SHOWN] for each in complaints)
    assert sweep.outcomes["missed"] <= sweep.outcomes.total() * MOST_MISSED


def test_a_merge_is_not_undone_by_the_journal_of_its_own_transaction_p5(kept: Path) -> None:
    """The journal cannot be removed when everything is in place: it is over, though the merge's own mark goes."""
    sweep = Sweep(kept, kept.with_name("home"), SCENES["sync"])
    calls = calls_of(sweep.fresh(), SCENES["sync"])
    looks = [at for at, call in enumerate(calls, 1) if call == "opendir memories/.transaction"]
    assert looks
    assert sweep.complaints(lambda _: [Fault(at, "EIO") for at in looks]) == []


def test_the_sweep_sees_a_store_that_lost_something(kept: Path) -> None:
    """A call that takes away what it should not: what the sweep looks for is there to be found."""
    forgets = Scene(("forget", "--session", FORGOTTEN, "--yes", "--json"), notes_of)
    (complaint,) = Sweep(kept, kept.with_name("home"), forgets).complaints(lambda found: found[:1])
    assert "is lost" in complaint


def test_a_fault_strikes_the_call_it_is_meant_for(kept: Path) -> None:
    sweep = Sweep(kept, kept.with_name("home"), SCENES["capture"])
    memory = sweep.fresh()
    capture = SCENES["capture"]
    assert struck(memory, Fault(1, KILL), capture).code == -9
    assert struck(memory, Fault(0, NONE), capture).code == 0
    failed = [struck(memory, Fault(at, "EIO"), capture) for at in range(28, 36)]
    assert {done.error["details"]["errnoName"] for done in failed if done.code == 20} == {"EIO"}

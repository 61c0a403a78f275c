"""P5: whatever disk call fails, is cut short or is a process's last, there is one error value or success, the store is as
before or as after, and nothing is left lying about."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from disk_faults import KILL, NONE, Fault, calls_of, preloaded_library, struck
from fault_sweep import LEAST_MOMENTS, MOST_SHOWN, Sweep, spread
from swept_calls import SCENES
from swept_scenes import FORGOTTEN, Scene, busy_home, notes_of

pytestmark = pytest.mark.faults

SOME = (
    *("capture by a hook", "inject by a hook", "search at first", "state set", "consolidate", "undo"),
    "generate-agents-md",
)
FEW = 5
"""Of these so many faults are tried in the normal suite."""


@pytest.fixture(scope="module")
def kept() -> Iterator[Path]:
    """A home in which much has happened, to be copied beside itself; in memory, where there is such a place."""
    preloaded_library()
    memory_disk = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory_disk if memory_disk.is_dir() else None) as directory:
        home = busy_home(Path(directory) / "home").home
        yield Path(shutil.copytree(home, home.with_name("kept"), symlinks=True))


@pytest.fixture(scope="module")
def known() -> set[tuple[str, str]]:
    """What the sweeps before have tried."""
    return set()


@pytest.mark.parametrize("name", SOME)
def test_some_disk_calls_that_fail(kept: Path, name: str) -> None:
    sweep = Sweep(kept, kept.with_name("home"), SCENES[name])
    assert sweep.complaints(lambda found: spread(found, FEW)) == []
    assert sweep.outcomes.total() > 0


@pytest.mark.sweep
@pytest.mark.parametrize("name", SCENES)
def test_any_disk_call_that_fails(
    kept: Path, known: set[tuple[str, str]], name: str, record_property: Callable[[str, object], None]
) -> None:
    """Each sort of disk call that the commands before did not make, and a dozen of those that they made."""
    sweep = Sweep(kept, kept.with_name("home"), SCENES[name], known)
    complaints = sweep.complaints(lambda found: found)
    tried = ", ".join(f"{count} {how}" for how, count in sorted(sweep.outcomes.items()))
    record_property("figure", f"P5 {name}: {sweep.outcomes.total()} faults ({tried}), {len(complaints)} complaints")
    assert not complaints, "\n".join(each[:MOST_SHOWN] for each in complaints)
    assert sweep.outcomes.total() >= LEAST_MOMENTS


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
    (complaint,) = Sweep(kept, kept.with_name("home"), forgets).complaints(lambda _: [Fault(0, NONE)])
    assert "is lost" in complaint


def test_a_fault_strikes_the_call_it_is_meant_for(kept: Path) -> None:
    sweep = Sweep(kept, kept.with_name("home"), SCENES["capture"])
    memory = sweep.fresh()
    capture = SCENES["capture"]
    assert struck(memory, Fault(1, KILL), capture).code == -9
    assert struck(memory, Fault(0, NONE), capture).code == 0
    failed = [struck(memory, Fault(at, "EIO"), capture) for at in range(28, 36)]
    assert {done.error["details"]["errnoName"] for done in failed if done.code == 20} == {"EIO"}

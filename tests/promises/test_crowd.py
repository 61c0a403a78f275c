"""P7, P8: many processes capture, read, note, consolidate, defrag and edit by hand at once; in the end the counts are exact."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from crowd import NOTES, Crowd
from fault_sweep import LITTER
from memory_process import Memory

SEED = 7
MINUTES_SECONDS = float(os.environ.get("PROMISES_SECONDS", "300"))


@pytest.mark.slow
def test_a_crowd_for_some_seconds(home: Path) -> None:
    check(gathered(home, workers=8, seconds=15))


@pytest.mark.sweep
def test_a_crowd_for_minutes(home: Path, record_property: Callable[[str, object], None]) -> None:
    crowd = gathered(home, workers=20, seconds=MINUTES_SECONDS)
    acts = ", ".join(f"{count} {act}" for act, count in sorted(crowd.acts.items()))
    record_property("figure", f"P7 20 workers, {MINUTES_SECONDS:g} s: {acts}; {len(crowd.lost())} lost")
    check(crowd)


def test_a_crowd_that_lost_something_is_noticed(home: Path) -> None:
    crowd = gathered(home, workers=0, seconds=0)
    assert len(list((home / "memories/topics").glob("*.md"))) == NOTES
    crowd.told.append("NOWHERE")
    crowd.reads.update(crowd.miscounted() or [crowd.memory.notes()[0]["id"]])
    assert crowd.lost() == ["NOWHERE"]
    assert len(crowd.miscounted()) == 1


def gathered(home: Path, workers: int, seconds: float) -> Crowd:
    crowd = Crowd(Memory(home))
    crowd.gather(workers, seconds, SEED)
    return crowd


def check(crowd: Crowd) -> None:
    memory = crowd.memory
    assert crowd.complaints == []
    assert crowd.lost() == []
    assert crowd.miscounted() == []
    assert memory.pending() == []
    assert {"capture", "read", "consolidate"} <= {*crowd.acts}
    assert memory("doctor", "--fix").code in (0, 1)
    assert [path for glob in LITTER for path in memory.root.glob(glob)] == []
    broken = [each for each in memory("doctor", "--json").document["symptoms"] if each["severity"] == "problem"]
    assert {each["code"] for each in broken} <= {"duplicate", "near-duplicate"}, broken
    assert memory.git("fsck", "--no-progress", "--no-dangling") == ""

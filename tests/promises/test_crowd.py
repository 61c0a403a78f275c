"""P7, P8: many processes capture, read, note, consolidate, defrag and edit by hand at once; in the end the counts are exact."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from crowd import ACTS, NOTES, OFTEN, Crowd, Step
from fault_sweep import LITTER
from memory_process import Memory

pytestmark = pytest.mark.faults

SEED = 7
MINUTES_SECONDS = float(os.environ.get("PROMISES_SECONDS", "300"))


STEPS = st.builds(
    Step, st.sampled_from((*ACTS, *OFTEN)), st.sampled_from((0.0, 0.0, 0.01, 0.1, 0.5)), st.integers(0, 2**32 - 1)
)
SCHEDULES = st.lists(st.lists(STEPS, min_size=2, max_size=8), min_size=20, max_size=20)


class Enough(BaseException):
    """The time has come: no schedule has gone wrong."""


@pytest.mark.slow
def test_a_crowd_for_some_seconds(home: Path) -> None:
    crowd = gathered(home, workers=8, seconds=15)
    assert {"capture", "read", "consolidate"} <= {*crowd.acts}
    check(crowd)


@pytest.mark.sweep
def test_a_crowd_for_minutes(home: Path, record_property: Callable[[str, object], None]) -> None:
    crowd = gathered(home, workers=20, seconds=MINUTES_SECONDS)
    acts = ", ".join(f"{count} {act}" for act, count in sorted(crowd.acts.items()))
    record_property("figure", f"P7 20 workers, {MINUTES_SECONDS:g} s: {acts}; {len(crowd.lost())} lost")
    check(crowd)


@pytest.mark.sweep
def test_a_crowd_of_twenty_by_drawn_schedules(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """Who does what when is drawn by Hypothesis; the seed is printed, and PROMISES_SEED gives the same schedules again."""
    seed = int(os.environ.get("PROMISES_SEED", str(random.SystemRandom().getrandbits(32))))
    end = time.monotonic() + MINUTES_SECONDS
    totals: Counter[str] = Counter()

    @hypothesis.seed(seed)
    @settings(
        max_examples=10_000, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck]
    )
    @given(SCHEDULES)
    def crowds(schedule: list[list[Step]]) -> None:
        if time.monotonic() > end:
            raise Enough
        home = tmp_path / f"home{totals['schedules']}"
        home.mkdir()
        totals["schedules"] += 1
        crowd = Crowd(Memory(home))
        crowd.follow(schedule)
        totals["acts"] += crowd.acts.total()
        totals["captures"] += crowd.captured
        check(crowd)
        shutil.rmtree(home)

    print(f"PROMISES_SEED={seed}")
    with suppress(Enough):
        crowds()
    record_property(
        "figure",
        f"P7 20 workers by {totals['schedules']} drawn schedules (PROMISES_SEED={seed}): {totals['acts']} acts, "
        f"{totals['captures']} captures, 0 lost, 0 twice",
    )


def test_a_crowd_that_lost_something_is_noticed(home: Path) -> None:
    crowd = gathered(home, workers=0, seconds=0)
    assert len(list((home / "memories/topics").glob("*.md"))) == NOTES
    crowd.told.append("NOWHERE")
    crowd.reads.update(crowd.miscounted() or [crowd.memory.notes()[0]["id"]])
    assert crowd.lost() == ["NOWHERE"]
    assert len(crowd.miscounted()) == 1
    crowd.memory.remembered("Again it holds FIXED_3, and this is another note.")
    assert crowd.doubled() == ["FIXED_3"]
    assert crowd.misplaced() == []
    crowd.captured += 1
    assert crowd.misplaced() == ["0 records of 1 captures"]


def gathered(home: Path, workers: int, seconds: float) -> Crowd:
    crowd = Crowd(Memory(home))
    crowd.gather(workers, seconds, SEED)
    return crowd


def check(crowd: Crowd) -> None:
    memory = crowd.memory
    assert crowd.complaints == []
    assert crowd.lost() == []
    assert crowd.doubled() == []
    assert crowd.miscounted() == []
    assert memory.pending() == []
    assert crowd.misplaced() == []
    assert memory("doctor", "--fix").code in (0, 1)
    assert [path for glob in LITTER for path in memory.root.glob(glob)] == []
    broken = [each for each in memory("doctor", "--json").document["symptoms"] if each["severity"] == "problem"]
    # Of what is said alike there is much, and who edits a note by hand for minutes makes it long.
    assert {each["code"] for each in broken} <= {"duplicate", "near-duplicate", "oversized"}, broken
    assert memory.git("fsck", "--no-progress", "--no-dangling") == ""

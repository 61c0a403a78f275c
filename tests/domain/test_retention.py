from __future__ import annotations

from hypothesis import given, settings, strategies as st

from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.run_log import KeptRun, prune_runs

NOW_MS = 1_800_000_000_000


def run(number: int, days: float, *, unfinished: bool = False) -> KeptRun:
    return KeptRun(f"run-{number:06}", NOW_MS - int(days * DAY_MS), unfinished)


def test_old_runs_beyond_the_newest_lose_their_details_and_ancient_ones_all() -> None:
    runs = [run(3, 1), run(2, 200), run(1, 300), run(0, 500)]
    details, whole = prune_runs(runs, NOW_MS, keep_runs=1, keep_days=180)
    assert (details, whole) == (("run-000002", "run-000001"), ("run-000000",))


def test_young_runs_stay_however_many_they_are() -> None:
    assert prune_runs([run(number, 1) for number in range(500)], NOW_MS, keep_runs=10)[0] == ()


def test_the_newest_runs_stay_however_old_they_are() -> None:
    runs = [run(number, 1000 - number) for number in range(10)]
    assert prune_runs(runs, NOW_MS, keep_runs=10) == prune_runs([], NOW_MS)


def test_what_is_unfinished_stays() -> None:
    runs = [run(2, 1), run(1, 900, unfinished=True), run(0, 900)]
    assert prune_runs(runs, NOW_MS, keep_runs=1)[1] == ("run-000000",)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 600), st.booleans()), max_size=30), st.integers(0, 40), st.integers(0, 500))
def test_the_newest_run_always_stays_whole(ages: list[tuple[int, bool]], keep_runs: int, keep_days: int) -> None:
    runs = [run(number, days, unfinished=unfinished) for number, (days, unfinished) in enumerate(ages)]
    details, whole = prune_runs(runs, NOW_MS, keep_runs=keep_runs, keep_days=keep_days)
    gone = {*details, *whole}
    assert len(gone) == len(details) + len(whole)
    assert not gone.intersection(each.run_id for each in runs if each.unfinished)
    assert not gone.intersection(each.run_id for each in runs[-max(keep_runs, 1) :])

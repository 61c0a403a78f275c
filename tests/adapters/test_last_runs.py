"""What `memory status` says of the last runs, whichever machine made them."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from agent_memory.app import open_memory
from agent_memory.domain.health import Health
from agent_memory.domain.run_log import LoggedRun
from agent_memory.errors import AgentMissing

RUN = LoggedRun("", "consolidate", 1_770_993_005_123, 1_770_993_006_000, "completed", "1 session processed")


def health(root: Path, *runs: LoggedRun) -> Health:
    memory = open_memory({"HOME": str(root.parent), "AGENT_MEMORY_ROOT": str(root)}, None, lambda _: None).unwrap()
    for number, run in enumerate(runs):
        named = evolve(run, run_id=f"2026-02-13T14-30-{number:02}.123Z_dbfbe{number}")
        memory.log.put_report(named, AgentMissing("llm") if run.result == "paused" else None).unwrap()
    return memory.health().unwrap()


def test_the_last_run_is_the_newest_of_any_machine(root: Path) -> None:
    last = health(root, RUN, evolve(RUN, machine="defrag", summary="1 merged")).last_runs[0]
    assert (last.machine, last.summary, last.result) == ("defrag", "1 merged", "completed")


def test_a_pause_is_told_though_another_machine_ran_since(root: Path) -> None:
    found = health(root, evolve(RUN, result="paused"), evolve(RUN, machine="defrag"), evolve(RUN, machine="undo"))
    assert found.problems == (f"the last consolidate paused: {AgentMissing('llm')!s}",)


def test_a_pause_that_the_next_run_made_good_is_past(root: Path) -> None:
    assert health(root, evolve(RUN, result="paused"), RUN).problems == ()


def test_a_damaged_report_hides_no_other_and_is_told_p6(root: Path) -> None:
    assert health(root, RUN, RUN).problems == ()
    (root / "runs/2026-02-13T14-30-01.123Z_dbfbe1/report.json").write_text("{")
    found = health(root)
    assert found.last_runs[0].run_id.endswith("_dbfbe0")
    (problem,) = found.problems
    assert "_dbfbe1/report.json cannot be understood" in problem


def test_a_damaged_list_of_undone_runs_is_told(root: Path) -> None:
    health(root, RUN)
    (root / "runs/undone.json").write_text("{")
    assert any("undone.json" in each for each in health(root).problems)

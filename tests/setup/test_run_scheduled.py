"""What a scheduler calls, where what was noted of the schedule cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_memory.cli.main import main
from agent_memory.errors import StoreIo
from agent_memory.setup.schedule import NO_RUNS, InstalledSchedule, ScheduledRun, ScheduleState
from faults import failing_on


def test_no_other_store_is_worked_on_where_the_receipt_of_a_crontab_cannot_be_read_or_understood_p6(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.nice", lambda _: 0)
    monkeypatch.setenv("AGENT_MEMORY_ROOT", str(home / "elsewhere"))
    state = ScheduleState(str(home))
    mine = str(home / "mine")
    environment = {"AGENT_MEMORY_ROOT": mine}
    state.receipt.write(InstalledSchedule("cron", "/bin/memory", mine, environment, 0, ()))
    with failing_on("installed.json", "open"):
        assert main(["schedule", "run", "consolidate"]) == 20
    assert "installed.json" in capsys.readouterr().err
    receipt = Path(state.directory, "installed.json")
    whole = receipt.read_bytes()
    receipt.write_bytes(whole[:-9])
    assert main(["schedule", "run", "consolidate"]) == 20
    assert state.record("consolidate") == NO_RUNS
    receipt.write_bytes(whole)
    assert main(["schedule", "run", "consolidate"]) == 0
    assert state.record("consolidate").runs
    assert not (home / "elsewhere").exists()


def test_what_earlier_runs_left_is_not_written_over_where_it_cannot_be_read_p6(home: Path) -> None:
    state = ScheduleState(str(home))
    state.put_run("defrag", ScheduledRun(1, 2, 0))
    with failing_on("defrag.json", "open"), pytest.raises(StoreIo):
        state.put_run("defrag", ScheduledRun(3))
    assert state.record("defrag").runs == (ScheduledRun(1, 2, 0),)
    Path(state.directory, "defrag.json").write_text("{")
    state.put_run("defrag", ScheduledRun(3))
    assert state.record("defrag").runs == (ScheduledRun(3),)

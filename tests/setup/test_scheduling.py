"""How often a job runs, what a calendar can say of it, what is known of its runs, and what a scheduler calls."""

from __future__ import annotations

import json
import plistlib
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from agent_memory.cli.main import main
from agent_memory.errors import SchedulerFailed, StoreIo, UsageInvalid
from agent_memory.setup.schedule import (
    DAY,
    HOUR,
    MINUTE,
    NO_RUNS,
    InstalledSchedule,
    Job,
    JobHealth,
    JobRecord,
    Place,
    ScheduledRun,
    ScheduleState,
    calendars,
    in_words,
    interval_of,
    is_due,
    next_due_ms,
    recorded,
    tick_of,
)
from agent_memory.setup.scheduling import (
    ScheduleSource,
    cron_line,
    render_plist,
    render_service,
    render_timer,
    with_cron_lines,
)
from faults import failing_on

CASES = [
    (2, 2 * HOUR, 2 * HOUR, "0 */2 * * *", "*-*-* 00/2:00:00", "2 h"),
    (24, DAY, DAY, "0 3 * * *", "*-*-* 03:00:00", "1 day"),
    (1, HOUR, HOUR, "0 * * * *", "*-*-* *:00:00", "1 h"),
    (0.25, 15 * MINUTE, 15 * MINUTE, "*/15 * * * *", "*-*-* *:00/15:00", "15 min"),
    (1 / 60, MINUTE, MINUTE, "* * * * *", "*-*-* *:*:00", "1 min"),
    (5, 5 * HOUR, HOUR, "0 * * * *", "*-*-* *:00:00", "5 h"),
    (36, 36 * HOUR, 12 * HOUR, "0 */12 * * *", "*-*-* 00/12:00:00", "36 h"),
    (1.5, 90 * MINUTE, 30 * MINUTE, "*/30 * * * *", "*-*-* *:00/30:00", "90 min"),
    (8_760, 365 * DAY, DAY, "0 3 * * *", "*-*-* 03:00:00", "365 days"),
]


@pytest.mark.parametrize(("hours", "interval", "tick", "cron", "calendar", "words"), CASES)
def test_an_interval_in_words(hours: float, interval: int, tick: int, cron: str, calendar: str, words: str) -> None:
    assert interval_of(hours, "consolidateIntervalHours") == interval
    assert tick_of(interval) == tick
    assert (calendars(tick)[1], calendars(tick)[0], in_words(interval)) == (cron, calendar, words)


@pytest.mark.parametrize("hours", [0.001, 0.016])
def test_under_a_minute_no_calendar_can_say(hours: float) -> None:
    with pytest.raises(UsageInvalid) as refused:
        interval_of(hours, "defragIntervalHours")
    assert refused.value.problem == "schedule.defragIntervalHours is under a minute"


@given(st.integers(MINUTE, 365 * DAY))
def test_a_tick_is_never_longer_than_the_interval(seconds: int) -> None:
    tick = tick_of(seconds)
    assert MINUTE <= tick <= seconds
    assert HOUR % tick == 0 or DAY % tick == 0


@given(
    interval=st.integers(MINUTE, 30 * DAY),
    last=st.integers(0, 10**10),
    later=st.integers(0, 90 * DAY),
    offset=st.sampled_from([0, 3_600, -34_200, 49_500]),
)
def test_the_next_run_is_on_a_tick_of_the_wall_clock_and_never_long_after_it_is_due(
    interval: int, last: int, later: int, offset: int
) -> None:
    tick = tick_of(interval)
    now = last + later
    due = next_due_ms(interval, last * 1000, now * 1000, tick, offset) // 1000
    shift = 3 * HOUR if tick == DAY else 0
    assert (due + offset - shift) % tick == 0
    assert now < due <= max(now, last + interval) + tick


def test_launchd_counts_from_the_last_run() -> None:
    assert next_due_ms(2 * HOUR, 1_000, 5_000, None, 0) == 7_201_000
    assert next_due_ms(2 * HOUR, 1_000, 9_000_000, None, 0) == 9_000_000


WELL = ScheduledRun(1_000, 2_000, 0)


def health(*runs: ScheduledRun, installed_at_ms: int = 0) -> JobHealth:
    record = NO_RUNS
    for run in runs:
        record = recorded(record, run, 50)
    return JobHealth("consolidate", "cron", 7_200, record, installed_at_ms, 0)


def test_a_job_that_does_not_run_any_more_is_seen() -> None:
    hours = 3_600_000
    assert health(installed_at_ms=0).problem(5 * hours) is None
    assert health(installed_at_ms=0).problem(50 * hours) == (
        "consolidate should run every 2 h, and has not for 2 days; `memory schedule on` sets the schedule up again"
    )
    assert health(WELL, installed_at_ms=48 * hours).problem(50 * hours) is None


@pytest.mark.parametrize(
    ("now_ms", "due"), [(1_000, False), (3_500_000, False), (3_541_000, True), (9_000_000, True), (500, True)]
)
def test_a_tick_does_nothing_before_the_job_is_due(now_ms: int, due: bool) -> None:
    """A tick may come seconds early, and P24: a clock that was set back keeps no job from running."""
    assert is_due(JobRecord((WELL,), 0), now_ms, 3_600) is due
    assert is_due(NO_RUNS, now_ms, 3_600)


# -- what a scheduler calls, where what was noted of the schedule cannot be read -----------------------------------------


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


# -- schedules ---------------------------------------------------------------------------------------------------------


PLISTS = Path(__file__).parents[2] / "plists"
SOURCE = ScheduleSource(**json.loads((PLISTS / "jobs.json").read_text("utf-8")))
PLACE = Place(
    home='/home/ü "x"',
    program='/home/ü "x"/bin/100% $HOME/memory',
    environment={"PATH": '/usr/bin:/home/ü "x"/bin:/a\\b%c', "AGENT_MEMORY_ROOT": "/home/ü"},
    log_directory='/home/ü "x"/.local/state/agent-memory/schedule',
)


def job(hours: float = 2) -> Job:
    return Job("consolidate", interval_of(hours, "x"))


def test_a_launchd_agent_holds_what_is_known_here_and_all_that_the_source_says() -> None:
    agent = plistlib.loads(render_plist(SOURCE, job(5), PLACE))
    log = f"{PLACE.log_directory}/consolidate.log"
    assert agent == {
        **SOURCE.launchd,
        "Label": "com.agent-memory.consolidate",
        "ProgramArguments": [PLACE.program, "schedule", "run", "consolidate"],
        "StartInterval": 5 * 3_600,
        "EnvironmentVariables": PLACE.environment,
        "StandardOutPath": log,
        "StandardErrorPath": log,
    }
    assert (agent["KeepAlive"], agent["RunAtLoad"]) == (False, False)


def test_a_unit_quotes_what_systemd_would_read_otherwise() -> None:
    service = render_service(SOURCE, job(5), PLACE)
    assert (
        'ExecStart=/usr/bin/env "/home/ü \\"x\\"/bin/100%% $$HOME/memory" schedule run consolidate --every 18000\n'
        in service
    )
    assert 'Environment="PATH=/usr/bin:/home/ü \\"x\\"/bin:/a\\\\b%%c"\n' in service
    assert "NoNewPrivileges=true\n" in service
    assert "Persistent=true\n" in render_timer(SOURCE, job())


def test_a_line_of_a_crontab_reaches_the_shell_as_it_was_meant(tmp_path: Path) -> None:
    program = tmp_path / "ü 'x' 100% $HOME" / "memory"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$@"\n', "utf-8")
    program.chmod(0o755)
    line = cron_line(job(5), Place(str(tmp_path), str(program), {}, f"{tmp_path}/50% log"))
    (tmp_path / "50% log").mkdir()
    assert line.startswith("0 * * * * ")
    command = line.removeprefix("0 * * * * ").replace("\\%", "%")  # as cron does
    assert "%" not in line.replace("\\%", "")
    subprocess.run(["/bin/sh", "-c", command], check=True)
    assert (tmp_path / "50% log" / "consolidate.log").read_text("utf-8") == "schedule run consolidate --every 18000\n"


LINES = ("0 * * * * memory schedule run consolidate",)


@given(
    before=st.binary(max_size=80).map(lambda text: text.replace(b"# agent-memory", b"")),
    after=st.binary(max_size=80).map(lambda text: text.replace(b"# agent-memory", b"")),
)
def test_every_other_byte_of_a_crontab_stays(before: bytes, after: bytes) -> None:
    """P17 for a crontab: what is put in comes out again, and nothing else."""
    installed = with_cron_lines(before, LINES) + after
    again = with_cron_lines(installed, (*LINES, "0 3 * * * memory schedule run defrag"))
    gone = with_cron_lines(again, ())
    between = b"" if before.endswith(b"\n") or not before else b"\n"
    assert gone == before + between + after
    assert with_cron_lines(installed, LINES) == installed


@pytest.mark.parametrize(
    "crontab",
    [
        b"# agent-memory: start\n",
        b"# agent-memory: end\n",
        b"# agent-memory: end\n# agent-memory: start\n",
        b"# agent-memory: start\n# agent-memory: start\n# agent-memory: end\n",
    ],
)
def test_ambiguous_marks_are_refused(crontab: bytes) -> None:
    for lines in (LINES, ()):
        with pytest.raises(SchedulerFailed):
            with_cron_lines(crontab, lines)

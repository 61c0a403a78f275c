"""The jobs in the words of launchd, systemd and cron; and which program of the PATH is run: the first, and never another one because
the first could not be looked at (P6)."""

from __future__ import annotations

import json
import os
import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from agent_memory.errors import SchedulerFailed
from agent_memory.setup.schedule import Job, Place, interval_of
from agent_memory.setup.scheduling import (
    Programs,
    ScheduleSource,
    cron_line,
    read_crontab,
    render_plist,
    render_service,
    render_timer,
    with_cron_lines,
)

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


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
@pytest.mark.parametrize("hours", [1 / 60, 2, 5, 24, 8_760])
def test_systemd_finds_nothing_to_say_about_the_units(tmp_path: Path, hours: float) -> None:
    """It ends with 0 whatever it finds: what it prints counts."""
    program = tmp_path / 'ü "x" 100% $HOME' / "memory"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)
    place = Place(str(tmp_path), str(program), PLACE.environment, str(tmp_path))
    units = tmp_path / "units"
    units.mkdir()
    service = render_service(SOURCE, job(hours), place)
    (units / "agent-memory-consolidate.service").write_text(service, "utf-8")
    (units / "agent-memory-consolidate.timer").write_text(render_timer(SOURCE, job(hours)), "utf-8")
    (units / "agent-memory-broken.service").write_text(service.replace("Nice=", "Nicee="), "utf-8")
    for unit in units.iterdir():
        unit.chmod(0o644)  # whatever the umask is

    def verify(name: str) -> str:
        environ = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)}
        found = subprocess.run(
            ["systemd-analyze", "--user", "verify", str(units / name)], capture_output=True, text=True, env=environ
        )
        return found.stderr

    if "Failed to" in verify("agent-memory-consolidate.timer"):
        pytest.skip("systemd-analyze does not work here")
    assert verify("agent-memory-consolidate.timer") == ""
    assert verify("agent-memory-consolidate.service") == ""
    assert "Nicee" in verify("agent-memory-broken.service")


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


# -- programs ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    """Two programs `crontab`, each of which says its name; before them a directory that is not there, and one of no use."""
    for name in ("own", "system"):
        (tmp_path / name).mkdir()
        program = tmp_path / name / "crontab"
        program.write_text(f"#!/bin/sh\necho {name}\n")
        program.chmod(0o755)
    (tmp_path / "no-use" / "crontab").mkdir(parents=True)
    path = ":".join(str(tmp_path / name) for name in ("none", "no-use", "own", "system"))
    return Programs("cron", {"PATH": path})


def test_the_first_is_run(programs: Programs, tmp_path: Path) -> None:
    assert read_crontab(programs) == b"own\n"
    (tmp_path / "own" / "crontab").chmod(0o644)
    assert read_crontab(programs) == b"system\n"

"""The schedule from a shell: `memory schedule`, and what status says of it."""

from __future__ import annotations

import json
import os
import plistlib
from pathlib import Path

import pytest

from memory_process import Memory

CRONTAB = """#!/bin/sh
echo "crontab $*" >> "$HOME/calls"
if [ -e "$HOME/refuses" ]; then echo "you are not allowed to use this program" >&2; exit 1; fi
case "$1" in
  -l) if [ -e "$HOME/table" ]; then cat "$HOME/table"; else echo "no crontab for me" >&2; exit 1; fi ;;
  -r) rm "$HOME/table" ;;
  -) cat > "$HOME/table" ;;
esac
"""
SYSTEMCTL = """#!/bin/sh
echo "systemctl $*" >> "$HOME/calls"
if [ ! -e "$HOME/bus" ]; then echo "Failed to connect to bus: No medium found" >&2; exit 1; fi
"""
LAUNCHCTL = """#!/bin/sh
echo "launchctl $*" >> "$HOME/calls"
case "$1" in bootout) echo "Boot-out failed: 3: No such process" >&2; exit 3 ;; esac
"""
MINE = b"MAILTO=me\n# mine\n5 5 * * * true \\% x"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A machine whose schedulers write down how they are called."""
    home = tmp_path / "ho me ü"
    programs = tmp_path / "bin"
    programs.mkdir()
    home.mkdir()
    for name, text in {"crontab": CRONTAB, "systemctl": SYSTEMCTL, "launchctl": LAUNCHCTL}.items():
        (programs / name).write_text(text, "utf-8")
        (programs / name).chmod(0o755)
    return Memory(home, {"PATH": f"{programs}:{os.environ['PATH']}", "XDG_CONFIG_HOME": ""})


def calls(memory: Memory) -> list[str]:
    path = memory.home / "calls"
    return path.read_text("utf-8").splitlines() if path.exists() else []


def state(memory: Memory, name: str) -> Path:
    return memory.home / ".local/state/agent-memory/schedule" / name


def test_a_dry_run_shows_everything_and_changes_nothing(memory: Memory) -> None:
    for system in ("launchd", "systemd", "cron"):
        done = memory("schedule", "on", "--dry-run", "--system", system, "--json")
        assert (done.code, done.document["scheduler"], done.document["dryRun"]) == (0, system, True)
    assert not any("enable" in call or "bootstrap" in call or call == "crontab -" for call in calls(memory))
    assert not state(memory, "installed.json").exists()
    assert not (memory.home / ".config").exists()
    assert not (memory.home / ".local").exists()


def test_without_a_terminal_nothing_is_installed_unasked(memory: Memory) -> None:
    done = memory("schedule", "on", "--system", "cron")
    assert done.code == 2
    assert "no terminal to ask on" in done.err
    assert not (memory.home / "table").exists()


def test_cron_keeps_every_other_byte_and_takes_ours_out_again(memory: Memory) -> None:
    (memory.home / "table").write_bytes(MINE)
    assert memory("schedule", "on", "--yes").out.endswith("cron now runs `memory defrag` every 1 day\n")
    table = (memory.home / "table").read_bytes()
    assert table.startswith(MINE + b"\n# agent-memory: start")
    assert table.count(b"schedule run") == 2

    memory.configure(schedule={"consolidateIntervalHours": 5})
    again = memory("schedule", "on", "--yes")
    assert "is looked at every 1 h, and runs when it is due" in again.err
    table = (memory.home / "table").read_bytes()
    assert (table.count(b"schedule run"), b"--every 18000" in table) == (2, True)

    assert memory("schedule", "off", "--yes").code == 0
    assert (memory.home / "table").read_bytes() == MINE + b"\n"
    assert memory("schedule", "off", "--yes").out == "Nothing is scheduled.\n"


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ("cron", ("you are not allowed to use this program",)),
        ("systemd", ("No medium found", "Log in on a desktop or by ssh, or use --system cron.")),
    ],
)
def test_a_scheduler_that_refuses_is_one_sentence(memory: Memory, system: str, words: tuple[str, ...]) -> None:
    (memory.home / "refuses").touch()
    done = memory("schedule", "on", "--yes", "--system", system, "--json")
    assert (done.code, done.error["code"]) == (10, "scheduler-failed")
    assert all(each in done.error["message"] for each in words)
    assert not (memory.home / ".config/systemd").exists()
    assert not state(memory, "installed.json").exists()


def test_systemd_gets_units_and_is_told(memory: Memory) -> None:
    (memory.home / "bus").touch()
    assert memory("schedule", "on", "--yes").code == 0
    units = memory.home / ".config/systemd/user"
    assert sorted(path.name for path in units.iterdir()) == [
        "agent-memory-consolidate.service",
        "agent-memory-consolidate.timer",
        "agent-memory-defrag.service",
        "agent-memory-defrag.timer",
    ]
    service = (units / "agent-memory-consolidate.service").read_text("utf-8")
    assert f'Environment="AGENT_MEMORY_ROOT={memory.root}"' in service
    timers = "agent-memory-consolidate.timer agent-memory-defrag.timer"
    assert calls(memory)[1:] == [
        "systemctl --user daemon-reload",
        f"systemctl --user enable {timers}",
        f"systemctl --user restart {timers}",
    ]
    assert memory("schedule", "off", "--yes").code == 0
    assert not list(units.iterdir())
    assert f"systemctl --user disable --now {timers}" in calls(memory)


def test_launchd_gets_agents_and_is_told(memory: Memory) -> None:
    assert memory("schedule", "on", "--yes", "--system", "launchd").code == 0
    agents = memory.home / "Library/LaunchAgents"
    agent = plistlib.loads((agents / "com.agent-memory.defrag.plist").read_bytes())
    assert agent["ProgramArguments"][1:] == ["schedule", "run", "defrag"]
    assert agent["EnvironmentVariables"]["AGENT_MEMORY_ROOT"] == str(memory.root)
    domain = f"gui/{os.getuid()}"
    expected = [
        f"launchctl bootout {domain}/com.agent-memory.consolidate",
        f"launchctl bootout {domain}/com.agent-memory.defrag",
        f"launchctl bootstrap {domain} {agents}/com.agent-memory.consolidate.plist",
        f"launchctl bootstrap {domain} {agents}/com.agent-memory.defrag.plist",
    ]
    assert calls(memory) == expected
    assert memory("schedule", "on", "--yes", "--system", "launchd").code == 0
    assert calls(memory) == expected * 2
    assert memory("schedule", "off", "--yes").code == 0
    assert not list(agents.iterdir())


def test_another_scheduler_takes_over_whole(memory: Memory) -> None:
    assert memory("schedule", "on", "--yes", "--system", "cron").code == 0
    (memory.home / "bus").touch()
    assert memory("schedule", "on", "--yes").code == 0
    assert not (memory.home / "table").exists()
    assert len(list((memory.home / ".config/systemd/user").iterdir())) == 4


def test_what_was_edited_by_hand_is_shown_and_kept_aside(memory: Memory) -> None:
    assert memory("schedule", "on", "--yes", "--system", "launchd").code == 0
    agent = memory.home / "Library/LaunchAgents/com.agent-memory.defrag.plist"
    agent.write_bytes(agent.read_bytes().replace(b"<integer>10</integer>", b"<integer>5</integer>"))
    done = memory("schedule", "on", "--yes", "--system", "launchd")
    assert "-\t<integer>5</integer>" in done.out
    (kept,) = [line.split(" kept in ")[1] for line in done.out.splitlines() if " kept in " in line]
    assert b"<integer>5</integer>" in Path(kept).read_bytes()
    assert b"<integer>10</integer>" in agent.read_bytes()


def test_an_agent_installs_nothing(memory: Memory) -> None:
    """P19: what runs by itself is for a person to decide."""
    done = memory("schedule", "on", "--yes", environ={"AGENT_MEMORY_DEPTH": "1"})
    assert done.code == 2
    assert not (memory.home / "table").exists()
    assert memory("schedule", "on", "--dry-run", environ={"AGENT_MEMORY_DEPTH": "1"}).code == 0


def test_a_scheduled_run_is_written_down_and_shown(memory: Memory) -> None:
    assert memory("schedule", "on", "--yes").code == 0
    memory("remember", "The backup runs at four")
    assert memory("schedule", "run", "consolidate").code == 0
    status = memory("status")
    assert status.code == 0
    (line,) = [line for line in status.out.splitlines() if line.startswith("schedule")]
    assert line == "schedule  consolidate last just now, succeeded; defrag has not run yet"
    assert len(status.out.splitlines()) <= 8
    jobs = memory("status", "--json").document["schedule"]
    assert [(job["name"], job["intervalSeconds"], job["failures"]) for job in jobs] == [
        ("consolidate", 7_200, 0),
        ("defrag", 86_400, 0),
    ]
    assert jobs[0]["lastRun"]["exitCode"] == 0
    assert jobs[1]["lastRun"] is None
    shown = memory("schedule", "status")
    assert (shown.code, shown.err) == (0, "")
    first, second = shown.out.splitlines()
    assert first.startswith("consolidate every 2 h by cron: last just now, succeeded; next in ")
    assert second.startswith("defrag every 1 day by cron: has not run yet; next ")
    assert memory("schedule", "status", "--json").document == {"jobs": jobs, "problems": []}


def test_one_run_by_hand_foretells_no_next(memory: Memory) -> None:
    memory("schedule", "run", "consolidate")
    assert memory("schedule", "status").out == "consolidate every 2 h: last just now, succeeded\n"


def test_a_failure_is_told_to_the_next_command_once(memory: Memory) -> None:
    memory("schedule", "on", "--yes")
    memory("capture", "--title", "backup", "--body", "It runs at four")
    memory.configure(llm={"command": "there-is-no-such-program"})
    failed = memory("schedule", "run", "consolidate")
    assert failed.code == 40

    assert memory("stats", "--json").err == ""
    assert memory("capture", "--title", "b", "--body", "b").err == ""
    told = memory("stats")
    assert "The scheduled consolidate of " in told.err
    assert "there-is-no-such-program" in told.err
    assert memory("stats").err == ""
    assert state(memory, "notice-session").exists()

    for status in (memory("status"), memory("schedule", "status")):
        assert status.code == 1
        assert "the scheduled consolidate failed: " in status.out + status.err
    memory("schedule", "run", "consolidate")
    assert "(2 times in a row)" in memory("status").out

    memory.configure()
    assert memory("schedule", "run", "consolidate").code == 0
    assert memory("stats").err == ""
    assert not state(memory, "notice-session").exists()
    assert memory("status").code == 0


def test_an_executable_that_is_gone_is_a_problem(memory: Memory) -> None:
    memory("schedule", "on", "--yes")
    receipt = state(memory, "installed.json")
    document = json.loads(receipt.read_bytes())
    document["program"] = "/gone/memory"
    receipt.write_text(json.dumps(document), "utf-8")
    status = memory("status")
    assert status.code == 1
    assert "/gone/memory, which the schedule calls, is gone" in status.out
    assert memory("schedule", "on", "--yes").code == 0
    assert memory("status").code == 0


def test_a_receipt_that_is_damaged_is_never_taken_for_none_p6(memory: Memory) -> None:
    memory("schedule", "on", "--yes")
    state(memory, "installed.json").write_text("{", "utf-8")
    assert memory("schedule", "off", "--yes").code == 20
    assert memory("status").code == 20
    run = memory("schedule", "run", "consolidate")
    assert (run.code, "installed.json cannot be understood" in run.err) == (20, True)


def test_keys_of_this_shell_are_not_written_down_but_named_p20(memory: Memory) -> None:
    memory.configure(llm={"preset": "claude"})
    key = "sk-ant-api03-" + "Ab3" * 30
    done = memory("schedule", "on", "--yes", "--system", "launchd", environ={"ANTHROPIC_API_KEY": key})
    assert "Scheduled runs will not have ANTHROPIC_API_KEY, since" in done.err
    written = [each.read_bytes() for each in memory.home.rglob("*") if each.is_file()]
    assert written
    assert not any(key.encode() in each for each in written)


def test_setup_names_the_schedule_and_uninstall_remembers_it(memory: Memory) -> None:
    parts = ("claude-code", "--yes", "--no-hooks", "--no-skill")
    assert "Next: `memory schedule on`" in memory("setup", *parts).out
    memory("schedule", "on", "--yes")
    assert "schedule on" not in memory("setup", *parts).out
    assert "`memory schedule off` stops that" in memory("uninstall", "--yes").out


def test_setup_names_a_model_that_is_here_until_the_config_chooses_one(memory: Memory) -> None:
    program = memory.home / "bin" / "codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    environ = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    setup = ("setup", "codex", "--yes", "--no-hooks", "--no-skill")
    assert "`memory config set llm.preset codex`" in memory(*setup, environ=environ).out
    assert "llm.preset" not in memory(*setup).out
    assert memory("config", "set", "llm.preset", "codex").code == 0
    assert "llm.preset" not in memory(*setup, environ=environ).out

"""Every way in which a child process can behave badly (P10)."""

from __future__ import annotations

import gc
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from agent_memory.agent.child_process import Finished, run_child
from agent_memory.errors import StoreIo

BEHAVES = Path(__file__).parents[1] / "fixtures" / "agents" / "behaves.py"
MIB = 1024 * 1024


def run(
    mode: str,
    *arguments: str,
    stdin: bytes = b"",
    timeout_seconds: float = 20,
    grace_seconds: float = 0.3,
    max_stdout_bytes: int = 4 * MIB,
) -> Finished:
    return run_child(
        [sys.executable, "-S", str(BEHAVES), mode, *arguments],
        stdin=stdin,
        env={"PATH": os.environ["PATH"]},
        cwd="/",
        timeout_seconds=timeout_seconds,
        grace_seconds=grace_seconds,
        max_stdout_bytes=max_stdout_bytes,
    )


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it went just now, or there is no such file system
        return not Path("/proc/self").exists()


def children() -> set[int]:
    """Processes that were started here and not waited for; other tests may have some."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,comm="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in listed.splitlines()]
    return {int(pid) for pid, parent, name in rows if int(parent) == os.getpid() and name != "ps"}


def is_gone_soon(pid: int) -> bool:
    deadline = time.monotonic() + 30
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_alive(pid)


def open_descriptors() -> list[str]:
    return sorted(os.listdir("/dev/fd"))


def test_a_child_that_ignores_sigterm_is_killed_p10() -> None:
    finished = run("ignore_sigterm", timeout_seconds=0.7)
    assert finished.timed_out
    assert finished.exit_status == -signal.SIGKILL


def test_a_time_out_ends_grandchildren_too_p10() -> None:
    finished = run("grandchild_ignores_sigterm_and_parent_hangs", timeout_seconds=1)
    assert finished.timed_out
    assert is_gone_soon(int(finished.stdout))


def test_a_grandchild_that_holds_the_pipe_is_killed_after_the_grace_p10() -> None:
    finished = run("grandchild_keeps_pipe")
    assert not finished.timed_out
    assert finished.exit_status == 0
    assert is_gone_soon(int(finished.stdout))


def test_what_a_grandchild_says_within_the_grace_is_heard() -> None:
    assert run("late_grandchild_output", grace_seconds=10).stdout == b"from the grandchild\n"


def test_a_grandchild_that_left_the_group_holds_nobody_up() -> None:
    before = open_descriptors()
    finished = run("grandchild_left_the_group")
    pid = int(finished.stdout)
    assert is_alive(pid)
    os.kill(pid, signal.SIGKILL)
    assert open_descriptors() == before


def test_the_last_of_a_stderr_flood_is_kept_p10() -> None:
    finished = run("flood_stderr")
    assert finished.stdout == b"the answer"
    assert len(finished.stderr_tail) == 64 * 1024
    assert finished.stderr_tail.endswith(b"EEEthe end")


def test_endless_output_is_cut_off_and_the_child_ended_p10() -> None:
    finished = run("endless")
    assert finished.stdout_capped
    assert not finished.timed_out
    assert finished.stdout == b"x" * 4 * MIB
    assert finished.exit_status < 0


def test_a_child_that_never_reads_ten_mb_of_stdin_blocks_nobody_p10() -> None:
    finished = run("no_stdin_read", stdin=b"p" * 10 * MIB)
    assert finished.stdout == b"an answer to nothing\n"
    assert not finished.stdin_taken


def test_no_zombie_and_no_descriptor_is_left() -> None:
    before, of_others = open_descriptors(), children()
    for mode in ("endless", "grandchild_keeps_pipe", "killed_halfway", "no_stdin_read"):
        run(mode, stdin=b"p" * MIB)
    run("ignore_sigterm", timeout_seconds=0.2)
    with pytest.raises(StoreIo):
        run_child(["/nowhere/at-all"], stdin=b"", env={}, cwd="/", timeout_seconds=1)
    assert open_descriptors() == before
    assert children() <= of_others


@pytest.mark.parametrize(
    ("argv", "cwd", "errno_name", "path"),
    [
        (["/nowhere/at-all"], "/", "ENOENT", "/nowhere/at-all"),
        (["no-such-command-anywhere"], "/", "ENOENT", "no-such-command-anywhere"),
        (["/"], "/", "EACCES", "/"),
        (["/bin/sh"], "/nowhere", "ENOENT", "/nowhere"),
        (["/bin/sh", "a\0b"], "/", "EINVAL", "/bin/sh"),
        (["/bin/sh", "x" * 10 * MIB], "/", "E2BIG", "/bin/sh"),
    ],
)
def test_a_child_that_cannot_start_raises_the_reason(argv: list[str], cwd: str, errno_name: str, path: str) -> None:
    with pytest.raises(StoreIo) as failed:
        run_child(argv, stdin=b"", env={"PATH": "/usr/bin:/bin"}, cwd=cwd, timeout_seconds=5)
    error = failed.value
    assert (error.path, error.operation, error.errno_name) == (path, "start", errno_name)


def test_running_out_of_descriptors_anywhere_raises_what_went_wrong_and_leaves_none_open_p5() -> None:
    gc.collect()  # what other tests left open is not to go meanwhile
    before = open_descriptors()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    failures = []
    for most in range(3, max(map(int, before)) + 10):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, limits[1]))
        try:
            last: Finished | StoreIo = run_child(["/bin/sh"], stdin=b"", env={}, cwd="/", timeout_seconds=5)
        except StoreIo as error:
            last = error
            failures.append(error)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert {error.errno_name for error in failures} == {"EMFILE"}
    assert isinstance(last, Finished)
    assert open_descriptors() == before


def test_the_child_has_a_session_of_its_own_and_none_of_our_descriptors() -> None:
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    argv = [sys.executable, "-c", f"import os; print(os.getsid(0) == os.getpid()); os.fstat({writer})"]
    finished = run_child(argv, stdin=b"", env={}, cwd="/", timeout_seconds=20)
    os.close(reader)
    os.close(writer)
    assert finished.stdout == b"True\n"
    assert b"Bad file descriptor" in finished.stderr_tail


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_us_ends_the_child_first(number: signal.Signals, tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import signal, sys
        from agent_memory.agent.child_process import run_child
        shell = "echo $$ > {tmp_path}/pid.tmp; mv {tmp_path}/pid.tmp {tmp_path}/pid; sleep 3600 & wait"
        run_child(["/bin/sh", "-c", shell], stdin=b"", env={{"PATH": "/usr/bin:/bin"}}, cwd="/", timeout_seconds=60)
    """)
    us = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE)
    pid_file = tmp_path / "pid"
    while not pid_file.exists():
        assert us.poll() is None
        time.sleep(0.01)
    us.send_signal(number)
    _, errors = us.communicate(timeout=120)
    expected = b"KeyboardInterrupt" if number is signal.SIGINT else b""
    assert expected in errors
    assert us.returncode in (128 + number, -number)
    assert is_gone_soon(int(pid_file.read_text()))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_the_child_is_being_started_ends_it_too(number: signal.Signals, tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import os, subprocess, time
        from agent_memory.agent.child_process import run_child
        start = subprocess.Popen.__init__
        def started(self, *arguments, **named):
            start(self, *arguments, **named)
            os.kill(os.getpid(), {int(number)})
            time.sleep(0.1)
            open({str(tmp_path / "pid")!r}, "w").write(str(self.pid))
        subprocess.Popen.__init__ = started
        run_child(["/bin/sleep", "3600"], stdin=b"", env={{}}, cwd="/", timeout_seconds=60)
    """)
    us = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=120)
    assert (b"KeyboardInterrupt" in us.stderr) is (number is signal.SIGINT)
    assert us.returncode in (128 + number, -number)
    assert is_gone_soon(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_comes_while_a_child_could_not_be_started_is_not_lost(number: signal.Signals) -> None:
    script = textwrap.dedent(f"""
        import os, subprocess
        from agent_memory.agent.child_process import run_child
        def refuse(self, *arguments, **named):
            os.kill(os.getpid(), {int(number)})
            raise FileNotFoundError(2, "No such file", "/nowhere")
        subprocess.Popen.__init__ = refuse
        subprocess.Popen.__del__ = lambda self: None
        run_child(["/nowhere"], stdin=b"", env={{}}, cwd="/", timeout_seconds=60)
        print("went on")
    """)
    us = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=120)
    assert us.stdout == b""
    assert us.returncode in (128 + number, -number)


def test_a_caller_that_ignores_sigchld_gets_its_answer() -> None:
    script = textwrap.dedent("""
        import signal
        from agent_memory.agent.child_process import run_child
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        argv = ["/bin/sh", "-c", "echo fine"]
        print(run_child(argv, stdin=b"", env={}, cwd="/", timeout_seconds=20).stdout)
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=120, check=False)
    assert (done.stdout, done.stderr) == (b"b'fine\\n'\n", b"")


def test_a_time_out_keeps_what_was_said_before_it_p10() -> None:
    finished = run("hang_after_output", timeout_seconds=0.7)
    assert (finished.timed_out, finished.exit_status) == (True, -signal.SIGTERM)
    assert finished.stdout == b"half an answer\n"
    finished = run("no_stdin_read_and_hang", stdin=b"p" * 10 * MIB, timeout_seconds=0.3)
    assert (finished.timed_out, finished.stdin_taken) == (True, False)


def test_exit_status_and_signal_are_told_apart() -> None:
    assert run("exit_with", "3", "out", "err") == Finished(3, b"out", b"err", False, False, True)
    killed = run("killed_halfway")
    assert (killed.exit_status, killed.stdout) == (-signal.SIGKILL, b"half\n")


def test_handlers_of_the_caller_are_left_as_they_were() -> None:
    before = [signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]
    run("nothing")
    assert [signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)] == before

from __future__ import annotations

import errno
import signal
import subprocess
import sys
import threading
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from returns.result import Success

from agent_memory.errors import Busy, StoreIo
from agent_memory.files.locks import Locks, file_lock
from agent_memory.results import as_result

HOLD = """
import sys, time
from pathlib import Path
from agent_memory.files.locks import Locks
with getattr(Locks(Path(sys.argv[1])), sys.argv[2])():
    print("held", flush=True)
    time.sleep(60)
"""


@as_result
def taken(lock: AbstractContextManager[None]) -> None:
    """Whether a lock can be had; it is given back."""
    with lock:
        pass


@pytest.fixture
def locks(root: Path) -> Locks:
    return Locks(root, write_limit_seconds=0)


def test_a_run_keeps_out_another_run_and_no_writer_and_who_writes_may_write_again(locks: Locks) -> None:
    with locks.run():
        assert isinstance(taken(locks.run()).failure(), Busy)
        assert taken(locks.write()) == Success(None)
    assert taken(locks.run()) == Success(None)
    with locks.write():
        assert taken(locks.write()) == Success(None)


def test_another_thread_that_wants_to_write_is_busy_after_the_limit(locks: Locks) -> None:
    seen = []

    def write() -> None:
        seen.append(taken(locks.write()))

    with locks.write():
        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
    write()
    assert isinstance(seen[0].failure(), Busy)
    assert seen[1] == Success(None)


@pytest.mark.parametrize("name", ["run", "write"])
def test_a_lock_dies_with_its_holder_p7(root: Path, name: str) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, root, name], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    with holder:
        assert holder.stdout.readline() == "held\n"
        assert isinstance(taken(getattr(Locks(root, write_limit_seconds=0), name)()).failure(), Busy)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert taken(getattr(Locks(root, write_limit_seconds=0), name)()) == Success(None)


def test_a_root_has_the_same_locks_through_a_link_and_another_root_has_its_own(root: Path) -> None:
    root.mkdir()
    link = root.with_name("link")
    link.symlink_to(root)
    with Locks(root).run():
        assert isinstance(taken(Locks(link).run()).failure(), Busy)
        assert taken(Locks(root.with_name("other")).run()) == Success(None)


def test_a_home_that_cannot_be_written_to_is_a_store_error(tmp_path: Path) -> None:
    error = taken(Locks(tmp_path).run()).failure()  # HOME is the suite's unusable one
    assert isinstance(error, StoreIo)
    assert error.errno_name == "ENOTDIR"


def test_a_disk_that_refuses_a_lock_is_a_store_error_p5(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(descriptor: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    with file_lock(f"{home}/state.lock", 0):
        pass
    monkeypatch.setattr("fcntl.flock", refused)
    with pytest.raises(StoreIo) as unlocked, file_lock(f"{home}/state.lock", 0):
        pass
    for error in (unlocked.value, taken(Locks(home).write()).failure()):
        assert isinstance(error, StoreIo)
        assert (error.operation, error.errno_name) == ("lock", "ENOLCK")

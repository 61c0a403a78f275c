"""No test can touch the real home: HOME is unusable until a test chooses one with the `home` fixture."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from forked_program import MEASURING
from memory_process import Memory

# Time is never what a test is about, and the machine may be busy.
# In continuous integration the same cases every time: a new find must not look like the fault of the change at hand.
settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=bool(os.environ.get("CI"))
)
settings.register_profile("thorough", settings.get_profile("untimed"))
settings.load_profile("untimed")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As a shell starts what is to go on in the background; what we start would inherit it, and Ctrl-C be lost on it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # as nohup starts us

os.fsync = lambda fd: None
"""Waiting for the disk takes most of the time of many tests, and shows none of them anything: those about power cuts watch the
calls. Processes that tests start do wait."""

IN_MEMORY, ROOM_BYTES = "/dev/shm", 4 << 30
if os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > ROOM_BYTES:
    tempfile.tempdir = IN_MEMORY  # git and SQLite wait for the disk, too: a third of what a recorded write takes

NO_HOME = "/dev/null/choose-a-home"
"""Below a character device nothing can be created, not even by root."""

pytest_plugins = ["property_examples"]

_OURS = ("AGENT_MEMORY_", "XDG_", "CLAUDE", "CODEX_", "GIT_")


def pytest_collection_finish() -> None:
    """From here on only forked calls are measured: a process that starts anew takes several times as long where it is."""
    MEASURING.update({name: os.environ.pop(name) for name in list(os.environ) if name.startswith("COVERAGE_")})


@pytest.fixture(autouse=True)
def no_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith(_OURS):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", NO_HOME)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory, with HOME pointing at it."""
    path = tmp_path / "home"
    path.mkdir()
    monkeypatch.setenv("HOME", str(path))
    return path


@pytest.fixture
def root(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A storage root that does not exist yet, with AGENT_MEMORY_ROOT pointing at it."""
    path = home / "memories"
    monkeypatch.setenv("AGENT_MEMORY_ROOT", str(path))
    return path


@pytest.fixture
def memory(home: Path) -> Memory:
    """The command in this home, with git, as it is by default."""
    return Memory(home)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The developers' shared fixtures and corpora; the test is skipped where they are absent."""
    path = Path(__file__).resolve().parents[2] / "shared"
    if not (path / "fixtures").is_dir():
        pytest.skip("the shared fixtures are not here")
    return path

"""A store on file systems that fold names, are full, have no inodes left, or are read-only (P5, P6, P15)."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conservation import broken, violations
from faults import snapshot
from memory_process import Done, Memory
from swept_scenes import HOOKED, busy_home, notes_of
from tidying_homes import DEPLOYS, id_of

pytestmark = pytest.mark.sweep

FOLDING = Path(__file__).parents[1] / "folding_disk.py"
TITLES = (
    "記憶は次の会話のために残される大切なものであり、" * 4,
    "👩‍👩‍👧‍👦🏳️‍🌈👍🏽" * 12,
    unicodedata.normalize("NFC", "Café à la crème brûlée"),
    unicodedata.normalize("NFD", "Café à la crème brûlée"),
    "The Harbour Wall",
    "THE HARBOUR WALL",
    "the harbour wall",
    "Straße und STRASSE",
    "strasse und straße",
    "İstanbul ile ıslak",
)
CHANGES: tuple[tuple[str, ...], ...] = (
    ("remember", "The quay has 7 cranes."),
    ("capture", "--title", "Tides", "--body", "High at 6."),
    ("consolidate",),
    ("defrag",),
    ("pin", id_of(DEPLOYS)),
    ("state", "set", "lamp.level", '"high"'),
    ("undo",),
)
LOOKS: tuple[tuple[str, ...], ...] = (
    ("list",),
    ("read", id_of(DEPLOYS)),
    ("search", "deploys"),
    ("state", "get", "lamp.level"),
    ("log",),
)


@pytest.fixture
def folding(tmp_path: Path) -> Iterator[Path]:
    """A directory whose names fold."""
    if not Path("/dev/fuse").exists() or not shutil.which("fusermount3") or not importlib.util.find_spec("mfusepy"):
        pytest.skip("names are folded over FUSE: that takes /dev/fuse, fusermount3 and the package mfusepy")
    source, place = tmp_path / "source", tmp_path / "folding"
    source.mkdir()
    place.mkdir()
    serving = subprocess.Popen([sys.executable, str(FOLDING), str(source), str(place)])
    for _ in range(100):
        if os.path.ismount(place):
            break
        time.sleep(0.1)
    else:
        serving.kill()
        pytest.skip("FUSE cannot be mounted here")
    yield place
    subprocess.run(["fusermount3", "-uz", str(place)], check=True)
    serving.wait()


@contextmanager
def small_disk(place: Path, options: str) -> Iterator[None]:
    """A disk in memory, of such a size."""
    if not sys.platform.startswith("linux") or os.geteuid():
        pytest.skip("a small disk is mounted: that takes Linux and root")
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_names_that_fold_name_different_notes_p15(folding: Path) -> None:
    assert_folds(folding)
    check_names(Memory(folding / "home"))


def test_long_names_in_all_scripts_name_different_notes(tmp_path: Path) -> None:
    """P15, on the disk at hand"""
    check_names(Memory(tmp_path / "home"))


def check_names(memory: Memory) -> None:
    memory.home.mkdir()
    ids = {
        memory.remembered(f"Note {number} holds WORD_{number}.", "--title", title): number
        for number, title in enumerate(TITLES)
    }
    assert len(ids) == len(TITLES)
    tidying: tuple[tuple[str, ...], ...] = (("consolidate",), ("defrag",), ("generate-agents-md",), ("doctor", "--fix"))
    for words in tidying:
        assert memory(*words).code == 0, words
    for id, number in ids.items():
        assert f"WORD_{number}." in memory("read", id).out
        assert memory("archive", id).code == 0
        assert memory("restore", id).code == 0
        assert memory("edit", id, "--title", TITLES[number].upper()).code == 0
    first_lines = {each["body"].splitlines()[0] for each in memory.notes()}
    assert first_lines == {f"Note {number} holds WORD_{number}." for number in ids.values()}
    assert broken(snapshot(memory.root)) == []
    assert all(len(path.name.encode()) <= 200 for path in (memory.root / "topics").iterdir())
    assert memory("search", "WORD_7", "--json").document["entries"]
    found = memory("doctor", "--json").document["symptoms"]
    assert [each for each in found if each["severity"] == "problem" and each["code"] != "duplicate"] == []


def assert_folds(place: Path) -> None:
    (place / "Café").write_text("1")
    assert (place / unicodedata.normalize("NFD", "CAFÉ")).read_text() == "1"
    (place / "Café").unlink()


@pytest.mark.parametrize("lack", ["bytes", "inodes"])
def test_a_disk_without_room_is_one_error_and_loses_nothing_p5(tmp_path: Path, lack: str) -> None:
    place = tmp_path / "small"
    with small_disk(place, "size=64m,nr_inodes=6000"):
        memory = busy_home(place / "home")
        before, notes = snapshot(memory.root), notes_of(memory)
        fillers = list(filled(place, lack))
        check_whole(memory, [memory(*words, "--json") for words in CHANGES])
        for words in LOOKS:
            assert memory(*words).code == 0, words
        hook(memory)
        assert violations(before, snapshot(memory.root)) == []
        for each in fillers:
            each.unlink()
        assert memory("doctor", "--fix").code in (0, 1)
        assert notes_of(memory) == notes
        for words in CHANGES:
            assert memory(*words).code == 0, words


def filled(place: Path, lack: str) -> Iterator[Path]:
    """Files that take all there is."""
    (place / "filling").mkdir()
    try:
        for number in range(100_000):
            path = place / "filling" / str(number)
            with path.open("wb", buffering=0) as file:
                yield path
                while lack == "bytes" and file.write(bytes(4096)):
                    pass
    except OSError:
        return


def test_a_disk_that_is_read_only_can_be_read_p5_p6(tmp_path: Path) -> None:
    place = tmp_path / "small"
    with small_disk(place, "size=64m"):
        memory = busy_home(place / "home")
        before = snapshot(memory.root)
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        for words in LOOKS:
            assert memory(*words).code == 0, words
        refused = [memory(*words, "--json") for words in CHANGES]
        check_whole(memory, refused)
        assert all(done.code for done in refused)
        hook(memory)
        assert snapshot(memory.root) == before
        subprocess.run(["mount", "-o", "remount,rw", str(place)], check=True)
        for words in CHANGES:
            assert memory(*words).code == 0, words


def check_whole(memory: Memory, answers: list[Done]) -> None:
    for done in answers:
        assert "Traceback" not in done.err, done
        assert done.code in (0, 20, 40, 60, 70), done
        assert done.code == 0 or done.out or '"error"' in done.err, done


def hook(memory: Memory) -> None:
    """A hook is silent whatever happens."""
    data = f'{{"session_id": "{HOOKED}", "cwd": "/", "hook_event_name": "SessionEnd"}}'.encode()
    for command in ("capture", "inject"):
        done = memory(command, "--harness", "claude-code", "--hook", data=data)
        assert (done.code, done.out, done.err) == (0, "", "")

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_memory.adapters.index import look_ahead as ahead
from agent_memory.adapters.index.look_ahead import look_ahead, looked_ahead, shelf_looks
from agent_memory.adapters.index.shelf_state import see_shelves

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="nobody looks ahead elsewhere"),
    # The runner of tests has threads, of which Python 3.12 and newer warn; a program that looks ahead has none yet.
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning"),
]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A store of which every look is worth a process of its own."""
    monkeypatch.setattr(ahead, "_WORTH_A_PROCESS_BYTES", 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    for shelf in ("topics", "archive"):
        (tmp_path / shelf).mkdir()
        (tmp_path / shelf / "note.md").write_text(shelf)
    yield str(tmp_path)
    looked_ahead(str(tmp_path))


class Halving:
    """`marshal` that writes half of it."""

    loads = staticmethod(marshal.loads)

    @staticmethod
    def dumps(value: Any) -> bytes:
        whole = marshal.dumps(value)
        return whole[: len(whole) // 2]


def state_of(root: str) -> bytes:
    seen = see_shelves(root)
    assert seen is not None
    return seen.state


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


def test_what_another_process_sees_is_what_this_one_would_see(root: str) -> None:
    before = descriptors()
    look_ahead(root)
    assert looked_ahead(root) == shelf_looks(root)
    assert descriptors() == before


def test_a_look_answers_one_question_and_the_next_is_about_what_is_there_then(root: str) -> None:
    look_ahead(root)
    first = state_of(root)
    assert first == state_of(root)
    (Path(root) / "topics" / "new.md").write_text("new")
    assert looked_ahead(root) is None
    assert state_of(root) != first


def test_a_large_store_is_told_whole_and_nobody_who_does_not_ask_is_waited_for(root: str) -> None:
    for number in range(10_000):  # more than a pipe holds
        Path(root, "topics", f"{number}.md").touch()
    look_ahead(root)
    assert looked_ahead(root) == shelf_looks(root)
    look_ahead(root)
    process, ears = ahead._begun.pop(root)
    os.close(ears)
    assert os.waitpid(process, 0) == (process, 0)


def test_a_look_of_which_half_is_told_is_none(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "marshal", Halving)
    look_ahead(root)
    assert looked_ahead(root) is None


def test_a_look_that_was_begun_is_not_begun_again(root: str) -> None:
    look_ahead(root)
    before = descriptors()
    look_ahead(root)
    assert descriptors() == before


def test_a_small_store_is_looked_at_when_it_is_needed(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_WORTH_A_PROCESS_BYTES", 1 << 18)
    look_ahead(root)
    assert looked_ahead(root) is None
    assert state_of(root)


def test_one_processor_looks_when_it_is_needed(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    look_ahead(root)
    assert looked_ahead(root) is None


def test_a_store_that_is_not_there_is_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_WORTH_A_PROCESS_BYTES", 0)
    look_ahead(str(tmp_path / "none"))
    assert looked_ahead(str(tmp_path / "none")) in (None, ((0, array("q")), (0, array("q"))))


def test_what_cannot_be_looked_at_is_met_again_by_who_needs_it(root: str) -> None:
    topics = Path(root) / "topics"
    topics.rename(Path(root) / "elsewhere")
    topics.symlink_to("elsewhere")
    look_ahead(root)
    assert looked_ahead(root) is None
    with pytest.raises(OSError, match="topics"):
        shelf_looks(root)


def test_where_no_process_can_be_started_nothing_is_left_open(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    before = descriptors()
    look_ahead(root)
    assert descriptors() == before
    assert looked_ahead(root) is None


def test_nobody_waits_for_a_look_that_hangs(root: str, tmp_path: Path) -> None:
    """As on a disk that does not answer: the program has ended, and its output with it."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    program = (
        "import os, sys\n"
        "from agent_memory.adapters.index import look_ahead as ahead\n"
        "root, gate = sys.argv[1:]\n"
        "ahead._WORTH_A_PROCESS_BYTES = 0\n"
        "os.sched_getaffinity = lambda _: {0, 1}\n"
        "ahead.whole_look = lambda path: open(gate, 'rb').read()\n"
        "ahead.look_ahead(root)\n"
        "print(len(ahead._begun))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, root, gate], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("1\n", "", 0)
    with gate.open("wb"):  # opens only if somebody still reads there: the look goes on, and ends
        pass

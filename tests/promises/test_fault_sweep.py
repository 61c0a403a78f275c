"""P5: whatever disk call fails, is cut short or is a process's last, there is one error value or success, the store is as
before or as after, and nothing is left lying about."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import define, field

from disk_faults import KILL, NONE, SHORT, Fault, calls_of, preloaded_library, struck
from fault_sweep import MOST_SHOWN, Sweep, spread
from memory_process import LIMIT_SECONDS, PROGRAM, Done, Memory
from swept_calls import SCENES
from swept_scenes import FORGOTTEN, Scene, busy_home, notes_of

IN_A_DIRECTORY = frozenset(
    ["linkat", "mkdirat", "newfstatat", "openat", "readlinkat", "renameat", "renameat2", "unlinkat", "utimensat"]
)
"""Their first argument is a directory, and their second a name in it."""
OF_A_NAME = frozenset(["chmod", "link", "mkdir", "readlink", "rename", "rmdir", "unlink"])
OF_A_FILE = frozenset(
    [
        "close", "fchmod", "fcntl", "fdatasync", "flock", "fsync", "ftruncate", "getdents64", "lseek", "pread64",
        "pwrite64", "read", "write",
    ]
)  # fmt: skip
CALLS = IN_A_DIRECTORY | OF_A_NAME | OF_A_FILE
_ALL = f"trace={','.join(sorted(CALLS))}"
"""Also where one is to be struck: who traces fewer makes a process faster, and what it hears of its children comes otherwise."""
_LINE = re.compile(r'(\w+)\((?:(?:AT_FDCWD|\d+)<([^>]*)>(?:, )?)?(?:"([^"]*)")?')
_STRUCK = "(INJECTED)"


@define
class Traced:
    """The calls of one scene; each is struck in a process of its own."""

    _points: list[tuple[str, int]] = field(factory=list)
    """Each call below the home: its name, and the how many-th of that name it is in the process."""
    _has_struck: bool = False

    def calls_of(self, memory: Memory, scene: Scene) -> list[str]:
        """See `Means`."""
        log = memory.home.with_name(f"{memory.home.name}.calls")
        done = _traced(memory, scene, log, _ALL)
        assert done.code in scene.ends, done
        found = list(_calls_below(memory.home, log))
        self._points = [point for point, _ in found]
        return [f"{name} {path}" for (name, _), path in found]

    def can(self, fault: Fault) -> bool:
        """See `Means`. A call fails once, or is the last."""
        return not fault.is_lasting and fault.what != SHORT

    def struck(self, memory: Memory, fault: Fault, scene: Scene) -> Done:
        """See `Means`."""
        log = memory.home.with_name(f"{memory.home.name}.struck")
        if not fault.at:
            return _traced(memory, scene, log, "trace=none")
        name, number = self._points[fault.at - 1]
        what = "signal=KILL" if fault.what == KILL else f"error={fault.what}"
        done = _traced(memory, scene, log, _ALL, f"inject={name}:{what}:when={number}")
        lines = log.read_text(errors="replace").splitlines()
        made = [line for line in lines if line.startswith(f"{name}(")]
        # A process that is killed never returns from the call, and nothing is said of it.
        struck = made[number - 1 :][:1] if fault.what == KILL else [line for line in made if _STRUCK in line]
        self._has_struck = any(_is_below(memory.home, _path(line)) for line in struck)
        return done

    def has_struck(self) -> bool:
        """See `Means`. The k-th call of a kind may be another one this time: one on a pipe, say."""
        return self._has_struck


def _traced(memory: Memory, scene: Scene, log: Path, *expressions: str) -> Done:
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    traced = [strace, "-y", "-qq", "-o", str(log), *(word for each in expressions for word in ("-e", each))]
    finished = subprocess.run(
        [*traced, *PROGRAM, *scene.words],
        input=scene.data(memory.home),
        cwd=memory.home,
        env=memory.environment({"PYTHONHASHSEED": "0", **scene.variables(memory.home)}),
        capture_output=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    return Done(finished.returncode, finished.stdout.decode(), finished.stderr.decode())


def _calls_below(home: Path, log: Path) -> Iterator[tuple[tuple[str, int], str]]:
    counts: Counter[str] = Counter()
    for line in log.read_text(errors="replace").splitlines():
        name = line.partition("(")[0]
        counts[name] += 1
        path = _path(line)
        if name in CALLS and _is_below(home, path):
            yield (name, counts[name]), path.removeprefix(f"{home}/")


def _is_below(home: Path, path: str) -> bool:
    return f"{path}/".startswith(f"{home}/")


def _path(line: str) -> str:
    """What a call is about; names are as strace writes them."""
    found = _LINE.match(line)
    if found is None:
        return ""
    name, opened, said = found[1], found[2] or "", found[3] or ""
    if name in OF_A_FILE or not said:
        return opened
    return said if said.startswith("/") else f"{opened}/{said}"


pytestmark = pytest.mark.faults

SOME = {
    "capture by a hook": 31, "capture": 101, "search at first": 331, "search --sessions at first": 331,
    "inject by a hook": 331, "state set": 151,
    "consolidate": 901,
}  # fmt: skip
"""Every how many-th fault is tried in the normal suite."""

OF_THE_KERNEL = ("capture", "capture by a hook", "read", "consolidate", "defrag", "undo", "generate-agents-md")
"""What is swept by system calls, too, which takes a process of its own each."""

MOST_MISSED = 0.1
"""Of faults that struck another call than the one meant, since the process made more or fewer calls before it."""

LEAST_FAULTS = 12
"""So many are tried of each call, however few disk calls it makes: a sweep that tries nothing holds nothing."""


@pytest.fixture(scope="module")
def kept() -> Iterator[Path]:
    """A home in which much has happened, to be copied beside itself; in memory, where there is such a place."""
    preloaded_library()
    memory_disk = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory_disk if memory_disk.is_dir() else None) as directory:
        home = busy_home(Path(directory) / "home").home
        yield Path(shutil.copytree(home, home.with_name("kept"), symlinks=True))


@pytest.mark.parametrize("name", SOME)
def test_some_disk_calls_that_fail(kept: Path, name: str) -> None:
    sweep = Sweep(kept, kept.with_name("home"), SCENES[name])
    assert sweep.complaints(lambda found: found[7 :: SOME[name]]) == []
    assert sweep.outcomes.total() > 0


@pytest.mark.sweep
@pytest.mark.parametrize("name", SCENES)
def test_any_disk_call_that_fails(
    kept: Path, name: str, every: int, record_property: Callable[[str, object], None]
) -> None:
    sweep = Sweep(kept, kept.with_name("home"), SCENES[name])
    complaints = sweep.complaints(lambda found: spread(found, every, LEAST_FAULTS))
    tried = ", ".join(f"{count} {how}" for how, count in sorted(sweep.outcomes.items()))
    record_property("figure", f"P5 {name}: {sweep.outcomes.total()} faults ({tried}), {len(complaints)} complaints")
    assert not complaints, "\n".join(each[:MOST_SHOWN] for each in complaints)
    assert sweep.outcomes.total() >= LEAST_FAULTS


@pytest.mark.sweep
@pytest.mark.parametrize("name", OF_THE_KERNEL)
def test_any_system_call_that_fails(
    kept: Path, name: str, every: int, record_property: Callable[[str, object], None]
) -> None:
    """P5: whoever makes the call, by the C library or without it."""
    sweep = Sweep(kept, kept.with_name("home"), SCENES[name], Traced())
    complaints = sweep.complaints(lambda found: spread(found, every, LEAST_FAULTS))
    tried = ", ".join(f"{count} {how}" for how, count in sorted(sweep.outcomes.items()))
    record_property(
        "figure", f"P5 {name}, system calls: {sweep.outcomes.total()} faults ({tried}), {len(complaints)} complaints"
    )
    assert not complaints, "\n".join(each[:MOST_SHOWN] for each in complaints)
    assert sweep.outcomes["missed"] <= sweep.outcomes.total() * MOST_MISSED


def test_a_merge_is_not_undone_by_the_journal_of_its_own_transaction_p5(kept: Path) -> None:
    """The journal cannot be removed when everything is in place: it is over, though the merge's own mark goes."""
    sweep = Sweep(kept, kept.with_name("home"), SCENES["sync"])
    calls = calls_of(sweep.fresh(), SCENES["sync"])
    looks = [at for at, call in enumerate(calls, 1) if call == "opendir memories/.transaction"]
    assert looks
    assert sweep.complaints(lambda _: [Fault(at, "EIO") for at in looks]) == []


def test_the_sweep_sees_a_store_that_lost_something(kept: Path) -> None:
    """A call that takes away what it should not: what the sweep looks for is there to be found."""
    forgets = Scene(("forget", "--session", FORGOTTEN, "--yes", "--json"), notes_of)
    (complaint,) = Sweep(kept, kept.with_name("home"), forgets).complaints(lambda found: found[:1])
    assert "is lost" in complaint


def test_a_fault_strikes_the_call_it_is_meant_for(kept: Path) -> None:
    sweep = Sweep(kept, kept.with_name("home"), SCENES["capture"])
    memory = sweep.fresh()
    capture = SCENES["capture"]
    assert struck(memory, Fault(1, KILL), capture).code == -9
    assert struck(memory, Fault(0, NONE), capture).code == 0
    failed = [struck(memory, Fault(at, "EIO"), capture) for at in range(28, 36)]
    assert {done.error["details"]["errnoName"] for done in failed if done.code == 20} == {"EIO"}

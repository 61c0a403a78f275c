"""Processes of `memory` whose disk calls fail, are cut short, or are their last: see `disk_faults.c`.

Everything the process does below its home is counted: by Python, by SQLite, by whatever is loaded. Needs Linux and a C
compiler, and nobody's permission. What it starts (git, an agent command) is left alone.
"""

from __future__ import annotations

import atexit
import errno
from pathlib import Path

from attrs import frozen

from forked_program import ForkingServer
from memory_process import LIMIT_SECONDS, Done, Memory
from preloaded import compiled
from swept_scenes import Scene

SOURCE = Path(__file__).with_name("disk_faults.c")
ERRORS = ("ENOSPC", "EIO", "EACCES", "EROFS", "EMFILE", "EINTR", "EDQUOT")
SHORT, KILL, NONE = "short", "kill", "none"
LASTING = ("ENOSPC", "EROFS", "EDQUOT")
"""What does not go away by itself: whatever would change the disk fails from then on."""


@frozen
class Fault:
    """What becomes of the `at`-th disk call (1 is the first): an errno by name, SHORT, KILL or NONE."""

    at: int
    what: str
    is_lasting: bool = False

    def __str__(self) -> str:
        return f"{self.what}{' for good' if self.is_lasting else ''} at {self.at}"

    def variables(self, home: Path) -> dict[str, str]:
        what = self.what if self.what in (SHORT, KILL) else str(getattr(errno, self.what, 0))
        return {"DISK_FAULT": f"{self.at}:{what}:{self.is_lasting:d}:{home}"}


def preloaded_library() -> Path:
    """The library; the test is skipped where it cannot be compiled."""
    return compiled(SOURCE)


def struck(memory: Memory, fault: Fault, scene: Scene, **environ: str) -> Done:
    """The scene's call of `memory` with that fault in it."""
    if not _servers:
        _servers.append(ForkingServer({"LD_PRELOAD": str(preloaded_library())}))
        atexit.register(_servers[0].stop)
    variables = memory.environment({**fault.variables(memory.home), **scene.variables(memory.home), **environ})
    finished = _servers[0].run(scene.words, scene.data(memory.home), memory.home, variables, LIMIT_SECONDS)
    return Done(finished.returncode, finished.stdout.decode(), finished.stderr.decode())


def calls_of(memory: Memory, scene: Scene) -> list[str]:
    """The disk calls of a scene to which nothing happens, in turn: `name path`, relative to the home."""
    log = memory.home.with_name(f"{memory.home.name}.calls")
    log.unlink(missing_ok=True)
    done = struck(memory, Fault(0, NONE), scene, DISK_CALLS=str(log))
    assert done.code in scene.ends, done
    return log.read_text(errors="replace").replace(f"{memory.home}/", "").splitlines()


_servers: list[ForkingServer] = []

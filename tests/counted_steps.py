"""`memory` as a program that also tells how many steps its interpreter took: the same number whatever else the machine does."""

from __future__ import annotations

import sys
from pathlib import Path

from attrs import field, frozen

_PROGRAM = """#!{python}
import os
import sys

from agent_memory.surfaces import entry

steps = 0


def count(frame, event, argument):
    global steps
    steps += event == "opcode"
    return count


def entered(frame, event, argument):
    frame.f_trace_lines, frame.f_trace_opcodes = False, True
    return count


def end(code, leave=os._exit):
    sys.settrace(None)
    with open({told!r}, "w") as file:
        file.write(str(steps))
    leave(code)


os._exit = end
entry._look_ahead = bool  # in a thread of its own, which nobody counts
sys.settrace(entered)
entry.run()
"""


@frozen
class CountedMemory:
    """Such a program in a directory of its own."""

    directory: Path
    program: Path = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "program", self.directory / "memory")
        self.program.write_text(_PROGRAM.format(python=sys.executable, told=str(self._told)))
        self.program.chmod(0o700)

    @property
    def _told(self) -> Path:
        return self.directory / "steps"

    def steps(self) -> int:
        """Of the call that ended last: instructions of byte code, of ours and of the libraries. What a function in C does in
        one of them is not seen."""
        return int(self._told.read_text())

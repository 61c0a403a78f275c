"""The terminal sessions of a page: `python docs/shown_sessions.py PAGE …` plays them and tells what differs.

A block marked `console` holds commands behind `$ ` (lines that go on behind `> `), each with what it printed. All commands of
a page are one shell's, in a terminal of 100 columns without colours. A shown line `…` stands for any lines, and one that ends in `…` for any line
that begins about so. With `--write`, a page that no longer shows what is printed is written anew, but for such pieces.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Mapping, Sequence
from difflib import unified_diff
from pathlib import Path

from attrs import frozen

PROJECT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_STEP = re.compile(r"^\$ (.*\n(?:> .*\n)*)((?:(?!\$ ).*\n)*)", re.MULTILINE)
_END = "\x1e"
_CUT = 8
"""Characters before `…` at the end of a line that are not compared."""
_PERIOD = "(?:s|min|h|d|w|mo|y|(?:second|minute|hour|day|week|month|year)s?)"
_SHAPES = (
    (r"\n {6,}(?=\S)", " "),  # where a line is wrapped depends on how long ago something was
    (r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z_([a-z]+(?:-[a-z]+)*)_\w{6}", r"TIME_\1_RANDOM"),
    (r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z_[0-9a-f]{6}", "RUN"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "TIME"),
    (r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d)?", "DATE"),
    (rf"just now|yesterday|\d+ {_PERIOD} ago", "AGO"),
    (rf"\bin \d+ {_PERIOD}\b", "SOON"),
    (r"changed (?:today|AGO)", "changed AGO"),  # midnight may come between two commands, as an hour may
    (r"\d+ of (\d+) calls today", r"N of \1 calls today"),
    (r"· [01]\.\d\d$", "· SCORE"),
    (r"id__[1-9A-HJ-NP-Za-km-z]{6}", "ID"),
    (r"[\w/.-]*/tmp\.\w+", "HOME"),
    (r"[\w/.-]+/bin/memory", "memory"),
    (r"\b[0-9a-f]{6,8}\b", "HEX"),
    (r"[\d,]+ characters sent", "N characters sent"),
    (r"[─-]{3,}", "---"),
    (r"[ \t]+", " "),
)


@frozen
class Step:
    """A command as a shell takes it, and what the page shows of its output; `start` and `end` enclose that in the page."""

    command: str
    shown: str
    start: int
    end: int


@frozen
class Played:
    """What a command printed on the terminal, with `\\n` for line ends, and how it exited."""

    printed: str
    exit_code: int


def shown_steps(page: str) -> tuple[Step, ...]:
    """Every command of every console block, in order."""
    return tuple(
        Step(
            step[1].replace("\n> ", "\n").removesuffix("\n"),
            step[2],
            block.start(1) + step.start(2),
            block.start(1) + step.end(2),
        )
        for block in _BLOCK.finditer(page)
        for step in _STEP.finditer(block[1])
    )


def played(steps: Sequence[Step], programs: Path | None = None) -> tuple[Played, ...]:
    """All of them in one shell that begins in the checkout, in a home of its own; that is called `/home/mara` in what is printed.

    Programs in that directory are found before all others.

    AssertionError when the shell ended before the last command did.
    """
    script = "".join(f"{step.command}\nprintf '{_END}%s{_END}' $?\n" for step in steps)
    # Not below $TMPDIR: what is wrapped or cut to the terminal's width depends on how long a path is.
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        for name in ("home/mara", "tmp"):
            (Path(place) / name).mkdir(parents=True)
        printed = _on_a_terminal(["sh", "-c", script], _environment(Path(place), programs)).replace(place, "")
    *pieces, _ = printed.split(_END)
    assert len(pieces) == 2 * len(steps), f"the shell ended early:\n{printed}"
    return tuple(Played(text, int(code)) for text, code in zip(pieces[::2], pieces[1::2], strict=True))


def _environment(place: Path, programs: Path | None) -> Mapping[str, str]:
    first = f"{programs}:" if programs else ""
    return {
        "PATH": f"{first}{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(place / "home" / "mara"),
        "TMPDIR": str(place / "tmp"),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "PAGER": "cat",
        "USER": "mara",
    }


def _on_a_terminal(argv: Sequence[str], environment: Mapping[str, str]) -> str:
    """What it printed on a terminal of 100 columns. Nobody sits there: its standard input is empty."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    with subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, cwd=PROJECT, env=environment, close_fds=True
    ):
        os.close(theirs)
        printed = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    return printed.decode("utf-8").replace("\r\n", "\n")


def _read(descriptor: int) -> bytes:
    """The next bytes; none where the other side of the terminal is closed, which Linux tells by EIO."""
    try:
        return os.read(descriptor, 65_536)
    except OSError:
        return b""


def shape(text: str) -> str:
    """The same for two runs: ids, times, places and random digits are not what is compared, nor the space between columns."""
    for pattern, word in _SHAPES:
        text = re.sub(pattern, word, text, flags=re.MULTILINE)
    return "\n".join(line.strip() for line in text.strip().splitlines())


def is_shown(shown: str, printed: str) -> bool:
    """Whether what the page shows has the shape of what was printed."""
    return re.fullmatch(r"\n".join(map(_line_pattern, shape(shown).split("\n"))), shape(printed)) is not None


def _line_pattern(line: str) -> str:
    if line == "…":
        return r"(?:.*\n)*?.*"
    # A table cuts its last column a little earlier or later, as the age of a note grows.
    return re.escape(line[:-_CUT]) + ".*" if line.endswith("…") else re.escape(line)


def refreshed(page: str, steps: Sequence[Step], results: Sequence[Played]) -> str:
    """The page with what was printed, so that ids agree.

    What it shows in part stays as long as it is right, and what a command prints that fails is not taken.
    """
    for step, result in reversed(list(zip(steps, results, strict=True))):
        is_part = "\n…\n" in f"\n{step.shown}"
        if not result.exit_code and not (is_part and is_shown(step.shown, result.printed)):
            printed = result.printed.strip("\n")
            page = page[: step.start] + (printed + "\n" if printed else "") + page[step.end :]
    return page


def differences(steps: Sequence[Step], results: Sequence[Played]) -> list[str]:
    """One piece of text for each command that failed or printed something else."""
    return [
        f"$ {step.command}\nexit code {result.exit_code}\n"
        + "\n".join(
            unified_diff(
                shape(step.shown).split("\n"), shape(result.printed).split("\n"), "shown", "printed", lineterm=""
            )
        )
        for step, result in zip(steps, results, strict=True)
        if result.exit_code or not is_shown(step.shown, result.printed)
    ]


def main(argv: Sequence[str]) -> int:
    """0 when every page shows what is printed; what differs goes to standard output."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+", type=Path, metavar="PAGE")
    parser.add_argument("--write", action="store_true", help="put what is printed into the page where it differs")
    call = parser.parse_args(argv)
    different = 0
    for page in call.pages:
        text = page.read_text("utf-8")
        steps = shown_steps(text)
        results = played(steps)
        found = differences(steps, results)
        different += len(found)
        print("\n\n".join(found) or f"{page}: {len(steps)} commands print what it shows")
        if call.write and found:
            page.write_text(refreshed(text, steps, results), "utf-8")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

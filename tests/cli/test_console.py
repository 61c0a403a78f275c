"""What a command says: with `--json` one document on stderr where it fails, and on a terminal what long work is at."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent_memory.cli.console import Console
from agent_memory.errors import EntryNotFound, UsageInvalid

PROGRAM = [sys.executable, "-c", "import sys; from agent_memory.cli.entry import main; sys.exit(main())"]
ERASE = "\r\x1b[K"


class Terminal(io.StringIO):
    """A stream that somebody looks at."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "20")


def test_each_report_takes_the_place_of_the_one_before_and_what_is_said_takes_it_away() -> None:
    err = Terminal()
    console = Console(io.StringIO(), err)
    console.progress("one")
    console.progress("two")
    assert err.getvalue() == f"{ERASE}one\r{ERASE}two\r"
    console.err("done")
    console.err("really")
    assert err.getvalue().endswith(f"two\r{ERASE}done\nreally\n")


@pytest.mark.parametrize("act", ["out", "fail"])
def test_results_and_errors_find_a_clean_line(act: str) -> None:
    err = Terminal()
    console = Console(io.StringIO(), err)
    console.progress("one")
    if act == "out":
        console.out("result")
    else:
        console.fail(UsageInvalid("No"))
    assert err.getvalue().startswith(f"{ERASE}one\r{ERASE}")


def test_the_line_is_cut_to_the_terminal_and_controls_nothing() -> None:
    err = Terminal()
    Console(io.StringIO(), err).progress("東京の倉庫" * 9 + "\x1b[31m\n")
    assert err.getvalue() == f"{ERASE}東京の倉庫東京の倉…\r"


def test_a_terminal_that_cannot_erase_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    err = Terminal()
    console = Console(io.StringIO(), err)
    console.progress("one")
    console.err("done")
    assert err.getvalue() == "one\ndone\n"


@pytest.mark.parametrize("as_json", [True, False])
def test_nothing_is_shown_to_a_pipe_or_beside_json(*, as_json: bool) -> None:
    err = Terminal() if as_json else io.StringIO()
    Console(io.StringIO(), err, json=as_json).progress("one")
    assert err.getvalue() == ""


def on_a_terminal(words: list[str], environ: Mapping[str, str]) -> str:
    """What a person sees of stderr, in the order in which it came."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([*PROGRAM, *words], stdout=subprocess.DEVNULL, stderr=theirs, env=environ):
        os.close(theirs)
        seen = b""
        try:
            while data := os.read(ours, 4096):
                seen += data
        except OSError:  # what Linux says at the end
            pass
    os.close(ours)
    return seen.decode()


def test_consolidation_counts_its_sessions_on_the_line(root: Path) -> None:
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    for title in ("One", "Two"):
        subprocess.run(
            [*PROGRAM, "capture", "--title", title, "--body", f"{title} runs at four."], env=environ, check=True
        )
    seen = on_a_terminal(["consolidate"], environ)
    assert "1 of 2: manual" in seen
    assert "2 of 2: manual" in seen
    assert seen.endswith(ERASE)


# -- what is held until the end


def test_a_failure_with_remarks_before_and_after_is_one_document() -> None:
    err = io.StringIO()
    console = Console(io.StringIO(), err, json=True, holds=True)
    console.warn("The config has a key twice.")
    assert console.fail(EntryNotFound("id__a1b2c3")) == 20
    console.warn("The notes are written, but git is not told.")
    assert err.getvalue() == ""
    console.close()
    document = json.loads(err.getvalue())
    assert document["error"]["code"] == "entry-not-found"
    assert document["warnings"] == ["The config has a key twice.", "The notes are written, but git is not told."]


def test_a_failure_alone_has_no_warnings() -> None:
    err = io.StringIO()
    console = Console(io.StringIO(), err, json=True, holds=True)
    console.fail(EntryNotFound("id__a1b2c3"))
    console.close()
    assert list(json.loads(err.getvalue())) == ["error"]


def test_remarks_of_what_went_well_are_lines_and_said_once() -> None:
    err = io.StringIO()
    console = Console(io.StringIO(), err, json=True, holds=True)
    console.warn("one")
    console.warn("two")
    console.close()
    console.close()
    assert err.getvalue() == "memory: one\nmemory: two\n"


def test_without_json_everything_is_said_at_once() -> None:
    err = io.StringIO()
    console = Console(io.StringIO(), err)
    console.warn("one")
    console.fail(EntryNotFound("id__a1b2c3"))
    console.close()
    assert err.getvalue().startswith("memory: one\nmemory: There is no note id__a1b2c3.")

"""How the process of a command ends: see `cli.entry.run`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agent_memory import __version__


def ended(program: str, *words: str, home: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"import sys\nfrom agent_memory.cli.entry import run\n{program}\nrun()", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env={"HOME": str(home)}, check=False)


def test_all_that_was_printed_arrives_and_the_code_with_it(tmp_path: Path) -> None:
    done = ended("", "--version", home=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"agent-memory {__version__}\n")
    refused = ended("", "serch", home=tmp_path)
    assert refused.returncode == 2
    assert "Did you mean `memory search`?" in refused.stderr


def test_what_was_to_be_done_at_the_end_is_done(tmp_path: Path) -> None:
    done = ended("import atexit\natexit.register(print, 'the last word')", "--version", home=tmp_path)
    assert done.stdout == f"agent-memory {__version__}\nthe last word\n"


def test_what_is_still_at_work_is_waited_for(tmp_path: Path) -> None:
    at_work = (
        "from threading import Thread, main_thread\n"
        "def work():\n"
        "    main_thread().join()\n"
        "    print('done', flush=True)\n"
        "Thread(target=work).start()"
    )
    done = ended(at_work, "--version", home=tmp_path)
    assert done.stdout == f"agent-memory {__version__}\ndone\n"
    assert done.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_output_that_takes_nothing_is_told_of_once(tmp_path: Path) -> None:
    program = "import sys\nfrom agent_memory.cli.entry import run\nrun()"
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", program, "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            env={"HOME": str(tmp_path)},
            check=False,
        )
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr

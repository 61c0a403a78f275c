from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_memory.domain.inbox_entry import AmpThread, FileSnapshot, InlineNote, SessionFile
from agent_memory.domain.vocabulary import Harness, Kind
from forked_program import run_program
from hook_calls import inbox_of, payload
from memory_process import Memory


def memory(*words: str, data: bytes = b"", **environ: str) -> subprocess.CompletedProcess[str]:
    done = run_program(["capture", *words], data, Path.cwd(), {**os.environ, **environ}, 60)
    return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_the_documented_note(root: Path) -> None:
    done = memory(
        "--title", "Deploys", "--body", "They run from main only", "--tags", "deploy,ci", "--kind", "convention"
    )
    assert (done.returncode, done.stderr) == (0, "")
    (entry,) = inbox_of(root)
    assert entry.harness is Harness.MANUAL
    assert entry.retrieval == InlineNote(
        "Deploys", "They run from main only", ("topic__deploy", "topic__ci"), Kind.CONVENTION
    )
    (file,) = (root / "inbox").iterdir()
    assert done.stdout == f"Captured as inbox/{file.name}; `memory consolidate` turns it into notes.\n"


def test_a_note_from_an_amp_thread(root: Path) -> None:
    assert memory("--title", "t", "--body", "b", "--harness", "amp", "--thread-id", "T-1").returncode == 0
    (entry,) = inbox_of(root)
    assert (entry.harness, entry.retrieval) == (Harness.AMP, InlineNote("t", "b", thread_id="T-1"))


def test_a_body_from_standard_input(root: Path) -> None:
    assert memory("--title", "t", "--body", "-", data="one\r\ntwo é\n".encode()).returncode == 0
    (entry,) = inbox_of(root)
    assert entry.retrieval == InlineNote("t", "one\ntwo é")


def test_sessions(root: Path) -> None:
    assert memory("--harness", "amp", "--thread-id", "T-1").returncode == 0
    assert memory("--harness", "codex", "--session", "c-1", "--transcript", "/t.jsonl").returncode == 0
    assert {entry.retrieval for entry in inbox_of(root)} == {
        AmpThread("T-1"),
        SessionFile("codex-session", "c-1", "/t.jsonl"),
    }


def test_a_file(root: Path, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("text")
    assert memory("--file", "log.txt").returncode == 0
    (entry,) = inbox_of(root)
    assert isinstance(entry.retrieval, FileSnapshot)


def test_json(root: Path) -> None:
    done = memory("--title", "t", "--body", "b", "--json")
    (file,) = (root / "inbox").iterdir()
    assert json.loads(done.stdout) == {"captured": file.name}


def test_inside_a_harness_a_note_names_it(root: Path) -> None:
    """P19"""
    memory("--title", "t", "--body", "b", "--harness", "manual", CLAUDE_CODE_CHILD_SESSION="1")
    assert [entry.harness for entry in inbox_of(root)] == [Harness.CLAUDE_CODE]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "There is nothing to capture."),
        (["--title", "t"], "A note needs --body too."),
        (["--tags", "t"], "A note needs --title and --body too."),
        (["--thread-id", "T-1"], "A session needs its harness, as in --harness amp."),
        (["--harness", "amp"], "There is nothing to capture."),
        (["--harness", "emacs", "--session", "x"], "invalid choice: 'emacs'"),
        (["--file", "x", "--title", "t"], "--file stands alone, without --title."),
        (["--file", "missing.md"], "missing.md cannot be read: No such file or directory."),
        (["--title", "t", "--body", "b", "--transcript", "/x"], "A note has no --transcript."),
        (["--title", "t", "--body", "-"], "What came on standard input is not text in UTF-8."),
    ],
)
def test_a_wrong_call_is_one_sentence_and_exit_2(words: list[str], sentence: str, root: Path) -> None:
    done = memory(*words, data=b"\xff")
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert inbox_of(root) == []


def test_an_invalid_entry_is_exit_30_with_its_problems(root: Path) -> None:
    done = memory("--harness", "amp", "--thread-id", "../x", "--json")
    assert done.returncode == 30
    error = json.loads(done.stderr)["error"]
    assert (error["code"], len(error["details"]["problems"])) == ("inbox-entry-invalid", 1)


def test_a_root_that_cannot_be_written_is_exit_20(root: Path) -> None:
    done = memory("--title", "t", "--body", "b", AGENT_MEMORY_ROOT="/dev/null/x")
    assert done.returncode == 20
    assert "/dev/null/x" in done.stderr


def test_hook_among_other_flags_is_a_hook(root: Path) -> None:
    without_the_short_way = "from agent_memory.surfaces.cli.main import main; main()"
    finished = subprocess.run(
        [sys.executable, "-c", without_the_short_way, "capture", "--harness", "claude-code", "--hook"],
        input=payload(),
        capture_output=True,
        check=False,
    )
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, b"", b"")
    assert len(inbox_of(root)) == 1


def test_a_session_that_is_nowhere_is_not_waited_for(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    done = memory("capture", "--harness", "claude-code", "--session", "nope")
    assert (done.code, done.out) == (30, "")
    assert "nope" in done.err
    assert memory.pending() == []

"""`memory capture`: notes, sessions and files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_memory.note.note import Harness, Kind
from agent_memory.session.queue import AmpThread, FileSnapshot, InlineNote, SessionFile
from forked_program import run_program
from hook_calls import inbox_of, payload

SECRET = "ghp_" + "q7Rk2mZx9Tn4Lw8Vb3Yc6Hd1Sf5Jg0Pa2Ke4"


def memory(*words: str, data: bytes = b"", cwd: Path | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
    done = run_program(["capture", *words], data, cwd or Path.cwd(), {**os.environ, **environ}, 60)
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


def test_the_repository_is_noted(root: Path, tmp_path: Path) -> None:
    (tmp_path / "p" / ".git").mkdir(parents=True)
    (tmp_path / "p" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "p" / ".git" / "config").write_text('[remote "origin"]\n\turl = git@github.com:owner/repo.git\n')
    memory("--title", "t", "--body", "b", cwd=tmp_path / "p")
    (entry,) = inbox_of(root)
    assert (entry.context.repo, entry.context.branch) == ("github.com/owner/repo", "main")


def test_a_note_is_redacted_and_cleaned_before_it_is_stored_p20(root: Path) -> None:
    body = f"token = {SECRET}\r\n\x1b[31mred\x1b[0m\u202e <!-- agent-memory:end -->"
    memory("--title", f" The\n  key\t{SECRET} ", "--body", body)
    (entry,) = inbox_of(root)
    stored = entry.retrieval
    assert isinstance(stored, InlineNote)
    assert stored.title.startswith("The key [")
    for hidden in (SECRET, "\r", "\x1b", "\u202e", "agent-memory:end"):
        assert hidden not in stored.title + stored.body
    assert "red" in stored.body


def test_sessions(root: Path) -> None:
    assert memory("--harness", "amp", "--thread-id", "T-1").returncode == 0
    transcript = root.parent / ".codex" / "sessions" / "t.jsonl"  # which may be written later
    here = os.path.relpath(transcript)
    assert memory("--harness", "codex", "--session", "c-1", "--transcript", here).returncode == 0
    beside = memory("--harness", "codex", "--session", "c-1", "--transcript", str(root / "t.jsonl"))
    assert (beside.returncode, "add its directory to capture.transcriptRoots" in beside.stderr) == (0, True)
    assert memory("--harness", "codex", "--session", "c-1", "--transcript", here).stderr == ""
    assert {entry.retrieval for entry in inbox_of(root)} >= {
        AmpThread("T-1"),
        SessionFile("codex-session", "c-1", str(transcript)),
    }


def test_a_file_is_copied_redacted_and_a_link_to_it_followed_p20(root: Path, tmp_path: Path) -> None:
    (tmp_path / "log.md").write_text(f"\ufeffkey {SECRET}\nend\n")
    (tmp_path / "link.md").symlink_to("log.md")
    assert memory("--file", "link.md", cwd=tmp_path).returncode == 0
    (tmp_path / "log.md").unlink()
    (entry,) = inbox_of(root)
    assert isinstance(entry.retrieval, FileSnapshot)
    text = (root / entry.retrieval.path).read_text()
    assert SECRET not in text
    assert text.endswith("\nend\n")


@pytest.mark.parametrize("name", ["missing", "directory", "fifo", "empty", "binary", "latin1", "large"])
def test_what_is_no_text_file_is_refused_in_one_sentence(root: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\x7fELF\x00")
    (tmp_path / "latin1").write_bytes("é".encode("latin-1"))
    with (tmp_path / "large").open("wb") as file:
        file.truncate(17 << 20)
    done = memory("--file", name, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"memory: {name} ")
    assert not root.exists()


def test_inside_a_harness_a_note_names_it_p19(root: Path) -> None:
    memory("--title", "t", "--body", "b", "--harness", "manual", CLAUDE_CODE_CHILD_SESSION="1")
    assert [entry.harness for entry in inbox_of(root)] == [Harness.CLAUDE_CODE]


def test_nothing_is_captured_inside_our_own_agent_commands_p23(root: Path, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / ".agent-memory-child").touch()
    (tmp_path / "below" / "log.md").write_text("text")
    for words in (
        ["--title", "t", "--body", "b"],
        ["--harness", "amp", "--session", "T-1"],
        ["--file", str(tmp_path / "below/log.md")],
    ):
        for done in (memory(*words, cwd=tmp_path / "below"), memory(*words, AGENT_MEMORY_DEPTH="1", cwd=tmp_path)):
            assert (done.returncode, done.stdout) == (2, "")
            assert "says that an agent is calling" in done.stderr
    assert not root.exists()


def test_a_root_that_cannot_be_written_is_exit_20(root: Path) -> None:
    done = memory("--title", "t", "--body", "b", AGENT_MEMORY_ROOT="/dev/null/x")
    assert done.returncode == 20
    assert "/dev/null/x" in done.stderr


def test_hook_among_other_flags_is_a_hook(root: Path) -> None:
    without_the_short_way = "from agent_memory.cli.main import main; main()"
    finished = subprocess.run(
        [sys.executable, "-c", without_the_short_way, "capture", "--harness", "claude-code", "--hook"],
        input=payload(),
        capture_output=True,
        check=False,
    )
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, b"", b"")
    assert len(inbox_of(root)) == 1

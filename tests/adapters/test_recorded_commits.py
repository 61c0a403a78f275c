"""What the history says of each write: whose commit, of which paths, in which words (P4)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.git.git_history import GitRecorder
from agent_memory.config import StorageConfig
from agent_memory.errors import Error, PathRefused
from fixtures.secret_samples import base62
from stand_ins.dict_locks import DictLocks


@frozen
class Commit:
    by_person: bool
    paths: tuple[str, ...]
    subject: str
    body: str
    thread_id: str | None


class Bench:
    """A store with a recorder, and what has been recorded in it, oldest first."""

    def __init__(self, root: Path) -> None:
        self.root = root
        environ = {"PATH": os.environ["PATH"], "HOME": str(root.parent)}
        self.recorder = GitRecorder(root, StorageConfig(), environ, DictLocks())

    def write(self, path: str, text: str) -> None:
        whole = self.root / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_text(text)

    def commits(self) -> list[Commit]:
        if not list((self.root / ".git/refs/heads").glob("*")):
            return []
        form = "%H%x00%an%x00%s%x00%(trailers:key=Thread-Id,valueonly,separator=%x2C)%x00%b%x01"
        log = _git(self.root, "log", "--reverse", f"--format={form}")
        return [self._commit(record.lstrip("\n")) for record in log.split("\x01") if record.strip()]

    def _commit(self, record: str) -> Commit:
        hash, author, subject, thread_id, body = record.split("\0")
        names = _git(self.root, "show", "--name-only", "-z", "--no-renames", "--format=", hash)
        paths = tuple(sorted(name for name in names.split("\0") if name and name != ".gitignore"))
        text = body.replace(f"Thread-Id: {thread_id}", "").strip()
        return Commit(author != "agent-memory", paths, subject, text, thread_id or None)


def _git(root: Path, *arguments: str) -> str:
    asked = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=True)
    return asked.stdout.decode()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "store")


def _ok(result: Result[object, Error]) -> None:
    assert isinstance(result, Success), result


def test_a_record_is_one_commit_of_ours_with_its_thread(bench: Bench) -> None:
    bench.write("topics/a.md", "a")
    bench.write("topics/b.md", "b")
    _ok(bench.recorder.record(["topics/a.md"], "consolidate: 1 note", "create a", "T-1"))
    assert bench.commits() == [Commit(False, ("topics/a.md",), "consolidate: 1 note", "create a", "T-1")]


def test_the_same_twice_is_recorded_once(bench: Bench) -> None:
    bench.write("topics/a.md", "a")
    for _ in range(2):
        _ok(bench.recorder.record(["topics/a.md"], "x"))
    assert len(bench.commits()) == 1


def test_nothing_and_what_never_was_make_no_commit(bench: Bench) -> None:
    _ok(bench.recorder.record([], "x"))
    _ok(bench.recorder.record(["topics/never.md"], "x"))
    assert bench.commits() == []


def test_a_file_that_is_gone_is_recorded_as_removed(bench: Bench) -> None:
    bench.write("topics/a.md", "a")
    _ok(bench.recorder.record(["topics/a.md"], "x"))
    (bench.root / "topics/a.md").unlink()
    bench.write("archive/a/1.md", "a")
    _ok(bench.recorder.record(["topics/a.md", "archive/a/1.md", "topics/never.md"], "archive: a"))
    assert bench.commits()[-1].paths == ("archive/a/1.md", "topics/a.md")


@pytest.mark.parametrize(
    "name", ["-rf", "--all", ":(glob)*", "a b", "naïve ☕", "tab\there", "new\nline", "*", "[x]", '"q"', "\\"]
)
def test_p21_every_file_name_is_only_a_name(bench: Bench, name: str) -> None:
    bench.write(f"topics/{name}.md", "a")
    bench.write("topics/other.md", "b")
    bench.write(name, "c")
    _ok(bench.recorder.record([f"topics/{name}.md", name], "x"))
    assert bench.commits()[0].paths == tuple(sorted((f"topics/{name}.md", name)))


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside.md", ".git/hooks/pre-commit", ""])
def test_p21_a_path_that_leaves_the_store_is_refused_and_nothing_is_recorded(bench: Bench, path: str) -> None:
    bench.write("topics/a.md", "a")
    refused = bench.recorder.record(["topics/a.md", path], "x")
    assert isinstance(refused, Failure)
    assert isinstance(refused.failure(), PathRefused)
    assert bench.commits() == []


def test_what_a_person_changed_is_theirs_and_is_counted(bench: Bench) -> None:
    bench.write("topics/a.md", "a")
    _ok(bench.recorder.record(["topics/a.md"], "x"))
    bench.write("topics/a.md", "edited")
    bench.write("topics/new.md", "new")
    assert bench.recorder.adopt_hand_edits() == Success(2)
    assert bench.recorder.adopt_hand_edits() == Success(0)
    last = bench.commits()[-1]
    assert last == Commit(
        True, ("topics/a.md", "topics/new.md"), "hand edits: 2 files", "topics/a.md\ntopics/new.md", None
    )


def test_transient_files_and_bookkeeping_are_nobodys_hand_edits(bench: Bench) -> None:
    for path in (
        "inbox/x.json",
        "runs/r/plan.json",
        ".cache/i",
        "histories/h",
        "topics/.tmp-1",
        "usage/host.jsonl",
        "state/tiers.json",
    ):
        bench.write(path, "x")
    assert bench.recorder.adopt_hand_edits() == Success(0)
    assert bench.commits() == []


def test_bookkeeping_rides_along_with_the_next_record(bench: Bench) -> None:
    bench.write("usage/host.jsonl", "{}")
    bench.write("topics/a.md", "a")
    _ok(bench.recorder.record(["topics/a.md"], "x"))
    assert bench.commits()[0].paths == ("topics/a.md", "usage/host.jsonl")


def test_p20_a_file_that_holds_a_secret_stays_out_and_is_named(bench: Bench) -> None:
    bench.write("topics/secret.md", f"the key is ghp_{base62(36)}")
    bench.write("topics/fine.md", "fine")
    assert bench.recorder.adopt_hand_edits() == Success(1)
    _ok(bench.recorder.record(["topics/secret.md"], "x"))
    assert [commit.paths for commit in bench.commits()] == [("topics/fine.md",)]
    assert [warning for warning in bench.recorder.warnings() if "topics/secret.md" in warning and "secret" in warning]


def test_of_hand_edits_only_the_named_paths_are_adopted(bench: Bench) -> None:
    bench.write("topics/a.md", "a")
    bench.write("topics/b.md", "b")
    assert bench.recorder.adopt_hand_edits(["topics/b.md", "topics/gone.md"]) == Success(1)
    assert bench.commits()[-1].paths == ("topics/b.md",)
    assert bench.recorder.adopt_hand_edits() == Success(1)

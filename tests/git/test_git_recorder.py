"""P4: git is history; whatever is wrong with it or around it, the store's files stay and the user's repositories too."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import pytest
from returns.result import Failure, Success

from agent_memory.config import StorageConfig
from agent_memory.errors import ConfigInvalid, PathRefused, RecorderFailed, StoreIo
from agent_memory.git import git_process
from agent_memory.git.git_history import GitRecorder
from faults import failing_on
from fixtures.secret_samples import base62
from stand_ins.temporary import temporary_locks


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def _environ(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": "/dev/null/nowhere", "USER": "ana", **more}


def _recorder(
    store: Path, config: StorageConfig | None = None, environ: Mapping[str, str] | None = None
) -> GitRecorder:
    return GitRecorder(store, config or StorageConfig(), environ or _environ(), temporary_locks())


def _write(store: Path, path: str, text: str = "text") -> None:
    whole = store / path
    whole.parent.mkdir(parents=True, exist_ok=True)
    whole.write_text(text)


def _git(directory: Path, *arguments: str) -> str:
    environ = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ("-c", "user.name=Ana", "-c", "user.email=ana@acme.io", "-c", "init.defaultBranch=main")
    asked = subprocess.run(
        ["git", *identity, "-C", str(directory), *arguments], env=environ, capture_output=True, check=False
    )
    assert asked.returncode == 0, asked.stderr.decode()
    return asked.stdout.decode()


def _subjects(store: Path) -> list[str]:
    return _git(store, "log", "--format=%s").splitlines()


def _record(store: Path, path: str = "topics/a.md", text: str = "text", recorder: GitRecorder | None = None) -> None:
    _write(store, path, text)
    result = (recorder or _recorder(store)).record([path], f"write {path}")
    assert result == Success(None), result


def _stale(lock: Path) -> Path:
    lock.write_bytes(b"")
    an_hour_ago = time.time() - 3_600
    os.utime(lock, (an_hour_ago, an_hour_ago))
    return lock


# -- whose repository ---------------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository of the user's with one commit, one staged and one changed file."""
    path = tmp_path / "project"
    path.mkdir()
    _git(path, "init", "--quiet")
    for name in ("committed", "changed"):
        _write(path, name)
    _git(path, "add", ".")
    _git(path, "commit", "--quiet", "-m", "theirs")
    _write(path, "changed", "more")
    _write(path, "staged")
    _git(path, "add", "staged")
    return path


def _state_of(project: Path) -> str:
    return _git(project, "status", "--porcelain=v2", "--branch") + _git(project, "log", "--all", "--format=%H %s")


def test_p4_git_variables_of_the_caller_never_reach_our_git(store: Path, project: Path) -> None:
    before = _state_of(project)
    leaked = {
        "GIT_DIR": str(project / ".git"),
        "GIT_WORK_TREE": str(project),
        "GIT_INDEX_FILE": str(project / ".git/index"),
        "GIT_OBJECT_DIRECTORY": str(project / ".git/objects"),
        "GIT_COMMON_DIR": str(project / ".git"),
        "GIT_AUTHOR_NAME": "Mallory",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.worktree",
        "GIT_CONFIG_VALUE_0": str(project),
    }
    recorder = _recorder(store, environ=_environ(**leaked))
    _record(store, recorder=recorder)
    _write(store, "topics/b.md")
    assert recorder.adopt_hand_edits() == Success(1)
    assert _state_of(project) == before
    assert _subjects(store) == ["hand edits: 1 file", "write topics/a.md"]
    assert "Mallory" not in _git(store, "log", "--format=%an %cn")


def test_the_leaked_variables_do_harm_where_nothing_scrubs_them(store: Path, project: Path) -> None:
    """The positive control of the test above."""
    before = _state_of(project)
    store.mkdir()
    _write(store, "topics/a.md")
    leaked = _environ(GIT_DIR=str(project / ".git"), GIT_WORK_TREE=str(store))
    subprocess.run(["git", "add", "-A"], cwd=store, env=leaked, check=True, capture_output=True)
    assert _state_of(project) != before


def test_hooks_templates_signing_and_ignores_of_the_user_do_not_apply(store: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    hook = home / "hooks/pre-commit"
    hook.parent.mkdir(parents=True)
    hook.write_text(f"#!/bin/sh\ntouch {home}/ran\nexit 1\n")
    hook.chmod(0o755)
    (home / ".gitconfig").write_text(
        f"[core]\n hooksPath = {home}/hooks\n excludesFile = {home}/ignore\n autocrlf = true\n"
        f"[init]\n templateDir = {home}\n[commit]\n gpgSign = true\n template = {home}/ignore\n[user]\n useConfigOnly = true\n"
    )
    (home / "ignore").write_text("*.md\n")
    recorder = _recorder(store, environ=_environ(HOME=str(home), XDG_CONFIG_HOME=str(home)))
    _write(store, "topics/a.md", "a\r\nb\n")
    assert recorder.record(["topics/a.md"], "x") == Success(None)
    shutil.copytree(home / "hooks", store / ".git/hooks")
    _record(store, "topics/b.md", recorder=recorder)
    assert not (home / "ran").exists()
    assert _git(store, "cat-file", "blob", "HEAD:topics/a.md") == "a\r\nb\n"


HOOKS = (
    *("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-rewrite", "pre-auto-gc"),
    *("reference-transaction", "post-index-change", "fsmonitor-watchman"),
)


def test_p4_neither_hooks_in_the_store_nor_its_own_settings_apply(store: Path, tmp_path: Path) -> None:
    """A store on a synchronised disk may bring them along."""
    ran, script = tmp_path / "ran", tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
    script.chmod(0o755)
    _record(store)
    (store / ".git/hooks").mkdir(exist_ok=True)
    for name in HOOKS:
        shutil.copy(script, store / ".git/hooks" / name)
    for key, value in (("core.fsmonitor", str(script)), ("core.autocrlf", "true"), ("commit.gpgSign", "true")):
        _git(store, "config", key, value)
    _write(store, "topics/b.md", "a\r\nb\n")
    assert _recorder(store).record(["topics/b.md"], "x") == Success(None)
    _write(store, "topics/c.md", "c\n")
    assert _recorder(store).adopt_hand_edits() == Success(1)
    assert not ran.exists()
    assert _git(store, "cat-file", "blob", "HEAD:topics/b.md") == "a\r\nb\n"
    _git(store, "add", "topics")
    assert ran.exists(), "the control: git by itself runs them"


def test_a_hand_edit_bears_the_name_of_the_persons_global_configuration(store: Path, tmp_path: Path) -> None:
    (tmp_path / ".gitconfig").write_text("[user]\n name = Ana Lima\n email = ana@acme.io\n")
    _write(store, "topics/a.md")
    assert _recorder(store, environ=_environ(HOME=str(tmp_path))).adopt_hand_edits() == Success(1)
    assert _git(store, "log", "--format=%an <%ae> %cn").strip() == "Ana Lima <ana@acme.io> agent-memory"


def test_what_the_person_has_staged_stays_staged(store: Path) -> None:
    _record(store)
    _write(store, "topics/mine.md")
    _git(store, "add", "topics/mine.md")
    _record(store, "topics/b.md")
    assert _git(store, "diff", "--cached", "--name-only").splitlines() == ["topics/mine.md"]
    assert "mine" not in _git(store, "show", "--name-only", "--format=", "HEAD")


def test_p4_what_is_staged_as_gone_or_moved_is_recorded_all_the_same(store: Path) -> None:
    """As a person leaves it, or a commit of ours that failed once its paths were staged."""
    _record(store, "topics/a.md", "a note")
    (store / "archive").mkdir()
    os.rename(store / "topics/a.md", store / "archive/a.md")
    paths = ["topics/a.md", "archive/a.md"]
    _git(store, "add", "--all", "--", "topics", "archive")
    assert _recorder(store).record(paths, "archive: a") == Success(None)
    assert _subjects(store)[0] == "archive: a"
    assert _git(store, "status", "--porcelain") == ""


def test_the_trailer_is_one_that_git_finds(store: Path) -> None:
    _write(store, "topics/a.md")
    hostile = "T-1\nSigned-off-by: x; $(touch /tmp/x)"
    assert _recorder(store).record(["topics/a.md"], "x", "y", hostile) == Success(None)
    trailers = _git(store, "log", "--format=%(trailers)").strip()
    assert trailers == "Thread-Id: T-1_Signed-off-by:_x_touch_/tmp/x_"


def test_the_ignore_file_comes_with_the_first_commit_and_a_persons_own_is_kept(store: Path) -> None:
    _record(store)
    assert ".gitignore" in _git(store, "show", "--name-only", "--format=", "HEAD")
    _write(store, ".gitignore", "*.tmp\n")
    _write(store, "inbox/a.json")
    assert _recorder(store).adopt_hand_edits() == Success(1)
    assert (store / ".gitignore").read_text() == "*.tmp\n"
    assert "inbox" not in _git(store, "ls-files")


def test_a_store_that_is_a_linked_work_tree_is_recorded_there(store: Path, project: Path) -> None:
    _git(project, "worktree", "add", "--quiet", "-b", "memories", str(store))
    _record(store)
    assert _git(project, "log", "--format=%s", "memories").splitlines()[0] == "write topics/a.md"
    assert _git(project, "log", "--format=%s", "main").splitlines() == ["theirs"]


# -- what goes wrong ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("forms", [("NFC", "NFD"), ("NFD", "NFC")])
def test_what_the_disk_spells_otherwise_is_recorded(store: Path, forms: tuple[Literal["NFC", "NFD"], ...]) -> None:
    asked, there = (unicodedata.normalize(form, "topics/é ü.md") for form in forms)
    _write(store, there)
    assert _recorder(store).record([asked], "write") == Success(None)
    assert _git(store, "-c", "core.quotePath=false", "show", "--format=", "--name-only").splitlines() == [
        ".gitignore",
        there,
    ]


def test_a_path_behind_a_link_hinders_no_other(store: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    _write(store, "topics/a.md")
    (store / "shelf").symlink_to(tmp_path / "elsewhere")
    assert _recorder(store).record(["shelf/b.md", "topics/a.md", "topics/gone.md"], "write") == Success(None)
    assert _git(store, "show", "--format=", "--name-only").splitlines() == [".gitignore", "topics/a.md"]


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/main.lock", "next-index-77.lock"])
def test_p4_a_stale_lock_blocks_nothing_and_is_removed(store: Path, name: str) -> None:
    _record(store)
    lock = _stale(store / ".git" / name)
    _record(store, "topics/b.md")
    assert not lock.exists()
    assert len(_subjects(store)) == 2


@pytest.fixture
def living_git(store: Path) -> Iterator[subprocess.Popen[bytes]]:
    _record(store)
    with subprocess.Popen(
        ["git", "cat-file", "--batch"], cwd=store, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"HEAD^{tree}\n")
        process.stdin.flush()
        process.stdout.readline()  # it has started and is at work
        yield process
        process.kill()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc to see which processes run")
def test_a_used_lock_stays(store: Path, living_git: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_process, "_LOCK_WAIT_SECONDS", 0.1)
    lock = _stale(store / ".git/index.lock")
    _write(store, "topics/b.md")
    refused = _recorder(store).record(["topics/b.md"], "x")
    assert isinstance(refused, Failure)
    error = refused.failure()
    assert isinstance(error, RecorderFailed)
    assert "index.lock" in error.stderr_tail
    assert lock.exists()
    living_git.kill()
    living_git.wait()
    _record(store, "topics/c.md")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc to see which processes run")
def test_nor_where_no_process_can_be_looked_at_p6(store: Path, living_git: subprocess.Popen[bytes]) -> None:
    lock = _stale(store / ".git/index.lock")
    _write(store, "topics/b.md")
    with failing_on("/comm", "open", number=errno.EMFILE) as counter:
        refused = _recorder(store).record(["topics/b.md"], "x")
    assert counter.struck
    assert refused == Failure(StoreIo(f"{store}/.git", "unlock", "EMFILE", "Too many open files"))
    assert lock.exists()


def test_where_nobody_can_look_for_the_repository_none_is_begun_p6(store: Path) -> None:
    _write(store, "topics/a.md")
    recorder = _recorder(store)
    with failing_on("store/.git", "lstat", "stat"):
        assert recorder.record(["topics/a.md"], "x") == Failure(
            StoreIo(f"{store}/.git", "look at", "EIO", "Input/output error")
        )
    assert not (store / ".git").exists()


@pytest.mark.parametrize("content", [b"", b"DIRC", b"garbage" * 50])
def test_a_damaged_index_is_made_anew_from_the_history(store: Path, content: bytes) -> None:
    _record(store)
    (store / ".git/index").write_bytes(content)
    _record(store, "topics/b.md")
    assert _subjects(store) == ["write topics/b.md", "write topics/a.md"]
    assert _git(store, "status", "--porcelain") == ""


def test_a_conflict_is_left_to_the_person(store: Path) -> None:
    _record(store)
    _git(store, "checkout", "--quiet", "-b", "other")
    _record(store, text="theirs")
    _git(store, "checkout", "--quiet", "main")
    _record(store, text="ours")
    with pytest.raises(AssertionError):
        _git(store, "merge", "other")
    before = (store / "topics/a.md").read_text()
    assert "<<<<<<<" in before
    assert _recorder(store).adopt_hand_edits() == Success(0)
    assert _git(store, "status", "--porcelain").startswith("AA") or "UU" in _git(store, "status", "--porcelain")
    _write(store, "topics/b.md")
    assert isinstance(_recorder(store).record(["topics/b.md"], "x"), Failure)
    assert (store / "topics/a.md").read_text() == before
    _git(store, "merge", "--abort")
    assert (store / "topics/b.md").exists(), "P8: it was written during the merge"
    assert _recorder(store).adopt_hand_edits() == Success(0)
    assert _subjects(store)[0] == "recorded late: 1 file"


def test_p4_a_lost_object_of_another_note_hinders_no_record(store: Path) -> None:
    _record(store)
    _record(store, "topics/b.md", "another note")
    lost = _git(store, "rev-parse", "HEAD:topics/b.md").strip()
    (store / f".git/objects/{lost[:2]}/{lost[2:]}").unlink()
    _record(store, "topics/c.md", "a third")
    assert _git(store, "show", "--format=", "--name-only").split() == ["topics/c.md"]
    assert _git(store, "show", "HEAD:topics/b.md") == "another note"


DYING = """
import os, subprocess, sys
from pathlib import Path
from agent_memory.config import StorageConfig
from agent_memory.files.locks import Locks
from agent_memory.git.git_history import GitRecorder

communicate = subprocess.Popen.communicate
def die_at_the_commit(process, *told, **more):
    if "commit" in process.args:
        os.kill(os.getpid(), 9)
    return communicate(process, *told, **more)

subprocess.Popen.communicate = die_at_the_commit
store = Path(sys.argv[1])
GitRecorder(store, StorageConfig(), os.environ, Locks(store, {"HOME": sys.argv[2]})).record(
    ["topics/a.md"], "write topics/a.md", thread_id="T-1"
)
"""


def test_p2_a_commit_of_a_killed_process_has_its_whole_message(store: Path, tmp_path: Path) -> None:
    _write(store, "topics/a.md")
    words = [sys.executable, "-c", DYING, str(store), str(tmp_path)]
    assert subprocess.run(words, env=_environ(), check=False).returncode == -9
    for _ in range(100):  # git goes on
        if (store / ".git/refs/heads/main").exists():
            break
        time.sleep(0.05)
    assert _subjects(store) == ["write topics/a.md"]


def test_what_only_looks_changed_makes_no_commit(store: Path) -> None:
    """Staged as it is in HEAD, since git's attributes make the same of both."""
    _write(store, ".gitattributes", "*.md text eol=lf\n")
    _write(store, "topics/a.md", "a\nnote\n")
    assert _recorder(store).record([".gitattributes", "topics/a.md"], "write: a") == Success(None)
    before = _git(store, "rev-parse", "HEAD")
    (store / "topics/a.md").write_bytes(b"a\r\nnote\r\n")
    assert _recorder(store).record(["topics/a.md"], "write: a again") == Success(None)
    assert _git(store, "rev-parse", "HEAD") == before


def test_to_look_for_hand_edits_writes_nothing_p17(store: Path) -> None:
    """Not even how files look by now, where they only look other than git knows them: a settled run changes no byte."""
    _record(store)
    note, index = store / "topics" / "a.md", store / ".git" / "index"
    os.utime(note, (note.stat().st_atime, note.stat().st_mtime - 60))
    before = index.read_bytes(), index.stat().st_mtime_ns
    assert _git(store, "diff-files", "--name-only").split() == ["topics/a.md"]
    assert _recorder(store).adopt_hand_edits() == Success(0)
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before


# -- what is recorded ---------------------------------------------------------------------------------------------------


def _paths(store: Path, commit: str = "HEAD") -> list[str]:
    names = _git(store, "show", "--name-only", "-z", "--no-renames", "--format=", commit).split("\0")
    return sorted(name for name in names if name and name != ".gitignore")


ODD_NAMES = (
    "-rf", "--all", ":(glob)*", "a b", "naïve ☕", "tab\there", "new\nline", "*", "[x]", '"q"', "\\", ":top.md",
)  # fmt: skip


def test_p21_every_file_name_is_only_a_name(store: Path) -> None:
    names = [*ODD_NAMES, *(f"topics/{name}.md" for name in ODD_NAMES)]
    for name in (*names, "topics/other.md"):
        _write(store, name)
    assert _recorder(store).record(names, "x") == Success(None)
    assert _paths(store) == sorted(names)


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside.md", ".git/hooks/pre-commit", ""])
def test_p21_a_path_that_leaves_the_store_is_refused_and_nothing_is_recorded(store: Path, path: str) -> None:
    _write(store, "topics/a.md")
    assert isinstance(_recorder(store).record(["topics/a.md", path], "x").failure(), PathRefused)
    assert not (store / ".git/refs/heads/main").exists()


def test_bookkeeping_is_nobodys_hand_edit_and_rides_along_with_the_next_record(store: Path) -> None:
    for path in ("inbox/x.json", "runs/r/plan.json", ".cache/i", "histories/h", "topics/.tmp-1"):
        _write(store, path)
    for path in ("usage/host.jsonl", "state/tiers.json"):
        _write(store, path)
    assert _recorder(store).adopt_hand_edits() == Success(0)
    _record(store)
    assert _paths(store) == ["state/tiers.json", "topics/a.md", "usage/host.jsonl"]


def test_p20_a_file_that_holds_a_secret_stays_out_and_is_named(store: Path) -> None:
    _write(store, "topics/secret.md", f"the key is ghp_{base62(36)}")
    _write(store, "topics/fine.md", "fine")
    recorder = _recorder(store)
    assert recorder.adopt_hand_edits() == Success(1)
    assert recorder.record(["topics/secret.md"], "x") == Success(None)
    assert len(_subjects(store)) == 1
    assert _paths(store) == ["topics/fine.md"]
    assert [warning for warning in recorder.warnings() if "topics/secret.md" in warning and "secret" in warning]


def test_a_template_that_is_no_commit_is_a_config_error_and_nothing_is_made(store: Path) -> None:
    _write(store, "topics/a.md")
    refused = _recorder(store, StorageConfig(commit_hook="sh -c 'rm -rf /'")).record(["topics/a.md"], "x")
    assert isinstance(refused, Failure)
    assert isinstance(refused.failure(), ConfigInvalid)
    assert not (store / ".git").exists()


def test_a_symbolic_link_is_recorded_as_a_link_and_not_followed(store: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("outside")
    _record(store)
    (store / "topics/link.md").symlink_to(tmp_path / "outside")
    assert _recorder(store).adopt_hand_edits() == Success(1)
    assert _git(store, "ls-tree", "HEAD", "topics/link.md").startswith("120000")


def test_a_repository_inside_the_store_is_not_swallowed(store: Path) -> None:
    _record(store)
    inner = store / "topics/clone"
    inner.mkdir()
    _git(inner, "init", "--quiet")
    _write(inner, "x")
    assert _recorder(store).adopt_hand_edits() == Success(0)


def test_a_pointer_to_a_repository_that_is_gone_is_moved_aside(store: Path) -> None:
    store.mkdir()
    (store / ".git").write_text("gitdir: /nowhere/at/all\n")
    _record(store)
    assert _subjects(store) == ["write topics/a.md"]

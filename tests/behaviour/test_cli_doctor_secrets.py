"""`memory doctor --secrets` as a process (P20)."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest

from fixtures.secret_samples import base62, jwt, password
from memory_process import Memory


@pytest.fixture
def memory(home: Path) -> Memory:
    made = Memory(home)
    made.remembered("The build needs Node 22, since the loader of Node 20 skips the hooks")
    return made


def _committed(memory: Memory, path: str, text: str, message: str = "by hand") -> str:
    """A commit made past all our checks; its name."""
    (memory.root / path).write_text(text)
    git = ["git", "-C", str(memory.root), "-c", "user.name=Ana", "-c", "user.email=ana@example.org"]
    subprocess.run([*git, "add", "--force", "--", path], check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", message, "--", path], check=True)
    return memory.git("rev-parse", "HEAD").strip()


def test_a_store_without_secrets_ends_with_0(memory: Memory) -> None:
    done = memory("doctor", "--secrets")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("No secret found in ")
    assert memory("doctor", "--secrets", "--json").document["secrets"] == []


def test_before_anything_was_stored_there_is_nothing_to_find(home: Path) -> None:
    done = Memory(home)("doctor", "--secrets")
    assert (done.code, done.out) == (0, "No secret found in 0 files and 0 objects of git\n")


def test_p20_a_secret_in_a_file_is_named_by_place_and_kind_and_never_shown(memory: Memory) -> None:
    token = f"ghp_{base62(36)}"
    for path in ("topics/by hand.md", "inbox/.failed/x.json", "runs/r1/reply.txt", "usage/host.jsonl", "state/x.json"):
        (memory.root / path).parent.mkdir(parents=True, exist_ok=True)
        (memory.root / path).write_text(f"it is {token}\n")
    done = memory("doctor", "--secrets", "--json")
    assert (done.code, done.err) == (1, "")
    assert token not in done.out
    assert {each["path"] for each in done.document["secrets"]} == {
        "topics/by hand.md", "inbox/.failed/x.json", "runs/r1/reply.txt", "usage/host.jsonl", "state/x.json",
    }  # fmt: skip
    assert all(each["kinds"] == [{"name": "github-token", "count": 1}] for each in done.document["secrets"])
    assert all(each["commit"] is None and not each["inHistory"] for each in done.document["secrets"])
    shown = memory("doctor", "--secrets")
    assert (shown.code, token in shown.out) == (1, False)
    assert "topics/by hand.md: github-token" in shown.out
    assert "memory forget ID|--session S --purge" in shown.out


def test_p20_a_secret_that_was_removed_from_a_note_is_found_in_the_history(memory: Memory) -> None:
    word, path = password(), "topics/db -- id__a1b2c3.md"
    commit = _committed(memory, path, f'"password": "{word}"\n')
    _committed(memory, path, "it was moved to the vault\n")
    done = memory("doctor", "--secrets", "--json")
    assert done.code == 1
    assert done.document["secrets"] == [
        {"path": path, "commit": commit, "inHistory": True, "kinds": [{"name": "password", "count": 1}]}
    ]
    shown = memory("doctor", "--secrets")
    assert f"git, commit {commit[:10]}, {path}: password\n" in shown.out
    assert "`memory forget id__a1b2c3 --purge`" in shown.out
    assert word not in shown.out + done.out


def test_p20_a_secret_in_a_message_or_in_what_no_commit_reaches_is_found(memory: Memory) -> None:
    first, second = jwt(), f"ghp_{base62(36)}"
    commit = _committed(memory, "topics/a.md", "a\n", f"with {first}")
    blob = subprocess.run(
        ["git", "-C", str(memory.root), "hash-object", "-w", "--stdin"], input=second.encode(), check=True
    )
    assert blob.returncode == 0
    done = memory("doctor", "--secrets", "--json")
    found = {(each["commit"], each["path"], each["kinds"][0]["name"]) for each in done.document["secrets"]}
    assert found == {(commit, None, "jwt"), (None, None, "github-token")}
    assert first not in done.out
    assert second not in done.out


def test_p20_a_secret_in_a_file_name_is_found_and_not_shown(memory: Memory) -> None:
    token = f"ghp_{base62(36)}"
    (memory.root / f"topics/{token}.md").write_text("nothing inside\n")
    done = memory("doctor", "--secrets")
    assert (done.code, token in done.out) == (1, False)
    assert "topics/[redacted:github-token].md: github-token" in done.out


def test_p20_packed_histories_are_read(memory: Memory) -> None:
    (memory.root / "histories").mkdir(exist_ok=True)
    (memory.root / "histories/s.jsonl.gz").write_bytes(gzip.compress(json.dumps({"text": jwt()}).encode()))
    done = memory("doctor", "--secrets")
    assert done.code == 1
    assert "histories/s.jsonl.gz: jwt" in done.out


def test_a_secret_across_the_pieces_in_which_a_file_is_read_is_found(memory: Memory) -> None:
    token = f"ghp_{base62(36)}"
    text = "plain line of a log\n" * 60_000
    at = (1 << 20) - 12
    (memory.root / "runs").mkdir(exist_ok=True)
    (memory.root / "runs/long.txt").write_text(f"{text[:at]} {token}\n{text[at:]}")
    assert "runs/long.txt: github-token" in memory("doctor", "--secrets").out


def test_a_note_that_is_secret_on_purpose_may_hold_one(memory: Memory) -> None:
    head = "---\nid: id__a1b2c3\ntitle: the safe\nsensitivity: {}\n---\n"
    path = memory.root / "topics/the safe -- id__a1b2c3.md"
    path.write_text(head.format("secret") + f"ghp_{base62(36)}\n")
    assert memory("doctor", "--secrets").code == 0
    path.write_text(head.format("private") + f"ghp_{base62(36)}\n")
    assert memory("doctor", "--secrets").code == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_p6_what_cannot_be_read_is_not_taken_for_clean(memory: Memory) -> None:
    path = memory.root / "topics/closed.md"
    path.write_text("closed\n")
    path.chmod(0)
    done = memory("doctor", "--secrets")
    assert done.code == 1
    assert "not looked at: topics/closed.md" in done.err


def test_p6_a_damaged_packed_history_is_not_taken_for_clean(memory: Memory) -> None:
    (memory.root / "histories").mkdir(exist_ok=True)
    (memory.root / "histories/s.gz").write_bytes(gzip.compress(b"x" * 500)[:-20])
    done = memory("doctor", "--secrets")
    assert done.code == 1
    assert "not looked at: histories/s.gz" in done.err


def test_p6_a_repository_that_git_cannot_read_is_not_taken_for_clean(memory: Memory) -> None:
    (memory.root / ".git/HEAD").unlink()
    done = memory("doctor", "--secrets")
    assert done.code == 1
    assert "not looked at: git" in done.err


def test_p20_an_agent_reads_no_secret_that_a_person_wrote_into_a_file(memory: Memory) -> None:
    id = memory.remembered("The staging database is on port 5433.")
    (path,) = (memory.root / "topics").glob(f"*{id}.md")
    with path.open("a", encoding="utf-8") as file:
        file.write("Log in with password: Sunflower88!x\n")
    assert "Sunflower88!x" in memory("read", id).out
    for words in (("read", id), ("read", id, "--json")):
        told = memory(*words, environ={"CODEX_SANDBOX": "1"}).out
        assert "[redacted:password]" in told
        assert "Sunflower88" not in told

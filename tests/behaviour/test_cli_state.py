"""`memory state` as its users call it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from memory_process import Memory

TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA1bC2"


@pytest.fixture
def memory(home: Path) -> Memory:
    return Memory(home)


def test_a_value_comes_back_as_it_was_set(memory: Memory) -> None:
    assert memory("state", "set", "current_phase", "scraping — é").out == "Set current_phase\n"
    assert memory("state", "get", "current_phase").out == "scraping — é\n"
    memory("state", "set", "run/42", '{"step": 3, "done": [true, null]}')
    assert json.loads(memory("state", "get", "run/42").out) == {"step": 3, "done": [True, None]}
    document = memory("state", "get", "run/42", "--json").document
    assert (document["key"], document["value"]["step"]) == ("run/42", 3)
    assert document["updatedAt"] > 1_700_000_000_000


def test_text_is_kept_as_text_where_it_is_asked_for(memory: Memory) -> None:
    memory("state", "set", "version", "42")
    assert memory("state", "get", "version", "--json").document["value"] == 42
    memory("state", "set", "version", "-", "--text", data=b"42")
    assert memory("state", "get", "version", "--json").document["value"] == "42"


def test_the_list_and_what_is_deleted(memory: Memory) -> None:
    assert memory("state", "list", "--json").document == {"state": [], "unreadable": []}
    memory("state", "set", "b", "2")
    memory("state", "set", "a", '"x\\ny"')
    rows = [line.split("\t") for line in memory("state", "list").out.splitlines()]
    assert [(key, value) for key, _, value in rows] == [("a", '"x\\ny"'), ("b", "2")]
    assert memory("state", "delete", "a").out == "Deleted a; git still has its value\n"
    assert [each["key"] for each in memory("state", "list", "--json").document["state"]] == ["b"]
    assert memory.log() == ["agent-memory: state: delete a", "agent-memory: state: set a", "agent-memory: state: set b"]
    assert '"x\\ny"' in memory.git("show", "HEAD~1:state/keys/a.json")


def test_an_agents_change_names_it(memory: Memory) -> None:
    memory("state", "set", "phase", "1", environ={"CODEX_SANDBOX": "1"})
    assert memory.log("%b") == ["- By: codex", ""]


def test_no_secret_is_kept_p20(memory: Memory) -> None:
    assert memory("state", "set", "token", TOKEN).code == 0
    assert "[redacted:" in memory("state", "get", "token").out
    assert TOKEN not in (memory.root / "state/keys/token.json").read_text()
    assert memory.log() == ["agent-memory: state: set token"]


def test_a_damaged_file_is_told_and_the_others_are_listed_p6(memory: Memory) -> None:
    memory("state", "set", "a", "1")
    memory("state", "set", "b", "2")
    (memory.root / "state/keys/a.json").write_text("{")
    listed = memory("state", "list")
    assert (listed.code, listed.out.split("\t")[0]) == (0, "b")
    assert "cannot be understood" in listed.err
    assert memory("state", "get", "a").code == 20


def test_of_many_writers_each_is_recorded_and_the_value_is_whole_p7(memory: Memory) -> None:
    writers = [memory.start("state", "set", "phase", json.dumps([number] * 500)) for number in range(5)]
    codes = [(writer.communicate(timeout=60), writer.returncode)[1] for writer in writers]
    assert codes == [0] * 5
    value = memory("state", "get", "phase", "--json").document["value"]
    assert value in [[number] * 500 for number in range(5)]
    assert len(memory.log()) == 5


def test_p28_what_was_deleted_before_can_still_be_purged_by_a_person(memory: Memory) -> None:
    memory("state", "set", "plan", '"the zebra-merger"')
    memory("state", "delete", "plan")
    assert "zebra-merger" in memory.git("log", "-p")
    refused = memory("state", "delete", "plan", "--purge", environ={"CODEX_SANDBOX": "1"})
    assert (refused.code, "Only you can run" in refused.err) == (2, True)
    assert memory("state", "delete", "plan", "--purge", "--json").document == {"key": "plan", "purged": True}
    assert "zebra-merger" not in memory.git("log", "-p")
    assert memory("state", "delete", "plan", "--purge").code == 20
    assert memory("state", "delete", "../x", "--purge").code == 20
    assert memory("state", "set", "plan", "1", "--purge").code == 2


def test_undo_of_a_run_leaves_state_alone(memory: Memory) -> None:
    memory("state", "set", "phase", "1")
    memory.captured("Deploys", "Deploys run from main only, and never from a branch.")
    assert memory("consolidate").code == 0
    memory("state", "set", "phase", "2")
    assert memory("undo").code == 0
    assert memory("state", "get", "phase").out == "2\n"
    assert (
        subprocess.run(
            ["git", "-C", str(memory.root), "status", "--porcelain", "state/keys"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        == ""
    )

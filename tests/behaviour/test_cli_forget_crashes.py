"""A forgetting that is killed at any of its calls that change the disk is finished by the next command (P2, P28)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.test_cli_forget import OTHER, SECRET_WORD, SESSION, talk
from memory_process import Memory
from tidying_homes import copied, killed
from written_texts import holders

pytestmark = pytest.mark.faults


@pytest.fixture
def template(tmp_path: Path) -> Memory:
    memory = Memory(tmp_path / "template")
    memory.home.mkdir()
    talk(memory, SESSION, f"Remember that the {SECRET_WORD} deploys run from the release branch only.")
    assert memory("consolidate").code == 0
    talk(memory, OTHER, "Remember that ruff runs before every commit in this project.")
    assert memory("consolidate").code == 0
    hot = [each["id"] for each in memory.notes()]
    (memory.root / "state/tiers.json").write_text(json.dumps({"hot": hot, "warm": []}))
    return memory


def test_a_killed_forgetting_is_finished_and_nothing_else_is_lost(template: Memory) -> None:
    words = ("forget", "--session", SESSION, "--purge", "--yes")
    straight = copied(template, "as it should be")
    assert straight(*words).code == 0
    assert holders(straight.root, SECRET_WORD) == []
    commits = len(straight.log())
    for number, crashed in killed(template, *words, first=1, step=26):
        # Somebody writes a note before anybody finishes it.
        kept = crashed.remembered("The pier is 120 m long and has 14 lamps.")
        begun = (crashed.root / "runs/forgetting.json").exists()
        assert crashed("consolidate").code == 0
        assert not begun or holders(crashed.root, SECRET_WORD) == [], number
        again = crashed(*words)
        assert again.code == 0, (number, again)
        assert holders(crashed.root, SECRET_WORD) == [], number
        live = {each["id"] for each in crashed.notes()}
        assert (len(live), kept in live) == (2, True)
        assert {*json.loads((crashed.root / "state/tiers.json").read_text())["hot"]} < live
        assert len(crashed.log()) >= commits
        assert not (crashed.root / "runs/purge").exists()


def test_the_same_call_again_finishes_a_killed_forgetting_of_a_note_p28(template: Memory) -> None:
    id = next(each["id"] for each in template.notes() if SECRET_WORD in each["title"])
    words = ("forget", id, "--yes")
    straight = copied(template, "as it should be")
    assert [straight(*words).code for _ in range(2)] == [0, 20]  # of a note that is gone nothing is left to forget
    begun = 0
    for number, crashed in killed(template, *words, first=1, step=6):
        if (crashed.root / "runs/forgetting.json").exists():
            begun += 1
            again = crashed(*words)
            assert again.code == 0, (number, again)
            assert not (crashed.root / "runs/forgetting.json").exists()
            assert id not in [each["id"] for each in crashed.notes()]
    assert begun > 1

"""A forgetting that is killed at any of its calls that change the disk is finished by the next command (P2, P28)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from behaviour.test_cli_crashes import KILLER
from cli.test_cli_forget import OTHER, SECRET_WORD, SESSION, talk
from memory_process import Memory
from written_texts import holders

pytestmark = pytest.mark.faults

STRIDES = 5


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


def test_a_killed_forgetting_is_finished_and_nothing_else_is_lost(template: Memory, tmp_path: Path) -> None:
    killer = tmp_path / "killer"
    killer.mkdir()
    (killer / "sitecustomize.py").write_text(KILLER)
    environ = {"PYTHONPATH": str(killer), "CALLS": str(tmp_path / "calls")}
    words = ("forget", "--session", SESSION, "--purge", "--yes")

    straight = _copy(template, tmp_path / "straight")
    assert straight(*words, environ={**environ, "KILL_AT": "0"}).code == 0
    assert holders(straight.root, SECRET_WORD) == []
    calls = int((tmp_path / "calls").read_text())
    commits = len(straight.log())
    for number in range(1, calls + 1, max(calls // 3, 1)):
        crashed = _copy(template, tmp_path / f"home{number}")
        assert crashed(*words, environ={**environ, "KILL_AT": str(number)}).code == -9
        # Somebody writes a note before anybody finishes it.
        kept = crashed.remembered("The pier is 120 m long and has 14 lamps.")
        begun = (crashed.root / "runs/forgetting.json").exists()
        assert crashed("consolidate").code == 0
        if begun:
            assert holders(crashed.root, SECRET_WORD) == [], number
        again = crashed(*words)
        assert again.code == 0, (number, again)
        assert holders(crashed.root, SECRET_WORD) == [], number
        assert kept in [each["id"] for each in crashed.notes()]
        tiers = json.loads((crashed.root / "state/tiers.json").read_text())
        assert {*tiers["hot"]} < {each["id"] for each in crashed.notes()}
        assert len(crashed.notes()) == 2
        assert len(crashed.log()) >= commits
        assert not (crashed.root / "runs/purge").exists()
        shutil.rmtree(crashed.home)


def test_the_same_call_again_finishes_a_killed_forgetting_of_a_note_p28(template: Memory, tmp_path: Path) -> None:
    killer = tmp_path / "killer"
    killer.mkdir()
    (killer / "sitecustomize.py").write_text(KILLER)
    environ = {"PYTHONPATH": str(killer), "CALLS": str(tmp_path / "calls")}
    id = next(each["id"] for each in template.notes() if SECRET_WORD in each["title"])
    words = ("forget", id, "--yes")

    straight = _copy(template, tmp_path / "straight")
    assert straight(*words, environ={**environ, "KILL_AT": "0"}).code == 0
    assert straight(*words).code == 20  # the control: of a note that is gone nothing is left to forget
    calls = int((tmp_path / "calls").read_text())
    begun = 0
    for number in range(1, calls + 1, max(calls // STRIDES, 1)):
        crashed = _copy(template, tmp_path / f"home{number}")
        assert crashed(*words, environ={**environ, "KILL_AT": str(number)}).code == -9
        if (crashed.root / "runs/forgetting.json").exists():
            begun += 1
            again = crashed(*words)
            assert again.code == 0, (number, again)
            assert not (crashed.root / "runs/forgetting.json").exists()
            assert id not in [each["id"] for each in crashed.notes()]
        shutil.rmtree(crashed.home)
    assert begun > 1


def _copy(memory: Memory, home: Path) -> Memory:
    shutil.copytree(memory.home, home, symlinks=True)
    return Memory(home)

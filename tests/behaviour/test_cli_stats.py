"""`memory stats` from a shell."""

from __future__ import annotations

import pytest

from memory_process import Memory


def test_a_store_that_is_not_there_has_statistics_and_stays_away(memory: Memory) -> None:
    done = memory("stats", "--json")
    assert (done.code, done.err, done.document["notes"]["live"]) == (0, "", 0)
    assert not memory.root.exists()


def test_what_was_done_is_counted(memory: Memory) -> None:
    id = memory.remembered("The lamp hangs at pier four.", "--kind", "fact")
    memory.remembered("Sign releases on Fridays.", "--kind", "decision")
    gone = memory.remembered("The old lamp is gone.")
    assert memory("archive", gone).code == 0
    memory.captured("backup", "It runs at four")
    assert memory("consolidate").code == 0
    for harness in ("", "1"):
        assert memory("read", id, environ={"CLAUDECODE": harness}).code == 0
    found = memory("stats", "--json", "--days", "7").document
    assert list(found) == ["since", "until", "notes", "reads", "captures", "deliveries", "spend", "runs"]
    assert (found["notes"]["live"], found["notes"]["archived"]) == (3, 1)
    assert found["notes"]["kinds"]["decision"] == 1
    assert found["notes"]["origins"]["user"] == 3
    assert [day["created"] for day in found["notes"]["days"]] == [0, 0, 0, 0, 0, 0, 4]
    assert (found["reads"]["ever"], sum(found["reads"]["harnesses"].values())) == (2, 2)
    assert found["captures"]["harnesses"] == {"manual": 1}
    assert found["runs"]["machines"] == {"consolidate": {"completed": 1}}
    assert sum(found["runs"]["sessions"].values()) == 1
    assert found["spend"]["calls"] == 0


def test_reading_and_counting_change_nothing(memory: Memory) -> None:
    memory.remembered("The lamp hangs at pier four.")
    before = memory.snapshot()
    plain = memory("stats").out.splitlines()
    assert "notes\tlive\t1" in plain
    assert memory("stats", "--json").document["reads"]["ever"] == 0
    assert memory.snapshot() == before


def test_an_edited_note_is_one_note(memory: Memory) -> None:
    """Its earlier versions are in the archive."""
    id = memory.remembered("The lamp hangs at pier four.")
    assert memory("edit", id, "--body", "The lamp hangs at pier five.").code == 0
    found = memory("stats", "--json").document["notes"]
    assert (found["live"], found["archived"], found["days"][-1]["known"]) == (1, 0, 1)


@pytest.mark.parametrize("name", ["runs/spend.json", "state/tiers.json"])
def test_what_is_damaged_is_told(memory: Memory, name: str) -> None:
    """P6: no number is made up for what cannot be read. Without tiers there are all the others."""
    memory.remembered("The lamp hangs at pier four.")
    path = memory.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{broken")
    done = memory("stats")
    assert done.code == (20 if name == "runs/spend.json" else 0)
    assert name in done.err

"""`memory stats` from a shell."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from claude_transcripts import Conversation, calls
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
    assert "notes\t1\tlive" in plain
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


# -- `memory stats --use`: what came of the notes that sessions were told ----------------------------------------------


NOTES = {
    "pnpm": "Use pnpm here, not npm.",
    "ship": "Deploys run by `make ship`, from main only.",
    "retry": "The retry policy lives in `src/net/retry.py`.",
    "mood": "Commit messages are written in the imperative mood.",
    "port": "The staging port is 8081.",
}


def told(memory: Memory, session: str, *said: str, is_kept: bool = True) -> None:
    """A session that is told the notes at its start, and goes on; its person and its agent speak by turns. What stands
    between backticks alone is a command of the agent's."""
    path = memory.home / ".claude/projects/lamp" / f"{session}.jsonl"
    event = {"session_id": session, "transcript_path": str(path), "cwd": str(memory.home), "source": "startup"}
    payload = json.dumps({**event, "hook_event_name": "SessionStart"}).encode()
    hook = memory("inject", "--hook", "--harness", "claude-code", data=payload)
    context: str = hook.document["hookSpecificOutput"]["additionalContext"]
    talk = Conversation(session, time.time_ns() // 1_000_000)
    talk.record("attachment", attachment={"type": "hook_additional_context", "content": [context]})
    for at, text in enumerate(said):
        if text.startswith("`"):
            talk.agent(calls("Bash", f"c{at}", command=text.strip("`")))
            talk.result(f"c{at}", "done")
        else:
            (talk.agent if at % 2 else talk.user)(text)
    if is_kept:
        talk.write(path.parent)


@pytest.fixture
def ids(memory: Memory) -> dict[str, str]:
    return {memory.remembered(text): name for name, text in NOTES.items()}


def outcomes(memory: Memory, ids: dict[str, str]) -> dict[str, str]:
    return {ids[each["id"]]: each["outcome"] for each in memory("stats", "--use", "--json").document["notes"]}


def test_what_came_of_each_note_is_told_and_nothing_is_made_up(memory: Memory, ids: dict[str, str]) -> None:
    assert NOTES["ship"] in memory("inject").out
    assert memory("stats", "--use").out.startswith("No session was told a note from "), "the person looked"
    told(memory, "one", "Release it.", "`git push && make ship`", "Thanks.", "The agent wrote no more.")
    told(memory, "two", "Add a test.", "`npm install vitest`", "No, use pnpm here, not npm.", "`pnpm add vitest`")
    told(memory, "three", "What do you know?", f"I was told: {NOTES['ship']} {NOTES['retry']}")
    told(memory, "four", "Look at src/net/retry.py.", "`cat src/net/retry.py`", "It is 9090, not 8081.", "Noted.")
    told(memory, "five", "Which port?", "It is 8081.", "No, the staging port is 9090, not 8081.", "Noted.")
    told(memory, "gone", "Release it.", "`make ship`", is_kept=False)
    found = memory("stats", "--use", "--json").document
    assert outcomes(memory, ids) == {
        "pnpm": "corrected-again",
        "ship": "acted-on",
        "retry": "unused",
        "mood": "unknown",
        "port": "contradicted",
    }
    assert (found["sessions"], found["unread"], found["gone"]) == (6, 1, 0)
    ship = next(each for each in found["notes"] if ids[each["id"]] == "ship")
    assert {each["sessionId"]: each["outcome"] for each in ship["sessions"]} == {
        "one": "acted-on", **dict.fromkeys(("two", "three", "four", "five"), "unused"), "gone": "unknown"
    }  # fmt: skip
    assert ship["sessions"][0]["events"] == ["start"]
    assert 0 < ship["tokensUsed"] < ship["tokens"]
    words = memory("stats", "--use").out
    assert "Of 5 notes told in 6 sessions: 1 contradicted, 1 corrected again although told, 1 acted on, " in words
    assert "1 of these sessions cannot be read any more." in words
    assert "These numbers are small" in words


def test_what_was_consolidated_is_judged_when_its_transcript_is_gone(memory: Memory, ids: dict[str, str]) -> None:
    told(memory, "one", "Release it.", "`make ship`", "Thanks.", "The agent wrote no more.")
    transcript = memory.home / ".claude/projects/lamp/one.jsonl"
    memory.capture_session("one", transcript)
    assert memory("consolidate").code == 0
    transcript.unlink()
    assert outcomes(memory, ids)["ship"] == "acted-on"
    assert memory("forget", "--session", "one", "--yes").code == 0
    assert outcomes(memory, ids) == {}


def test_a_changed_a_secret_and_an_archived_note_are_not_judged(memory: Memory, ids: dict[str, str]) -> None:
    told(memory, "one", "Release it.", "`make ship`", "Thanks.", "`pnpm install`")
    by_name = {name: id for id, name in ids.items()}
    assert memory("edit", by_name["ship"], "--body", "Deploys run by `make ship` and `make check`.").code == 0
    (path,) = Path(memory.root / "topics").glob(f"*{by_name['retry']}.md")
    path.write_text(path.read_text().replace("---\n", "---\nsensitivity: secret\n", 1))
    assert memory("archive", by_name["port"]).code == 0
    assert outcomes(memory, ids) == {"pnpm": "acted-on", "ship": "unknown", "mood": "unknown"}
    assert memory("stats", "--use", "--json", environ={"CLAUDECODE": "1"}).document["gone"] == 2

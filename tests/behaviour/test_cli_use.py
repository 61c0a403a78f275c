"""`memory stats --use`: what came of the notes that sessions were told."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from claude_transcripts import Conversation, calls
from memory_process import Memory

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
    assert memory("stats", "--use").out.startswith("No session was told a note from ")
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

"""`memory eval`: past sessions tell whether notes come before the person has to correct an agent again."""

from __future__ import annotations

import json
from pathlib import Path

from claude_transcripts import STARTED_MS, Conversation
from faults import snapshot
from memory_process import Memory

DAY_MS = 86_400_000
REDIS = "No, use Redis streams for the mail queue instead of a cron job."
GENERATED = "We never commit generated protobuf files in this repository."


def talk(where: Path, day: int, *corrections: str, opening: str = "Add the retry to the mail worker.") -> str:
    """A session in which the person corrects the agent each time that it has answered."""
    session = f"{day:08d}-1111-4222-8333-444444444444"
    conversation = Conversation(session, STARTED_MS + day * DAY_MS)
    for text in (opening, *corrections):
        conversation.user(text)
        conversation.agent("Done.")
    conversation.write(where)
    return session


def consolidated(memory: Memory) -> None:
    assert memory("backfill").code == 0
    done = memory("consolidate")
    assert done.code == 0, done


def test_a_correction_counts_as_told_where_a_hook_would_have_told_an_earlier_note(memory: Memory) -> None:
    talks = memory.home / ".claude" / "projects" / "lamp"
    talk(talks, 0, REDIS, GENERATED)
    talk(talks, 1)
    consolidated(memory)
    hidden = next(each for each in (memory.root / "topics").iterdir() if "protobuf" in each.read_text())
    assert "origin: user" in hidden.read_text()
    hidden.write_text(hidden.read_text().replace("origin: user", "origin: external"))
    second = talk(talks, 2, REDIS, GENERATED)
    consolidated(memory)
    before = snapshot(memory.root / "topics") | snapshot(memory.root / "runs")
    found = memory("eval", "--json").document
    assert [found[key] for key in ("sessions", "corrections", "nothingKnownYet", "known", "told")] == [3, 4, 2, 2, 1]
    assert [
        (each["sessionId"], each["text"][:9], len(each["told"])) for each in found["found"] if each["matching"]
    ] == [
        (second, "use Redis", 1),
        (second, "We never ", 0),
    ]
    assert found["tokens"][0] == 0 < found["tokens"][2]
    assert snapshot(memory.root / "topics") | snapshot(memory.root / "runs") == before
    said = memory("eval").out
    assert "Recall: 1 of 2 known corrections told, 50%; anything from 9% to 91% is compatible with that." in said
    assert "This is a small number" in said
    assert "NOT TOLD" in said


def test_a_directory_of_transcripts_is_replayed_in_a_store_of_its_own(memory: Memory, tmp_path: Path) -> None:
    talks = tmp_path / "elsewhere"
    talk(talks / "lamp", 0, REDIS)
    talk(talks / "lamp", 1, REDIS)
    copy = talks / "copied under another name.jsonl"
    talk(talks / "lamp", 2, REDIS)
    next((talks / "lamp").glob("00000002*")).rename(copy)
    (talks / "notes.json").write_text("[]")
    before = snapshot(memory.home)
    done = memory("eval", "--transcripts-dir", str(talks), "--json")
    assert (done.code, done.err) == (0, "memory: 1 file could not be read as a session.\n")
    assert [done.document[key] for key in ("sessions", "corrections", "known", "told")] == [3, 3, 2, 2]
    assert snapshot(memory.home) == before
    assert memory("eval", "--transcripts-dir", str(talks / "lamp" / "x"), "--json").error["code"] == "usage"


def test_without_histories_it_says_what_brings_them(memory: Memory) -> None:
    done = memory("eval")
    assert (done.code, done.out) == (0, "")
    assert "`memory backfill`" in done.err


def test_the_held_out_are_compared_with_the_others_and_few_are_called_few(memory: Memory) -> None:
    talks = memory.home / ".claude" / "projects" / "lamp"
    assert "No session with a kept history was held out." in memory("eval", "--hold-out").out
    sessions = [
        talk(talks, day, *((REDIS,) if day % 2 else ()), opening=f"Is the queue {day} full?") for day in range(8)
    ]
    consolidated(memory)
    log = memory.root / "runs" / "deliveries" / "log.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)

    def delivered(held_out: int) -> None:
        lines = [
            {
                "at_ms": at,
                "harness": "claude-code",
                "session": each,
                "event": "start",
                "ids": [],
                "tokens": 0,
                "scope": "",
            }
            | ({"held_out": 1} if at % 8 < held_out else {})
            for at, each in enumerate(sessions)
        ]
        log.write_text("".join(json.dumps(line) + "\n" for line in lines))

    delivered(3)
    found = memory("eval", "--hold-out", "--json").document
    assert (len(found["heldOut"]), len(found["told"])) == (3, 5)
    assert found["verdicts"] == ["Too few sessions to tell: 3 held out, 5 told, 20 of each needed."]
    assert [each["corrections"] for each in found["heldOut"]] == [0, 1, 0]
    assert {each["turns"] for each in found["told"]} == {1, 2}

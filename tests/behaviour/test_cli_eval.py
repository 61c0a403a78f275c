"""`memory eval`: past sessions tell whether notes come before the person has to correct an agent again."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from claude_transcripts import STARTED_MS, Conversation
from faults import snapshot
from memory_process import Memory, on_a_terminal

DAY_MS = 86_400_000
REDIS = "No, use Redis streams for the mail queue instead of a cron job."
GENERATED = "We never commit generated protobuf files in this repository."
SHORT = "No, we use pnpm here, not npm."


def talk(where: Path, day: int, *corrections: str, opening: str = "Add the retry to the mail worker.") -> str:
    """A session in which the person corrects the agent each time that it has answered."""
    session = f"{day:08d}-1111-4222-8333-444444444444"
    conversation = Conversation(session, STARTED_MS + day * DAY_MS)
    conversation.exchange(opening, *corrections, answer="Done.").write(where)
    return session


def consolidated(memory: Memory) -> None:
    assert memory("backfill").code == 0
    done = memory("consolidate")
    assert done.code == 0, done


def test_a_correction_counts_as_told_where_a_hook_would_have_told_an_earlier_note(memory: Memory) -> None:
    talks = memory.home / ".claude" / "projects" / "lamp"
    talk(talks, 0, REDIS, GENERATED, SHORT)
    talk(talks, 1)
    consolidated(memory)
    hidden = next(each for each in (memory.root / "topics").iterdir() if "protobuf" in each.read_text())
    assert "origin: user" in hidden.read_text()
    hidden.write_text(hidden.read_text().replace("origin: user", "origin: external"))
    second = talk(talks, 2, REDIS, GENERATED, SHORT)
    consolidated(memory)
    before = snapshot(memory.root / "topics") | snapshot(memory.root / "runs")
    found = memory("eval", "--json").document
    assert [found[key] for key in ("sessions", "corrections", "nothingKnownYet", "known", "told")] == [3, 6, 3, 3, 2]
    assert [
        (each["sessionId"], each["text"][:9], len(each["told"])) for each in found["found"] if each["matching"]
    ] == [(second, "use Redis", 1), (second, "We never ", 0), (second, "we use pn", 1)]
    assert found["tokens"][0] == 0 < found["tokens"][2]
    assert snapshot(memory.root / "topics") | snapshot(memory.root / "runs") == before
    said = memory("eval").out
    assert "Recall: 2 of 3 known corrections told, 67%; anything from 21% to 94% is compatible with that." in said
    assert "This is a small number: it shows single cases, no tendency." in said
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
    assert (done.code, done.err) == (0, f"memory: 1 file could not be read as a session: {talks / 'notes.json'}.\n")
    assert [done.document[key] for key in ("sessions", "corrections", "known", "told")] == [3, 3, 2, 2]
    assert snapshot(memory.home) == before
    for words in (
        ["--transcripts-dir", str(talks / "x")],
        ["--transcripts-dir", ""],
        ["--yes"],
        ["--hold-out", "--yes"],
    ):
        assert memory("eval", *words, "--json").error["code"] == "usage"


def test_a_session_is_replayed_and_examined_where_memory_recorded_it(memory: Memory) -> None:
    """Its transcript names another directory, as Gemini's names one of its own; and the repository is gone by now."""
    project, talks = memory.work_tree(), memory.home / ".claude" / "projects" / "lamp"
    for day, corrections in enumerate(((REDIS,), (REDIS, GENERATED))):
        session = talk(talks, day, *corrections)
        words = ("--harness", "claude-code", "--session", session, "--transcript", str(talks / f"{session}.jsonl"))
        assert memory("capture", *words, cwd=project).code == 0
    assert memory("consolidate").code == 0
    shutil.rmtree(project)
    found = memory("eval", "--json").document
    assert [found[key] for key in ("sessions", "corrections", "known", "told")] == [2, 3, 1, 1]
    memory.configure(llm={"command": memory.answered(*JUDGE, QUESTION, *ANSWERS)})
    assert memory("eval", "--ask", "1", "--yes").code == 0
    assert "use Redis streams" in memory.prompts()[1]
    memory.configure(projects={"exclude": ["github.com/ada/lamp"]})
    assert memory("eval", "--json").document["sessions"] == 0


def test_without_histories_it_says_what_brings_them(memory: Memory) -> None:
    done = memory("eval")
    assert (done.code, done.out) == (0, "")
    assert "`memory backfill`" in done.err


def test_the_held_out_are_compared_with_the_others_and_few_are_called_few(memory: Memory) -> None:
    talks = memory.home / ".claude" / "projects" / "lamp"
    assert memory("eval", "--hold-out").out.startswith("No session with a kept history was held out."), "no 0.00"
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


QUESTION = {"when": "exam question", "question": "What does the mail queue use?", "answer": "Redis streams"}
ANSWERS = (
    {"when": "Notes from earlier sessions", "answer": "Redis streams"},
    {"when": "start of a session", "answer": "I do not know"},
)
JUDGE = (
    {"when": " first\nRedis", "first": "right", "second": "unknown"},
    {"when": " second\nRedis", "first": "unknown", "second": "right"},
)


def examined(memory: Memory, *replies: Mapping[str, object]) -> None:
    """One session with a note, and an agent that gives these replies from then on."""
    talk(memory.home / ".claude" / "projects" / "lamp", 0, REDIS)
    consolidated(memory)
    memory.configure(llm={"command": memory.answered(*replies), "maxCallsPerDay": 1_000})


def test_asking_says_the_cost_first_and_judges_blind(memory: Memory) -> None:
    talk(memory.home / ".claude" / "projects" / "lamp", 0, REDIS)
    consolidated(memory)
    assert "answers no questions" in memory("eval", "--ask", "--yes").err
    examined(memory, *JUDGE, QUESTION, *ANSWERS)
    refused = memory("eval", "--ask", "3")
    assert (refused.code, "Nothing was sent, because there is no terminal" in refused.err) == (2, True)
    assert refused.out.startswith("1 question: 4 calls of your agent command, about ")
    assert refused.out.endswith(" 1,000 of the 1,000 calls that llm.maxCallsPerDay allows are left today.\n")
    assert on_a_terminal(memory, "eval", "--ask", answer="n").endswith("[y/N] Nothing was sent.\n")
    agent = memory.home / "agent"
    assert not list(agent.glob("prompt-*.txt"))
    before = snapshot(memory.root / "topics")
    orders = set[str]()
    while len(orders) < 2:  # which answer comes first is left to chance
        done = memory("eval", "--ask", "--yes", "--json")
        assert done.document["refused"] == [], done
        (judged,) = done.document["judged"]
        assert (judged["withNotes"], judged["without"]) == ("right", "unknown")
        said = [judged[key] for key in ("expected", "answerWithNotes", "answerWithout", "told")]
        assert said == ["Redis streams", "Redis streams", "I do not know", [memory.notes()[0]["id"]]]
        assert (done.document["calls"], done.document["chars"]) == (4, sum(map(len, memory.prompts()[-4:])))
        judge = (agent / f"prompt-{len(list(agent.glob('prompt-*.txt')))}.txt").read_text()
        orders |= set(re.findall(r" (first|second)\nRedis", judge))
        assert "Notes from" not in judge
        question, *answers, _ = memory.prompts()[-4:]
        assert "\npath:/srv/harbour\n" in question
        assert all("never mention notes" in each for each in answers)
    assert done.document["verdict"].startswith(
        "Right: 1 of 1 with notes, 0 without; partly right: 0 and 0. Better with notes 1, worse 0, alike 0. "
        "Too few differ to show anything. The questions come from these same sessions: "
    )
    assert snapshot(memory.root / "topics") == before
    as_agent = memory("eval", "--ask", "--yes", "--json", environ={"CLAUDECODE": "1", "CLAUDE_CODE_CHILD_SESSION": "1"})
    assert as_agent.error["code"] == "act-refused"


@pytest.mark.parametrize(
    ("replies", "problem"),
    [
        ([{**QUESTION, "note": "remember me"}], "note"),
        ([{**QUESTION, "question": 7}], "question"),
        ([{**QUESTION, "version": 2}], "version"),
        ([{**QUESTION, "nonce": "other"}], "nonce"),
        ([{**QUESTION, "answer": "x" * 2_001}], "2,000"),
        ([{"when": "Two agents", "first": "the one with notes", "second": "wrong"}, QUESTION, *ANSWERS], "first"),
        ([{"when": "Two agents", "first": "right"}, QUESTION, *ANSWERS], "second"),
    ],
)
def test_a_reply_that_is_not_what_was_asked_for_counts_for_nothing(
    memory: Memory, replies: list[Mapping[str, object]], problem: str
) -> None:
    examined(memory, *replies)
    done = memory("eval", "--ask", "--yes", "--json")
    assert (done.code, done.document["judged"]) == (1, [])
    (refused,) = done.document["refused"]
    assert problem in refused
    assert refused.startswith("Question 1 (claude-code 00000000-1111-4222-8333-444444444444): ")
    assert (done.document["calls"], done.document["chars"]) == (len(memory.prompts()), sum(map(len, memory.prompts())))
    assert done.document["verdict"] == "No question was answered and judged: this shows nothing."


def test_a_session_in_which_there_is_nothing_to_ask_is_counted(memory: Memory) -> None:
    examined(memory, {**QUESTION, "question": "", "answer": ""})
    done = memory("eval", "--ask", "--yes")
    assert (done.code, "It found nothing to ask about 1 session." in done.err) == (0, True)


def test_no_question_is_begun_that_the_calls_left_today_cannot_finish(memory: Memory) -> None:
    talk(memory.home / ".claude" / "projects" / "lamp", 1, GENERATED)
    examined(memory, *JUDGE, QUESTION, *ANSWERS)
    memory.configure(llm={"command": memory.answered(*JUDGE, QUESTION, *ANSWERS), "maxCallsPerDay": 7})
    done = memory("eval", "--ask", "--yes")
    assert done.out.startswith("1 question: 4 calls of your agent command, about ")
    assert "7 of the 7 calls that llm.maxCallsPerDay allows are left today." in done.out
    again = memory("eval", "--ask", "--yes")
    assert (again.code, "4 of 7" in again.err, len(memory.prompts())) == (40, True, 4)


def test_what_chance_makes_of_it_is_said_as_a_person_would(memory: Memory) -> None:
    talks = memory.home / ".claude" / "projects" / "lamp"
    for day in range(1, 6):
        talk(talks, day, REDIS)
    examined(memory, *JUDGE, QUESTION, *ANSWERS)
    said = memory("eval", "--ask", "--yes").out.splitlines()[-1]
    assert "By chance alone this would come out as uneven in about 3 of 100 tries: notes help." in said


@pytest.mark.parametrize("command", ["no-such-agent-anywhere", "false", "sleep 60"])
def test_a_command_that_cannot_serve_ends_the_exam_with_the_reason(memory: Memory, command: str) -> None:
    talks = memory.home / ".claude" / "projects" / "lamp"
    talk(talks, 0, REDIS)
    talk(talks, 1, REDIS)
    consolidated(memory)
    memory.configure(llm={"command": command, "timeoutSeconds": 1})
    done = memory("eval", "--ask", "--yes")
    assert (done.code, done.err.count("The rest was not asked.")) == (1, 1)
    assert done.out.splitlines()[1:] == ["No question was answered and judged: this shows nothing."]

"""`memory handoff` as a process."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

from claude_transcripts import Conversation, calls
from memory_process import LIMIT_SECONDS, PROGRAM, Memory

SESSION = "cccccccc-1111-4222-8333-444444444444"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
DAY_MS = 86_400_000


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def conversation(place: Path, *, closed: bool = True, started_ms: int | None = None) -> Conversation:
    """A session that wrote a file, decided something, and was closed or cut off."""
    said = Conversation(SESSION, now_ms() - 60_000 if started_ms is None else started_ms)
    said.user("Please make the harbour lamp blink twice before it turns off.", cwd=str(place))
    said.agent("I will look.", calls("t1", "Edit", file_path=f"{place}/src/lamp.py"), cwd=str(place))
    said.result("t1", "ok", cwd=str(place))
    said.agent("The lamp now blinks twice before it turns off.", cwd=str(place))
    said.user(f"Let's use asyncio instead of threads for the blinker. The token is {TOKEN}", cwd=str(place))
    said.agent("Working on it.", calls("t2", "Edit", file_path=f"{place}/src/blink.py"), cwd=str(place))
    said.result("t2", "ok", cwd=str(place))
    if closed:
        said.agent("The blinker uses asyncio now.", cwd=str(place))
    return said


def held(memory: Memory, said: Conversation) -> None:
    memory.session(SESSION, said.data)


def test_the_newest_session_of_the_place_is_handed_over_and_kept_for_seven_days(memory: Memory) -> None:
    held(memory, conversation(memory.home))
    done = memory("handoff")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[1].startswith(f"Handoff of the Claude Code session {SESSION}")
    assert "Make the harbour lamp blink twice" in done.out or "make the harbour lamp blink twice" in done.out
    assert "The lamp now blinks twice" in done.out
    assert "`src/lamp.py`" in done.out
    assert "asyncio" in done.out.split("Decided:")[1].split("Open:")[0]
    assert done.out.splitlines()[-2].endswith(f"`cd {memory.home} && claude --resume {SESSION}`")
    assert "The last words were" not in done.out

    (note,) = memory.notes()
    assert (note["kind"], note["sources"][0]["threadId"]) == ("handoff", SESSION)
    assert 6 * DAY_MS < note["expiresAt"] - now_ms() <= 7 * DAY_MS
    assert note["body"].startswith("Asked:\n- ")


def test_no_secret_of_the_session_is_given_on_p20(memory: Memory) -> None:
    said = conversation(memory.home, closed=False)
    assert TOKEN.encode() in b"".join(said.lines)  # positive control
    held(memory, said)
    done = memory("handoff", "--json")
    assert "asyncio" in done.document["text"]
    assert TOKEN not in done.out
    assert TOKEN not in memory.notes()[0]["body"]


def test_of_a_session_that_was_cut_off_the_last_words_are_given_on(memory: Memory) -> None:
    held(memory, conversation(memory.home, closed=False))
    document = memory("handoff", "--json", "--no-store").document
    assert [each["role"] for each in document["lastWords"]][-2:] == ["user", "agent"]
    assert document["lastWords"][-1]["text"] == "Working on it."
    assert any("not finished" in each for each in document["open"])
    assert (document["stored"], memory.notes()) == (None, [])

    held(memory, conversation(memory.home, closed=False, started_ms=now_ms() - 8 * DAY_MS))
    old = memory("handoff", "--json").document
    assert old["asked"]
    assert (old["lastWords"], old["stored"]) == ([], None)
    assert "7 days" in old["notStoredBecause"]


def test_the_note_is_brought_up_to_date_in_place_when_the_session_goes_on(recorded: Memory) -> None:
    held(recorded, conversation(recorded.home, closed=False))
    first = recorded("handoff", "--json").document["stored"]
    assert "The last request was not finished" in recorded.notes()[0]["body"]
    assert recorded("handoff", "--json").document["stored"] == first
    commits = len(recorded.log())
    held(recorded, conversation(recorded.home))
    assert recorded("handoff", "--json").document["stored"] == first
    (note,) = recorded.notes()
    assert "The last request was not finished" not in note["body"]
    assert len(recorded.log()) == commits + 1


def test_it_is_worded_for_whoever_takes_over(memory: Memory) -> None:
    held(memory, conversation(memory.home))
    codex = memory("handoff", "--to", "codex", "--no-store").out.splitlines()
    assert codex[1].startswith("You are Codex, and take over from the Claude Code session")
    itself = memory("handoff", "--to", "claude-code", "--no-store").out.splitlines()
    assert itself[1].startswith("You go on with work that an earlier")


def test_a_named_session_needs_no_capture(memory: Memory) -> None:
    path = memory.home / ".claude" / "projects" / "lamp" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(conversation(memory.home).data)
    assert memory("handoff").code == 2  # nothing tells of it
    assert memory("handoff", "--session", SESSION, "--json").document["harness"] == "claude-code"


def on_disk(memory: Memory, said: Conversation) -> None:
    """Writes a session's transcript, of which no hook tells."""
    path = memory.home / ".claude" / "projects" / "lamp" / f"{said.session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(said.data)


@pytest.mark.parametrize("closed", [True, False])
def test_a_session_that_nothing_has_told_of_is_recovered_with_its_last_messages(memory: Memory, closed: bool) -> None:
    said = conversation(memory.home, closed=closed)
    for number in range(60):
        said.user("<system-reminder>internal</system-reminder>", cwd=str(memory.home))
        said.user(f"Blink {number} times.", cwd=str(memory.home))
    said.agent(*(["Done."] if closed else [calls("t3", "Read", file_path="lamp.py")]), cwd=str(memory.home))
    on_disk(memory, said)
    told = memory("recover", "--json").document
    words = [each["text"] for each in told["lastWords"]]
    assert (len(words), words[-1]) == (50, "Done." if closed else "Blink 59 times.")
    assert not any("internal" in each for each in words)
    assert told["resume"] == f"cd {memory.home} && claude --resume {SESSION}"
    assert ("was cut off" in told["text"], told["stored"], memory.pending()) == (not closed, None, [])
    assert memory("recover", cwd=memory.work_tree("elsewhere")).code == 2


def test_a_session_is_recovered_for_seven_days_and_by_an_agent_only_once_it_rests(memory: Memory) -> None:
    agent = {"CODEX_THREAD_ID": "t"}
    for started_ms, codes in (
        (now_ms() - 8 * DAY_MS, (2, 2)),
        (now_ms() - 10_000, (0, 2)),
        (now_ms() - 90_000, (0, 0)),
    ):
        on_disk(memory, conversation(memory.home, started_ms=started_ms))
        assert (memory("recover").code, memory("recover", environ=agent).code) == codes
    copied = conversation(memory.home, started_ms=now_ms() - 8 * DAY_MS)
    copied.session_id = "copied-just-now"
    on_disk(memory, copied)
    assert memory("recover", "--json").document["session"] == SESSION


def test_a_checkpoint_captures_once_and_keeps_a_handoff_where_there_is_something_to_take_up(memory: Memory) -> None:
    on_disk(memory, conversation(memory.home))
    stored = memory("checkpoint", "--json").document["stored"]
    assert memory("checkpoint", "--session", SESSION[:8], "--json").document["stored"] == stored
    assert ([each["id"] for each in memory.notes()], len(memory.pending())) == ([stored], 1)
    small = Conversation("dddddddd-1111-4222-8333-444444444444", now_ms() - 5_000)
    small.user("What does HTTP 418 mean?", cwd=str(memory.home))
    small.agent("I am a teapot.", cwd=str(memory.home))
    on_disk(memory, small)
    assert memory("checkpoint").out.endswith("since what was asked in it was done, and nothing is left to take up.\n")
    assert (len(memory.notes()), len(memory.pending())) == (1, 2)
    asked_for = memory("handoff", "--json").document["stored"]
    assert memory("checkpoint", "--json").document["stored"] == asked_for


TODOS = [{"content": "Draw the view", "status": "in_progress"}, {"content": "Draw the model", "status": "completed"}]


@pytest.mark.parametrize(
    ("asked", "answer", "open_ends"),
    [
        ("Now write the tests for the refund table.", None, ["The last request was not finished: Now write the tests"]),
        ("Build refunds.", calls("t1", "TodoWrite", todos=TODOS), ["Draw the view", "The last request was not finished"]),
        ("Build refunds.", "The rename is half done. Remaining: the docs.", ["The rename is half done", "Remaining: the docs"]),
        ("Add a footer.", "The footer is not finished: it has no links.", ["The footer is not finished"]),
        ("Add a footer.", "Which of the two pages is meant?", ["The agent's last question is unanswered: Which of"]),
        ("Thanks a lot!", None, []),
        ("Add a footer.", "The footer is there, and nothing is missing. Would you like another one?", []),
        ("Add a footer.", "The footer is there. Remaining: nothing.", []),
        ("Hello there.", "Hello! What would you like to work on?", []),
    ],
)  # fmt: skip
def test_how_a_session_ends_says_whether_something_is_left_to_take_up(
    memory: Memory, asked: str, answer: dict[str, object] | str | None, open_ends: list[str]
) -> None:
    said = Conversation(SESSION, now_ms() - 60_000)
    said.user("Add a refund table to the page.", cwd=str(memory.home))
    said.agent("The table is on the page.", cwd=str(memory.home))
    said.user(asked, cwd=str(memory.home))
    if answer is not None:
        said.agent(answer, cwd=str(memory.home))
    on_disk(memory, said)
    assert memory("checkpoint").code == 0
    told = [line for each in memory.notes() for line in each["body"].partition("Open:\n- ")[2].split("\n- ")]
    assert [line[: len(begin)] for line, begin in zip(told, open_ends, strict=True)] == open_ends


def test_what_an_agent_did_is_not_told_as_the_persons_word(memory: Memory) -> None:
    said = Conversation(SESSION, now_ms() - 60_000)
    said.user("The export rounds up to whole cents.", cwd=str(memory.home))
    said.agent("The export rounds up now.", calls("t1", "Edit", file_path="export.py"), cwd=str(memory.home))
    said.result("t1", "ok", cwd=str(memory.home))
    said.user("The importer skips empty rows.", cwd=str(memory.home))
    on_disk(memory, said)
    assert memory("checkpoint").code == 0
    (note,) = memory.notes()
    assert "The importer skips empty rows." in note["body"]
    assert note["origin"] == "agent"


def test_the_hook_at_a_sessions_end_hands_it_over(memory: Memory) -> None:
    on_disk(memory, conversation(memory.home))
    payload = {"session_id": SESSION, "cwd": str(memory.home), "hook_event_name": "Stop"}
    for event, handoffs in (("Stop", 0), ("SessionEnd", 1)):
        call = [*PROGRAM, "capture", "--harness", "claude-code", "--hook"]
        data = json.dumps({**payload, "hook_event_name": event}).encode()
        environ = memory.environment()
        done = subprocess.run(call, input=data, cwd=memory.home, env=environ, capture_output=True, check=True)
        assert (done.stdout, done.stderr) == (b"", b"")
        deadline = time.monotonic() + LIMIT_SECONDS
        while handoffs and not memory.notes() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert [each["kind"] for each in memory.notes()] == ["handoff"] * handoffs


def test_the_beginning_of_an_id_names_a_session(memory: Memory) -> None:
    held(memory, conversation(memory.home))
    assert memory("handoff", "--session", SESSION[:8], "--json").document["session"] == SESSION


def test_what_cannot_be_handed_over_is_one_error(memory: Memory) -> None:
    held(memory, conversation(memory.home))
    assert memory("forget", "--session", SESSION, "--yes").code == 0
    forgotten = memory("handoff", "--session", SESSION, "--harness", "claude-code", "--json")
    assert (forgotten.code, forgotten.error["code"]) == (30, "session-forgotten")
    assert memory.notes() == []


def test_a_session_that_was_handed_over_has_one_handoff_note_however_it_is_written(memory: Memory) -> None:
    held(memory, conversation(memory.home, closed=False))
    kept = memory("handoff", "--json").document["stored"]
    assert memory("consolidate").code == 0
    handoffs = [each["id"] for each in memory.notes() if each["kind"] == "handoff"]
    assert handoffs == [kept]
    assert memory("handoff", "--json").document["stored"] == kept


def test_what_was_handed_over_is_not_learnt_as_the_words_of_the_next_person_p26(memory: Memory) -> None:
    held(memory, conversation(memory.home))
    text = memory("handoff", "--no-store").out
    assert "asyncio instead of threads" in text
    for pasted, learnt in ((text, False), ("Let's use asyncio instead of threads for the blinker.", True)):
        other = Memory(memory.home.parent / f"other-{learnt}")
        other.home.mkdir()
        said = Conversation("dddddddd-1111-4222-8333-444444444444").exchange(pasted)
        other.session(said.session_id, said.data)
        assert other("consolidate").code == 0
        assert any("asyncio" in each["body"] for each in other.notes()) is learnt


def test_a_to_do_list_that_is_kept_item_by_item_tells_what_is_open(memory: Memory) -> None:
    said = Conversation(SESSION, now_ms() - 60_000)

    def made(call: str, id: str) -> None:
        said.result(call, f"Task #{id} created successfully", cwd=str(memory.home), toolUseResult={"task": {"id": id}})

    said.user("Add a refund table to the page.", cwd=str(memory.home))
    items = [("7", "Draw the model"), ("8", "Draw the view"), ("9", "Write the help page"), ("10", "Draw a logo")]
    said.agent(*(calls(f"t{id}", "TaskCreate", subject=item) for id, item in items), cwd=str(memory.home))
    for id, _ in items:
        made(f"t{id}", id)
    for id, change in (("7", "completed"), ("8", "in_progress"), ("10", "deleted")):
        said.agent(calls(f"u{id}", "TaskUpdate", taskId=id, status=change), cwd=str(memory.home))
        said.result(f"u{id}", f"Updated task #{id} status", cwd=str(memory.home))
    said.agent(calls("l", "TaskList"), cwd=str(memory.home))
    said.agent("The model is on the page.", cwd=str(memory.home))
    on_disk(memory, said)
    assert memory("checkpoint").code == 0
    (note,) = memory.notes()
    assert note["body"].partition("Open:\n- ")[2].split("\n- ") == ["Draw the view", "Write the help page"]

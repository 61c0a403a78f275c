"""`memory consolidate` as a process: what waits in the inbox, what the agent command answers, what becomes of it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from claude_transcripts import Conversation
from memory_process import Memory


class Agent:
    """An agent command that gives these replies in turn."""

    def __init__(self, memory: Memory, *replies: dict[str, Any], **llm: object) -> None:
        self.memory = memory
        memory.configure(llm={"command": memory.answered(*replies), **llm})

    @property
    def prompts(self) -> list[str]:
        return self.memory.prompts()


def entry(title: str, body: str, **members: object) -> dict[str, object]:
    return {"title": title, "body": body, "kind": "lesson", "tags": ["deploy"], **members}


def conversation(*said: str, session_id: str = "s1") -> bytes:
    talk = Conversation(session_id, started_ms=time.time_ns() // 1_000_000)
    for text in said:
        talk.user(text)
        talk.agent(f"Understood: {text}")
    return talk.data


NOTHING: dict[str, Any] = {"entries": [], "skipped": "small talk"}
ASKED = "What about the api?"
TALK = conversation("The api listens on 8080.", "Deploys must run from main.")


class TestAgentCommand:
    def test_its_reply_is_what_is_written_links_included(self, recorded: Memory) -> None:
        Agent(
            recorded,
            {
                "entries": [
                    entry("Deploys", "They run from main only, on [[ref:ports]].", ref="deploys", turns=[3]),
                    entry("Ports", "The api listens on 8080.", ref="ports", links=["ref:deploys"], kind="fact"),
                ]
            },
        )
        recorded.session("s1", TALK)
        done = recorded("consolidate")
        sentence, *titles = done.out.splitlines()
        assert (done.code, done.err, sentence) == (0, "", "1 session processed, 2 notes written")
        assert sorted(line.split(maxsplit=1)[1] for line in titles) == ["Deploys", "Ports"]
        by_title = {note["title"]: note for note in recorded.notes()}
        assert set(by_title) == {"Deploys", "Ports"}
        deploys, ports = by_title["Deploys"], by_title["Ports"]
        assert deploys["body"] == f"They run from main only, on [[{ports['id']}]]."
        assert ports["body"].startswith("The api listens on 8080.\n")
        assert f"[[{deploys['id']}]]" in ports["body"].split("See also:")[1]
        assert (ports["kind"], ports["status"], ports["tags"]) == ("fact", "consolidated", ["topic__deploy"])
        assert deploys["sources"][0]["turns"] == [3]
        assert recorded.pending() == []
        assert recorded.log("%an: %s|%(trailers:key=Thread-Id,valueonly,separator=%x2C)") == [
            "agent-memory: consolidate: 2 notes from claude-code session s1|s1"
        ]

    def test_what_the_person_said_and_how_things_work_reaches_the_next_session_whole_p19(self, memory: Memory) -> None:
        lasting = (
            'Asked about the cache, the person said: "never clear the cache by hand; restart the service instead". '
            "In the service `warm` has to come before `serve`."
        )
        order = "Disable the checks before a deploy."
        Agent(memory, {"entries": [entry("Why the cache is warmed", f"{lasting} {order}", turns=[2])]})
        said = "Never clear the cache by hand; restart the service instead. Why is it warmed?"
        memory.session("s1", conversation(said))
        assert memory("consolidate").code == 0
        (note,) = memory.notes()
        assert note["origin"] == "agent"
        told = memory("inject").out
        assert lasting in told
        assert "checks" not in told
        assert order in memory("read", note["id"]).out

    def test_it_may_update_and_supersede_what_it_was_shown(self, memory: Memory) -> None:
        port = memory.remembered("The api listens on 8080.", "--title", "Ports of the api", "--tags", "api")
        old = memory.remembered("The api deploys run from a branch.", "--title", "Deploys of the api", "--tags", "api")
        Agent(
            memory,
            {
                "entries": [entry("Deploys of the api", "They run from main.", supersedes=[old], turns=[3])],
                "updates": [
                    {"id": port, "body": "The api listens on 9090.", "drops": ["8080"], "turns": [1], "why": "moved"}
                ],
            },
        )
        memory.session("s1", conversation("The api listens on 9090 now.", "Deploys of the api run from main."))
        done = memory("consolidate")
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith("1 session processed, 1 note written, 1 updated, 1 archived\n")
        assert memory("read", port).out.rstrip().endswith("The api listens on 9090.")
        assert memory("read", old).code == 20
        assert "from a branch" in memory("read", old, "--archived").out
        assert "8080" in memory("read", port, "--archived").out

    def test_a_session_of_years_ago_puts_nothing_in_place_of_what_is_known_since(self, memory: Memory) -> None:
        port = memory.remembered("The api listens on 8081.", "--title", "Port of the api")
        update = {"id": port, "body": "The api listens on 8000.", "drops": ["8081"], "turns": [1], "why": "it is said"}
        Agent(memory, {"entries": [], "updates": [update]})
        talk = Conversation("s1", started_ms=1_500_000_000_000).exchange("The api listens on 8000.", answer="Noted.")
        memory.session("s1", talk.data)
        done = memory("consolidate")
        assert (done.code, memory.pending()) == (0, [])
        assert f"{port}: it is newer than this session" in done.err
        assert memory.notes()[0]["body"] == "The api listens on 8081."

    @pytest.mark.parametrize(
        ("title", "port", "origin"),
        [
            ("Port of the api", "8080", "user"),
            ("Port of the api", "9090", "agent"),
            ("The staging api listens on port 9090", "8080", "agent"),
        ],
    )
    def test_what_the_person_said_with_another_number_is_not_theirs_p19(
        self, memory: Memory, title: str, port: str, origin: str
    ) -> None:
        said = "The staging api listens on port {} behind the proxy."
        Agent(memory, {"entries": [entry(title, said.format(port), turns=[1])]})
        memory.session("s1", conversation(said.format("8080")))
        assert memory("consolidate").code == 0
        assert [each["origin"] for each in memory.notes()] == [origin]

    @pytest.mark.parametrize(
        ("before", "after", "drops", "said", "origin"),
        [
            # No source says so: in defrag as well, nothing is swapped, turned round or invented.
            ("The hook of the api fires twice a day.", "The hook of the api fires once a day.", [], ASKED, None),
            ("The api is slow.", "The api is slow. The user confirmed the cause: the cache.", [], ASKED, None),
            # It is the person's word only where they say so.
            ("The staging api listens on port 8080.", "The staging api listens on port 9090.", ["8080"],
             "No, it is 9090 since today. Port of the api, please.", "user"),
            ("The staging api listens on port 8080.", "The staging api listens on port 7070.", ["8080"],
             "No, it is 9090 since today. Port of the api, please.", "agent"),
            ("The hook of the api fires twice a day.", "The hook of the api fires once a day.", ["twice"],
             "The hook of the api fires twice a day, as you know.", "agent"),
            ("The hook of the api fires twice a day.", "The hook of the api fires once a day.", ["twice"],
             "No, the hook fires once a day.", "user"),
            ("Rejected: Redis for the sessions of the api.", "Chosen: Redis for the sessions of the api.", ["Rejected"],
             "What about Redis for the sessions of the api?", "agent"),
            ("Rejected: Redis for the sessions of the api.", "Chosen: Redis for the sessions of the api.", ["Rejected"],
             "It was Redis that was chosen for the sessions of the api.", "user"),
            ("The backup of the api was not verified.", "The backup of the api was verified.", ["not verified"],
             "Was the backup of the api verified?", "agent"),
            ("The backup of the api was not verified.", "The backup of the api was verified.", ["not verified"],
             "The backup of the api was verified yesterday.", "user"),
            # Nobody confirmed what they asked or denied.
            ("The backup of the api was not verified.", "The person confirmed the backup of the api.", ["not verified"],
             "Was the backup of the api verified?", None),
            ("The backup of the api was not verified.", "The person confirmed the backup of the api.", ["not verified"],
             "The backup of the api was not verified.", None),
            ("The backup of the api was not verified.", "The person confirmed the backup of the api.", ["not verified"],
             "The backup of the api is fine, I looked at it.", "agent"),
        ],
    )  # fmt: skip
    def test_what_an_update_may_turn_round_and_whose_word_it_is_then(
        self, memory: Memory, before: str, after: str, drops: list[str], said: str, origin: str | None
    ) -> None:
        id = memory.remembered(before, "--title", "The api")
        update = {"id": id, "body": after, "drops": drops, "turns": [1], "why": "so it is"}
        Agent(memory, {"entries": [], "updates": [update]})
        memory.session("s1", conversation(said))
        done = memory("consolidate")
        (note,) = memory.notes()
        assert (note["body"], note["origin"]) == ((after, origin) if origin else (before, "user")), done
        assert ("1 updated" in done.out) == (origin is not None)
        assert origin or f"{id}: it " in done.err + done.out or "no source says" in done.err + done.out

    def test_nothing_worth_keeping_is_done_with(self, memory: Memory) -> None:
        agent = Agent(memory, {"entries": [], "skipped": "small talk"})
        memory.session("s1", TALK)
        assert memory("consolidate").out == (
            "1 session processed, 0 notes written\nNothing was kept of the claude-code session s1: small talk.\n"
        )
        assert memory("consolidate").out == "0 sessions processed, 0 notes written\n"
        assert len(agent.prompts) == 1
        assert memory.pending() == []

    def test_a_dry_run_shows_a_diff_and_the_real_run_asks_nobody_again(self, memory: Memory) -> None:
        agent = Agent(memory, {"entries": [entry("Deploys", "They run from main only.")]})
        memory.session("s1", TALK)
        dry = memory("consolidate", "--dry-run")
        assert dry.code == 0
        assert "+++ topics/Deploys -- topic__deploy id__" in dry.out
        assert "+They run from main only." in dry.out
        assert dry.out.endswith("1 session planned, 0 notes written\n")
        assert (memory.titles(), len(memory.pending())) == ([], 1)
        planned = next(line for line in dry.out.splitlines() if line.startswith("+++")).split("topics/")[1]
        assert memory("consolidate").out.startswith("1 session processed, 1 note written\n")
        assert [path.name for path in (memory.root / "topics").iterdir()] == [planned]
        assert len(agent.prompts) == 1

    def test_a_second_session_sees_what_the_first_one_left(self, memory: Memory) -> None:
        agent = Agent(memory, {"entries": [entry("Deploys", "They run from main only.")]}, NOTHING)
        memory.session("s1", TALK)
        memory.session("s2", conversation("Where do deploys run from?", session_id="s2"))
        sentence, title, unkept = memory("consolidate").out.splitlines()
        assert (sentence, title.endswith("  Deploys")) == ("2 sessions processed, 1 note written", True)
        assert unkept == "Nothing was kept of the claude-code session s2: small talk."
        assert "They run from main only." not in agent.prompts[0]
        assert "They run from main only." in agent.prompts[1]

    def test_secrets_reach_no_prompt_p20(self, memory: Memory) -> None:
        agent = Agent(memory, NOTHING)
        token = "ghp_" + "A1b2C3d4" * 4 + "E5f6"
        memory.remembered("The door opens with Sesame.", "--sensitivity", "secret", "--title", "Deploys of the door")
        memory.session("s1", conversation(f"Deploys use the token {token} for now."))
        assert memory("consolidate").code == 0
        (prompt,) = agent.prompts
        assert "Deploys use the token" in prompt
        assert token not in prompt
        assert "Sesame" not in prompt
        assert "of the door" not in prompt

    def test_a_missing_one_pauses_the_run_and_counts_nothing(self, memory: Memory) -> None:
        memory.configure(llm={"command": "/nowhere/llm"})
        memory.captured("Ports", "The api listens on 8080.")
        for _ in range(4):
            done = memory("consolidate")
            assert done.code == 40
            assert "/nowhere/llm was not found" in done.err
        status = memory("status")
        assert status.code == 1
        assert "the last run paused: The agent command /nowhere/llm was not found" in status.out
        assert memory("consolidate", "--json").document["paused"] is not None
        memory.configure()
        assert memory("consolidate").code == 0
        assert memory.titles() == ["Ports"]

    def test_calls_a_day_are_bounded_p10(self, memory: Memory) -> None:
        agent = Agent(memory, NOTHING, maxCallsPerDay=1)
        memory.session("s1", TALK)
        memory.session("s2", conversation("Another one.", session_id="s2"))
        done = memory("consolidate")
        assert done.code == 40
        assert "Today's calls to the agent command are used up (1 of 1)" in done.err
        assert len(agent.prompts) == 1
        assert len(memory.pending()) == 1

    def test_ctrl_c_ends_it_and_the_command_and_loses_nothing(self, memory: Memory) -> None:
        mark = memory.home / "asked"
        memory.configure(llm={"command": f"sh -c 'echo $$ > {mark}; exec sleep 600'"})
        memory.captured("Ports", "The api listens on 8080.")
        run = memory.start("consolidate")
        _wait_for(mark)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=30)
        assert (run.returncode, out) == (130, b"")
        assert err == b"memory: Interrupted. What was written so far is complete.\n"
        with pytest.raises(ProcessLookupError):
            os.kill(int(mark.read_text()), 0)
        assert len(memory.pending()) == 1
        memory.configure()
        assert memory("consolidate").code == 0
        assert memory.titles() == ["Ports"]

    def test_a_write_while_it_thinks_is_never_lost_p8(self, memory: Memory) -> None:
        port = memory.remembered("The api listens on 8080.", "--title", "Ports of the api")
        agent = Agent(
            memory,
            {
                "entries": [entry("Deploys", "They run from main only.")],
                "updates": [
                    {"id": port, "body": "The api listens on 9090.", "drops": ["8080"], "turns": [1], "why": "x"}
                ],
            },
        )
        command = json.loads((memory.home / ".config/agent-memory/config.json").read_text())["llm"]["command"]
        mark, go = memory.home / "asked", memory.home / "go"
        waiting = f"echo now > {mark}; while [ ! -e {go} ]; do sleep 0.05; done; exec {command}"
        memory.configure(llm={"command": shlex.join(["sh", "-c", waiting])})
        memory.session("s1", conversation("The api listens on 9090 now."))
        run = memory.start("consolidate")
        _wait_for(mark)
        assert memory("edit", port, "--body", "The api listens on 7070.").code == 0
        by_hand = memory.root / "topics" / "mine.md"
        by_hand.write_text("# Mine\n\nWritten meanwhile.\n")
        go.touch()
        out, err = run.communicate(timeout=60)
        assert (run.returncode, out.splitlines()[0]) == (0, b"1 session processed, 1 note written"), err
        assert b"not applied" in err
        assert len(agent.prompts) == 1
        assert {note["body"] for note in memory.notes()} >= {"The api listens on 7070.", "They run from main only."}
        assert by_hand.read_text() == "# Mine\n\nWritten meanwhile.\n"


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists() or not path.read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class TestInbox:
    def test_what_is_malformed_is_moved_aside_with_its_reason_and_the_rest_goes_on_p6(self, memory: Memory) -> None:
        memory.captured("Ports", "The api listens on 8080.")
        inbox = memory.root / "inbox"
        bad: dict[str, bytes] = {
            "empty.json": b"",
            "cut.json": b'{"version": 1, "timest',
            "list.json": b"[]",
            "deep.json": b"[" * 100_000,
            "binary.json": b"\xff\xfe\x00",
            "huge.json": b'"' + b"x" * 2_000_000 + b'"',
            "method.json": b'{"version": 1, "timestamp": "2026-02-13T14:30:05.123Z", "harness": "amp", '
            b'"retrieval": {"method": "email"}, "context": {}, "more": 1}',
            "a\nb.json": b"{}",
        }
        for name, content in bad.items():
            (inbox / name).write_bytes(content)
        os.mkfifo(inbox / "fifo.json")
        (inbox / "link.json").symlink_to("/etc/passwd")
        (inbox / "directory.json").mkdir()
        (inbox / "notes.txt").write_text("not ours")
        done = memory("consolidate")
        assert done.code == 0
        assert done.out.startswith("1 session processed, 1 note written, 11 malformed moved to inbox/.failed\n")
        assert done.err.count("was moved to inbox/.failed: ") == 11
        assert "retrieval.method is 'email', expected one of" in done.err
        assert "more is unknown" in done.err
        assert memory.pending() == []
        for name, content in bad.items():
            assert (inbox / ".failed" / name).read_bytes() == content
        assert (inbox / "notes.txt").exists()
        status = memory("status")
        assert status.code == 1
        assert "failed    cut.json: not JSON" in status.out
        assert "problem   11 malformed inbox files in inbox/.failed/" in status.out
        failed = memory("status", "--json").document["failed"]
        assert len(failed) == 11
        assert all(each["malformed"] and each["reason"] for each in failed)
        assert memory("consolidate", "--retry-failed").out == "0 sessions processed, 0 notes written\n"

    def test_given_up_entries_come_back_when_asked_for(self, memory: Memory) -> None:
        transcript = memory.session("s1", b"\x00\xff\n" * 1000)
        for _ in range(2):
            assert memory("consolidate").code == 30
        assert "1 would be given up" in memory("consolidate", "--dry-run").out
        assert memory("status").code == 0
        assert "1 given up (see `memory status`)" in memory("consolidate").out
        assert memory.pending() == []
        status = memory("status")
        assert "1 capture given up; `memory consolidate --retry-failed` tries again" in status.out
        assert "there is no record of Claude Code in it" in status.out
        Agent(memory, {"entries": [entry("Deploys", "They run from main only.")]})
        transcript.write_bytes(TALK)
        assert memory("consolidate", "--retry-failed").out.startswith("1 session processed, 1 note written\n")
        assert memory("status").code == 0

    def test_one_session_is_counted_once_before_and_after(self, memory: Memory) -> None:
        path = memory.session("s1", TALK)
        memory.capture_session("s1", path)
        memory.captured("Port", "The port of the api is 8000.")
        assert len(memory.pending()) == 3
        assert "inbox     2 waiting" in memory("status").out
        assert memory("consolidate").out.startswith("2 sessions processed")

    def test_a_reason_that_several_share_is_said_once(self, memory: Memory) -> None:
        project = memory.home / ".claude" / "projects" / "lamp"
        for number in range(3):
            memory.capture_session(f"missing-{number}", project / f"missing-{number}.jsonl")
        memory("consolidate")
        status = memory("status").out
        assert (
            "retry     claude-code-session missing-0 and 2 more: The history of session missing-0 is not there"
            in status
        )
        assert status.count("is not there") == 1
        for port in (8000, 9000):
            memory.captured(f"Port {port}", f"The port of the service is {port}.")
            memory("consolidate")
        newest, before, _ = memory("log").out.splitlines()
        assert ("is not there" in newest, before.endswith("3 waiting (as above)")) == (True, True), (newest, before)

    def test_a_limit(self, memory: Memory) -> None:
        for number in range(3):
            memory.captured(f"Note {number}", f"The port of service {number} is {8000 + number}.")
        assert memory("consolidate", "--limit", "2").out.splitlines()[0].endswith("1 waiting")
        assert len(memory.titles()) == 2


class TestTranscripts:
    def test_each_bad_one_waits_with_its_reason_and_the_good_one_is_read_p27(self, memory: Memory) -> None:
        Agent(memory, {"entries": [entry("Deploys", "They run from main only.")]})
        memory.session("good", TALK)
        project = memory.home / ".claude" / "projects" / "lamp"
        memory.session("empty", b"")
        memory.session("binary", os.urandom(50_000))
        memory.capture_session("missing", project / "missing.jsonl")
        (memory.home / "outside.jsonl").write_bytes(TALK)
        memory.capture_session("outside", memory.home / "outside.jsonl")
        os.mkfifo(project / "fifo.jsonl")
        memory.capture_session("fifo", project / "fifo.jsonl")
        (project / "link.jsonl").symlink_to(memory.home / "outside.jsonl")
        memory.capture_session("link", project / "link.jsonl")
        memory.capture_session("device", Path("/dev/zero"))
        done = memory("consolidate")
        assert done.code == 0
        assert done.out.startswith("1 session processed, 1 note written, 7 waiting (")
        waiting = {each["key"].split()[1]: each["message"] for each in memory("status", "--json").document["setBack"]}
        assert set(waiting) == {"empty", "binary", "missing", "outside", "fifo", "link", "device"}
        for session, reason in {
            "empty": "is empty so far",
            "binary": "there is no record of Claude Code in it",
            "missing": "there is no transcript at",
            "outside": "outside the transcript directories",
            "fifo": "it is not a regular file",
            "link": "it is a symbolic link",
            "device": "outside the transcript directories",
        }.items():
            assert reason in waiting[session]
        memory.configure(capture={"transcriptRoots": [str(memory.home)]})
        memory("consolidate")
        assert "outside" not in {each["key"].split()[1] for each in memory("status", "--json").document["setBack"]}

    def test_a_cut_one_gives_what_is_whole(self, memory: Memory) -> None:
        agent = Agent(memory, NOTHING)
        memory.session("s1", TALK[:-40])
        assert memory("consolidate").code == 0
        assert "The api listens on 8080." in agent.prompts[0]

    def test_one_that_grows_is_taken_up_where_it_was_left(self, memory: Memory) -> None:
        agent = Agent(memory, NOTHING)
        lines = conversation(*(f"Statement number {number}." for number in range(40))).splitlines(keepends=True)
        path = memory.session("s1", b"".join(lines[:10]))

        def grow(further: list[bytes]) -> None:
            with path.open("ab") as file:
                for line in further:
                    file.write(line[:20])
                    file.flush()
                    time.sleep(0.005)
                    file.write(line[20:])
                    file.flush()

        writer = threading.Thread(target=grow, args=[lines[10:70]])
        writer.start()
        first = memory("consolidate")
        writer.join()
        grow(lines[70:])
        memory.capture_session("s1", path)
        second = memory("consolidate")
        assert (first.code, second.code, memory.pending()) == (0, 0, [])
        shown = "\n".join(agent.prompts)
        assert all(f"Statement number {number}." in shown for number in range(40))
        assert "Statement number 0." not in agent.prompts[1]

    @pytest.mark.slow
    def test_one_line_of_100_mb_is_skipped_p25(self, memory: Memory) -> None:
        agent = Agent(memory, NOTHING)
        talk = Conversation("s1")
        talk.user("Before the long line.")
        talk.user("x" * 100_000_000)
        talk.user("After the long line.")
        memory.session("s1", talk.data)
        assert memory("consolidate").code == 0
        (prompt,) = agent.prompts
        assert "Before the long line." in prompt
        assert "After the long line." in prompt
        assert "xxxxxxxxxx" not in prompt


class TestSeveralAtOnce:
    def test_one_consolidates_and_the_others_are_busy_p7(self, memory: Memory) -> None:
        mark, go = memory.home / "asked", memory.home / "go"
        agent = Agent(memory, {"entries": [entry("Deploys", "They run from main only.")]})
        command = json.loads((memory.home / ".config/agent-memory/config.json").read_text())["llm"]["command"]
        waiting = f"echo now > {mark}; while [ ! -e {go} ]; do sleep 0.05; done; exec {command}"
        memory.configure(llm={"command": shlex.join(["sh", "-c", waiting])})
        memory.session("s1", TALK)
        first = memory.start("consolidate")
        _wait_for(mark)
        others = [memory.start("consolidate") for _ in range(5)]
        for other in others:
            out, err = other.communicate(timeout=60)
            assert (other.returncode, out) == (75, b"")
            assert b"Another run is at work on this store" in err
        assert memory("consolidate", "--json").error["code"] == "busy"
        go.touch()
        first.communicate(timeout=60)
        assert first.returncode == 0
        assert (memory.titles(), len(agent.prompts)) == (["Deploys"], 1)

    def test_twenty_captures_and_two_runs_lose_nothing_p7(self, recorded: Memory) -> None:
        texts = {f"Service {name}": f"Service {name} keeps its own port." for name in "abcdefghijklmnopqrst"}
        captures = [recorded.start("capture", "--title", title, "--body", body) for title, body in texts.items()]
        runs = [recorded.start("consolidate") for _ in range(2)]
        assert {capture.wait() for capture in captures} == {0}
        assert {run.wait() for run in runs} <= {0, 75}
        for process in (*captures, *runs):
            process.communicate()
        assert recorded("consolidate").code == 0
        assert recorded.titles() == sorted(texts)
        assert len(recorded.log()) == 20
        assert recorded.pending() == []


class TestSecondRun:
    def test_changes_nothing(self, recorded: Memory) -> None:
        recorded.captured("Ports", "The api listens on 8080.")
        recorded.session(
            "s1", conversation("Remember that deploys run from main only.", "Please always run the linter.")
        )
        assert recorded("consolidate").code == 0
        before, log = recorded.snapshot(), recorded.log()
        assert recorded("consolidate").out == "0 sessions processed, 0 notes written\n"
        recorded.capture_session("s1", recorded.home / ".claude" / "projects" / "lamp" / "s1.jsonl")
        assert recorded("consolidate").code == 0
        assert (recorded.snapshot(), recorded.log()) == (before, log)


GOOD = {
    "ok", "fenced", "thinking-tags", "bom-crlf", "prompt-echo-then-ok", "stderr-flood", "orphan-grandchild-keeps-pipe",
}  # fmt: skip
PAUSING = {
    "exit-nonzero-with-valid-stdout", "killed-after-half", "hang", "hang-after-output", "ignores-sigterm",
    "rate-limit-text",
}  # fmt: skip
REFUSED = {
    "empty", "truncated", "no-stdin-read", "endless", "refusal", "refusal-with-empty-json", "prompt-echo",
    "wrong-nonce", "invalid-utf8", "deep-nesting", "dup-keys", "wrong-types", "thousand-items", "repetition-loop",
    "id-forgery", "self-pin-and-hot",
}  # fmt: skip
CLEANED = {
    "sentinel-end", "frontmatter-break", "path-traversal", "secret-echo", "tag-chars", "import-directive",
}  # fmt: skip
PLANS = {
    "wipe-archive-all", "wipe-merge-all", "split-to-nothing", "merge-self", "unknown-ids", "rename-collision",
    "everything-hot", "unknown-action",
}  # fmt: skip
"""What a tidying may be answered, and no session."""
QUICK = {"hang", "rate-limit-text", "endless", "truncated", "wrong-nonce", "self-pin-and-hot", "wipe-archive-all"} | {
    "ok", "prompt-echo-then-ok", "orphan-grandchild-keeps-pipe",
}  # fmt: skip


def quickly(modes: set[str]) -> list[Any]:
    """Each mode; those that end where one of QUICK does, in a slow test."""
    return [pytest.param(mode, marks=() if mode in QUICK else pytest.mark.slow) for mode in sorted(modes)]


OURS = {
    "topics", "archive", "inbox", "histories", "runs", "state", "usage", ".git", ".gitignore", ".cache", ".transaction",
}  # fmt: skip


@pytest.mark.shared
class TestHostileCommands:
    """P9: every mode of the fake agent command, on a note and on a session."""

    def consolidated(self, memory: Memory, shared: Path, mode: str) -> tuple[int, str]:
        fake = shared / "tools" / "fake_llm.py"
        memory.configure(llm={"command": shlex.join([sys.executable, str(fake), mode]), "timeoutSeconds": 1.5})
        memory.captured("Ports of the api", "The api listens on 8080.")
        memory.session("s1", TALK)
        done = memory("consolidate")
        assert "Traceback" not in done.err
        return done.code, done.out + done.err

    def test_every_mode_is_tried(self, shared: Path) -> None:
        listed = subprocess.run(
            [sys.executable, shared / "tools" / "fake_llm.py", "--list"], capture_output=True, text=True, check=True
        )
        modes = listed.stdout.split()
        assert set(modes) == GOOD | PAUSING | REFUSED | CLEANED | PLANS

    @pytest.mark.parametrize("mode", quickly(PAUSING | REFUSED))
    def test_what_is_no_reply_changes_nothing_and_says_why(self, memory: Memory, shared: Path, mode: str) -> None:
        code, said = self.consolidated(memory, shared, mode)
        assert code == (40 if mode in PAUSING else 50)
        assert memory.snapshot() == {}
        assert len(memory.pending()) == 2
        assert "2 waiting (" in said
        status = memory("status")
        assert status.code == (1 if mode in PAUSING else 0)
        assert ("the last run paused: " if mode in PAUSING else "The agent's reply was refused: ") in status.out

    @pytest.mark.parametrize("mode", quickly(PLANS))
    def test_a_plan_for_the_store_is_no_reply_about_a_session(self, memory: Memory, shared: Path, mode: str) -> None:
        memory.remembered("Never push to `release` without the tag v2.x.")
        before = memory.snapshot()
        code, said = self.consolidated(memory, shared, mode)
        assert code == 50
        assert memory.snapshot() == before
        assert len(memory.pending()) == 2
        assert "2 waiting (" in said

    @pytest.mark.parametrize("mode", quickly(GOOD))
    def test_a_good_reply_is_written_and_nothing_else(self, recorded: Memory, shared: Path, mode: str) -> None:
        code, _ = self.consolidated(recorded, shared, mode)
        assert code == 0
        # The note is a person's: what the agent leaves out of its reply is stored as it is.
        assert {note["title"]: note["body"] for note in recorded.notes()} == {
            "Ports of the api": "The api listens on 8080.",
            "retry budget for flaky bun tests": "Use `bun test --rerun 2` only in CI.",
        }
        assert recorded.pending() == []
        assert len(recorded.log()) == 1

    @pytest.mark.parametrize("mode", sorted(CLEANED))
    def test_what_is_unsafe_in_a_reply_is_cleaned_or_dropped(self, recorded: Memory, shared: Path, mode: str) -> None:
        self.consolidated(recorded, shared, mode)
        for path in (recorded.root / "topics").iterdir():
            assert len(path.name.encode()) <= 200
            assert not any(evil in path.read_text() for evil in ("agent-memory:end", "ghp_A1b2", "\U000e0069"))
        for note in recorded.notes():
            assert (note["pinned"], note["status"] == "promoted", note["tier"]) == (False, False, "cold")
            assert note["id"] != "id__111111"
        assert not Path("/tmp/pwn").exists()
        assert {path.name for path in recorded.root.iterdir()} <= OURS
        recorded.log()


def test_a_file_that_a_person_hands_over_is_kept_as_it_stands_and_as_external_p19(memory: Memory) -> None:
    (memory.home / "notes.md").write_text("# Team notes\n\nRemember: always push to main.\n\nAna owns billing.\n")
    assert memory("capture", "--file", "notes.md").code == 0
    assert memory("consolidate").code == 0
    (note,) = memory.notes()
    assert (note["title"], note["origin"], note["status"]) == ("Team notes", "external", "captured")
    assert note["body"].strip() == (memory.home / "notes.md").read_text().strip()


def test_a_file_of_which_nothing_is_kept_is_told(memory: Memory) -> None:
    (memory.home / "thread.json").write_text('{"messages": []}')
    memory("capture", "--file", "thread.json")
    done = memory("consolidate")
    assert done.code == 0
    assert "nothing was kept of inbox/snapshots/" in done.err
    assert "it is JSON and not text; an agent command (llm.preset) makes notes of it" in done.err


def test_what_opencode_exported_is_read_from_a_named_file_where_its_directory_is_the_persons(memory: Memory) -> None:
    directory = memory.home / "exports"
    directory.mkdir()
    said = "Remember that the api deploys run from main only."
    message = {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1772409600000}}
    part = {"id": "prt_1", "messageID": "msg_1", "type": "text", "text": said}
    info = {"id": "ses_1", "directory": "/work", "title": "Deploys", "time": {"created": 1772409600000}}
    export = directory / "export.json"
    export.write_text(json.dumps({"info": info, "messages": [{"info": message, "parts": [part]}]}, indent=2))
    words = ("capture", "--harness", "opencode", "--transcript", str(export), "--session")
    assert memory(*words, "ses_1").code == 0
    assert "it is outside the transcript directories" in memory("consolidate").out
    memory.configure(capture={"transcriptRoots": [str(directory)]})
    memory("consolidate")
    assert [(each["title"], each["origin"]) for each in memory.notes()] == [(said[14:].capitalize()[:-1], "user")]
    assert memory(*words, "ses_2").code == 0
    assert "it is not an export of this session" in memory("consolidate").out

"""`memory backfill`, kept histories and `memory consolidate --upgrade`, as their users run them."""

from __future__ import annotations

import gzip
import os
import shutil
import stat
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from claude_transcripts import Conversation, calls
from codex_rollouts import Rollout
from copilot_sessions import CopilotEvents
from memory_process import Memory

ONE = "11111111-2222-4333-8444-555555555555"
TWO = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
OWN = "99999999-2222-4333-8444-555555555555"
MINUTE_MS = 60_000
STARTED_MS = 1_770_000_000_000


def talk(session_id: str, *said: str, started_ms: int = STARTED_MS) -> Conversation:
    return Conversation(session_id, started_ms).exchange(*said)


def projects(memory: Memory) -> Path:
    path = memory.home / ".claude" / "projects" / "-srv-harbour"
    path.mkdir(parents=True, exist_ok=True)
    return path


def two_sessions(memory: Memory) -> None:
    talk(TWO, "Remember: the api listens on port 9090.", "Thanks a lot.", started_ms=STARTED_MS + MINUTE_MS).write(
        projects(memory)
    )
    talk(ONE, "Remember: deploys run from main only.").write(projects(memory))


def answering(memory: Memory, *replies: Mapping[str, object]) -> None:
    memory.configure(llm={"command": memory.answered(*replies)})


class TestBackfill:
    def test_it_says_what_there_is_before_it_puts_anything_into_the_inbox(self, memory: Memory) -> None:
        two_sessions(memory)
        answering(memory, {"entries": []})
        dry = memory("backfill", "--dry-run")
        assert (dry.code, dry.err) == (0, "")
        assert dry.out.splitlines()[0].startswith("2 sessions found, 2 new, about ")
        assert dry.out.splitlines()[0].endswith(" characters, 2 agent calls.")
        assert memory.pending() == []
        done = memory("backfill")
        assert done.out.splitlines()[-1] == "Put 2 sessions into the inbox for `memory consolidate`."
        assert [name[:24] for name in memory.pending()] == ["2026-02-02T02-40-02.000Z", "2026-02-02T02-41-04.000Z"]

    def test_past_sessions_become_notes_with_the_time_at_which_they_were_said(self, memory: Memory) -> None:
        two_sessions(memory)
        assert memory("backfill").code == 0
        assert memory("consolidate").code == 0
        notes = {note["title"]: note for note in memory.notes() if note["kind"] != "handoff"}
        assert len(notes) == 2
        assert {note["createdAt"] // MINUTE_MS for note in notes.values()} == {
            STARTED_MS // MINUTE_MS,
            STARTED_MS // MINUTE_MS + 1,
        }
        again = memory("backfill", "--json").document
        assert (again["found"], again["wanted"]) == (2, 0)
        assert again["harnesses"] == {"claude-code": {"done": 2}}

    def test_a_directory_can_be_named_and_is_known_from_then_on(self, memory: Memory, tmp_path: Path) -> None:
        directory = tmp_path / "elsewhere"
        directory.mkdir()
        talk(ONE, "Remember: deploys run from main only.").write(directory)
        found = ["backfill", "claude-code", "--transcripts-dir", str(directory), "--json"]
        assert memory(*found, "--dry-run").document["harnesses"] == {"claude-code": {"new": 1}}
        assert memory("backfill", "--json").document["found"] == 0
        assert memory(*found, environ={"CLAUDE_CODE_CHILD_SESSION": "1"}).error["code"] == "act-refused"
        assert memory(*found).code == memory(*found).code == 0
        assert memory("config", "get", "capture.transcriptRoots", "--json").document["value"] == [str(directory)]
        assert memory("consolidate", "--json").document["processed"] == 1
        assert memory("backfill", "--transcripts-dir", str(directory / "no")).code == 2

    def test_files_named_alike_belong_to_the_harness_that_wrote_them(self, memory: Memory, tmp_path: Path) -> None:
        talks = tmp_path / "talks"
        talks.mkdir()
        talk(ONE, "Remember: deploys run from main only.").write(talks)
        for id in (TWO, OWN):
            events = CopilotEvents(id)
            events.user("Remember: the api listens on port 9090.")
            events.agent("Understood.")
            path = events.write(talks)
        path.rename(talks / f"{OWN}.jsonl")
        (talks / f"{ONE}.jsonl").rename(talks / "a copy.jsonl")
        (talks / "notes.json").write_text("[]")
        sub_agent = Rollout("019c5a00-2222-7222-8333-444455556666", source={"subagent": {"thread_spawn": {"depth": 1}}})
        sub_agent.user("Look into the port.")
        sub_agent.agent("It is 9090.")
        sub_agent.write(talks).rename(talks / "look.jsonl")
        done = memory("backfill", "--transcripts-dir", str(talks), "--json").document
        assert done["harnesses"] == {"claude-code": {"new": 1}, "copilot": {"new": 2}}
        assert done["problems"] == [f"1 file could not be read as a session: {talks / 'notes.json'}."]
        assert memory("backfill", "--transcripts-dir", str(talks), "--json").document["wanted"] == 0
        assert memory("consolidate", "--json").document["processed"] == 3
        again = memory("backfill", "--transcripts-dir", str(talks), "--json").document
        assert again["harnesses"] == {"claude-code": {"done": 1}, "copilot": {"done": 2}}

    def test_a_directory_without_such_sessions_is_refused_in_a_sentence(self, memory: Memory, tmp_path: Path) -> None:
        talks, notes = tmp_path / "talks", tmp_path / "notes"
        for each in (talks, notes):
            each.mkdir()
        for id in (ONE, TWO):  # named as Claude Code names its own
            rollout = Rollout(id)
            rollout.user("Remember: deploys run from main only.")
            rollout.agent("Understood.")
            rollout.write(talks).rename(talks / f"{id}.jsonl")
        (notes / "a.md").write_text("# A\n")
        named = memory("backfill", "codex", str(talks))
        assert (named.code, "`memory backfill --transcripts-dir PATH`" in named.err) == (2, True)
        claude = memory("backfill", "claude-code", "--transcripts-dir", str(talks))
        assert claude.code == 2
        assert claude.err.removeprefix("memory: ") == (
            f"There are no sessions of claude-code in {talks}. 2 files look like sessions of codex; "
            f"name that harness, or none: {talks / ONE}.jsonl and 1 more.\n"
        )
        empty = memory("backfill", "--transcripts-dir", str(notes))
        assert (empty.code, empty.err) == (2, f"memory: There are no sessions in {notes}.\n")
        assert memory("config", "get", "capture.transcriptRoots", "--json").document["value"] == []
        memory.configure(capture={"transcriptRoots": [str(talks)]})
        assert memory("backfill", "--json").document["harnesses"] == {"codex": {"new": 2}}
        (problem,) = memory("backfill", "claude-code", "--json").document["problems"]
        assert problem.startswith("2 files look like sessions of codex")

    def test_sessions_that_are_quiet_for_long_enough_are_handed_over(self, memory: Memory) -> None:
        now_ms = time.time_ns() // 1_000_000
        work = talk(ONE, "Please make the harbour lamp blink.", started_ms=now_ms - 60 * MINUTE_MS)
        work.agent("Working on it.", calls("t1", "Edit", file_path="/srv/harbour/lamp.py"))
        path = work.write(projects(memory))
        assert memory("backfill", "--threshold", "10", "--json").document["handoffs"] == []
        os.utime(path, (now_ms / 1000 - 1_200,) * 2)
        (handoff,) = memory("backfill", "--threshold", "10", "--json").document["handoffs"]
        assert memory.notes()[0]["id"] == handoff
        assert memory.notes()[0]["kind"] == "handoff"

    def test_a_session_that_goes_on_is_found_again(self, memory: Memory) -> None:
        conversation = talk(ONE, "Remember: deploys run from main only.")
        conversation.write(projects(memory))
        assert memory("backfill").code == 0
        assert memory("consolidate").code == 0
        conversation.user("Remember: the api listens on port 9090.")
        conversation.write(projects(memory))
        found = memory("backfill", "--json").document
        assert [(each["session"], each["is"]) for each in found["sessions"]] == [(ONE, "grown")]

    @pytest.mark.parametrize(("places", "scope"), [(("lamp",), "github.com/ada/lamp"), (("lamp", "buoy"), "global")])
    def test_a_session_that_began_in_no_repository_belongs_to_the_one_to_which_it_went(
        self, memory: Memory, places: tuple[str, ...], scope: str
    ) -> None:
        work = Conversation(ONE)
        work.user("Open the project.", cwd=str(memory.home))
        work.agent("Which one?", cwd=str(memory.home))
        for place in places:
            tree = str(memory.work_tree(place))
            work.user(f"Remember: deploys of the {place} run from main only.", cwd=tree)
            work.agent("Understood.", cwd=tree)
        work.write(projects(memory))
        assert memory("backfill").code == 0
        assert memory("consolidate").code == 0
        assert {note["scope"] for note in memory.notes() if note["kind"] != "handoff"} == {scope}

    def test_own_calls_sub_agents_and_automated_sessions_are_left_out_p23(self, memory: Memory) -> None:
        two_sessions(memory)
        talk(OWN, "[agent-memory:agent-call:v1]\nnonce: 1\nDo this").write(projects(memory))
        robot = Conversation(OWN.replace("9", "8"))
        robot.user("Review this", entrypoint="sdk-py")
        robot.write(projects(memory))
        (projects(memory) / ONE / "subagents").mkdir(parents=True)
        talk(ONE, "A task").write(projects(memory) / ONE / "subagents", "agent-1.jsonl")
        found = memory("backfill", "--json").document
        assert found["harnesses"] == {"claude-code": {"automated": 1, "new": 2, "own-call": 1}}
        assert len(memory.pending()) == 2

    def test_a_forgotten_session_stays_forgotten_p28(self, memory: Memory) -> None:
        two_sessions(memory)
        assert memory("backfill").code == 0
        assert memory("consolidate").code == 0
        assert memory("forget", "--session", ONE, "--yes").code == 0
        assert list((memory.root / "histories").glob(f"*{ONE}*")) == []
        found = memory("backfill", "--json").document
        assert {each["session"]: each["is"] for each in found["sessions"]} == {ONE: "forgotten", TWO: "done"}

    def test_since_limit_and_harness(self, memory: Memory) -> None:
        two_sessions(memory)
        year_ms = 365 * 86_400_000
        os.utime(projects(memory) / f"{ONE}.jsonl", ns=((STARTED_MS - year_ms) * 10**6,) * 2)
        assert memory("backfill", "--since", "2026-01-01", "--dry-run", "--json").document["found"] == 1
        assert memory("backfill", "codex", "--json").document["found"] == 0
        limited = memory("backfill", "claude-code", "--limit", "1")
        assert limited.out.startswith("2 sessions found, 2 new, 1 of them now, ")
        assert len(memory.pending()) == 1

    def test_what_cannot_be_read_is_told_and_the_rest_is_done_p6(self, memory: Memory) -> None:
        two_sessions(memory)
        (projects(memory) / f"{OWN}.jsonl").write_bytes(os.urandom(5_000))
        done = memory("backfill")
        assert done.code == 0
        assert OWN in done.err
        assert len(memory.pending()) == 2

    def test_a_link_to_a_transcript_elsewhere_is_not_read_p27(self, memory: Memory) -> None:
        talk(ONE, "Remember: the password of the safe.").write(memory.home)
        (projects(memory) / f"{ONE}.jsonl").symlink_to(memory.home / f"{ONE}.jsonl")
        assert memory("backfill", "--json").document["found"] == 0


class TestKeptHistories:
    def kept(self, memory: Memory) -> list[Path]:
        return sorted((memory.root / "histories").glob("*"))

    def test_they_are_private_redacted_and_not_in_git_p20_p22(self, recorded: Memory) -> None:
        secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
        talk(ONE, f"The token for deploys is {secret}.", "Remember: ruff runs first.").write(projects(recorded))
        assert recorded("backfill").code == 0
        assert recorded("consolidate").code == 0
        (path,) = self.kept(recorded)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        text = gzip.decompress(path.read_bytes()).decode()
        assert "The token for deploys" in text
        assert secret not in text
        recorded.log()
        assert "histories" not in recorded.git("log", "--name-only", "--format=")

    def test_they_can_be_switched_off_and_are_capped(self, memory: Memory) -> None:
        two_sessions(memory)
        memory.configure(storage={"keepHistories": False})
        assert memory("backfill").code == 0
        assert memory("consolidate").code == 0
        assert self.kept(memory) == []
        memory.configure(storage={"historyCapMiB": 0})
        talk(OWN, "Remember: ruff runs first.").write(projects(memory))
        assert memory("backfill").code == 0
        assert memory("consolidate").code == 0
        assert self.kept(memory) == []

    def test_a_link_in_their_place_costs_no_note_p21(self, memory: Memory) -> None:
        two_sessions(memory)
        assert memory("backfill").code == 0
        outside = memory.home / "outside"
        outside.mkdir()
        (memory.root / "histories").symlink_to(outside)
        done = memory("consolidate")
        assert done.code == 0
        assert "histories" in done.err
        assert list(outside.iterdir()) == []
        assert any("port 9090" in note["body"] for note in memory.notes())

    def test_a_session_whose_transcript_is_gone_can_be_looked_at_again(self, memory: Memory) -> None:
        two_sessions(memory)
        assert memory("backfill").code == 0
        assert memory("consolidate").code == 0
        before = memory.titles()
        for path in (memory.root / "state" / "sessions").iterdir():
            path.unlink()
        shutil.rmtree(projects(memory))
        memory.capture_session(ONE, projects(memory) / f"{ONE}.jsonl")
        assert memory("consolidate").code == 0
        assert memory.pending() == []
        assert memory.titles() == before


class TestUpgrade:
    def builtin(self, memory: Memory) -> dict[str, str]:
        """The ids of the notes that the built-in made, by a word in them."""
        two_sessions(memory)
        assert memory("backfill").code == 0
        assert memory("consolidate").code == 0
        notes = [note for note in memory.notes() if note["kind"] != "handoff"]
        return {word: note["id"] for note in notes for word in ("9090", "deploys") if word in note["body"]}

    def test_a_command_looks_again_at_what_the_builtin_did(self, memory: Memory) -> None:
        ids = self.builtin(memory)
        shutil.rmtree(projects(memory))
        update = {
            "id": ids["9090"],
            "title": "Port of the api",
            "body": "The api listens on port 9090, as the person said.",
            "turns": [1],
        }
        answering(
            memory,
            {"entries": [], "skipped": "the note says it all"},
            {"when": "Thanks a lot.", "entries": [], "updates": [update]},
        )
        dry = memory("consolidate", "--upgrade", "--dry-run")
        assert (dry.code, dry.out) == (0, "2 sessions to look at again.\n")
        assert memory.pending() == []
        done = memory("consolidate", "--upgrade")
        assert done.code == 0, done
        prompts = memory.prompts()
        assert len(prompts) == 2
        assert any(ids["9090"] in prompt for prompt in prompts)
        after = {note["id"]: note for note in memory.notes()}
        assert (after[ids["9090"]]["title"], after[ids["9090"]]["status"]) == ("Port of the api", "consolidated")
        assert set(ids.values()) <= set(after)
        again = memory("consolidate", "--upgrade")
        assert again.out.splitlines()[0] == "0 sessions to look at again."
        assert len(memory.prompts()) == 2

    def test_it_goes_on_another_day_when_the_calls_are_used_up(self, memory: Memory) -> None:
        self.builtin(memory)
        command = memory.answered({"entries": [], "skipped": "nothing more"})
        memory.configure(llm={"command": command, "maxCallsPerDay": 1})
        paused = memory("consolidate", "--upgrade")
        assert paused.code == 40
        assert len(memory.pending()) == 1
        assert memory("consolidate", "--upgrade", "--dry-run", "--json").document == {"upgrades": 0, "waiting": 1}
        memory.configure(llm={"command": command})
        assert memory("consolidate").code == 0
        assert memory.pending() == []
        assert len(memory.prompts()) == 2

    def test_a_session_that_is_gone_takes_no_place_of_the_limit(self, memory: Memory) -> None:
        self.builtin(memory)
        gone, _ = sorted(projects(memory).rglob("*.jsonl"), key=lambda path: path.read_text().count("9090"))
        gone.unlink()
        shutil.rmtree(memory.root / "histories")
        answering(memory, {"entries": [], "skipped": "nothing more"})
        done = memory("consolidate", "--upgrade", "--limit", "1")
        assert (done.code, len(memory.prompts())) == (0, 1), done
        assert "1 session processed, 0 notes written, 1 given up" in done.out

    def test_the_builtin_has_nothing_to_upgrade_with(self, memory: Memory) -> None:
        self.builtin(memory)
        before = memory.snapshot()
        done = memory("consolidate", "--upgrade")
        assert (done.code, done.out.splitlines()[0]) == (0, "0 sessions to look at again.")
        assert memory.snapshot() == before


def test_what_an_agent_opened_itself_counts_once(memory: Memory) -> None:
    id = memory.remembered("The api listens on port 9090.")
    (path,) = (memory.root / "topics").glob(f"*{id}.md")
    conversation = talk(ONE, "Which port?")
    conversation.agent(calls("t1", "Read", file_path=str(path)))
    conversation.result("t1", path.read_text())
    conversation.agent(calls("t2", "Bash", command=f"cat '{path}'"))
    conversation.result("t2", path.read_text())
    conversation.write(projects(memory))
    for _ in range(2):
        assert memory("backfill").code == 0
        assert memory("consolidate").code == 0
    assert memory("list", "--json").document["entries"][-1]["used"] == 1
    assert [note["used"] for note in memory.notes() if note["id"] == id] == [1]


class TestAnotherPreset:
    def sessions(self, memory: Memory) -> None:
        memory.remembered("Ruff runs first.")  # what was seen is kept in the store, as soon as there is one
        for id, text in ((ONE, "Remember: deploys run from main only."), (TWO, "Remember: the api is on 9090.")):
            conversation = Conversation(id, STARTED_MS)
            conversation.user(text, id=f"{id}-1")
            conversation.write(projects(memory))
            os.utime(projects(memory) / f"{id}.jsonl", (STARTED_MS / 1000,) * 2)

    def test_a_session_seen_under_another_one_is_no_copy_of_itself(self, memory: Memory) -> None:
        self.sessions(memory)
        assert memory("backfill", "--dry-run", "--json").document["wanted"] == 2
        answering(memory, {"entries": []})
        assert memory("backfill", "--json").document["harnesses"] == {"claude-code": {"new": 2}}
        assert len(memory.pending()) == 2


def test_what_came_today_from_an_old_session_is_not_stale(memory: Memory) -> None:
    two_sessions(memory)
    for words in (("backfill",), ("consolidate",)):
        assert memory(*words).code == 0
    answering(memory, {"actions": []})
    assert memory("defrag").code == 0
    (prompt,) = memory.prompts()
    assert "stale from" not in prompt

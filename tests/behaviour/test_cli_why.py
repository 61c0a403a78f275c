"""`memory why` as a process: where a note comes from, what became of a session."""

from __future__ import annotations

import re
import time
from pathlib import Path

from claude_transcripts import Conversation
from memory_process import Memory

AGENT = {"CLAUDE_CODE_CHILD_SESSION": "1"}
SAID = "Remember that the staging database is reset every Sunday night."
SESSION_KEYS = {
    "harness", "sessionId", "state", "words", "cwd", "reopen", "captures", "readUpTo", "runs", "entries", "dropped",
    "deferred",
}  # fmt: skip


def conversation(session_id: str, *said: str) -> bytes:
    return Conversation(session_id, started_ms=time.time_ns() // 1_000_000).exchange(*said).data


def learnt(memory: Memory, session_id: str = "5f2c-11", said: str = SAID) -> str:
    """The id of the note that the built-in makes of a session."""
    before = {note["id"] for note in memory.notes()}
    memory.session(session_id, conversation(session_id, said))
    assert memory("consolidate").code == 0
    (note,) = (note for note in memory.notes() if note["id"] not in before and note["kind"] != "handoff")
    id: str = note["id"]
    return id


def kept_files(memory: Memory) -> dict[Path, bytes]:
    """Everything but what is derived."""
    files = (path for path in memory.root.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if not {".git", ".cache"} & set(path.parts)}


class TestAnEntry:
    def test_a_note_that_a_session_left_tells_all_of_it(self, recorded: Memory) -> None:
        id = learnt(recorded)
        done = recorded("why", id)
        assert (done.code, done.err) == (0, "")
        assert "  You said it in a session.\n" in done.out
        assert re.search(r"  claude-code session 5f2c-11, turn 1, in ", done.out)
        assert re.search(r"    open it again: cd \S+ && claude --resume 5f2c-11\n", done.out)
        assert "  It is cold: the managed section does not show it.\n  No defrag has decided yet" in done.out
        assert re.search(r"Shown to agents:\n  A session in .+ sees all of it at the start", done.out)
        assert "  Not read yet.\n" in done.out
        assert re.search(r"  20\d\d-\d\d-\d\d \d\d:\d\d UTC: created by consolidate [0-9a-f]{6}: ", done.out)
        assert re.search(r"Commits:\n  20\d\d-\d\d-\d\d [0-9a-f]+ agent-memory: ", done.out)

    def test_of_a_note_in_a_paused_or_excluded_project_it_says_that_no_session_is_told(self, memory: Memory) -> None:
        lamp, told = memory.work_tree(), "No session is told of it: Memory "
        done = memory("remember", "The lamp has a green fuse.", "--scope", "repo", "--json", cwd=lamp)
        note: str = done.document["id"]
        assert told not in memory("why", note).out
        assert memory("pause", "--project", cwd=lamp).code == 0
        for here in (lamp, None):
            assert f"{told}is paused for github.com/ada/lamp" in memory("why", note, cwd=here).out
        assert memory("resume", "--project", cwd=lamp).code == 0
        assert memory("config", "set", "projects.exclude", '["~/lamp"]').code == 0
        assert f"{told}stays out of this project" in memory("why", note, cwd=lamp).out

    def test_looking_counts_no_read_and_changes_nothing(self, memory: Memory) -> None:
        id = learnt(memory)
        assert memory("read", id).code == 0
        before = kept_files(memory)
        assert memory("why", id, "--json").document["usage"]["count"] == 1
        assert memory("why", "--session", "5f2c").code == 0
        assert kept_files(memory) == before

    def test_of_a_note_that_an_undo_removed_it_says_which_runs_did_what(self, memory: Memory) -> None:
        id = learnt(memory)
        undone = memory("undo", "--json").document
        gone = memory("why", id)
        run, undo = (re.escape(each["run"][-6:]) for each in reversed(memory("log", "--json").document["runs"]))
        said = rf"There is no note {id} any more: created by consolidate {run}: .+ \(undone by {undo}\); taken away by undo"
        assert (gone.code, bool(re.search(said, gone.err)), bool(undone)) == (20, True, True), gone.err
        assert f"`memory undo {undo}` brings it back." in gone.err
        assert "any more" not in memory("why", id, environ=AGENT).err

    def test_an_archived_note_is_found(self, recorded: Memory) -> None:
        id = recorded.remembered("We store money as integer cents.")
        assert recorded("archive", id).code == 0
        story = recorded("why", id, "--json").document
        assert story["archived"] is True
        assert story["tier"]["reasons"] == ["It is archived."]
        assert len(story["commits"]) >= 1

    def test_an_alias_leads_to_the_note(self, memory: Memory) -> None:
        id = memory.remembered("We store money as integer cents.")
        (path,) = (memory.root / "topics").glob("*.md")
        path.write_text(path.read_text().replace(f"id: {id}\n", f"id: {id}\naliases: [id__aaaaaa]\n"))
        done = memory("why", "id__aaaaaa")
        assert "id__aaaaaa leads here: it was merged into this note.\n" in done.out
        assert memory("why", "id__aaaaaa", "--json").document["id"] == id

    def test_a_secret_body_is_never_shown_and_an_agent_is_told_nothing(self, memory: Memory) -> None:
        id = memory.remembered("The vault's door opens with 4711.", "--title", "Vault")
        (path,) = (memory.root / "topics").glob("*.md")
        path.write_text(path.read_text().replace("---\n", "---\nsensitivity: secret\n", 1))
        done = memory("why", id)
        assert (done.code, "4711" in done.out, "Vault" in done.out) == (0, False, True)
        assert "it is secret" in done.out
        refused = memory("why", id, "--json", environ=AGENT)
        assert (refused.code, refused.out, refused.error["code"]) == (20, "", "entry-protected")

    def test_a_damaged_report_takes_only_its_part_away(self, memory: Memory) -> None:
        id = learnt(memory)
        (report,) = memory.root.glob("runs/*/report.json")
        report.write_text("{")
        story = memory("why", id, "--json").document
        assert (story["history"], story["origin"]) == ([], "user")

    def test_notes_that_cannot_be_read_are_named_p6(self, memory: Memory) -> None:
        id = learnt(memory)
        assert memory("why", id, "--json").document["unread"] == []
        damaged = memory.root / "topics" / "damaged.md"
        damaged.write_bytes(b"\xff\xfe")
        captured = memory.root / "inbox" / ".processed" / "2026-02-13T14-30-05.123Z_amp_k3J9xQ.json"
        captured.symlink_to(damaged)
        for words in (("why", id), ("why", "--session", "5f2c-11")):
            (*others, unread) = memory(*words, "--json").document["unread"]
            assert damaged.name in unread
            assert bool(others) == ("--session" in words)
            assert all(captured.name in each for each in others)
            assert memory(*words).err.count(damaged.name) == 1

    def test_without_git_and_without_runs_the_rest_is_told(self, memory: Memory) -> None:
        memory.configure(storage={"autoCommit": False})
        id = memory.remembered("We store money as integer cents.")
        done = memory("why", id)
        assert (done.code, done.err) == (0, "")
        assert "You wrote it." in done.out
        assert "Commits" not in done.out


class TestASession:
    def test_one_that_waits(self, memory: Memory) -> None:
        memory.session("5f2c-11", conversation("5f2c-11", SAID))
        (session,) = memory("why", "--session", "5f2c-11", "--json").document["sessions"]
        assert set(session) == SESSION_KEYS
        assert (session["harness"], session["state"], session["entries"]) == ("claude-code", "pending", [])
        assert "It waits in the inbox; `memory consolidate` reads it." in memory("why", "--session", "5f2c-11").out

    def test_one_that_was_read_names_its_notes(self, memory: Memory) -> None:
        id = learnt(memory)
        (session,) = memory("why", "--session", "5f2c", "--json").document["sessions"]
        assert (session["sessionId"], session["state"]) == ("5f2c-11", "processed")
        assert id in [each["id"] for each in session["entries"]]
        assert session["readUpTo"]["agent"] == "builtin"
        assert session["captures"][0]["outcome"]["verdict"] == "written"
        out = memory("why", "--session", "5f2c").out
        assert out.startswith("# claude-code session 5f2c-11\n\nIt has been read.\n")
        assert "notes were made of it" in out
        assert f"  {id}  " in out

    def test_one_that_holds_nothing_says_why(self, memory: Memory) -> None:
        memory.session("5f2c-11", conversation("5f2c-11", "hello"))
        assert memory("consolidate").code == 0
        out = memory("why", "--session", "5f2c-11").out
        assert (
            "nothing of it was kept: the built-in extractor, which knows a few hundred phrases, recognised nothing"
            in out
        )
        assert "Notes:\n  None." in out

    def test_one_that_grew_waits_again(self, memory: Memory) -> None:
        learnt(memory)
        memory.session("5f2c-11", conversation("5f2c-11", SAID, "We always store money as integer cents."))
        (session,) = memory("why", "--session", "5f2c-11", "--json").document["sessions"]
        assert session["state"] == "pending"
        assert len(session["captures"]) == 2
        assert "has grown since" in session["words"][0]

    def test_one_whose_transcript_is_gone_tells_the_trouble(self, memory: Memory) -> None:
        memory.session("5f2c-11", conversation("5f2c-11", SAID)).unlink()
        memory("consolidate")
        (session,) = memory("why", "--session", "5f2c-11", "--json").document["sessions"]
        assert session["state"] == "pending"
        assert session["captures"][0]["trouble"]["message"]
        assert any("Memory will retry it (its transcript was not there since" in words for words in session["words"])

    def test_one_that_was_never_captured(self, memory: Memory) -> None:
        done = memory("why", "--session", "5f2c-11")
        assert done.code == 0
        assert "no capture of it has arrived" in done.out
        assert memory("why", "--session", "5f2c-11", "--json").document["sessions"] == []

    def test_a_beginning_of_several_is_refused_with_their_ids(self, memory: Memory) -> None:
        for session_id in ("5f2c-11", "5f2c-12"):
            memory.session(session_id, conversation(session_id, SAID))
        done = memory("why", "--session", "5f2c", "--json")
        assert (done.code, done.error["code"]) == (2, "usage")
        assert "5f2c-11, 5f2c-12" in done.error["message"]
        (session,) = memory("why", "--session", "5f2c-12", "--json").document["sessions"]
        assert session["sessionId"] == "5f2c-12"

    def test_a_whole_id_is_meant_even_where_another_begins_with_it(self, memory: Memory) -> None:
        for session_id in ("5f2c", "5f2c-12"):
            memory.session(session_id, conversation(session_id, SAID))
        (session,) = memory("why", "--session", "5f2c", "--json").document["sessions"]
        assert session["sessionId"] == "5f2c"

    def test_the_same_id_in_two_harnesses_is_two_sessions(self, memory: Memory) -> None:
        memory.session("5f2c-11", conversation("5f2c-11", SAID))
        transcript = ("--transcript", str(memory.home / ".codex" / "sessions" / "rollout.jsonl"))
        assert memory("capture", "--harness", "codex", "--session", "5f2c-11", *transcript).code == 0
        sessions = memory("why", "--session", "5f2c-11", "--json").document["sessions"]
        assert [each["harness"] for each in sessions] == ["claude-code", "codex"]

    def test_a_secret_note_is_not_named_to_an_agent(self, memory: Memory) -> None:
        id = learnt(memory)
        (path,) = (memory.root / "topics").glob(f"*{id}*")
        path.write_text(path.read_text().replace("---\n", "---\nsensitivity: secret\n", 1))
        assert id in memory("why", "--session", "5f2c-11").out
        told = memory("why", "--session", "5f2c-11", "--json", environ=AGENT).document["sessions"][0]
        assert id not in [each["id"] for each in told["entries"]]

"""`memory forget` as a process (P28)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from returns.result import Failure

from agent_memory.app import open_memory
from agent_memory.errors import ActRefused
from agent_memory.rules.forgotten import ForgetTarget, SessionKey
from claude_transcripts import Conversation
from fixtures.secret_samples import base62
from memory_process import Memory
from written_texts import holders

SESSION = "aaaaaaaa-1111-4222-8333-444444444444"
OTHER = "bbbbbbbb-1111-4222-8333-444444444444"
SECRET_WORD = "zanzibarquux"
"""Nothing else in the store holds it."""


@pytest.fixture(scope="module")
def made() -> list[Memory]:
    """The home of all these tests, once it is made."""
    return []


@pytest.fixture
def memory(made: list[Memory], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A home in which two sessions were consolidated, one run each, with a managed section."""
    if not made:
        memory = Memory(tmp_path_factory.mktemp("forget") / "home")
        memory.home.mkdir()
        memory.configure(agentsMd={"targets": [str(memory.home / "AGENTS.md")]})
        talk(memory, SESSION, f"Remember that the {SECRET_WORD} deploys run from the release branch only.")
        assert memory("consolidate").code == 0
        talk(memory, OTHER, "Remember that ruff runs before every commit in this project.")
        assert memory("consolidate").code == 0
        made.append(memory)
    (memory,) = made
    kept = memory.home.with_name("kept")
    shutil.copytree(memory.home, kept, symlinks=True)
    yield memory
    shutil.rmtree(memory.home)
    kept.rename(memory.home)


def talk(memory: Memory, session: str, *said: str) -> None:
    memory.session(session, Conversation(session).exchange(*said).data)


def test_a_session_is_forgotten_with_all_that_came_from_it_alone_p28(memory: Memory) -> None:
    before = holders(memory.root, SECRET_WORD)
    assert any(path.startswith("topics/") for path in before)  # positive control
    assert any(path.startswith("runs/") for path in before)
    assert ".git objects" in before

    dry = memory("forget", "--session", SESSION, "--dry-run")
    assert (dry.code, dry.err) == (0, "")
    assert SECRET_WORD in dry.out
    assert holders(memory.root, SECRET_WORD) == before

    done = memory("forget", "--session", SESSION, "--yes")
    assert (done.code, done.err) == (0, "")
    assert "The git history of the store still holds it; `--purge` rewrites it." in done.out
    left = holders(memory.root, SECRET_WORD)
    assert {path.partition("/")[0] for path in left} <= {".git", ".git objects"}, left
    assert ".git objects" in left
    assert len(memory.notes()) == 1
    assert memory.log("%s")[0] == "forget: a session"
    unknown = memory("forget", "--session", "never-seen", "--yes")
    assert "git history" not in unknown.out, unknown


def test_a_purge_leaves_nothing_of_it_anywhere_p28(memory: Memory) -> None:
    assert ".git objects" in holders(memory.root, SECRET_WORD)  # positive control
    commits = len(memory.log())
    kept = memory.notes()
    done = memory("forget", "--session", SESSION, "--purge", "--yes")
    assert (done.code, done.err) == (0, "")
    assert holders(memory.root, SECRET_WORD) == []
    assert [path for path in holders(memory.root, SESSION) if not path.startswith(("state/forgotten/", ".git"))] == []
    assert len(memory.log()) == commits + 1  # no commit is lost
    assert SESSION not in memory.git("log", "--format=%B%n%(trailers)")
    assert OTHER in memory.git("log", "--format=%B")
    assert [each["id"] for each in memory.notes()] == [each["id"] for each in kept if SECRET_WORD not in each["body"]]
    assert (memory.root / "state/purge.json").exists()
    assert not (memory.root / "runs/purge").exists()
    assert not (memory.root / "runs/forgetting.json").exists()
    assert memory("doctor").code in (0, 1)


def test_a_note_is_forgotten_with_its_versions_links_aliases_tier_and_section_p28(memory: Memory) -> None:
    gone = memory.remembered(f"The {SECRET_WORD} lamp has a green fuse, and the spare fuses are in the harbour office.")
    memory("pin", gone)
    note = next((memory.root / "topics").glob(f"*{gone}.md"))
    note.write_text(note.read_text() + f"\nThe {SECRET_WORD} fuse is rated 3 A since the storm.\n")
    assert memory("edit", gone, "--title", f"Fuses of the {SECRET_WORD} lamp").code == 0
    assert list((memory.root / "archive" / gone).glob("*.md"))
    other = memory.remembered(f"Who changes fuses reads [[{gone}|the note on fuses]] and [[{gone}]] first.")
    section = memory.home / "AGENTS.md"
    assert SECRET_WORD in section.read_text()  # positive control

    done = memory("forget", gone.swapcase(), "--purge", "--yes", "--json")
    assert (done.code, done.err) == (0, ""), done
    assert [each["id"] for each in done.document["notes"]] == [gone]
    assert done.document["unlinked"] == [other]
    rest = next(each for each in memory.notes() if each["id"] == other)
    assert rest["body"] == f"Who changes fuses reads the note on fuses and {gone} first."
    assert SECRET_WORD not in section.read_text()
    tiers = json.loads((memory.root / "state/tiers.json").read_text())
    assert gone not in tiers["hot"] + tiers["warm"]
    assert not (memory.root / "archive" / gone).exists()
    # What the session's own note says of the same word is another note's.
    assert {path.partition("/")[0] for path in holders(memory.root, "fuse is rated 3 A")} == set()
    assert {path.partition("/")[0] for path in holders(memory.root, "spare fuses are in the")} == set()
    assert memory("read", gone).code == 20
    assert memory("doctor", "--json").code in (0, 1)


def test_what_other_notes_say_of_it_is_told_and_stays(memory: Memory) -> None:
    text = "The harbour lamp has a green fuse of 3 A, and spare fuses are kept in the harbour office."
    first = memory.remembered(text)
    second = memory.remembered(f"Electrics of the pier.\n\n{text}\n\nThe cable is 40 m long.", "--title", "Electrics")
    dry = memory("forget", first, "--dry-run", "--json").document
    assert [(each["id"], each["percent"]) for each in dry["mentions"]] == [(second, 100)]
    assert memory("forget", first, "--yes").code == 0
    assert [each["id"] for each in memory.notes() if "green fuse" in each["body"]] == [second]


def test_a_captured_note_is_forgotten_in_the_inbox_too_and_not_learnt_from_the_past(memory: Memory) -> None:
    memory.captured("Gate code", f"The {SECRET_WORD} gate opens with the code on the harbour master's desk.")
    assert memory("consolidate").code == 0
    (gone,) = [each["id"] for each in memory.notes() if each["title"] == "Gate code"]
    assert any(path.startswith("inbox/.processed/") for path in holders(memory.root, "gate opens with"))
    assert memory("forget", gone, "--yes").code == 0
    assert [path for path in holders(memory.root, "gate opens with") if not path.startswith(".git")] == []
    # What is said after that is meant.
    memory.captured("Gate code", f"The {SECRET_WORD} gate opens with the code on the harbour master's desk.")
    assert memory("consolidate").code == 0
    assert "Gate code" in memory.titles()


def test_what_a_session_said_before_is_not_learnt_from_it_again(memory: Memory) -> None:
    (gone,) = [each["id"] for each in memory.notes() if SECRET_WORD in each["body"]]
    assert memory("forget", gone, "--yes").code == 0
    shutil.rmtree(memory.root / "state/sessions")  # as `--upgrade` and backfill of another machine would see it
    path = memory.home / ".claude" / "projects" / "lamp" / f"{SESSION}.jsonl"
    memory.capture_session(SESSION, path)
    again = memory("consolidate", "--json")
    assert again.code == 0
    assert not [each for each in memory.notes() if SECRET_WORD in each["body"]]
    assert SECRET_WORD not in json.dumps(memory("log", "--json").document)
    assert holders(memory.root / "runs", SECRET_WORD) == [], "the reply that said it again goes as well (P28)"
    for tombstone in (memory.root / "state/forgotten").glob("*.json"):  # positive control: it is the tombstone's doing
        tombstone.unlink()
    shutil.rmtree(memory.root / "state/sessions", ignore_errors=True)
    memory.capture_session(SESSION, path)
    assert memory("consolidate").code == 0
    assert [each for each in memory.notes() if SECRET_WORD in each["body"]]


def test_a_forgotten_session_is_captured_no_more_by_hand_or_hook_nor_consolidated(memory: Memory) -> None:
    memory.capture_session(SESSION, memory.home / ".claude" / "projects" / "lamp" / f"{SESSION}.jsonl")
    assert memory("forget", "--session", SESSION, "--yes").code == 0
    assert memory.pending() == []
    refused = memory("capture", "--harness", "claude-code", "--session", SESSION, "--json")
    assert (refused.code, refused.error["code"]) == (30, "session-forgotten")
    for session, captured in ((SESSION, 0), (OTHER, 1)):
        payload = {"session_id": session, "hook_event_name": "SessionEnd", "reason": "other", "cwd": str(memory.home)}
        hook = memory("capture", "--harness", "claude-code", "--hook", data=json.dumps(payload).encode())
        assert (hook.code, hook.out, hook.err) == (0, "", "")
        assert len(memory.pending()) == captured
    # One that another machine had captured before.
    name = memory.pending()[0]
    entry = json.loads((memory.root / "inbox" / name).read_text())
    entry["retrieval"]["sessionId"] = SESSION
    (memory.root / "inbox" / name).write_text(json.dumps(entry))
    assert memory("consolidate").code == 0
    assert (memory.pending(), len(memory.notes())) == ([], 1)


def test_what_others_taught_as_well_stays_without_the_session(memory: Memory) -> None:
    (shared,) = [each["id"] for each in memory.notes() if SECRET_WORD in each["body"]]
    note = next((memory.root / "topics").glob(f"*{shared}.md"))
    note.write_text(note.read_text().replace("sources:\n", f"sources:\n  - {{harness: codex, threadId: {OTHER}}}\n"))
    before = memory("read", shared, "--json").document
    assert len(before["sources"]) == 2, note.read_text()
    dry = memory("forget", "--session", SESSION, "--dry-run")
    assert f"keep     {shared}" in dry.out
    assert f"codex {OTHER}" in dry.out
    done = memory("forget", "--session", SESSION, "--purge", "--yes", "--json")
    assert [each["id"] for each in done.document["shared"]] == [shared]
    after = memory("read", shared, "--json").document
    assert (after["body"], [each["threadId"] for each in after["sources"]]) == (before["body"], [OTHER])
    left = [path for path in holders(memory.root, SESSION) if not path.startswith(("state/forgotten/", ".git"))]
    assert left == []
    assert SESSION not in memory.git("log", "-p", "--format=%B", "--", "topics", "archive")


def test_a_run_that_made_it_cannot_be_undone_and_says_why_p16_p28(memory: Memory) -> None:
    runs = memory("log", "--json").document["runs"]
    made = next(each for each in runs if any(SECRET_WORD in action["words"] for action in each["actions"]))
    other = next(each for each in runs if each["run"] != made["run"])
    assert memory("forget", "--session", SESSION, "--yes").code == 0
    refused = memory("undo", made["run"], "--json")
    assert (refused.code, refused.error["code"]) == (20, "undo-refused")
    assert "was forgotten" in refused.error["message"]
    assert memory("diff", made["run"]).code == 20
    assert SECRET_WORD not in memory("log", "--json").out
    assert memory("undo", other["run"]).code == 0
    assert SECRET_WORD not in json.dumps(memory.notes())


def test_it_is_a_persons_act(memory: Memory) -> None:
    before = memory.snapshot()
    for words in (("forget", "--session", SESSION, "--yes"), ("forget", "--session", SESSION, "--dry-run")):
        refused = memory(*words, "--json", environ={"CLAUDE_CODE_CHILD_SESSION": "1"})
        assert (refused.code, refused.error["code"]) == (2, "act-refused")
    assert memory("forget", "--session", SESSION).code == 2  # nobody can be asked
    assert memory("forget", "--session", SESSION[:9], "--yes").code == 2
    assert memory.snapshot() == before


def test_nor_can_an_agent_carry_out_what_a_person_looked_at_p19(memory: Memory) -> None:
    by_person, by_agent = (
        open_memory({**memory.environment(), **sign}, memory.home, lambda _: None).unwrap()
        for sign in ({}, {"CLAUDE_CODE_CHILD_SESSION": "1"})
    )
    seen = by_person.look_at_forgetting(ForgetTarget(session=SessionKey(SESSION))).unwrap()
    before = memory.snapshot()
    assert by_agent.forget(seen) == Failure(ActRefused("forget", "CLAUDE_CODE_CHILD_SESSION"))
    assert memory.snapshot() == before
    assert by_person.forget(seen).unwrap().ids


def test_p20_a_secret_that_was_given_for_a_session_is_kept_nowhere(memory: Memory) -> None:
    token = f"ghp_{base62(36)}"
    refused = memory("forget", "--session", token, "--yes")
    assert (refused.code, refused.err) == (
        2,
        "memory: Nothing comes from that session, and its id looks like a secret: no mark of it is kept.\n",
    )
    assert [path for path in memory.home.rglob("*") if token in path.name] == []


def test_a_session_that_nothing_is_known_of_leaves_its_tombstone(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    done = memory("forget", "--session", "T-not-seen-yet", "--yes")
    assert (done.code, done.err) == (0, "")
    assert "nothing  is kept of this session; it is only marked, so that it is never learnt" in done.out
    assert memory("capture", "--harness", "amp", "--session", "T-not-seen-yet").code == 30
    assert memory("capture", "--harness", "amp", "--session", "T-another").code == 0


@pytest.mark.parametrize("by", ["session", "note"])
def test_what_was_forgotten_before_can_be_purged_later(memory: Memory, by: str) -> None:
    (gone,) = [each["id"] for each in memory.notes() if SECRET_WORD in each["body"]]
    words = ("--session", SESSION) if by == "session" else (gone,)
    assert memory("forget", *words, "--yes").code == 0
    assert SECRET_WORD in memory.git("log", "--all", "-p", "--format=%B")  # positive control
    assert memory("forget", *words, "--purge", "--yes").code == 0
    assert SECRET_WORD not in memory.git("log", "--all", "-p", "--format=%B")
    if by == "session":  # of a note its session is still there, in histories and runs
        assert holders(memory.root, SECRET_WORD) == []
    unknown = memory("forget", "id__zzzzzz", "--purge", "--yes")
    assert unknown.code == 20


@pytest.mark.parametrize("what", ["note", "session"])
def test_what_sessions_were_told_of_other_notes_stays_known(memory: Memory, what: str) -> None:
    told = ("inject", "--harness", "claude-code", "--session")
    for session in (SESSION, "cccccccc-1111-4222-8333-444444444444"):
        assert "ruff" in memory(*told, session).out
        assert "ruff" not in memory(*told, session).out
    (note,) = (each["id"] for each in memory.notes() if SECRET_WORD in each["title"])
    assert memory("forget", *([note] if what == "note" else ["--session", SESSION]), "--yes").code == 0
    log = (memory.root / "runs/deliveries/log.jsonl").read_text()
    assert (note in log, SESSION in log) == (False, what == "note")
    assert memory(*told, session).out == ""

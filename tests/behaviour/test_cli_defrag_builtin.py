"""`memory defrag` as most people run it: without a language model."""

from __future__ import annotations

import json
import time

from memory_process import Memory

TWIN = "Deploys run from main only, and never from a branch."


def copied(memory: Memory, id: str, new_id: str, **replaced: str) -> None:
    """A copy of a note under another id, as a file that a person put there."""
    (path,) = (memory.root / "topics").glob(f"*{id}.md")
    text = path.read_text().replace(f"id: {id}", f"id: {new_id}")
    for old, new in replaced.items():
        text = text.replace(f"{old}: ", f"{new}: ", 1)
    (memory.root / "topics" / f"copy -- {new_id}.md").write_text(text)


def whole_store(memory: Memory) -> dict[str, bytes]:
    trees = (memory.root / tree for tree in ("topics", "archive", "state"))
    return {str(path): path.read_bytes() for tree in trees for path in tree.rglob("*") if path.is_file()}


def test_what_is_there_twice_is_merged_and_both_ids_lead_to_it_p12(memory: Memory) -> None:
    id = memory.remembered(TWIN, "--kind", "convention")
    memory.remembered("The staging host is lamp-3.")
    copied(memory, id, "id__aaaaaa")
    done = memory("defrag")
    assert (done.code, done.out.split(",")[0]) == (0, "1 merged")
    (note,) = (note for note in memory.notes() if note["kind"] == "convention")
    assert (note["body"], set(note["aliases"])) == (TWIN, {id, "id__aaaaaa"})
    for earlier in (id, "id__aaaaaa"):
        assert memory("read", earlier, "--json").document["id"] == note["id"]
        assert memory("read", "--archived", earlier).code == 0
    story = memory("why", "id__aaaaaa", "--json").document
    assert [each["kind"] for each in story["history"]] == ["merge"]
    assert {each["id"] for each in story["merged"]} == {id, "id__aaaaaa"}


def test_what_cannot_be_read_is_told_and_merged_when_it_can_be_p6(memory: Memory) -> None:
    id = memory.remembered(TWIN, "--kind", "convention")
    copied(memory, id, "id__aaaaaa")
    (copy,) = (memory.root / "topics").glob("copy -- *")
    whole = copy.read_bytes()
    copy.write_bytes(b"---\nid: [\n---\n\n" + TWIN.encode())
    done = memory("defrag", "--json")
    (told,) = done.document["warnings"]
    assert told.startswith(f"topics/{copy.name} was left out: ")
    assert (done.code, done.document["actions"]) == (0, [])
    copy.write_bytes(whole)
    again = memory("defrag", "--json").document
    assert (len(again["actions"]), again["warnings"]) == (1, [])


def test_a_second_run_changes_no_byte(memory: Memory) -> None:
    id = memory.remembered(TWIN, "--kind", "convention")
    memory.remembered("The staging host is lamp-3.")
    copied(memory, id, "id__aaaaaa")
    assert memory("defrag").code == 0
    before = whole_store(memory)
    done = memory("defrag")
    assert (done.code, done.out) == (0, "nothing to change\n")
    assert whole_store(memory) == before


def test_what_expired_is_archived_with_the_reason(memory: Memory) -> None:
    id = memory.remembered("Handed over: the import is half done.", "--kind", "handoff")
    kept = memory.remembered("The staging host is lamp-3.")
    (path,) = (memory.root / "topics").glob(f"*{id}.md")
    path.write_text(path.read_text().replace("---\n", f"---\nexpiresAt: {time.time_ns() // 1_000_000 - 1}\n", 1))
    assert memory("defrag").out.startswith("1 archived")
    assert [note["id"] for note in memory.notes()] == [kept]
    story = memory("why", id, "--json").document
    assert story["archived"] is True
    assert "it expired on" in story["history"][-1]["words"]


def test_what_the_person_said_is_in_front_and_the_rest_has_a_line(memory: Memory) -> None:
    rule = memory.remembered(TWIN, "--kind", "convention")
    fact = memory.remembered("The staging host is lamp-3.")
    assert memory("defrag").code == 0
    assert json.loads((memory.root / "state" / "tiers.json").read_text()) == {"hot": [rule], "warm": [fact]}
    reasons = memory("why", fact, "--json").document["tier"]["reasons"]
    assert reasons[0].startswith("It is warm")


def test_over_a_cap_the_least_valuable_goes_and_what_is_pinned_stays_p13_p14(memory: Memory) -> None:
    ids = [memory.remembered(f"Note number {number} says something.") for number in range(6)]
    pinned = memory.remembered("The least of all.", "--importance", "low")
    assert memory("pin", pinned).code == 0
    assert memory("read", ids[0]).code == 0
    memory.configure(limits={"maxEntries": 5})
    assert memory("defrag").out.startswith("2 archived")
    left = {note["id"] for note in memory.notes()}
    assert {pinned, ids[0]} < left
    assert len(left) == 5
    (gone, *_) = set(ids) - left
    assert "limits.maxEntries is 5" in memory("why", gone, "--json").document["history"][-1]["words"]


def test_where_the_agent_command_fails_caps_hold_all_the_same_and_the_failure_is_told(memory: Memory) -> None:
    ids = [memory.remembered(f"Note number {number} says something.") for number in range(6)]
    memory.configure(limits={"maxEntries": 5}, llm={"command": "no-such-agent"})
    done = memory("defrag")
    assert (done.code, done.out) == (40, "1 archived\n")
    assert "no-such-agent was not found" in done.err
    left = {note["id"] for note in memory.notes()}
    assert len(left) == 5
    (gone,) = set(ids) - left
    assert "limits.maxEntries is 5" in memory("why", gone, "--json").document["history"][-1]["words"]
    (run,) = memory("log", "--json").document["runs"]
    assert run["result"] == "failed"
    assert "no-such-agent" in memory("status").out
    assert memory("undo").code == 0
    assert {note["id"] for note in memory.notes()} == set(ids)


def test_where_no_agent_may_be_called_caps_hold_too(memory: Memory) -> None:
    for number in range(6):
        memory.remembered(f"Note number {number} says something.")
    memory.configure(limits={"maxEntries": 5}, llm={"preset": "cursor"})
    done = memory("defrag")
    assert (done.code, done.out, len(memory.notes())) == (40, "1 archived\n", 5)
    assert "llm.allowTools" in done.err
    again = memory("defrag")
    assert (again.code, again.out, again.err) == (40, "", done.err)


def test_with_nothing_to_do_an_agent_that_may_not_be_called_is_told_all_the_same(memory: Memory) -> None:
    memory.configure(llm={"preset": "cursor"})
    done = memory("defrag")
    assert (done.code, done.out) == (40, "")
    assert "llm.allowTools" in done.err


def test_what_earlier_versions_kept_of_notes_goes_and_nothing_else_of_the_cache(memory: Memory) -> None:
    memory.remembered(TWIN)
    cache = memory.root / ".cache"
    cache.mkdir(exist_ok=True)
    for name in ("analysis", "compared", "examined", "past-sessions.json", "other.json"):
        (cache / name).write_bytes(b"Deploys run from main only")
    assert memory("defrag").code == 0
    left = {path.name for path in cache.iterdir()}
    assert left.isdisjoint({"analysis", "compared", "examined", "past-sessions.json"})
    assert "other.json" in left

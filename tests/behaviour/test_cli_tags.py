"""`memory tags`, and what tags go through on their way into a note."""

from __future__ import annotations

import json

from memory_process import Memory

AGENT = {"CLAUDE_CODE_CHILD_SESSION": "1"}


def tags_of(memory: Memory) -> dict[str, list[str]]:
    return {each["title"]: each["tags"] for each in memory.notes()}


def noted(memory: Memory) -> None:
    memory.remembered("Deploys run from main.", "--tags", "deploy,ci", "--title", "One")
    memory.remembered("The van is red.", "--tags", "deployments", "--title", "Two")
    memory.remembered("The fair is in May.", "--tags", "deploy", "--title", "Three")


def test_the_tags_in_use_and_which_look_alike(memory: Memory) -> None:
    assert memory("tags").out == ""
    noted(memory)
    assert memory("tags").out.splitlines() == [
        "topic__deploy\t2\t\ttopic__deployments",
        "topic__ci\t1\t\t",
        "topic__deployments\t1\t\ttopic__deploy",
    ]
    assert memory("tags", "list", "--json").document == {
        "tags": [
            {"tag": "topic__deploy", "notes": 2, "standing": "free", "like": ["topic__deployments"]},
            {"tag": "topic__ci", "notes": 1, "standing": "free", "like": []},
            {"tag": "topic__deployments", "notes": 1, "standing": "free", "like": ["topic__deploy"]},
        ],
        "renamed": {},
        "unreadable": [],
    }
    (symptom,) = (each for each in memory("doctor", "--json").document["symptoms"] if each["code"] == "tag-alike")
    assert symptom["severity"] == "note"
    assert "`memory tags rename topic__deployments topic__deploy` merges them" in str(symptom)


def test_notes_whose_tags_are_not_known_are_told_p6(memory: Memory) -> None:
    noted(memory)
    path = next((memory.root / "topics").glob("Two*.md"))
    path.write_bytes(b"\xff\xfe")
    done = memory("tags", "--json")
    assert [each["path"] for each in done.document["unreadable"]] == [f"topics/{path.name}"]
    for words in (("tags",), ("tags", "accept", "--all")):
        told = memory(*words)
        assert (told.code, told.err.count(path.name)) == (0, 1), told


def test_what_is_accepted_makes_the_others_proposed_and_nothing_is_dropped(recorded: Memory) -> None:
    noted(recorded)
    before = recorded.snapshot()
    done = recorded("tags", "accept", "Deploy", "area__web")
    assert (done.code, done.out) == (0, "The vocabulary now has 2 tags.\n")
    standings = {each["tag"]: each["standing"] for each in recorded("tags", "--json").document["tags"]}
    assert standings == {
        "topic__deploy": "accepted",
        "topic__ci": "proposed",
        "topic__deployments": "proposed",
        "area__web": "accepted",
    }
    assert recorded.snapshot() == before
    assert recorded.log()[0] == "agent-memory: tags: accept area__web, topic__deploy"
    told = {each["subject"]: each["code"] for each in recorded("doctor", "--json").document["symptoms"]}
    assert told == {"topic__ci": "tag-unknown", "topic__deployments": "tag-alike"}
    assert recorded("tags", "accept", "--all", "--json").document["vocabulary"] == [
        "area__web",
        "topic__ci",
        "topic__deploy",
        "topic__deployments",
    ]
    recorded.remembered("Boats float.", "--tags", "boat", "--title", "Four")
    assert tags_of(recorded)["Four"] == ["topic__boat"]


def test_a_renaming_is_one_commit_and_holds_for_what_comes_later(recorded: Memory) -> None:
    noted(recorded)
    changed_at = {each["id"]: each["updatedAt"] for each in recorded.notes()}
    commits = len(recorded.log())
    done = recorded("tags", "rename", "deploy", "release")
    assert (done.code, done.out) == (0, "Renamed topic__deploy to topic__release in 2 notes.\n")
    assert tags_of(recorded) == {
        "One": ["topic__release", "topic__ci"],
        "Two": ["topic__deployments"],
        "Three": ["topic__release"],
    }
    assert {each["id"]: each["updatedAt"] for each in recorded.notes()} == changed_at
    assert [each["path"] for each in recorded.notes() if "topic__deploy " in each["path"]] == []
    assert len(recorded.log()) == commits + 1
    assert recorded.log()[0] == "agent-memory: tags: rename topic__deploy to topic__release (2 notes)"
    later = recorded.remembered("Boats float.", "--tags", "deploy,boat", "--title", "Four")
    assert tags_of(recorded)["Four"] == ["topic__release", "topic__boat"]
    assert recorded("edit", later, "--tags", "boat,deploy").code == 0
    assert tags_of(recorded)["Four"] == ["topic__boat", "topic__release"]
    assert recorded("tags", "--json").document["renamed"] == {"topic__deploy": "topic__release"}
    back = recorded("tags", "rename", "release", "deploy", "--json").document
    assert (len(back["notes"]), back["left"]) == (3, [])
    assert recorded("tags", "--json").document["renamed"] == {"topic__release": "topic__deploy"}


def test_two_tags_become_one(memory: Memory) -> None:
    noted(memory)
    assert memory("tags", "rename", "deployments", "deploy").code == 0
    assert memory("tags").out.splitlines()[0] == "topic__deploy\t3\t\t"


def test_a_note_in_conflict_is_left_and_named(memory: Memory) -> None:
    id = memory.remembered("Deploys run from main.", "--tags", "deploy")
    memory.remembered("The van is red.", "--tags", "deploy")
    (path,) = (memory.root / "topics").glob(f"*{id}.md")
    path.write_text(path.read_text() + "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")
    before = path.read_bytes()
    done = memory("tags", "rename", "deploy", "release")
    assert (done.code, path.read_bytes()) == (0, before)
    assert "in 1 note." in done.out
    assert f"{id} was left as it is: it holds unresolved merge conflicts." in done.err


def test_what_a_person_wrote_by_hand_is_a_vocabulary_too(memory: Memory) -> None:
    noted(memory)
    (memory.root / "state").mkdir(exist_ok=True)
    (memory.root / "state" / "project_tags.json").write_text(json.dumps({"vocabulary": ["deploy"]}))
    assert "topic__deploy\t2\taccepted\ttopic__deployments" in memory("tags").out
    (memory.root / "state" / "project_tags.json").write_text("{}")
    broken = memory("tags")
    assert (broken.code, broken.out) == (20, "")
    assert "project_tags.json cannot be understood" in broken.err
    assert memory("remember", "It still works.", "--tags", "deploy").code == 0


def test_an_agent_proposes_and_a_person_decides(memory: Memory) -> None:
    noted(memory)
    memory.remembered("The code is 4711.", "--tags", "vault", "--sensitivity", "secret")
    before = memory.snapshot()
    for words in (("accept", "deploy"), ("rename", "deploy", "release")):
        refused = memory("tags", *words, environ=AGENT)
        assert (refused.code, refused.out) == (2, "")
        assert "Only you can run" in refused.err
    assert memory.snapshot() == before
    assert "topic__vault" in memory("tags").out
    assert "topic__vault" not in memory("tags", environ=AGENT).out

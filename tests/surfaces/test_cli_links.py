"""`memory links` as a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_process import Memory


@pytest.fixture
def memory(home: Path) -> Memory:
    return Memory(home)


def test_both_directions_with_titles(memory: Memory) -> None:
    ports = memory.remembered("The api listens on 8080.", "--title", "Ports")
    deploys = memory.remembered(f"From main only, see [[{ports}|the ports]] and [[id__zzzzzz]].", "--title", "Deploys")
    done = memory("links", deploys)
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{deploys}  Deploys\nlinks to:\n  {ports}  Ports\n  id__zzzzzz  (there is no such note)\n"
    assert memory("links", ports).out == f"{ports}  Ports\nlinked from:\n  {deploys}  Deploys\n"
    assert memory("links", deploys, "--json").document == {
        "id": deploys,
        "title": "Deploys",
        "archived": False,
        "outgoing": [
            {"target": ports, "label": "the ports", "where": "live", "id": ports, "title": "Ports"},
            {"target": "id__zzzzzz", "label": None, "where": "unresolved", "id": None, "title": None},
        ],
        "incoming": [],
        "supersedes": [],
        "supersededBy": [],
        "aliases": [],
        "unreadable": [],
    }


def test_what_cannot_be_read_might_link_and_is_told_p6(memory: Memory) -> None:
    ports = memory.remembered("The api listens on 8080.", "--title", "Ports")
    memory.remembered(f"From main only, see [[{ports}]].", "--title", "Deploys")
    (path,) = (memory.root / "topics").glob("Deploys*.md")
    path.write_bytes(b"\xff\xfe")
    told = memory("links", ports, "--json")
    assert [each["path"] for each in told.document["unreadable"]] == [f"topics/{path.name}"]
    assert memory("links", ports).err.count(path.name) == 1


def test_archived_notes_are_named_and_can_be_asked_for(memory: Memory) -> None:
    ports = memory.remembered("The api listens on 8080.", "--title", "Ports")
    deploys = memory.remembered(f"From main only, see [[{ports}]].", "--title", "Deploys")
    assert memory("archive", ports).code == 0
    assert f"  {ports}  Ports  (archived)\n" in memory("links", deploys).out
    assert memory("links", ports).out == f"{ports}  Ports  (archived)\nlinked from:\n  {deploys}  Deploys\n"


def test_no_links_and_no_such_note(memory: Memory) -> None:
    id = memory.remembered("The api listens on 8080.", "--title", "Ports")
    assert memory("links", id.removeprefix("id__")).out == f"{id}  Ports\nNo links in either direction.\n"
    missing = memory("links", "id__zzzzzz", "--json")
    assert (missing.code, missing.error["code"]) == (20, "entry-not-found")


def test_it_counts_no_read(memory: Memory) -> None:
    id = memory.remembered("The api listens on 8080.")
    memory("links", id)
    assert memory("list", "--json").document["entries"][0]["used"] == 0


def test_what_is_secret_is_not_named_to_an_agent(memory: Memory) -> None:
    secret = memory.remembered("Behind the picture.", "--title", "Safe")
    assert memory("edit", secret, "--sensitivity", "secret").code == 0
    open_note = memory.remembered(f"Look at [[{secret}]].", "--title", "Where")
    inside = {"CLAUDE_CODE_CHILD_SESSION": "1"}
    assert "Safe" in memory("links", open_note).out
    assert "Safe" not in memory("links", open_note, environ=inside).out
    refused = memory("links", secret, "--json", environ=inside)
    assert (refused.code, refused.error["code"]) == (20, "entry-protected")

"""`memory links` as a process."""

from __future__ import annotations

import pytest

from memory_process import Memory


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


def test_a_superseded_note_that_was_merged_leads_to_what_it_became(memory: Memory) -> None:
    merged, new = memory.remembered("The api listens on 8080."), memory.remembered("Since May, on 9090 instead.")
    for id, key in ((merged, "aliases"), (new, "supersedes")):
        (path,) = (memory.root / "topics").glob(f"*{id}*")
        path.write_text(path.read_text().replace("\nkind:", f"\n{key}: [id__oxd123]\nkind:"))
    assert f"  (now {merged})" in memory("links", new).out


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


class TestAllLinks:
    @pytest.fixture
    def ids(self, memory: Memory) -> tuple[str, str, str]:
        """Of a note that is linked to by another, of that one, and of a private one that links to it as well."""
        ports = memory.remembered("The api listens on 8080.", "--title", "Ports")
        deploys = memory.remembered(f"From main only, see [[{ports}|the ports]].", "--title", "Deploys")
        talk = memory.remembered(f"Who is paid for [[{ports}]].", "--title", "Salaries", "--sensitivity", "private")
        memory.remembered(f"The code of [[{ports}]] is nine.", "--title", "Vault", "--sensitivity", "secret")
        return ports, deploys, talk

    def test_are_listed_without_what_is_private_or_secret(self, memory: Memory, ids: tuple[str, str, str]) -> None:
        ports, deploys, talk = ids
        done = memory("links")
        assert (done.code, done.err) == (0, "")
        assert done.out == f"{deploys}\t{ports}\tlinks\tlive\tthe ports\tDeploys\tPorts\n"
        everything = memory("links", "--private", "--json").document
        assert {each["title"] for each in everything["entries"]} == {"Ports", "Deploys", "Salaries"}
        assert {each["source"] for each in everything["links"]} == {deploys, talk}

    def test_as_a_graph(self, memory: Memory, ids: tuple[str, str, str]) -> None:
        ports, deploys, _ = ids
        drawn = memory("links", "--dot").out
        assert drawn.startswith("digraph memory {\n")
        assert f'  "{deploys}" -> "{ports}" [label="the ports"]\n' in drawn
        assert "Salaries" not in drawn
        assert "Vault" not in drawn

    def test_a_link_to_what_is_left_out_is_not_shown_as_broken(self, memory: Memory) -> None:
        vault = memory.remembered("Nine.", "--title", "Vault", "--sensitivity", "secret")
        memory.remembered(f"Ask for [[{vault}]].", "--title", "Deploys")
        assert memory("links", "--json").document["links"] == []

    @pytest.mark.parametrize("option", ["--dot", "--private"])
    def test_one_note_is_no_graph(self, memory: Memory, ids: tuple[str, str, str], option: str) -> None:
        assert memory("links", ids[0], option).code == 2

    def test_what_cannot_be_read_might_link_and_is_told_p6(self, memory: Memory, ids: tuple[str, str, str]) -> None:
        (path,) = (memory.root / "topics").glob("Deploys*.md")
        path.write_bytes(b"\xff\xfe")
        assert [each["path"] for each in memory("links", "--json").document["unreadable"]] == [f"topics/{path.name}"]
        assert memory("links").err.count(path.name) == 1

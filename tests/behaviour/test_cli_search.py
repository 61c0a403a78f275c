"""`memory search` on the command line."""

from __future__ import annotations

import time

import pytest

from memory_process import Memory

ZEBRA = "The zebra lock moved from advisory locks to Redis, since vacuum stalled."
API = "The api listens on port 8081; grafana has taken 8080."
DEPLOY = "Deploys run from main only, and never from a branch."
AGENT = {"CLAUDE_CODE_CHILD_SESSION": "1"}


def found(memory: Memory, *words: str, data: bytes = b"") -> list[str]:
    """The ids, best first."""
    done = memory("search", *words, "--json", data=data)
    assert done.code == 0, done
    return [each["id"] for each in done.document["entries"]]


def test_the_best_note_first_one_a_line_when_piped(memory: Memory) -> None:
    zebra = memory.remembered(ZEBRA, "--kind", "decision", "--tags", "locks")
    memory.remembered(API)
    done = memory("search", "zebra", "lock")
    assert done.code == 0
    first = done.out.splitlines()[0].split("\t")
    assert (first[0], first[2:5], first[6], len(first)) == (zebra, ["warm", "decision", "user"], ZEBRA, 10)
    assert "\x1b" not in done.out
    assert done.err.startswith("memory: 1 note, found by words")
    assert memory("list", "--json").document["entries"][0]["used"] == 0  # searching is no reading
    assert len(memory("search", "zebra", "--explain").out.splitlines()[0].split("\t")) == 11


def test_the_document(memory: Memory) -> None:
    zebra = memory.remembered(ZEBRA)
    memory("read", zebra)
    document = memory("search", "zebra lock", "--json").document
    assert list(document) == ["query", "mode", "matched", "notices", "entries"]
    assert (document["query"], document["matched"]) == ("zebra lock", 1)
    assert document["mode"] in ("bm25", "hybrid")
    (entry,) = document["entries"]
    listed = memory("list", "--json").document["entries"][0]
    assert {key: entry[key] for key in listed} == listed
    assert list(entry)[len(listed) :] == ["score", "snippet", "marks", "parts", "superseded_by"]
    assert entry["used"] == 1
    assert 0 < entry["score"] <= 1
    assert [entry["snippet"][start:end] for start, end in entry["marks"]][:2] == ["zebra", "lock"]
    assert all(set(part) == {"name", "value", "detail"} for part in entry["parts"])


def test_filters(memory: Memory) -> None:
    zebra = memory.remembered(f"{ZEBRA} Deploys wait for it.", "--kind", "decision", "--tags", "locks")
    deploy = memory.remembered(DEPLOY, "--kind", "convention", "--scope", "github.com/ada/lamp")
    assert set(found(memory, "deploys")) == {zebra, deploy}
    assert found(memory, "deploys", "--kind", "decision") == [zebra]
    assert found(memory, "deploys", "--tag", "locks") == found(memory, "deploys", "--tag", "topic__locks") == [zebra]
    assert found(memory, "deploys", "--scope", "github.com/ada/lamp") == [deploy]
    assert set(found(memory, "deploys", "--since", "1d")) == {zebra, deploy}
    assert found(memory, "deploys", "--since", "2099-01-01") == []
    assert len(found(memory, "deploys", "--limit", "1")) == 1
    assert found(memory, "deploys", "--session", "s1") == []
    assert memory("archive", deploy).code == 0
    assert found(memory, "deploys") == [zebra]
    assert found(memory, "deploys", "--archived") == [zebra, deploy]


def test_the_repository_around_is_the_scope(memory: Memory) -> None:
    project = memory.work_tree()
    memory.remembered(DEPLOY)
    here = memory("remember", "Deploys of the lamp wait for the night.", "--json", cwd=project).document["id"]
    within = memory("search", "deploys", "--scope", "repo", "--json", cwd=project).document
    assert [each["id"] for each in within["entries"]] == [here]


def test_any_text_is_a_query_also_from_standard_input(memory: Memory) -> None:
    zebra = memory.remembered(ZEBRA)
    assert found(memory, "-", data=b"Traceback (most recent call last):\n  zebra lock\n" * 200) == [zebra]
    for query in ("C++", '"unbalanced', "zebra AND (", "\U0001f600", "", "a:b^2~*", "id__zzzzzz", "--"):
        assert memory("search", "--json", "--", query).code == 0, query


def test_nothing_found_is_no_error_and_says_what_to_try(memory: Memory) -> None:
    done = memory("search", "walrus\x1b[31m")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("memory: Nothing was found for 'walrus'. Try ")
    assert memory("search", "walrus", "--json").document["entries"] == []


def test_an_agent_is_told_of_no_secret_p20(memory: Memory) -> None:
    memory.remembered("The code of the zebra door is 4711.", "--sensitivity", "secret")
    told = memory("search", "zebra door", "--json", environ=AGENT)
    assert (told.code, told.document["entries"]) == (0, [])
    assert "4711" not in memory("search", "zebra door").out


# -- cli open and expired ----------------------------------------------------------------------------------------------


TASK = "Move the log\n\n- [ ] cut the reader\n- [x] tell Ada\n- [ ] drop the index"
DAY_MS = 86_400_000


class TestOpen:
    def test_each_open_box_under_its_task(self, memory: Memory) -> None:
        task = memory.remembered(TASK, "--kind", "task")
        whole = memory.remembered("Ask Bob for the key of the shed.", "--kind", "task")
        memory.remembered("Paint the fence\n\n- [x] green", "--kind", "task")
        memory.remembered("Trains\n\n- [ ] book one", "--kind", "project")
        memory.remembered("Nothing to tick off here.")
        lines = memory("list", "--kind", "task", "--open").out.splitlines()
        assert [line.split("\t")[0] for line in lines] == [whole, task, "", ""]
        assert lines[2:] == ["\t- [ ] cut the reader", "\t- [ ] drop the index"]
        entries = memory("list", "--open", "--json").document["entries"]
        assert [each["open"] for each in entries] == [["book one"], [], ["cut the reader", "drop the index"]]
        assert "open" not in memory("list", "--json").document["entries"][0]

    def test_what_is_secret_is_not_told_p20(self, memory: Memory) -> None:
        memory.remembered(TASK, "--kind", "task", "--sensitivity", "secret")
        assert memory("list", "--open").out == ""
        assert "Move the log" in memory("list").out


class TestExpires:
    def test_a_note_for_some_days(self, memory: Memory) -> None:
        before_ms = int(time.time() * 1000)
        memory.remembered("The staging box is up until the fair.", "--expires", "30d")
        (note,) = memory.notes()
        assert before_ms + 30 * DAY_MS <= note["expiresAt"] <= int(time.time() * 1000) + 30 * DAY_MS
        assert memory("list", "--expired").out == ""
        assert memory("edit", note["id"], "--expires", "2099-12-31").code == 0
        assert memory.notes()[0]["expiresAt"] == 4_102_444_799_999
        assert memory("edit", note["id"], "--expires", "never").code == 0
        assert memory.notes()[0]["expiresAt"] is None
        assert memory("edit", note["id"], "--importance", "high").code == 0
        assert memory.notes()[0]["importance"] == "high"

    def test_what_has_expired_is_listed(self, memory: Memory) -> None:
        id = memory.remembered("The staging box is up until the fair.", "--expires", "2099-12-31")
        memory.remembered("The fair is in May.")
        (path,) = (memory.root / "topics").glob(f"*{id}.md")
        path.write_text(path.read_text().replace("4102444799999", "1700000000000"))
        assert [each["id"] for each in memory("list", "--expired", "--json").document["entries"]] == [id]


class TestNarrowed:
    def test_to_an_agent_to_what_was_changed_since_and_to_a_page(self, memory: Memory) -> None:
        told = memory("remember", "The api listens on 8080.", "--json", environ={"CLAUDE_CODE_CHILD_SESSION": "1"})
        by_agent = told.document["id"]
        by_hand = [memory.remembered(f"Shed {number} has a lock of its own.") for number in (1, 2, 3)]
        newest_first = [*reversed(by_hand), by_agent]

        def listed(*words: str) -> list[str]:
            return [line.split("\t")[0] for line in memory("list", *words).out.splitlines()]

        assert listed() == listed("--since", "1h") == newest_first
        assert listed("--agent", "claude-code") == [by_agent]
        assert listed("--limit", "2") == newest_first[:2]
        assert listed("--limit", "2", "--offset", "3") == newest_first[3:]
        assert [each["id"] for each in memory("list", "--offset", "1", "--json").document["entries"]] == newest_first[
            1:
        ]

    def test_to_nothing_is_said_on_stderr(self, memory: Memory) -> None:
        assert memory("list").err.startswith("memory: No notes yet. ")
        memory.remembered("The api listens on 8080.")
        for words in (
            ("list", "--since", "2099-01-01"),
            ("list", "--agent", "codex"),
            ("list", "--offset", "1"),
            ("export", "jsonl", "--agent", "codex"),
        ):
            done = memory(*words)
            assert (done.code, done.out, done.err) == (
                0,
                "",
                "memory: No note matches. `memory list` shows all notes.\n",
            )
        assert memory("list", "--agent", "codex", "--json").err == ""


# -- `memory links` as a process ---------------------------------------------------------------------------------------


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

    def test_a_link_to_what_is_left_out_is_not_shown_as_broken(self, memory: Memory) -> None:
        vault = memory.remembered("Nine.", "--title", "Vault", "--sensitivity", "secret")
        memory.remembered(f"Ask for [[{vault}]].", "--title", "Deploys")
        assert memory("links", "--json").document["links"] == []

    def test_one_note_is_no_graph(self, memory: Memory, ids: tuple[str, str, str]) -> None:
        assert memory("links", ids[0], "--private").code == 2

    def test_what_cannot_be_read_might_link_and_is_told_p6(self, memory: Memory, ids: tuple[str, str, str]) -> None:
        (path,) = (memory.root / "topics").glob("Deploys*.md")
        path.write_bytes(b"\xff\xfe")
        assert [each["path"] for each in memory("links", "--json").document["unreadable"]] == [f"topics/{path.name}"]
        assert memory("links").err.count(path.name) == 1

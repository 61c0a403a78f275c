"""`memory search` on the command line."""

from __future__ import annotations

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
    assert (first[0], first[2:5], first[6], len(first)) == (zebra, ["warm", "decision", "user"], ZEBRA, 9)
    assert "\x1b" not in done.out
    assert done.err.startswith("memory: 1 note, found by words")
    assert memory("list", "--json").document["entries"][0]["used"] == 0  # searching is no reading
    assert len(memory("search", "zebra", "--explain").out.splitlines()[0].split("\t")) == 10


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

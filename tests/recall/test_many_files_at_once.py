"""A whole store changes at once, as when git checks out another commit, or a note is very long: searches know all of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agent_memory.app import Memory, open_memory
from agent_memory.recall.note_index import note_index
from agent_memory.recall.search_values import Mode, SearchRequest
from agent_memory.store.store_database import Refreshed

MANY = 1_000
DIGITS = "123456789A"


def id_of(number: int) -> str:
    return "id__" + "".join(DIGITS[int(digit)] for digit in f"{number:06}")


def git(root: Path, *words: str, stream: bytes | None = None) -> None:
    subprocess.run(["git", "-C", str(root), *words], input=stream, check=True, capture_output=True)


def commit(word: str, numbers: range) -> bytes:
    """For `git fast-import`: these notes and no others, each with this word. One pack in place of as many loose objects."""
    stream = [
        f"commit refs/heads/main\ncommitter t <t@example.org> 1771000205 +0000\ndata {len(word)}\n{word}\ndeleteall\n"
    ]
    for number in numbers:
        text = f"---\nid: {id_of(number)}\ntitle: Note {number}\ncreatedAt: 1771000205123\n---\n{word} w{number}q\n"
        stream.append(f"M 100644 inline topics/note -- {id_of(number)}.md\ndata {len(text)}\n{text}\n")
    return "".join(stream).encode()


def opened(home: Path) -> Memory:
    return open_memory({"HOME": str(home), "AGENT_MEMORY_ROOT": str(home / "memories")}, home, print).unwrap()


def found(memory: Memory, query: str) -> list[str]:
    answer = memory.search(SearchRequest(query, limit=20, mode=Mode.BM25)).unwrap()
    return [hit.listed.meta.id for hit in answer.hits]


@pytest.mark.large
def test_git_changes_a_thousand_files_at_once(home: Path, root: Path) -> None:
    """A tenth goes, a tenth comes, and all others change, while a server holds the index open."""
    gone, last = MANY // 10, MANY - 1
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(
        root,
        "fast-import",
        "--quiet",
        stream=commit("zebra", range(MANY)) + commit("giraffe", range(gone, MANY + gone)),
    )
    git(root, "checkout", "-q", "-f", "main")
    assert note_index(root).refresh().unwrap() == Refreshed(MANY, read=MANY)
    held_open = opened(home)
    assert found(held_open, f"giraffe w{last}q")[0] == id_of(last)

    git(root, "checkout", "-q", "HEAD~1")
    refreshed = note_index(root).refresh().unwrap()
    assert (refreshed.notes, refreshed.read, refreshed.pending) == (MANY, MANY, 0)
    for memory in (held_open, opened(home)):
        assert found(memory, "giraffe") == []
        assert len(found(memory, "zebra")) == 20
        for number in (0, gone, last):
            assert found(memory, f"w{number}q")[0] == id_of(number)
        assert id_of(last + gone) not in found(memory, f"w{last + gone}q")


@pytest.mark.large
def test_a_note_of_a_megabyte_is_listed_and_found_by_its_last_word(home: Path, root: Path) -> None:
    (root / "topics").mkdir(parents=True)
    bodies = ("zebra " * 170_000 + "last", "The lamp is lit.\n" * 60_000 + "giraffe")
    for number, body in enumerate(bodies):
        assert len(body) > 1_000_000
        (root / "topics" / f"note -- {id_of(number)}.md").write_text(
            f"---\nid: {id_of(number)}\ntitle: N\n---\n{body}\n"
        )
    memory = opened(home)
    assert {each.meta.id for each in memory.store.list().unwrap().entries} == {id_of(0), id_of(1)}
    for query, number in (("last", 0), ("giraffe", 1)):
        (hit,) = memory.search(SearchRequest(query, mode=Mode.BM25)).unwrap().hits
        assert hit.listed.meta.id == id_of(number)
        assert query in hit.snippet.text

"""A whole store changes at once, as when git checks out another commit, or a note is very long: searches know all of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agent_memory.app import Memory, open_memory
from agent_memory.recall.note_index import note_index
from agent_memory.recall.search import Mode, SearchRequest
from agent_memory.rules.drafts import NoteDraft
from agent_memory.store.store_database import Refreshed

MANY, VERY_MANY = 1_000, 50_000
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


def check_out_another_store(home: Path, many: int) -> None:
    """`many` notes, of which a tenth goes, a tenth comes, and all others change, while a server holds the index open."""
    root = home / "memories"
    gone, last = many // 10, many - 1
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(
        root,
        "fast-import",
        "--quiet",
        stream=commit("zebra", range(many)) + commit("giraffe", range(gone, many + gone)),
    )
    git(root, "checkout", "-q", "-f", "main")
    assert note_index(root).refresh().unwrap() == Refreshed(many, read=many)
    held_open = opened(home)
    assert found(held_open, f"giraffe w{last}q")[0] == id_of(last)

    git(root, "checkout", "-q", "HEAD~1")
    refreshed = note_index(root).refresh().unwrap()
    assert (refreshed.notes, refreshed.read, refreshed.pending) == (many, many, 0)
    for memory in (held_open, opened(home)):
        assert found(memory, "giraffe") == []
        assert len(found(memory, "zebra")) == 20
        for number in (0, gone, last):
            assert found(memory, f"w{number}q")[0] == id_of(number)
        assert id_of(last + gone) not in found(memory, f"w{last + gone}q")


@pytest.mark.large
def test_git_changes_thousands_of_files_at_once(home: Path, root: Path) -> None:
    check_out_another_store(home, MANY)


@pytest.mark.slow
def test_git_changes_fifty_thousand_files_at_once(home: Path, root: Path) -> None:
    check_out_another_store(home, VERY_MANY)


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


@pytest.mark.slow
def test_a_note_of_a_hundred_thousand_words_is_stored_and_found_by_any_of_them(home: Path, root: Path) -> None:
    memory = opened(home)
    words = [f"w{number}q" for number in range(128_000)]
    body = "\n".join(map(" ".join, zip(*[iter(words)] * 10, strict=True)))
    assert len(body) > 1_000_000
    id = memory.service.remember(NoteDraft(body, title="Words")).unwrap().stored.meta.id
    again = opened(home)
    for word in (words[0], words[64_000], words[-1]):
        (hit,) = again.search(SearchRequest(word, mode=Mode.BM25)).unwrap().hits
        assert hit.listed.meta.id == id
        assert word in hit.snippet.text
    assert again.store.read(id).unwrap().body.strip() == body

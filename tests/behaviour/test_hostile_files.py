"""Files of a store that somebody else made: each command says in a sentence what it cannot read, and loses nothing (P6, P9)."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from memory_process import Done, Memory

Documents = Sequence[bytes]

JSONS: Documents = (
    b"", b"{", b"[]", b"null", b"3", b'"x"', b"{}", b'{"a":1,"a":2}', b"[" * 10_000, b'{"a":' * 10_000, b"\xff\xfe{\x00}\x00",
    b"\xef\xbb\xbf{}", b"NaN", b"1e999", b"9" * 400, b'["\\ud800"]', b'{"version":1}', b'{"version":1,"path":"../../x"}', b"{}{}", b"\x00",
)  # fmt: skip
DEEP: Documents = (b"[" * 100_000, b'{"a":' * 100_000)
"""So deep that the decoder gives up: once for each of a file's two calls."""
BLOCKS: Documents = (
    b"", b"- a", b"x", b"{", b"a: *b", b"a: &a [*a]", b"!!python/object:os.system x", b"id: id__aaaaaa\nid: id__bbbbbb", b"title: [1, 2]",
    b"tags: {a: b}", b"? [a]\n: b", b"createdAt: 1e999", b"a: \xff", b"a:\tb", b"%YAML 9.9\n---\na: b", b"id: ../../x", b"<<: {id: id__aaaaaa}",
    b"mine: 1", b"mine: 2", b"mine: 2",
)  # fmt: skip

WRITTEN_NS = 1_771_000_000_000_000_000
"""When the first note was written."""

WORDS = {0, 1, 2, 10, 20, 30, 40, 50, 60, 70}
"""Exit codes of calls that went as documented; 3 is a bug."""


@pytest.fixture
def memory(home: Path) -> Memory:
    memory = Memory(home)
    memory.configure(storage={"autoCommit": False})
    memory.remembered("The lamp is lit from port 8080.")
    return memory


def whole(done: Done) -> Done:
    """The call, which did not crash: nothing but sentences on standard error."""
    assert done.code in WORDS, done
    assert "Traceback" not in done.err + done.out, done
    for line in filter(None, done.err.split("\n")):
        assert re.match(r"memory: \S|\{|\}| ", line), line
    return done


def still_works(memory: Memory) -> None:
    """The note that is well is found."""
    assert "8080" in whole(memory("search", "lamp")).out
    assert [each["title"] for each in whole(memory("list", "--json")).document["entries"]].count(
        "The lamp is lit from port 8080."
    ) == 1


def kept(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


# -- inbox ------------------------------------------------------------------------------------------------------------


def as_inbox_files(memory: Memory, documents: Documents) -> None:
    inbox = memory.root / "inbox"
    inbox.mkdir(exist_ok=True)
    names = [f"2026-02-13T14-30-05.{number:03}Z_amp_{number:06}.json" for number in range(len(documents))]
    for name, document in zip(names, documents, strict=True):
        (inbox / name).write_bytes(document)
    memory.captured("Ports of the api", "The api listens on 9090.")
    said = whole(memory("consolidate"))
    assert said.code == 0
    assert memory.pending() == []
    aside = kept(inbox / ".failed")
    for name, document in zip(names, documents, strict=True):
        assert aside[name] == document
        assert json.loads(aside[f"{name}.reason.json"])
        assert name in said.err
    assert "Ports of the api" in memory.titles()
    still_works(memory)


# -- notes ------------------------------------------------------------------------------------------------------------


def as_notes(memory: Memory, documents: Documents, apart_ns: int = 1_000_000) -> None:
    """Written one after the other, so that each that states no id gets one of its own."""
    topics = memory.root / "topics"
    for number, document in enumerate(documents):
        note = topics / f"hostile {number:04}.md"
        note.write_bytes(b"---\n" + document + b"\n---\nA lighthouse.\n")
        written_ns = WRITTEN_NS + number * apart_ns
        os.utime(note, ns=(written_ns, written_ns))
    before = kept(topics)
    listed = whole(memory("list", "--json"))
    for words in (
        ("search", "lighthouse"),
        ("stats",),
        ("read", "id__zzzzzz"),
        ("generate-agents-md",),
        ("inject",),
        ("tags",),
    ):
        whole(memory(*words))
    assert kept(topics) == before
    still_works(memory)
    unread = before.keys() - {Path(each["path"]).name for each in listed.document["entries"]}
    copies = {name for name in unread if f"topics/{name} is not a valid note: it has the id " in listed.err}
    assert unread - copies
    assert bool(copies) == (apart_ns == 0)
    done = whole(memory("doctor", "--fix"))
    assert "meanwhile" not in done.err
    whole(memory("defrag"))
    after = kept(topics)
    # What cannot be understood nobody touches.
    assert {name: after.get(name) for name in unread - copies} == {name: before[name] for name in unread - copies}
    archived = {str(path): path.read_bytes() for path in (memory.root / "archive").rglob("*.md")}
    there = [*after.values(), *archived.values()]
    ids = [each["id"] for each in listed.document["entries"]]
    assert [id for id in ids if not any(id.encode() in data for data in there) and id not in "".join(archived)] == []
    # What another file had the id of is where it was, in the archive as it was, or a note of its own.
    copied = {name: before[name] for name in copies}
    assert [name for name, data in copied.items() if not any(is_said_by(data, note) for note in there)] == []
    still_works(memory)


def as_notes_of_one_instant(memory: Memory, documents: Documents) -> None:
    """As an archive is unpacked: all of one title that state no id would get the same."""
    as_notes(memory, documents, apart_ns=0)


def is_said_by(data: bytes, note: bytes) -> bool:
    """Whether a file is another, or all its words are in it, which may have been given more."""
    return data == note or set(data.split()) < set(note.split())


# -- state ------------------------------------------------------------------------------------------------------------


def as_state_values(memory: Memory, documents: Documents) -> None:
    keys = memory.root / "state" / "keys"
    keys.mkdir(parents=True)
    for number, document in enumerate(documents):
        (keys / f"k{number}.json").write_bytes(document)
    before = kept(keys)
    listed = whole(memory("state", "list", "--json"))
    known = {each["key"] for each in listed.document["state"]}
    for number in range(len(documents)):
        assert (f"k{number}" in known) != (f"keys/k{number}.json cannot be understood" in listed.err), number
    for number in range(0, len(documents), max(1, len(documents) // 20)):
        got = whole(memory("state", "get", f"k{number}", "--json"))
        assert got.code == (0 if f"k{number}" in known else 20)
    assert kept(keys) == before
    still_works(memory)


# -- runs -------------------------------------------------------------------------------------------------------------


def as_run_reports(memory: Memory, documents: Documents) -> None:
    assert whole(memory("defrag")).code == 0
    for number, document in enumerate(documents):
        run = memory.root / "runs" / f"2099-02-13T14-30-05.{number:03}Z_{number + 1:06x}"
        run.mkdir(parents=True)
        for name in ("report.json", "footprint-1.json", "plan.json", "run.json"):
            (run / name).write_bytes(document)
    logged = whole(memory("log", "-n", "1000", "--json")).document["runs"]
    assert len(logged) == len(documents) + 1
    assert "cannot be understood" in memory("status").out
    for words in (("log",), ("undo",), ("diff",), ("stats",), ("consolidate",), ("defrag",), ("why", "id__zzzzzz")):
        whole(memory(*words))
    still_works(memory)


# -- files that there is one of ---------------------------------------------------------------------------------------

SINGLE = {
    "tiers": ("memories/state/tiers.json", (("list", "--json"), ("generate-agents-md",), ("defrag",))),
    "tags": ("memories/state/project_tags.json", (("tags",), ("remember", "A new note on tags.", "--tags", "lamp"))),
    "usage": ("memories/usage/elsewhere.jsonl", (("list", "--json"), ("stats",))),
    "troubles": ("memories/inbox/.queue.json", (("consolidate",), ("status",))),
    "spend": ("memories/runs/spend.json", (("consolidate",), ("status",))),
    "undone": ("memories/runs/undone.json", (("log",), ("undo",), ("defrag",))),
    "undoing": ("memories/runs/undoing.json", (("undo",), ("defrag",))),
    "forgetting": ("memories/runs/forgetting.json", (("forget", "--session", "s", "--yes"), ("consolidate",))),
    "owed": ("memories/runs/owed.json", (("consolidate",), ("status",))),
    "tiering": ("memories/runs/tiering.json", (("defrag",),)),
    "deferred actions": ("memories/runs/deferred-actions.json", (("defrag",), ("status",))),
    "checkpoint": ("memories/runs/2026-02-13T14-30-05.123Z_dbfbe1/checkpoint.json", (("consolidate",), ("status",))),
    "tidying": ("memories/runs/2026-02-13T14-30-05.123Z_dbfbe1/defrag.json", (("defrag",), ("status",))),
    "mark": ("memories/state/sessions/claude-code_s1.json", (("status",), ("consolidate",), ("backfill", "--dry-run"))),
    "journal": ("memories/.transaction/journal.json", (("list",), ("remember", "Not now."), ("doctor",))),
    "purge": ("memories/state/purge.json", (("sync",), ("doctor",))),
    "config": (".config/agent-memory/config.json", (("config", "--json"), ("search", "lamp"))),
    "local config": ("memory.config.json", (("config", "--json"), ("search", "lamp"))),
}


def as_the_file(memory: Memory, where: str, documents: Documents) -> None:
    path, calls = SINGLE[where]
    file = memory.home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_bytes() if file.exists() else None
    for number, document in enumerate(documents):
        file.write_bytes(document)
        whole(memory(*calls[number % len(calls)]))
    if before is None:
        file.unlink(missing_ok=True)
    else:
        file.write_bytes(before)
    still_works(memory)


# -- replies ----------------------------------------------------------------------------------------------------------

NEXT = """
import pathlib, sys
prompt = sys.stdin.buffer.read()
directory = pathlib.Path(sys.argv[1])
(first, *_) = sorted(directory.glob("*.reply"))
sys.stdout.buffer.write(first.read_bytes())
first.rename(first.with_suffix(".said"))
"""


def as_replies(memory: Memory, documents: Documents, tmp_path: Path) -> None:
    """One for each session of a run, and then one for a tidying."""
    said = tmp_path / "replies"
    said.mkdir()
    for number, document in enumerate((*documents, *documents[:1])):
        (said / f"{number:04}.reply").write_bytes(document)
    memory.configure(
        storage={"autoCommit": False},
        llm={"command": shlex.join([sys.executable, "-c", NEXT, str(said)]), "maxCallsPerDay": 10_000},
    )
    for number in range(len(documents)):
        memory.captured(f"Port of service {number}", f"Service {number} listens on {number + 9000}.")
    before = memory.snapshot()
    done = whole(memory("consolidate"))
    assert done.code == 50
    assert memory.snapshot() == before
    assert len(memory.pending()) == len(documents)
    assert len(list(said.glob("*.said"))) == len(documents)
    assert whole(memory("defrag")).code == 50
    assert memory.snapshot() == before
    still_works(memory)


# -- the tests --------------------------------------------------------------------------------------------------------

SHELVES: dict[str, tuple[Callable[[Memory, Documents], None], Documents]] = {
    "inbox": (as_inbox_files, JSONS),
    "notes": (as_notes, BLOCKS),
    "notes of JSON": (as_notes, JSONS),
    "notes of one instant": (as_notes_of_one_instant, BLOCKS),
    "notes of JSON of one instant": (as_notes_of_one_instant, JSONS),
    "state": (as_state_values, JSONS),
    "runs": (as_run_reports, JSONS),
}


@pytest.mark.parametrize("shelf", SHELVES)
def test_hostile_documents_end_in_sentences_and_lose_nothing_p6(memory: Memory, shelf: str) -> None:
    put, documents = SHELVES[shelf]
    put(memory, documents)


@pytest.mark.parametrize("where", SINGLE)
def test_one_hostile_file_ends_in_a_sentence_p6(memory: Memory, where: str) -> None:
    as_the_file(memory, where, (*JSONS[list(SINGLE).index(where) % 8 :: 8], *DEEP))


def test_hostile_replies_are_refused_and_change_nothing_p9(memory: Memory, tmp_path: Path) -> None:
    as_replies(memory, JSONS[::3], tmp_path)

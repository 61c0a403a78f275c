"""What a person said, wrote or has in a transcript is kept, or they are told (P3, P8, P12, P17, P21, P27)."""

from __future__ import annotations

import json
import os
import time
from itertools import chain
from pathlib import Path

import pytest

from claude_transcripts import SESSION, STARTED_MS, Conversation
from codex_rollouts import Rollout
from memory_process import Memory

PAIRS = (
    ("the staging API listens on port 8081", "the staging API listens on port 9999"),
    ("the weekly release of the billing service goes out on Tuesday", "the weekly release of the billing service goes out on Thursday"),
    ("database migrations for the orders service run on staging first", "database migrations for the orders service run on production first"),
    ("we deploy the web shop on Friday afternoons", "we never deploy the web shop on Friday afternoons"),
    ("the nightly export writes to `/srv/export/a`", "the nightly export writes to `/srv/export/b`"),
    ("the orders service calls the users service over gRPC", "the users service calls the orders service over gRPC"),
)  # fmt: skip
TEXTS = tuple(chain(*PAIRS))


def transcript(*said: str, session_id: str = "s1") -> bytes:
    talk = Conversation(session_id, started_ms=time.time_ns() // 1_000_000 - 3_600_000)
    return talk.exchange(*said, answer="Noted.").data


def kept(memory: Memory) -> list[str]:
    """Which of the texts stand in live notes that are no handoffs."""
    bodies = "\n".join(note["body"] for note in memory.notes() if note["kind"] != "handoff")
    return [text for text in TEXTS if text in bodies]


def consolidate(memory: Memory) -> None:
    done = memory("consolidate", "--json")
    assert done.code == 0, done


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0][-28:])
def test_two_things_to_remember_that_differ_in_one_word_are_both_kept(memory: Memory, pair: tuple[str, str]) -> None:
    """P8: of two "Remember that ..." of one session neither is taken for a repetition of the other."""
    memory.session("s1", transcript(*(f"Remember that {text}." for text in pair)))
    consolidate(memory)

    assert kept(memory) == list(pair)


@pytest.mark.parametrize(
    "correction",
    [
        "Correction: remember that the staging API listens on port 9999.",
        "Remember that the staging API listens on port 9999, not 8081.",
        "No, the staging API listens on port 9999.",
    ],
)
def test_what_the_person_themselves_corrects_gives_way(memory: Memory, correction: str) -> None:
    """P8: only a word of theirs that says so takes the place of the earlier one."""
    memory.session("s1", transcript(f"Remember that {PAIRS[0][0]}.", correction))
    consolidate(memory)

    (note,) = (note for note in memory.notes() if note["kind"] != "handoff")
    assert "9999" in note["body"]
    assert PAIRS[0][0] not in note["body"]


def test_the_same_request_twice_is_one_note(memory: Memory) -> None:
    """The control beside the others: a repetition is still one."""
    memory.session("s1", transcript(*[f"Remember that {PAIRS[0][0]}."] * 2, f"Please remember that {PAIRS[0][0]}!"))
    consolidate(memory)

    assert len([note for note in memory.notes() if note["kind"] != "handoff"]) == 1


def test_so_are_those_of_two_sessions(memory: Memory) -> None:
    """P8: what an earlier session said is not taken for what a later one says."""
    for number, half in enumerate(zip(*PAIRS, strict=True)):
        for position, text in enumerate(half):
            id = f"s{number}-{position}"
            memory.session(id, transcript(f"Remember that {text}.", session_id=id))
        consolidate(memory)

    assert kept(memory) == list(TEXTS)


def test_so_are_those_of_remember_and_those_of_inline_notes(memory: Memory) -> None:
    """P8: nor is a note that was given whole; and a defrag of the built-in rules merges none of them."""
    for text in TEXTS[: len(TEXTS) // 2]:
        memory.remembered(f"{text[0].upper()}{text[1:]} ({text})")
    for text in TEXTS[len(TEXTS) // 2 :]:
        memory.captured(f"Of {text.split()[1]}", text)
    consolidate(memory)
    assert kept(memory) == list(TEXTS)

    assert memory("defrag", "--force").code == 0
    assert kept(memory) == list(TEXTS)


# -- transcripts of one session in two directories ---------------------------------------------------------------------


class Transcripts:
    """Files of one session in directories of their own, as a resumption elsewhere or a copy leaves them."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def write(self, directory: str, talk: Conversation) -> Path:
        path = self.memory.home / ".claude" / "projects" / directory / f"{SESSION}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(talk.data)
        return path

    def captured(self, directory: str, talk: Conversation) -> None:
        self.memory.capture_session(SESSION, self.write(directory, talk))

    def learnt(self) -> list[str]:
        consolidate(self.memory)
        notes = [note["body"] for note in self.memory.notes() if note["kind"] != "handoff"]
        found = [word for note in notes for word in note.split() if word.startswith("word-")]
        return sorted(found)


@pytest.fixture
def transcripts(memory: Memory) -> Transcripts:
    return Transcripts(memory)


def talk_of(
    *words: str, started_ms: int = STARTED_MS, ids: str = "r", over: Conversation | None = None
) -> Conversation:
    """A session in which the person asks to remember these words, going on from another one where there is one."""
    talk = Conversation(SESSION, started_ms=started_ms)
    if over is not None:
        talk.lines, talk._count, talk._last = list(over.lines), over._count, over._last
    for word in words:
        talk.user(
            f"Remember that the gate of the lock is opened by word-{word} alone.", id=f"{ids}-{word}-u" + "0" * 16
        )
        talk.agent("Noted.", id=f"{ids}-{word}-a" + "0" * 16)
    return talk


@pytest.mark.parametrize("together", [True, False], ids=["in one run", "one after the other"])
@pytest.mark.parametrize("later_ms", [3_600_000, -3_600_000], ids=["newer last", "older last"])
def test_both_transcripts_of_one_session_id_are_learnt(transcripts: Transcripts, together: bool, later_ms: int) -> None:
    """P3: the mark of one says nothing of another file, whenever it was written."""
    transcripts.captured("one", talk_of("anchor", "bollard"))
    if not together:
        assert transcripts.learnt() == ["word-anchor", "word-bollard"]
    transcripts.captured("two", talk_of("capstan", started_ms=STARTED_MS + later_ms))

    assert transcripts.learnt() == ["word-anchor", "word-bollard", "word-capstan"]


def test_a_session_that_goes_on_in_both_of_its_copies_is_learnt_once_each(transcripts: Transcripts) -> None:
    """P3: what the copies share is learnt once, what each has of its own is learnt, and nothing is learnt again."""
    shared = talk_of("anchor")
    transcripts.captured("one", talk_of("bollard", over=shared))
    assert transcripts.learnt() == ["word-anchor", "word-bollard"]
    transcripts.captured("two", talk_of("capstan", over=shared))
    assert transcripts.learnt() == ["word-anchor", "word-bollard", "word-capstan"]
    transcripts.captured("one", talk_of("bollard", "davit", over=shared))
    transcripts.captured("two", talk_of("capstan", "ensign", over=shared))
    assert transcripts.learnt() == [f"word-{each}" for each in ("anchor", "bollard", "capstan", "davit", "ensign")]
    assert transcripts.memory("consolidate", "--json").document["sessions"] == []


def test_a_session_that_moved_with_its_project_is_not_learnt_again(transcripts: Transcripts) -> None:
    """The control beside the others."""
    talk = talk_of("anchor")
    transcripts.captured("one", talk)
    assert transcripts.learnt() == ["word-anchor"]
    (transcripts.memory.home / ".claude" / "projects" / "one" / f"{SESSION}.jsonl").unlink()
    transcripts.captured("two", talk_of("bollard", over=talk))

    assert transcripts.learnt() == ["word-anchor", "word-bollard"]


def test_backfill_finds_both_transcripts(transcripts: Transcripts) -> None:
    """P3: of past sessions too, a copy and what goes on beside it are all found; and once learnt they are done."""
    shared = talk_of("anchor")
    transcripts.write("one", talk_of("bollard", over=shared))
    transcripts.write("two", talk_of("capstan", over=shared))
    transcripts.write("three", talk_of("davit", ids="s"))
    assert transcripts.memory("backfill").code == 0
    assert transcripts.learnt() == [f"word-{each}" for each in ("anchor", "bollard", "capstan", "davit")]

    assert transcripts.memory("backfill").code == 0
    assert transcripts.memory.pending() == []


def test_both_rollouts_of_one_codex_thread_are_learnt(memory: Memory) -> None:
    """P3: a copy of a rollout that went on by itself is no repetition."""
    for day, word in (("01", "anchor"), ("02", "capstan")):
        talk = Rollout()
        talk.turn(word)
        talk.user(f"Remember that the gate of the lock is opened by word-{word} alone.")
        talk.agent(f"Noted, {word}.")
        directory = memory.home / ".codex" / "sessions" / "2026" / "02" / day
        directory.mkdir(parents=True)
        path = talk.write(directory)
        done = memory("capture", "--harness", "codex", "--session", talk.session_id, "--transcript", str(path))
        assert done.code == 0, done
    consolidate(memory)

    bodies = "\n".join(note["body"] for note in memory.notes() if note["kind"] != "handoff")
    assert "word-anchor" in bodies
    assert "word-capstan" in bodies


# -- entries that name a file ------------------------------------------------------------------------------------------

SECRET = "The vault of the harbour opens at midnight by the word heliotrope."


def test_an_entry_reads_nothing_but_a_snapshot(memory: Memory) -> None:
    """P21 P27: no other file of the store, by whatever way it is named, a secret note least of all."""
    memory.remembered(SECRET, "--sensitivity", "secret", "--title", "Vault")
    (note,) = (memory.root / "topics").glob("*.md")
    snapshots = memory.root / "inbox" / "snapshots"
    snapshots.mkdir(parents=True)
    (snapshots / "link.md").symlink_to(note)
    (snapshots / "hard.md").hardlink_to(note)
    (snapshots / "below").symlink_to(memory.root / "topics")
    os.mkfifo(snapshots / "fifo.md")
    malformed = [
        f"topics/{note.name}",
        f"inbox/snapshots/../../topics/{note.name}",
        f"inbox/snapshots/below/{note.name}",
        str(note),
        "inbox/.queue.json",
    ]
    refused = [f"inbox/snapshots/{name}" for name in ("link.md", "hard.md", "fifo.md")]
    for number, path in enumerate((*malformed, *refused)):
        entry = {
            "version": 1,
            "timestamp": "2026-02-13T14:30:05.123Z",
            "harness": "manual",
            "retrieval": {"method": "file", "path": path},
            "context": {},
        }
        (memory.root / "inbox" / f"2026-02-13T14-30-05.123Z_manual_{number:06}.json").write_text(json.dumps(entry))

    for _ in range(4):
        memory("consolidate", "--json")

    failed = memory.root / "inbox" / ".failed"
    reasons = [json.loads(each.read_text())["problems"] for each in sorted(failed.glob("*.reason.json"))]
    assert len(reasons) == len(malformed)
    assert "only copies in inbox/snapshots/ are read" in str(reasons[0])
    assert memory.pending() == []
    assert len(list(failed.glob("[!.]*_manual_*[0-9].json"))) == len(malformed) + len(refused)
    elsewhere = (path for path in memory.root.rglob("*") if path.is_file() and ".cache" not in path.parts)
    others = (path for path in elsewhere if not path.samefile(note))
    assert [path for path in others if b"heliotrope" in path.read_bytes()] == []
    assert SECRET in note.read_text()


def test_a_captured_file_is_still_read(memory: Memory) -> None:
    """The control beside the other."""
    page = memory.home / "notes.md"
    page.write_text("# Cranes\n\nWe decided to keep the crane index in SQLite, because it survives a restart.\n")
    done = memory("capture", "--file", str(page), "--json")
    assert done.code == 0, done
    (name,) = memory.pending()
    path = json.loads((memory.root / "inbox" / name).read_text())["retrieval"]["path"]
    assert path.startswith("inbox/snapshots/")
    consolidate(memory)

    assert memory.pending() == []
    assert (memory.root / "inbox" / ".processed" / name).exists()


# -- text between the markers ------------------------------------------------------------------------------------------

WRITTEN = "Ana: the crane must not be moved before the tide turns."


@pytest.fixture
def target(memory: Memory) -> Path:
    """A file with a section that memory wrote."""
    path = memory.home / "AGENTS.md"
    path.write_text("# Mine\n")
    memory.configure(agentsMd={"targets": [str(path)]})
    memory.remembered("The cranes are oiled on Mondays.")
    assert memory("generate-agents-md").code == 0
    return path


def copies(memory: Memory) -> list[Path]:
    directory = memory.home / ".local" / "state" / "agent-memory" / "sections"
    return sorted(directory.glob("*-AGENTS.md"))


@pytest.mark.parametrize("act", ["defrag", "pin", "generate-agents-md"])
def test_what_a_person_writes_between_the_markers_is_kept(memory: Memory, target: Path, act: str) -> None:
    """P8 P17: the section is made anew; what stood there is in a copy that the one sentence names."""
    id = memory.remembered("The ferries leave from pier four.")
    changed = target.read_text().replace("<!-- agent-memory:end -->", f"{WRITTEN}\n<!-- agent-memory:end -->")
    target.write_text(changed)
    done = memory(act, *([id] if act == "pin" else []))
    assert done.code == 0, done

    assert WRITTEN not in target.read_text()
    (copy,) = copies(memory)
    assert WRITTEN in copy.read_text()
    assert changed.endswith(f"{copy.read_text()}\n")
    assert copy.stat().st_mode & 0o777 == 0o600
    said = f"{done.out}{done.err}"
    assert said.count(str(copy)) == 1
    assert "a copy was kept" in said


def test_p28_what_is_forgotten_goes_from_the_copy_and_what_else_a_person_wrote_stays(
    memory: Memory, target: Path
) -> None:
    id = memory.remembered("The zebra merger is announced on Thursday.\n\nAsk Mara first.", "--title", "Zebra")
    assert memory("pin", id).code == 0
    target.write_text(target.read_text().replace("on Thursday.", f"on Thursday. (Or Friday.)\n{WRITTEN}"))
    assert memory("generate-agents-md").code == 0
    (copy,) = copies(memory)
    assert "Zebra" in copy.read_text()
    assert memory("forget", id, "--purge", "--yes").code == 0
    assert WRITTEN in copy.read_text()
    assert "zebra" not in copy.read_text().lower()
    assert id not in copy.read_text()


def test_a_section_that_memory_wrote_needs_no_copy(memory: Memory, target: Path) -> None:
    """The control beside the other: neither when it changes, nor when an undo puts an older one back and it changes again."""
    first = memory.remembered("The ferries leave from pier four.")
    memory("pin", first)
    memory("defrag")
    memory("undo")
    second = memory("pin", memory.remembered("The gulls nest on the north pier."))
    assert second.code == 0, second

    assert "gulls" in target.read_text()
    assert copies(memory) == []


def test_a_section_is_left_alone_where_no_copy_can_be_kept(memory: Memory, target: Path) -> None:
    """P5 P8: what a person wrote is not given up for want of a place to keep it."""
    target.write_text(target.read_text().replace("<!-- agent-memory:end -->", f"{WRITTEN}\n<!-- agent-memory:end -->"))
    sections = memory.home / ".local" / "state" / "agent-memory" / "sections"
    for each in sections.iterdir():
        each.unlink()
    sections.rmdir()
    sections.write_text("in the way")
    noted = memory("remember", "The ferries leave from pier four.")
    assert (noted.code, str(target) in noted.err) == (0, True)
    done = memory("generate-agents-md")

    assert done.code == 70, done
    assert WRITTEN in target.read_text()

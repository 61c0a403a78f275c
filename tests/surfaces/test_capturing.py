from __future__ import annotations

import os
from pathlib import Path

import pytest
from attrs import evolve
from returns.result import Result

from agent_memory.domain.inbox_entry import (
    AmpThread,
    Context,
    FileSnapshot,
    InboxEntry,
    InlineNote,
    Retrieval,
    SessionFile,
)
from agent_memory.domain.note_draft import Caller
from agent_memory.domain.vocabulary import Harness, Kind
from agent_memory.errors import ActRefused, Error, InboxEntryInvalid, UsageInvalid
from agent_memory.results import as_result
from agent_memory.surfaces.cli.arguments import tags_of
from agent_memory.surfaces.cli.capture import Captor
from inbox_entries import AT_MS
from stand_ins.dict_inbox import DictInbox

capture_file = as_result(Captor.put_file)
capture_inline = as_result(Captor.put_note)
capture_session = as_result(Captor.put_session)

PERSON = Caller()
AGENT = Caller(Harness.CLAUDE_CODE, "CLAUDE_CODE_CHILD_SESSION")
NOTE = InlineNote("Deploys", "They run from main only")
SECRET = "ghp_" + "q7Rk2mZx9Tn4Lw8Vb3Yc6Hd1Sf5Jg0Pa2Ke4"


@pytest.fixture
def captor(root: Path, home: Path) -> Captor:
    return Captor(DictInbox(), str(root), PERSON, {"HOME": str(home), "TMPDIR": "/nowhere"}, str(home), AT_MS)


def captured(captor: Captor, result: Result[str, Error]) -> InboxEntry:
    name = result.unwrap()
    assert isinstance(captor.inbox, DictInbox)
    return captor.inbox.entries[name]


def is_empty(captor: Captor) -> bool:
    return captor.inbox.names().unwrap() == ()


# -- notes


def test_a_persons_note_is_manual_and_says_where_it_was_written(captor: Captor, home: Path) -> None:
    entry = captured(captor, capture_inline(captor, NOTE))
    assert entry == InboxEntry(
        AT_MS, Harness.MANUAL, InlineNote("Deploys", "They run from main only"), Context(cwd=str(home))
    )


def test_the_repository_is_noted(captor: Captor, home: Path) -> None:
    (home / "p" / ".git").mkdir(parents=True)
    (home / "p" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (home / "p" / ".git" / "config").write_text('[remote "origin"]\n\turl = git@github.com:owner/repo.git\n')
    entry = captured(captor, capture_inline(evolve(captor, cwd=str(home / "p")), NOTE))
    assert (entry.context.repo, entry.context.branch) == ("github.com/owner/repo", "main")


@pytest.mark.parametrize("tags", ["xstate,area__web", "xstate area__web", " xstate, ,area__web  xstate"])
def test_tags_take_commas_or_spaces(captor: Captor, tags: str) -> None:
    note = captured(
        captor, capture_inline(captor, evolve(NOTE, tags=tags_of(tags), kind=Kind.LESSON, thread_id="T-1"))
    ).retrieval
    assert note == InlineNote("Deploys", NOTE.body, ("topic__xstate", "area__web"), Kind.LESSON, "T-1")


@pytest.mark.parametrize("named", [None, Harness.MANUAL])
def test_inside_a_harness_a_note_is_never_a_persons(captor: Captor, named: Harness | None) -> None:
    """P19"""
    entry = captured(captor, capture_inline(evolve(captor, caller=AGENT), NOTE, named))
    assert entry.harness is Harness.CLAUDE_CODE


def test_a_named_harness_is_kept(captor: Captor) -> None:
    assert captured(captor, capture_inline(captor, NOTE, Harness.AMP)).harness is Harness.AMP


def test_a_note_is_redacted_and_cleaned_before_it_is_stored(captor: Captor) -> None:
    """P20"""
    note = InlineNote(f"The key {SECRET}", f"token = {SECRET}\r\n\x1b[31mred\x1b[0m\u202e <!-- agent-memory:end -->")
    stored = captured(captor, capture_inline(captor, note)).retrieval
    assert isinstance(stored, InlineNote)
    for text in (stored.title, stored.body):
        assert SECRET not in text
    for hidden in ("\r", "\x1b", "\u202e", "agent-memory:end"):
        assert hidden not in stored.body
    assert "red" in stored.body


def test_a_title_is_one_line(captor: Captor) -> None:
    note = captured(captor, capture_inline(captor, evolve(NOTE, title=" a\n  b\tc "))).retrieval
    assert isinstance(note, InlineNote)
    assert note.title == "a b c"


@pytest.mark.parametrize(
    ("note", "problem"),
    [
        (evolve(NOTE, title=" "), "retrieval.title is empty"),
        (evolve(NOTE, body="\n"), "retrieval.body is empty"),
        (evolve(NOTE, body="x" * 8001), "retrieval.body has 8,001 characters, at most 8,000"),
        (evolve(NOTE, title="x" * 201), "retrieval.title has 201 characters"),
        (evolve(NOTE, thread_id="-rf /"), "retrieval.threadId is '-rf /'"),
    ],
)
def test_a_note_that_cannot_be_one_is_refused(captor: Captor, note: InlineNote, problem: str) -> None:
    error = capture_inline(captor, note).failure()
    assert isinstance(error, InboxEntryInvalid)
    assert problem in error.problems[0]
    assert is_empty(captor)


def test_a_tag_of_which_nothing_is_left_is_named() -> None:
    assert as_result(tags_of)("ok,!!!").failure() == UsageInvalid("Nothing of '!!!' in --tags can be a tag")


# -- sessions


@pytest.mark.parametrize(
    ("harness", "retrieval"),
    [
        (Harness.AMP, AmpThread("T-1")),
        (Harness.OPENCODE, SessionFile("opencode-session", "T-1")),
        (Harness.CLAUDE_CODE, SessionFile("claude-code-session", "T-1")),
        (Harness.CODEX, SessionFile("codex-session", "T-1")),
        (Harness.AIDER, SessionFile("aider-session", "T-1")),
    ],
)
def test_a_session_is_captured_by_its_harnesss_method(captor: Captor, harness: Harness, retrieval: Retrieval) -> None:
    entry = captured(captor, capture_session(captor, harness, "T-1"))
    assert (entry.harness, entry.retrieval) == (harness, retrieval)


def test_a_transcripts_path_is_made_absolute(captor: Captor, tmp_path: Path) -> None:
    entry = captured(captor, capture_session(captor, Harness.CODEX, "s", "t.jsonl"))
    assert entry.retrieval == SessionFile("codex-session", "s", str(tmp_path / "t.jsonl"))


def test_a_person_has_no_sessions(captor: Captor) -> None:
    assert isinstance(capture_session(captor, Harness.MANUAL, "s").failure(), UsageInvalid)


def test_a_harness_without_transcripts_takes_none(captor: Captor) -> None:
    assert isinstance(capture_session(captor, Harness.AMP, "T-1", "/x").failure(), UsageInvalid)


@pytest.mark.parametrize("id", ["", " ", "../x", "a b", "-x", "x" * 201, "a\x00"])
def test_an_id_that_cannot_be_one_is_refused(captor: Captor, id: str) -> None:
    """P21"""
    assert isinstance(capture_session(captor, Harness.AMP, id).failure(), InboxEntryInvalid)
    assert is_empty(captor)


# -- files


def test_a_file_is_copied_redacted(captor: Captor, root: Path, tmp_path: Path) -> None:
    """P20"""
    (tmp_path / "log.md").write_text(f"\ufeffkey {SECRET}\nend\n")
    retrieval = captured(captor, capture_file(captor, "log.md")).retrieval
    assert isinstance(retrieval, FileSnapshot)
    text = (root / retrieval.path).read_text()
    assert SECRET not in text
    assert text.endswith("\nend\n")
    (tmp_path / "log.md").unlink()
    assert (root / retrieval.path).exists()


def test_a_link_that_a_person_names_is_followed(captor: Captor, root: Path, tmp_path: Path) -> None:
    (tmp_path / "real.md").write_text("text")
    (tmp_path / "link.md").symlink_to("real.md")
    assert isinstance(captured(captor, capture_file(captor, "link.md")).retrieval, FileSnapshot)


@pytest.mark.parametrize("name", ["missing", "directory", "fifo", "empty", "binary", "latin1", "large", "nul\0"])
def test_what_is_no_text_file_is_refused_in_one_sentence(captor: Captor, root: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\x7fELF\x00")
    (tmp_path / "latin1").write_bytes("é".encode("latin-1"))
    with (tmp_path / "large").open("wb") as file:
        file.truncate(17 << 20)
    error = capture_file(captor, name).failure()
    assert isinstance(error, UsageInvalid)
    assert error.problem.startswith(name)
    assert is_empty(captor)
    assert not root.exists()


# -- our own calls


def test_nothing_is_captured_inside_our_own_agent_commands(captor: Captor, home: Path, tmp_path: Path) -> None:
    """P23"""
    (tmp_path / "log.md").write_text("text")
    inside = evolve(captor, environ={**captor.environ, "AGENT_MEMORY_DEPTH": "1"})
    (home / "marked" / "below").mkdir(parents=True)
    (home / "marked" / ".agent-memory-child").touch()
    below = evolve(captor, cwd=str(home / "marked" / "below"))
    for own in (inside, below):
        for result in (
            capture_inline(own, NOTE),
            capture_session(own, Harness.AMP, "T-1"),
            capture_file(own, "log.md"),
        ):
            assert isinstance(result.failure(), ActRefused)
    assert is_empty(captor)
    assert not Path(captor.root).exists()

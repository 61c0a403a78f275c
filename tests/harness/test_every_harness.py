"""What holds for the sessions of every harness: what is missing, ruined or on a failing disk is told (P6), our own words are
known (P23, P26), nothing is lost and nothing doubled between fetches (P25), and no other file is read (P27).

A harness that is new comes into `nine_harnesses`: the same talk as it keeps it.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st
from returns.result import Failure, Result, Success

import cursor_conversations as cursor
import goose_sessions as goose
import nine_harnesses as nine
import opencode_sessions as opencode
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable, TranscriptRefused
from agent_memory.harness import Histories, Surroundings, turn_builder
from agent_memory.harness.aider import CHAT_FILE, AiderChats
from agent_memory.harness.goose import DATABASE
from agent_memory.note.note import Harness
from agent_memory.session.history import History, Role, SessionMark
from agent_memory.session.own_marks import (
    CONTEXT_END,
    CONTEXT_START,
    MEMORY_OUTPUT_PLACEHOLDER,
    PROMPT_MARKER,
    SECTION_END,
    SECTION_START,
)
from agent_memory.session.queue import (
    FileSnapshot,
    InboxEntry,
)
from agent_memory.session.turns import TOOL_TEXT_CHARS, document_turns
from claude_transcripts import Conversation
from codex_rollouts import Rollout
from faults import each_failure, failing_on
from gemini_chats import Chat
from harness_surroundings import Talk, mark_after, session_entry, surroundings, told
from nine_harnesses import NINE, SHELL, WRITE, Exchange, Look
from pi_sessions import Branching

SECRET = "The port is 9191."


class Kept:
    """The home of a harness, in which it keeps one session."""

    def __init__(self, harness: str, home: Path) -> None:
        self.harness = harness
        self.home = home
        self.path: Path | None = None

    def keep(self, talk: Sequence[Exchange]) -> None:
        self.path = nine.keep(self.harness, self.home, talk)

    def fetch(self, mark: SessionMark | None = None, path: Path | None = None) -> Result[History, Error]:
        histories = Histories(surroundings(self.home, PATH=f"{self.home}/bin:/usr/bin:/bin"))
        return histories.fetch(session_entry(Harness(self.harness), nine.SESSIONS[self.harness], path), mark)

    def read(self, talk: Sequence[Exchange] = (), mark: SessionMark | None = None) -> History:
        if talk:
            self.keep(talk)
        history: History = self.fetch(mark).unwrap()
        return history


@pytest.fixture(params=NINE)
def kept(request: pytest.FixtureRequest, home: Path) -> Kept:
    return Kept(request.param, home)


TALK = (Exchange("Which port?", "I looked.", [Look(SHELL, "ss", "9090")]), Exchange("Use 9191."))
TOLD = ["user: Which port?", "agent: I look.", "tool: 9090", "agent: I looked.", "user: Use 9191.", "agent: Done."]


def test_a_session_is_the_same_turns_whatever_keeps_it(kept: Kept) -> None:
    history = kept.read(TALK)
    assert [*map(str.strip, told(history))] in (TOLD, [*TOLD[:1], "agent: I look.\n\nI looked.", *TOLD[2:3], *TOLD[4:]])
    assert [turn.number for turn in history.turns] == list(range(1, len(history.turns) + 1))
    assert (history.harness, history.session_id) == (Harness(kept.harness), nine.SESSIONS[kept.harness])
    assert (history.tools_answered_before, history.remaining) == (False, False)
    assert kept.read() == history


@pytest.mark.parametrize(
    ("harness", "output", "said"),
    [
        ("codex", '{"answers": {"port": {"answers": ["9191 (Recommended)"]}}}', "9191 (Recommended)"),
        ("gemini", '{"answers": {"0": "9191", "1": "IPv6"}}', "9191\nIPv6"),
        (
            "opencode",
            'User has answered your questions: "Which port?"="9191", "And "IP"?"="v6". You can now continue with them.',
            "9191\nv6",
        ),
        ("copilot", "User responded: 9191, as ever", "9191, as ever"),
        ("pi", "User selected: 9191", "9191"),
        (
            "pi",
            'User has answered your questions: "Port?"="9191". "IP?"="v6". You can now continue with them.',
            "9191\nv6",
        ),
        ("pi", "User cancelled the selection", None),
    ],
)
def test_answers_to_the_agent_are_the_persons_words(home: Path, harness: str, output: str, said: str | None) -> None:
    kept = Kept(harness, home)
    talk = kept.read([Exchange("Serve it.", looks=[Look(nine.ASK, "Which port?", output), Look(SHELL, "x", output)])])
    assert [turn.text for turn in talk.turns if turn.role is Role.USER] == ["Serve it.", *([said] if said else [])]


def test_a_missing_session_may_come(kept: Kept) -> None:
    absent = kept.fetch().failure()
    assert isinstance(absent, HistoryUnavailable)
    assert absent.is_missing != (kept.harness == "amp")  # whose commands are not there


def test_a_ruined_one_is_no_empty_one_p6(kept: Kept) -> None:
    kept.read(TALK)
    assert kept.path is not None
    kept.path.write_bytes(b"\x00\x01 no session " * 100)
    assert isinstance(kept.fetch().failure(), HistoryUnreadable | HistoryUnavailable)


@pytest.mark.parametrize("number", [errno.EIO, errno.EMFILE])
def test_a_failing_disk_is_never_taken_for_an_empty_or_ruined_session_p5_p6(kept: Kept, number: int) -> None:
    if kept.harness == "amp":
        pytest.skip("what amp keeps is on its server")
    whole = kept.read(TALK)
    failures: list[Error] = []
    for _, failing in each_failure(number):
        with failing:
            found = kept.fetch()
        if isinstance(found, Failure):
            failures.append(found.failure())
        else:
            assert found.unwrap() == whole
    assert failures
    assert all(isinstance(failure, HistoryUnavailable) and not failure.is_missing for failure in failures)


def test_a_session_that_grew_goes_on_where_it_was(kept: Kept) -> None:
    first = kept.read(TALK[:1])
    second = kept.read(TALK, mark_after(first))
    assert [turn.text for turn in second.turns] == ["Use 9191.", "Done."]
    assert second.turns[0].number == first.turns[-1].number + 1
    assert second.tools_answered_before
    assert kept.read(mark=mark_after(second)).turns == ()
    if kept.harness != "opencode":  # whose parts all have the same time here
        assert kept.read(mark=evolve(mark_after(second), last_record_id="gone")).turns == ()


def test_a_session_that_begins_with_our_prompt_is_our_own_call_p23(kept: Kept) -> None:
    found = kept.read([Exchange(f"{PROMPT_MARKER}\nnonce: x\nConsolidate this.", "{}")])
    assert found.own_call
    assert found.turns == ()


def test_a_session_that_speaks_of_the_marker_later_is_a_persons(kept: Kept) -> None:
    """P23: the positive control."""
    found = kept.read([Exchange("Hello."), Exchange(f"What does {PROMPT_MARKER} mean?")])
    assert not found.own_call
    assert len(found.turns) == 4


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("memory search port", SECRET),
        ("cat ~/memories/topics/id__1abcde.md", SECRET),
        ("tail notes.txt", f'---\nid: "id__1abcde"\n---\n{SECRET}'),
        ("cat AGENTS.md", f"Mine.\n{SECTION_START}\n{SECRET}\n{SECTION_END}"),
    ],
)
def test_what_memory_printed_is_left_out_p26(kept: Kept, command: str, output: str) -> None:
    found = kept.read([Exchange("Look.", looks=[Look(SHELL, command, output), Look(SHELL, "ss", SECRET)])])
    of_memory, of_others = [turn.text for turn in found.turns if turn.role is Role.TOOL]
    assert SECRET not in of_memory
    assert MEMORY_OUTPUT_PLACEHOLDER in of_memory
    assert of_others == SECRET


def test_what_memory_injected_is_left_out_of_a_prompt_p26(kept: Kept) -> None:
    found = kept.read([Exchange(f"Hi. {CONTEXT_START}{SECRET}{CONTEXT_END} Which port?")])
    assert found.turns[0].text == f"Hi. {MEMORY_OUTPUT_PLACEHOLDER} Which port?"
    assert found.turns[0].role is Role.USER


def test_what_one_fetch_cannot_hold_comes_with_the_next_ones_p25(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = [Look(SHELL, f"ls {at}", "y" * 300) for at in range(3)]
    talk = [
        Exchange(f"Question {at} " + "x" * 300, f"Answer {at}.", [*looks, Look(WRITE, "a.md", "ok")]) for at in range(9)
    ]
    whole = kept.read(talk)
    monkeypatch.setattr(turn_builder, "MAX_KEPT_BYTES", 12_000)
    part = kept.read(talk)
    turns, fetches = list(part.turns), 1
    while part.remaining:
        part = kept.read(talk, mark_after(part))
        turns += part.turns
        fetches += 1
    assert fetches > 2
    assert [evolve(turn, record_id="") for turn in turns] == [evolve(turn, record_id="") for turn in whole.turns]


def _rewound(talk: Conversation | Rollout | Chat | Branching, wrong: int) -> Talk:
    """Said: "One.", "Two.", then so many exchanges that were taken back, and "Three." in their place."""
    talk.user("One.")
    if isinstance(talk, Conversation | Branching):
        two = talk.agent("Two.")
    else:
        talk.agent("Two.")
    first = len(talk.lines)
    for _ in range(wrong):
        talk.user("Wrong. " * 100)
        talk.agent("Wrong, too.")
    if isinstance(talk, Conversation | Branching):
        talk.user("Three.", parent=two)
        return talk
    if isinstance(talk, Rollout):
        talk.event("thread_rolled_back", num_turns=wrong)
    else:
        talk.put({"$rewindTo": json.loads(talk.lines[first])["id"]})
    talk.user("Three.")
    return talk


@pytest.mark.parametrize("talk", [Conversation, Rollout, Chat, Branching])
@pytest.mark.parametrize("wrong", [1, 50])
def test_what_was_taken_back_is_left_out_and_keeps_its_numbers(
    talk: type[Conversation | Rollout | Chat | Branching], wrong: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P25: also where one fetch could not have held it."""
    monkeypatch.setattr(turn_builder, "MAX_KEPT_BYTES", 12_000)
    history = _rewound(talk(), wrong).history()
    assert [turn.text for turn in history.turns] == ["One.", "Two.", "Three."]
    assert [turn.number for turn in history.turns] == [1, 2, 3 + 2 * wrong]
    assert not history.remaining


@pytest.mark.parametrize(
    "talk",
    [
        Rollout(source={"subagent": {"thread_spawn": {}}}),
        Chat(kind="subagent"),
        opencode.OpencodeTalk(parentID="ses_parent"),
        *(goose.GooseTalk(session_type=kind) for kind in ("sub_agent", "scheduled", "hidden")),
        cursor.Composer(subagentInfo={"parentComposerId": "p"}),
        cursor.Composer(is_sub_agent=True),
    ],
)
def test_what_an_agent_or_a_schedule_began_is_no_persons_session_p19(
    talk: Rollout | Chat | opencode.OpencodeTalk | goose.GooseTalk | cursor.Composer,
) -> None:
    talk.user("Look into the port.")
    talk.agent("It is 9191.")
    history = talk.history()
    assert history.automated
    assert [turn.role for turn in history.turns] == [Role.TOOL, Role.AGENT]


def test_a_tool_that_answered_what_was_taken_back_did_not_answer_before_p19() -> None:
    talk = Rollout()
    talk.user("One.")
    talk.agent("Two.", ("c1", "shell", {"command": "ls"}))
    talk.output("c1", "three")
    talk.event("thread_rolled_back", num_turns=1)
    talk.user("Three.")
    history = talk.history()
    assert [turn.text for turn in history.turns] == ["Three."]
    assert not history.tools_answered_before


def test_after_any_turn_only_what_is_new_comes(kept: Kept) -> None:
    talk = [Exchange("One.", "Two.", [Look(SHELL, "ls", "three")]), Exchange("Four.", "Five.")]
    whole = kept.read(talk)
    for at, turn in enumerate(whole.turns, 1):
        mark = evolve(mark_after(whole), last_record_id=turn.record_id, last_at_ms=turn.at_ms, turns_seen=turn.number)
        new = kept.read(talk, mark).turns
        assert new == whole.turns[at:] or new == whole.turns[at + 1 :]  # a call and its answer may be one record


@pytest.mark.parametrize("harness", [each for each in NINE if each != "amp"])
def test_a_transcript_outside_the_known_directories_is_refused_p27(home: Path, tmp_path: Path, harness: str) -> None:
    kept = Kept(harness, home)
    kept.keep(TALK)
    assert kept.path is not None
    found = kept.fetch(path=kept.path.rename(tmp_path / kept.path.name))
    assert isinstance(found, Failure)
    assert harness == "opencode" or isinstance(found.failure(), TranscriptRefused)


@pytest.mark.parametrize(
    ("harness", "write"),
    [
        (Harness.GOOSE, goose.sample().write),
        (Harness.OPENCODE, opencode.sample().write),
        (Harness.CURSOR, cursor.sample_composer().write),
    ],
)
def test_a_database_cut_or_overwritten_anywhere_is_an_error_or_what_is_left_p6(
    tmp_path: Path, harness: Harness, write: Callable[[Path], Path]
) -> None:
    ids = {Harness.GOOSE: goose.SESSION, Harness.OPENCODE: opencode.SESSION, Harness.CURSOR: cursor.SESSION}
    path = write(tmp_path)

    def fetch() -> Result[History, Error]:
        return Histories(surroundings(tmp_path, str(tmp_path))).fetch(session_entry(harness, ids[harness]), None)

    whole = {turn.text for turn in fetch().unwrap().turns}
    data = path.read_bytes()
    outcomes = set()
    for at in range(0, len(data), len(data) // 40):
        for broken in (data[:at], data[:at] + b"\xa5" * 60 + data[at + 60 :]):
            path.write_bytes(broken)
            found = fetch()
            if isinstance(found, Failure):
                outcomes.add(type(found.failure()))
            else:
                left = {turn.text for turn in found.unwrap().turns}
                assert left & whole or not left or found.unwrap().skipped
    assert outcomes <= {HistoryUnreadable, HistoryUnavailable}
    assert HistoryUnreadable in outcomes


# -- directories that cannot be listed (P6) ----------------------------------------------------------------------------


IN_ROOTS = [each for each in map(Harness, NINE) if each is not Harness.AMP]


def reason(given: Surroundings, entry: InboxEntry) -> str:
    error = Histories(given).fetch(entry, None).failure()
    assert isinstance(error, HistoryUnavailable)
    return error.reason


@pytest.mark.parametrize("harness", [each for each in IN_ROOTS if each is not Harness.GOOSE])  # it lists nothing
def test_a_directory_that_cannot_be_listed_is_told_p6(tmp_path: Path, harness: Harness) -> None:
    (tmp_path / "sessions" / "lamp").mkdir(parents=True)
    given, entry = surroundings(tmp_path, f"{tmp_path}/sessions"), session_entry(harness, "ses_1")
    assert "cannot be searched" not in reason(given, entry)  # the control: it is not there
    with failing_on("/sessions", "listdir"):
        assert "cannot be searched: Input/output error" in reason(given, entry)


@pytest.mark.parametrize("harness", [each for each in IN_ROOTS if each is not Harness.OPENCODE])
def test_nor_is_a_file_that_cannot_be_looked_at_p6(tmp_path: Path, harness: Harness) -> None:
    given, entry = surroundings(tmp_path, str(tmp_path)), session_entry(harness, "s-1", tmp_path / "gone" / "s-1.jsonl")
    assert "Input/output error" not in reason(given, entry)
    with failing_on(DATABASE if harness is Harness.GOOSE else "gone/s-1.jsonl", "lstat"):
        assert "cannot be searched: Input/output error" in reason(given, entry)


def test_nor_is_the_chat_of_a_directory_above_it_taken_for_it_p6(home: Path) -> None:
    inner = home / "work" / "inner"
    inner.mkdir(parents=True)
    (inner.parent / CHAT_FILE).write_text("# aider chat started at 2026-02-13 14:30:05\n\n#### outer\n")
    given = evolve(surroundings(home), project_directories=lambda: [Success(str(inner))])
    chats = AiderChats(given)
    assert chats.above(str(inner)) == str(inner.parent / CHAT_FILE)
    with failing_on(f"inner/{CHAT_FILE}", "lstat"):
        assert "Input/output error" in reason(given, session_entry(Harness.AIDER, "s-1", cwd=inner))
        found = list(chats.find(None))
    assert [each.failure().code for each in found] == ["store-io"]


# -- files and notes that were captured --------------------------------------------------------------------------------


PATH = "inbox/snapshots/notes.md"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "m" / "inbox" / "snapshots").mkdir(parents=True)
    return tmp_path / "m"


def fetch(store: Path, path: str = PATH) -> History | Error:
    entry = InboxEntry(7, Harness.MANUAL, FileSnapshot(path))
    result = Histories(surroundings(store.parent)).fetch(entry, None)
    return result.value_or(None) or result.failure()


@pytest.mark.parametrize(
    "path", [PATH, "../outside.md", "/etc/passwd", "inbox/snapshots", "inbox/link.md", "linked/notes.md", ""]
)
def test_what_is_gone_or_is_not_inside_the_store_is_unreadable_p21(store: Path, path: str) -> None:
    (store.parent / "outside.md").write_text("secret")
    (store / "inbox" / "link.md").symlink_to(store.parent / "outside.md")
    (store / "linked").symlink_to(store.parent)
    (store.parent / "notes.md").write_text("secret")
    assert isinstance(fetch(store, path), HistoryUnreadable)


def test_a_managed_section_in_a_document_is_left_out_p26(store: Path) -> None:
    (store / PATH).write_text(f"# Mine\n\n{SECTION_START}\nnote\n{SECTION_END}\n")
    history = fetch(store)
    assert isinstance(history, History)
    assert history.turns[0].text == f"# Mine\n\n{MEMORY_OUTPUT_PLACEHOLDER}"


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(["# A", "## B c", "word " * 30, "", "```", "# not one", "~~~", "x" * 5_000]), max_size=30)
)
def test_sections_are_bounded_and_hold_every_word(lines: list[str]) -> None:
    text = "\n".join(lines)
    turns = document_turns(text, "file")
    assert all(0 < len(turn.text) <= TOOL_TEXT_CHARS for turn in turns)
    assert "".join("".join(turn.text for turn in turns).split()) == "".join(text.split())
    assert len({turn.record_id for turn in turns}) == len(turns)


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES, errno.EMFILE])
def test_a_failing_disk_does_not_ruin_a_snapshot_p5_p6(store: Path, number: int) -> None:
    (store / PATH).write_text("# Ports")
    failures = []
    for _, failing in each_failure(number):
        with failing:
            found = fetch(store)
        if not isinstance(found, History):
            failures.append(type(found))
    assert failures
    assert set(failures) == {HistoryUnavailable}

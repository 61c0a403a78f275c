"""The built-in agent: its replies pass the same checks as any other agent's."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st
from returns.result import Success

from agent_memory.agent.agent_command import MOST_NOTES, NOTE_CHARS, BuiltinAgent, document_notes
from agent_memory.extraction.text import LONGEST_TITLE_CHARS
from agent_memory.note.note import Harness
from agent_memory.prompt.reply import parse_reply
from agent_memory.rules.plan import ChangeSet, SessionRequest
from agent_memory.session.history import History, Role, ToolCall, Turn
from agent_memory.session.queue import InboxEntry, SessionFile
from agent_memory.session.turns import document_turns
from agent_memory.text.markdown import first_heading
from conversations import MUCH_LATER_MS, STARTED_AT_MS, history, user

NONCE = "n0nce-4711"
ENTRY = InboxEntry(STARTED_AT_MS, Harness.CLAUDE_CODE, SessionFile("claude-code-session", "s1"))


def asked(window: History, entry: InboxEntry = ENTRY, now_ms: int = MUCH_LATER_MS) -> ChangeSet:
    reply = BuiltinAgent().answer(SessionRequest("", NONCE, entry, window, now_ms=now_ms)).unwrap()
    parsed = parse_reply(reply.text, NONCE)
    assert isinstance(parsed, Success)
    change_set: ChangeSet = parsed.unwrap()
    return change_set


def test_a_lone_surrogate_in_a_message_does_not_break_the_reply() -> None:
    change_set = asked(history(user("Remember that the \ud800 glyph breaks the old printer.")))
    assert "glyph" in change_set.entries[0].title


WORDS = st.sampled_from(
    [
        "Remember that", "No, use", "instead of", "We always", "never", "let's go with option 1", "the root cause was",
        "Found it!", "`Cart.total`", "Fixed.\n    1. **A**: one", "2. **B**: two", "Without it: 40 ms.",
        "With it: 3 ms.", "because", "TODO: test the import", "still needs to be done", "?", "\n", "\n\n", "```",
        ">\n    ", "", "**Fix:**", "The fix was", "não, usa", "em vez de", "vamos usar", "o problema era", "\u202e",
        "\x00", "- ", ":", "( ", "`", "<b>", "the staging database",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.lists(WORDS, max_size=25).map(" ".join), st.text(max_size=80))
CALLS = st.lists(
    st.builds(ToolCall, name=st.just("Edit"), brief=TEXTS, path=st.one_of(st.none(), TEXTS), writes=st.booleans()),
    max_size=2,
).map(tuple)
TURNS = st.lists(
    st.tuples(st.sampled_from(Role), TEXTS, CALLS, st.one_of(st.none(), st.integers(0, 2**45))), max_size=12
).map(
    lambda said: tuple(
        Turn(number, role, text, f"r{number}", at_ms, calls if role is Role.AGENT else ())
        for number, (role, text, calls, at_ms) in enumerate(said, 1)
    )
)
HISTORIES = st.builds(
    History,
    harness=st.just(Harness.CLAUDE_CODE),
    session_id=st.just("s"),
    turns=TURNS,
    cwd=st.one_of(st.none(), st.just("/w"), TEXTS),
    automated=st.booleans(),
)


@settings(max_examples=150, deadline=None)
@given(HISTORIES, st.integers(0, 2**45), st.booleans())
def test_any_history_gives_a_valid_reply_within_every_limit(window: History, now_ms: int, final_window: bool) -> None:
    request = SessionRequest("", NONCE, ENTRY, window, now_ms=now_ms, final_window=final_window)
    text = BuiltinAgent().answer(request).unwrap().text
    assert BuiltinAgent().answer(request).unwrap().text == text
    change_set = parse_reply(text, NONCE).unwrap()
    assert change_set.dropped == ()
    assert bool(change_set.entries) != bool(change_set.skipped)
    numbers = {turn.number for turn in window.turns if turn.role is not Role.TOOL}
    for entry in change_set.entries:
        assert 0 < len(entry.title) <= LONGEST_TITLE_CHARS
        assert len(entry.description or "") <= 200
        assert len(entry.body) <= 8_000
        assert "\n" not in entry.title + (entry.description or "")
        assert set(entry.turns) <= numbers
        assert entry.turns


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_tool_text_never_yields_a_note(texts: list[str]) -> None:
    turns = tuple(Turn(number, Role.TOOL, text, f"r{number}") for number, text in enumerate(texts, 1))
    assert asked(History(Harness.CLAUDE_CODE, "s", turns)).entries == ()


# -- documents ---------------------------------------------------------------------------------------------------------


def document(text: str) -> History:
    return History(Harness.MANUAL, "file-1", document_turns(text, "file"), title=first_heading(text))


def test_a_long_one_is_a_note_for_every_few_sections_named_after_both() -> None:
    sections = "\n".join(f"## Part {number}\n\n{'The lamp burns oil. ' * 90}\n" for number in range(6))
    found = document_notes(document(f"# The lamp\n\n{sections}"))
    assert [entry.title for entry in found.entries] == ["The lamp", "The lamp: Part 2", "The lamp: Part 4"]
    assert all(len(entry.body) <= NOTE_CHARS for entry in found.entries)


def test_what_is_too_long_or_no_text_is_left_out_and_said_so() -> None:
    long = document_notes(document("word " * (NOTE_CHARS * (MOST_NOTES + 1) // 5)))
    assert (long.entries, "are too many to keep as they are" in (long.skipped or "")) == ((), True)
    for text in ('{"messages": [1, 2]}', "[1,\n2]\n", '{"a": 1}\n{"a": 2}\n'):
        assert document_notes(document(text)).skipped == (
            "it is JSON and not text; an agent command (llm.preset) makes notes of it"
        )


@given(st.lists(st.text("ab #`é\n", min_size=1, max_size=3_000), max_size=8))
def test_every_word_of_it_is_in_a_note(parts: list[str]) -> None:
    text = "\n\n".join(parts)
    found = document_notes(document(text))
    if found.skipped is None:
        assert " ".join("\n".join(entry.body for entry in found.entries).split()) == " ".join(text.split())
        assert all(entry.title for entry in found.entries)

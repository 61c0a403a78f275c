"""Inbox entries for tests: some plain ones, and hypothesis strategies for any valid one."""

from __future__ import annotations

from hypothesis import strategies as st

from agent_memory.note.note import Harness, Kind
from agent_memory.session.queue import (
    SESSION_METHODS,
    AmpThread,
    Context,
    FileSnapshot,
    InboxEntry,
    InlineNote,
    SessionFile,
)
from agent_memory.text.value_rules import ID_CHARACTERS, LETTERS_AND_DIGITS, WORD_CHARACTERS

AT_MS = 1_770_993_005_123


def session(id: str = "s-1", at_ms: int = AT_MS, **context: str) -> InboxEntry:
    """A Claude Code session's entry."""
    return InboxEntry(at_ms, Harness.CLAUDE_CODE, SessionFile("claude-code-session", id), Context(**context))


def note(title: str = "Deploys", at_ms: int = AT_MS) -> InboxEntry:
    """A person's note."""
    return InboxEntry(at_ms, Harness.MANUAL, InlineNote(title, "They run from main only"))


_ids = st.builds(
    str.__add__,
    st.sampled_from(sorted(LETTERS_AND_DIGITS)),
    st.text(st.sampled_from(sorted(ID_CHARACTERS)), max_size=40),
)
_words = st.text(st.sampled_from(sorted(WORD_CHARACTERS)), min_size=1, max_size=20)
_text = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=60).filter(str.strip)
_paths = _text.map("/".__add__)
_bodies = st.lists(_text, min_size=1, max_size=3).map("\n".join)
_commits = st.text("0123456789abcdef", min_size=40, max_size=40)


def _maybe(values: st.SearchStrategy[str]) -> st.SearchStrategy[str | None]:
    return st.none() | values


contexts = st.builds(
    Context,
    cwd=_maybe(_paths),
    repo=_maybe(_text),
    branch=_maybe(_text),
    commit=_maybe(_commits),
    event=_maybe(_words),
    reason=_maybe(_words),
    harness_version=_maybe(_text),
)
notes = st.builds(
    InlineNote,
    title=_text,
    body=_bodies,
    tags=st.lists(_text, max_size=4).map(tuple),
    kind=st.none() | st.sampled_from(Kind),
    thread_id=_maybe(_ids),
)
instants = st.integers(0, 253_402_300_799_999)


@st.composite
def entries(draw: st.DrawFn) -> InboxEntry:
    """Any valid entry."""
    at_ms, context = draw(instants), draw(contexts)
    match draw(st.sampled_from(["file", "inline", "amp", "session"])):
        case "file":
            return InboxEntry(at_ms, Harness.MANUAL, FileSnapshot(f"inbox/snapshots/{draw(_ids)}"), context)
        case "inline":
            return InboxEntry(at_ms, draw(st.sampled_from(Harness)), draw(notes), context)
        case "amp":
            return InboxEntry(at_ms, Harness.AMP, AmpThread(draw(_ids)), context)
        case _:
            method = draw(st.sampled_from(SESSION_METHODS))
            retrieval = SessionFile(method, draw(_ids), draw(_maybe(_paths)))
            return InboxEntry(at_ms, Harness(method.removesuffix("-session")), retrieval, context)

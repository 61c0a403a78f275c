"""Histories of Pi sessions, from the files that it keeps (`pi-session`)."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from functools import partial
from hashlib import blake2b
from typing import ClassVar

from attrs import define, frozen
from returns.result import Result

from agent_memory.adapters.harness.any_json import mapping_at, objects_at, text_at
from agent_memory.adapters.harness.line_transcripts import fetch_session, history_in, read_session
from agent_memory.adapters.harness.place_map import PlaceMap
from agent_memory.adapters.harness.session_facts import SessionFacts, history_of
from agent_memory.adapters.harness.session_turns import SessionTurns
from agent_memory.adapters.harness.transcript_roots import (
    OpenTranscript,
    TranscriptRoots,
    is_session_id,
    transcripts_below,
)
from agent_memory.adapters.harness.turn_drafts import Draft, NewFrom, asked
from agent_memory.domain.history import History, Role, SessionMark
from agent_memory.domain.inbox_entry import InboxEntry
from agent_memory.domain.instants import ms_of
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.text.id_set import IdSet
from agent_memory.domain.transcripts.own_marks import (
    MEMORY_OUTPUT_PLACEHOLDER,
    is_memory_command,
    typed_words,
    without_own_output,
)
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error

_MAX_DEPTH = 2
"""Sessions are in `sessions/<directory>/`; a root may be the directory around `sessions`."""


@frozen
class PiSessions:
    """Reads session files inside `roots`, one line at a time (P25, P27). Errors: see `line_transcripts`."""

    roots: TranscriptRoots

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The turns after the mark, at most about 16 MiB of them (`remaining` then)."""
        return fetch_session(self.roots, entry, "pi-session", find_session, partial(_read, mark))


def find_session(roots: TranscriptRoots, session_id: str) -> str | None:
    """The newest `<time>_<session id>.jsonl`; None where there is none."""
    if not is_session_id(session_id):
        return None
    end = f"_{session_id}.jsonl"
    found = transcripts_below(roots, lambda name: name.endswith(end), _MAX_DEPTH)
    return found[0] if found else None


def _read(mark: SessionMark | None, file: OpenTranscript, session_id: str) -> Result[History, Error]:
    session = read_session(file, mark, lambda new_from: PiSession(session_id, new_from))
    if session.full:
        # What was kept may all be on a branch that was left, and what counts come later.
        on_path = session.on_path
        session = read_session(file, mark, lambda new_from: PiSession(session_id, new_from, on_path))
    return history_in(session, file, "Pi")


_TIME_CHARS = 40
_ID_CHARS = 2_000

_SILENT = frozenset(
    (
        "session",
        "model_change",
        "thinking_level_change",
        "custom",
        "label",
        "session_info",
        "context_transform",
        "ephemeral",
    )
)
_SUMMARIES = frozenset(("compaction", "branch_summary", "compactionSummary", "branchSummary"))
_MESSAGES = frozenset(("message", "custom_message"))

_GIVEN = re.compile(r'^\s*<(skill|file) name=(?:"([\w./~-]{1,300})")?', re.MULTILINE)
"""A name with spaces in it could be a sentence that nobody here said."""


class PiSession:
    """Takes the entries of one session in file order; `history` is what those on the last entry's branch say.

    What a fork copied from its parent is left out.
    """

    def __init__(self, session_id: str, new_from: NewFrom, on_path: bytearray | None = None) -> None:
        """`on_path`, where it is known from a reading before, says of each entry whether it is on that branch."""
        self.session_id = session_id
        self.turns = SessionTurns(new_from)
        self._known_path = on_path
        self._tree = EntryTree()
        self._ids = IdSet()
        self._facts = _Facts()
        self.full = False
        """Enough is kept; the entries from here on are for another fetch."""

    @property
    def done(self) -> bool:
        """Which branch counts is only known at the end of the file, unless it was read before."""
        return self.turns.own_call or (self.full and self._known_path is not None)

    @property
    def on_path(self) -> bytearray:
        """For each entry of the file so far, whether it is on the last one's branch."""
        return self._known_path if self._known_path is not None else self._tree.path()

    def take_object(self, value: Mapping[str, object]) -> None:
        """The next object of the file."""
        kind = text_at(value, "type")
        if kind not in _SILENT | _SUMMARIES | _MESSAGES:
            self._skip_unknown(kind, value)
            return
        self._facts.note(kind, value)
        if kind == "session":
            self.turns.count(known=True)
            if text_at(value, "id") not in ("", self.session_id):
                self.turns.skip("session-id-mismatch")
            return
        place = self._place_of(value)
        if not self.full:
            self._take(kind, value, place)

    def history(self) -> History:
        """The new turns, without those on branches that were left."""
        on_path = self.on_path

        def left_out(draft: Draft) -> str | None:
            return None if draft.branch < 0 or on_path[draft.branch] else "abandoned-branch"

        facts = self._facts
        told = SessionFacts(
            harness=Harness.PI,
            session_id=self.session_id,
            title=facts.title,
            cwd=facts.cwd,
            agent=facts.model,
            started_at_ms=facts.started_at_ms,
        )
        return history_of(told, self.turns, left_out, remaining=self.full)

    # -- entries ------------------------------------------------------------------------------------------------------

    def _skip_unknown(self, kind: str, value: Mapping[str, object]) -> None:
        if not kind:
            self.turns.skip("bad-record")
            return
        self._place_of(value)
        self.turns.skip_unknown(kind)

    def _place_of(self, value: Mapping[str, object]) -> int:
        """In the tree; -1 for an entry of version 1, which is in none."""
        id = text_at(value, "id")
        says = text_at(value, "type") in _MESSAGES
        return self._tree.add(id, text_at(value, "parentId") or None, says=says) if id else -1

    def _take(self, kind: str, value: Mapping[str, object], place: int) -> None:
        at_ms = ms_of(text_at(value, "timestamp")[:_TIME_CHARS])
        if self._facts.forked_at_ms is not None and at_ms is not None and at_ms < self._facts.forked_at_ms:
            self.turns.count(known=True)
            self.turns.skip("forked-history")
            return
        if kind in _MESSAGES and self.turns.has_enough:
            self.full = True
            return
        self.turns.enter(self._own_id(value), at_ms)
        if kind in _SUMMARIES:
            self.turns.count(known=True)
            self.turns.skip("compact-summary")
        elif kind == "custom_message":
            self.turns.count(known=True)
            self._take_custom(value, value.get("content"), place)
        elif kind == "message":
            self._take_message(mapping_at(value, "message"), place)
        else:
            self.turns.count(known=True)
        if self._known_path is not None and place >= 0 and not self._known_path[place]:
            self.turns.skip("abandoned-branch", self.turns.take_back())
        self.turns.leave()

    def _take_message(self, message: Mapping[str, object], place: int) -> None:
        role = text_at(message, "role")
        take = self._ROLES.get(role)
        if take is None:
            self.turns.skip_unknown(f"message/{role}")
        else:
            self.turns.count(known=True)
            take(self, message, place)

    # -- messages -----------------------------------------------------------------------------------------------------

    def _take_user(self, message: Mapping[str, object], place: int) -> None:
        raw = _text_in(message.get("content"))
        if self.turns.begins_with_own_prompt(raw):
            return
        text = _typed(raw)
        if text:
            self.turns.say(Role.USER, text, branch=place)
        else:
            self.turns.skip("command" if raw.strip() else "empty")

    def _take_assistant(self, message: Mapping[str, object], place: int) -> None:
        calls = [
            asked(text_at(block, "id"), text_at(block, "name") or "unknown", mapping_at(block, "arguments"))
            for block in objects_at(message, "content")
            if block.get("type") == "toolCall"
        ]
        text = _text_in(message.get("content"))
        if text.strip() or calls:
            self.turns.speak(None, text, calls, branch=place)
        else:
            self.turns.skip("api-error" if message.get("errorMessage") else "empty")

    def _take_result(self, message: Mapping[str, object], place: int) -> None:
        self.turns.answer(
            text_at(message, "toolCallId") or None,
            _text_in(message.get("content")),
            tool_name=text_at(message, "toolName") or None,
            failed=message.get("isError") is True,
            branch=place,
        )

    def _take_command(self, message: Mapping[str, object], place: int) -> None:
        """A command that the person ran."""
        command = text_at(message, "command")
        output = MEMORY_OUTPUT_PLACEHOLDER if is_memory_command(command) else text_at(message, "output")
        failed = message.get("exitCode") not in (0, None)
        self.turns.answer(None, f"$ {command}\n{output}", tool_name="bash", failed=failed, branch=place)

    def _take_custom(self, entry: Mapping[str, object], content: object, place: int) -> None:
        """What an extension put into the session: nobody here said it."""
        text = without_own_output(_text_in(content))
        if text.replace(MEMORY_OUTPUT_PLACEHOLDER, "").strip():
            self.turns.answer(None, text, tool_name=text_at(entry, "customType") or "extension", branch=place)
        else:
            self.turns.skip("harness-text")

    def _take_custom_message(self, message: Mapping[str, object], place: int) -> None:
        self._take_custom(message, message.get("content"), place)

    def _take_summary(self, message: Mapping[str, object], place: int) -> None:
        self.turns.skip("compact-summary")

    def _own_id(self, value: Mapping[str, object]) -> str:
        """The entry's id, or one made from its content where it has none; with a number where another has the same."""
        id = text_at(value, "id") or _id_from(value)
        own, count = id, 1
        while not self._ids.add(own):
            count += 1
            own = f"{id}.{count}"
        return own

    _ROLES: ClassVar = {
        "user": _take_user,
        "assistant": _take_assistant,
        "toolResult": _take_result,
        "bashExecution": _take_command,
        "custom": _take_custom_message,
        "hookMessage": _take_custom_message,
        "branchSummary": _take_summary,
        "compactionSummary": _take_summary,
    }


@define
class _Facts:
    """What the entries say about the session as a whole."""

    cwd: str | None = None
    model: str | None = None
    title: str | None = None
    started_at_ms: int | None = None
    forked_at_ms: int | None = None

    def note(self, kind: str, value: Mapping[str, object]) -> None:
        at_ms = ms_of(text_at(value, "timestamp")[:_TIME_CHARS])
        if kind == "session":
            self.cwd = self.cwd or text_at(value, "cwd") or None
            if text_at(value, "parentSession", "branchedFrom") and self.forked_at_ms is None:
                self.forked_at_ms = at_ms
        self.started_at_ms = at_ms if self.started_at_ms is None else self.started_at_ms
        self.model = text_at(value, "modelId") or text_at(mapping_at(value, "message"), "model") or self.model
        if kind == "session_info":
            self.title = text_at(value, "name").strip() or self.title


def _typed(raw: str) -> str:
    """What the person typed: a skill's text and the text of files given along with it become their names."""
    given = _GIVEN.search(raw)
    words = typed_words(raw, ("skill", "file") if given else ())
    if given is None or raw[: given.start()].strip() or (not words and given[1] == "skill"):
        return words
    name = given[2] or "?"
    return f"/skill:{name} {words}" if given[1] == "skill" else f"[file {name}]\n\n{words}".strip()


def _text_in(content: object) -> str:
    """The text of a message: a text, or the texts of its blocks."""
    if isinstance(content, str):
        return content
    blocks = [block for block in content if is_object(block)] if is_list(content) else []
    texts = ["[image]" if block.get("type") == "image" else text_at(block, "text") for block in blocks]
    return "\n\n".join(filter(None, texts))


def _id_from(value: Mapping[str, object]) -> str:
    message = mapping_at(value, "message")
    told = (
        text_at(value, "type"),
        text_at(value, "timestamp"),
        text_at(message, "role", "toolCallId"),
        (_text_in(message.get("content")) or text_at(message, "command"))[:_ID_CHARS],
    )
    return blake2b("\0".join(told).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


class EntryTree:
    """Remembers each entry's parent; entries are known by their place in the file, from 0.

    An entry whose parent is not in the file, because its line is damaged, is taken for a child of the entry before it, so
    that nothing is cut off.
    """

    def __init__(self) -> None:
        self._parents = array("q")
        self._said = bytearray()
        self._places = PlaceMap()

    def add(self, id: str, parent_id: str | None, *, says: bool = True) -> int:
        """The place of one entry more, which says something, or is only a note on the session. An id that was there before
        means the newer one from now on."""
        place = len(self._parents)
        parent = -1 if parent_id is None else self._places.get(parent_id)
        self._parents.append(place - 1 if parent is None else parent)
        self._places.put(id, place)
        self._said.append(says)
        return place

    def path(self) -> bytearray:
        """For each entry, 1 if the last one is it or grew from it, else 0. Who went back to before the first message, and said
        nothing there yet, has left nothing: then the last one that says something counts."""
        path = self._path_to(len(self._parents) - 1)
        if any(map(int.__and__, path, self._said)):
            return path
        return self._path_to(self._said.rfind(1))

    def _path_to(self, place: int) -> bytearray:
        on_path = bytearray(len(self._parents))
        while place >= 0:
            on_path[place] = 1
            place = self._parents[place]
        return on_path

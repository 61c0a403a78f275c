"""Pi (`@mariozechner/pi-coding-agent`): `<directory>/<time>_<session id>.jsonl` in `~/.pi/agent/sessions`.

The first line is the session; the others are entries, since version 2 with an `id` and a `parentId`: a tree, of which the
branch of the last entry counts. `message.role` is user, assistant, toolResult, bashExecution (a command that the person ran),
custom (what an extension put there), or a summary. A fork begins with copies of its parent's entries, with their times.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence

from agent_memory.harness import any_json as get
from agent_memory.harness.transcripts import SessionFiles, Surroundings
from agent_memory.harness.turn_builder import Places, Session, asked_in
from agent_memory.note.note import Harness
from agent_memory.session.own_marks import MEMORY_OUTPUT_PLACEHOLDER, typed_words, without_own_output

_SILENT = frozenset((
    "session", "model_change", "thinking_level_change", "custom", "label", "session_info", "context_transform", "ephemeral",
))  # fmt: skip
_SUMMARIES = frozenset(("compaction", "branch_summary", "compactionSummary", "branchSummary"))
_MESSAGES = frozenset(("message", "custom_message"))
_ROLES = frozenset(("user", "assistant", "toolResult", "bashExecution", "custom", "hookMessage"))
_GIVEN = re.compile(r'^\s*<(skill|file) name=(?:"([\w./~-]{1,300})")?', re.MULTILINE)
"""A name with spaces in it could be a sentence that nobody here said."""


class PiSession(Session):
    """The entries of one session in the order of the file, of which those on the last entry's branch count. What a fork copied
    from its parent is left out."""

    harness, question_tool, rewinds = Harness.PI, "ask_user_question", True

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self._parents = array("q")
        self._said = bytearray()
        self._places = Places()
        self._on_branch = bytearray()
        self._forked_at_ms: int | None = None

    def end(self) -> None:
        """What is on the last entry's branch counts. Who went back to before the first message, and said nothing there
        yet, has left nothing: then the last one that says something counts."""
        self._on_branch = self._branch_to(len(self._parents) - 1)
        if not any(said and is_on for said, is_on in zip(self._said, self._on_branch, strict=True)):
            self._on_branch = self._branch_to(self._said.rfind(1))

    def _branch_to(self, place: int) -> bytearray:
        on_branch = bytearray(len(self._parents))
        while place >= 0:
            on_branch[place] = 1
            place = self._parents[place]
        return on_branch

    def is_left_out(self, branch: int, record_ids: Sequence[str]) -> bool:
        return branch >= 0 and not self._on_branch[branch]

    def take(self, value: get.Json) -> None:
        kind = get.text(value, "type")
        if not kind:
            self.skip("bad-record")
            return
        at_ms = get.time(value, "timestamp")
        is_known = kind in _SILENT | _SUMMARIES | _MESSAGES
        if is_known:
            self.started_at_ms = at_ms if self.started_at_ms is None else self.started_at_ms
            self.note(agent=get.text(value, "modelId") or get.text(get.mapping(value, "message"), "model"))
        if kind == "session_info":
            self.note(title=get.text(value, "name"))
        if kind == "session":
            self.known_records += 1
            self.note(cwd=get.text(value, "cwd"))
            if get.text(value, "parentSession", "branchedFrom") and self._forked_at_ms is None:
                self._forked_at_ms = at_ms
            return
        id = get.text(value, "id")
        self.branch = -1
        if id:  # an entry of version 1 is in no tree
            parent_id = get.text(value, "parentId")
            parent = self._places.find(parent_id) if parent_id else -1
            self.branch = self._places.add(id)
            # One whose parent is not in the file, because its line is damaged, is taken for a child of the entry before it.
            self._parents.append(self.branch - 1 if parent is None else parent)
            self._said.append(kind in _MESSAGES)
        if not is_known:
            self.skip_unknown(kind)
        else:
            self._take_entry(kind, value)

    def _take_entry(self, kind: str, value: get.Json) -> None:
        at_ms, message = get.time(value, "timestamp"), get.mapping(value, "message")
        role = get.text(message, "role")
        if self._forked_at_ms is not None and at_ms is not None and at_ms < self._forked_at_ms:
            self.known_records += 1
            return
        said = (_text_in(message) or get.text(message, "command"))[:2_000]
        parts = (kind, get.text(value, "timestamp"), get.text(message, "role", "toolCallId"), said)
        self.enter(self.own_id(get.text(value, "id") or get.digest(*parts)), at_ms)
        is_known = kind != "message" or role in _ROLES | _SUMMARIES
        if self.knows(f"message/{role}", is_known) and kind in _MESSAGES and role not in _SUMMARIES:
            self._take_message(role if kind == "message" else "custom", message if kind == "message" else value)

    def _take_message(self, role: str, message: get.Json) -> None:
        text = _text_in(message)
        if role == "user":
            self.hear(text, _typed(text))
        elif role == "assistant":
            calls = asked_in(get.objects(message, "content"), ("toolCall",), "arguments")
            self.speak(None, text, calls)
        elif role == "toolResult":
            call_id, name = get.text(message, "toolCallId") or None, get.text(message, "toolName") or None
            self.answer(call_id, text, tool_name=name, failed=message.get("isError") is True)
        elif role == "bashExecution":
            failed = message.get("exitCode") not in (0, None)
            self.ran(get.text(message, "command"), get.text(message, "output"), "bash", failed=failed)
        else:  # what an extension put into the session: nobody here said it
            text = without_own_output(text)
            if text.replace(MEMORY_OUTPUT_PLACEHOLDER, "").strip():
                self.answer(None, text, tool_name=get.text(message, "customType") or "extension")


def _typed(raw: str) -> str:
    """Returns what the person typed: a skill's text and the text of files given along with it become their names."""
    given = _GIVEN.search(raw)
    words = typed_words(raw, ("skill", "file") if given else ())
    if given is None or raw[: given.start()].strip() or (not words and given[1] == "skill"):
        return words
    name = given[2] or "?"
    return f"/skill:{name} {words}" if given[1] == "skill" else f"[file {name}]\n\n{words}".strip()


def _text_in(message: get.Json) -> str:
    return get.texts(message.get("content"), image="[image]")


class PiSessions(SessionFiles):
    harness_home, below = ("PI_CODING_AGENT_DIR", "~/.pi/agent"), ("sessions",)
    session = PiSession
    named = re.compile(r"(?:.*/)?[^/]+_(?P<id>[^/_]*)\.jsonl")
    max_depth = 2  # a root may be the directory around `sessions`

    @classmethod
    def directories(cls, given: Surroundings) -> list[str]:
        own = given.named("PI_CODING_AGENT_SESSION_DIR")
        return [*([own] if own else []), *super().directories(given)]

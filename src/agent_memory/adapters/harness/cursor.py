"""Cursor, the editor and its command line (2025 to 2026.09): transcripts, and the editor's own store (`cursor_store`).

A transcript is `<project>/agent-transcripts/<id>/<id>.jsonl` in `~/.cursor/projects`, in older versions `<id>.jsonl` or
`<id>.txt` in `agent-transcripts`. A line: `{"role": "user" | "assistant", "message": {"content": [block, …]}}`, or `{"type":
"turn_ended", "status"}`. Lines have no ids and no times; most versions keep no answers of tools. After a compaction the prompt
at work is written once more. Since the summer of 2026 a prompt is `<timestamp>…</timestamp>` and `<user_query>…</user_query>`;
before, the query alone; before that, the bare text. What stands outside the query is Cursor's: rules, open files, the contents
of attached ones. The text form has lines `user:` and `assistant:`, and `[Thinking]`, `[Tool call] Name`, `[Tool result]` with
indented lines below them.
"""

from __future__ import annotations

import json
import os
import re
from collections import deque
from collections.abc import Iterator
from functools import partial
from hashlib import blake2b
from itertools import chain

from agent_memory.adapters.disk.lines import MAX_LINE_BYTES, Line, LongLine, objects_in, read_lines
from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.harness import any_json as get
from agent_memory.adapters.harness.any_json import Json
from agent_memory.adapters.harness.cursor_store import (
    DATABASE,
    MISSING_BUBBLE,
    CursorStore,
    Query,
    cursor_call,
    editor_directories,
    typed_query,
)
from agent_memory.adapters.harness.databases import merged
from agent_memory.adapters.harness.transcripts import (
    Findings,
    OpenTranscript,
    SessionFiles,
    Surroundings,
    TranscriptRoots,
    changed_at,
    file_beside,
    files_below,
    history_in,
    not_found,
    read_session,
    reading,
)
from agent_memory.adapters.harness.turn_builder import Asked, Session
from agent_memory.domain.history import UNKNOWN_TYPE, History, Role, SessionMark
from agent_memory.domain.json_shape import is_object
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error

TRANSCRIPTS = "agent-transcripts"
_SUB_AGENTS = "/subagents/"
_PROJECT_FILE = ".workspace-trusted"
_MAX_PROJECT_FILE_BYTES = 64 * 1024
_ID_OF_LINE = re.compile(r"\d+-[0-9a-f]{16}", re.ASCII)
_OTHERS_LOOKED_AT = 20


# -- the lines of a transcript ----------------------------------------------------------------------------------------

UNSEEN_ANSWERS = "[Cursor keeps no record of what its tools answered]"
"""Stands once, where the first answer would: what the agent says from there on may come from a page (P19)."""

_CALLS = ("tool_use", "tool_call", "tool-call")
_RESULTS = ("tool_result", "tool-result")
_SILENT_BLOCKS = ("thinking", "redacted_thinking", "reasoning")
_REDACTED = "[REDACTED]"
_PENDING_CALLS = 1_000
_PROMPT_CHARS = 20_000


class CursorSession(Session):
    """The lines of one transcript."""

    harness = Harness.CURSOR

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.prompts = 0
        """How often a person, or what stands in a person's place, spoke."""
        self.first_prompt = ""
        self._line_number = 0
        self._clock_ms: int | None = None
        self._tags_expected = False
        self._last_prompt = b""
        self._mid_turn = False
        """The agent called a tool, and the turn has not ended since."""
        self._pending: deque[str] = deque(maxlen=_PENDING_CALLS)
        self._answers_due = False
        self._answers_seen = False

    def take(self, value: Json) -> None:
        self._line_number += 1
        role, content = value.get("role"), get.mapping(value, "message").get("content")
        if role in ("user", "assistant") and isinstance(content, str | list):
            blocks: list[object] = [{"type": "text", "text": content}] if isinstance(content, str) else content
            self._take_message(role == "user", [block for block in blocks if is_object(block)])
        elif role in ("user", "assistant"):
            self.skip("bad-record")
        elif value.get("type") != "turn_ended":
            self.skip_unknown(value.get("type") or f"role {role}")
        else:
            self.known_records += 1
            self.enter(self._line_id("turn_ended"), self._clock_ms)
            self._tell_of_unseen_answers()
            self._mid_turn = False

    def _take_message(self, of_user: bool, blocks: list[Json]) -> None:
        results = [block for block in blocks if block.get("type") in _RESULTS]
        self.known_records += 1
        query = Query()
        if of_user:
            texts = [get.text(block, "text") for block in blocks if block.get("type") == "text"]
            images = sum(block.get("type") == "image" for block in blocks)
            query = typed_query(*texts, tags_expected=self._tags_expected, images=images)
            self._tags_expected = self._tags_expected or query.tagged
        self._clock_ms = query.at_ms or self._clock_ms
        self.enter(self._line_id(f"{of_user}{blocks!r}"), self._clock_ms)
        if not results:
            self._tell_of_unseen_answers()
        for block in results:
            self._take_result(block)
        if not of_user:
            self._take_answer(blocks)
        elif len(results) < len(blocks) or not blocks:
            self._take_query(query, blocks)
        for block in blocks:
            if block.get("type") not in ("text", "image", *_CALLS, *_RESULTS, *_SILENT_BLOCKS):
                self.skip(f"{UNKNOWN_TYPE}block {block.get('type')}")

    def _take_query(self, query: Query, blocks: list[Json]) -> None:
        if self.begins_with_own_prompt(query.raw):
            return
        if not query.text:
            self.skip("injected")
            return
        written = blake2b(repr(blocks).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if written == self._last_prompt and self._mid_turn:
            self.skip("repeated-prompt")
            return
        self._last_prompt, self._mid_turn = written, False
        self._pending.clear()
        self.prompts += 1
        self.first_prompt = self.first_prompt or query.raw[:_PROMPT_CHARS]
        self.say(Role.USER, query.text, raw=query.raw)

    def _take_answer(self, blocks: list[Json]) -> None:
        # `[REDACTED]` stands for the agent's thoughts.
        texts = (
            get.text(block, "text").strip().removesuffix(_REDACTED).strip()
            for block in blocks
            if block.get("type") == "text"
        )
        text = "\n\n".join(filter(None, texts))
        calls: list[Asked] = []
        for block in blocks:
            if block.get("type") in _CALLS:
                call_id = get.text(block, "id") or f"{self._line_number}.{len(self._pending)}"
                self._pending.append(call_id)
                calls.append(cursor_call(call_id, get.text(block, "name"), get.parsed_object(block.get("input"))))
        self.speak(None, text, calls)
        if text or calls:
            self._mid_turn = bool(calls)
        self._answers_due = self._answers_due or bool(calls)

    def _take_result(self, block: Json) -> None:
        call_id = get.text(block, "tool_use_id")
        if call_id not in self.open_calls and self._pending:  # answers come in the order of the calls
            call_id = self._pending.popleft()
        name, failed = get.text(block, "name") or None, block.get("is_error") is True
        self.answer(call_id, get.answer(block.get("content")), tool_name=name, failed=failed)
        self._answers_due, self._answers_seen = False, True

    def _tell_of_unseen_answers(self) -> None:
        if self._answers_due and not self._answers_seen:
            self.answer(None, UNSEEN_ANSWERS)
            self._answers_seen = True
        self._answers_due = False

    def _line_id(self, content: str) -> str:
        """Lines have no ids: the place of this one, and what it says."""
        return f"{self._line_number}-{blake2b(content.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"


# -- the text form of older versions ----------------------------------------------------------------------------------

_QUERY = r"[ \t]*<(?:user_query|timestamp)>"
_FIRST_QUERY = re.compile(rf"^user:[ \t]*\n({_QUERY})?", re.MULTILINE)
_SPEAKERS = re.compile(r"^(user|assistant):[ \t]*(?:\n|\Z)", re.MULTILINE)
_TAGGED_SPEAKERS = re.compile(rf"^(assistant|user(?=:[ \t]*\n{_QUERY})):[ \t]*(?:\n|\Z)", re.MULTILINE)
"""Where the first words of a person have tags, a speaker's line without them is somebody's text."""
_MARK = r"[ \t]*\[(?:Thinking|Tool call|Tool result)\]"
_PARTS = re.compile(
    rf"^[ \t]*\[(Thinking|Tool call|Tool result)\](.*)\n?((?:(?!{_MARK})[ \t].*\n?)*)|^((?:(?!{_MARK}).*\n?)+)",
    re.MULTILINE,
)
"""Of the agent's text: a mark, the rest of its line, the indented lines below it; or words."""


def plain_text_pieces(descriptor: int, size_bytes: int) -> Iterator[Line | LongLine]:
    """The messages of a file in the text form, as lines of JSON; a result is a message of its own. Who printed what, or wrote
    it, could write a speaker's line: after the agent's first word no message is sure to be the person's (P19)."""
    if size_bytes > MAX_LINE_BYTES:
        yield LongLine(size_bytes)
        return
    lines = os.pread(descriptor, size_bytes, 0).decode("utf-8", "replace").split("\n")
    text = "\n".join(filter(None, (line.rstrip("\r") for line in lines)))
    first = _FIRST_QUERY.search(text)
    parts = (_TAGGED_SPEAKERS if first and first[1] else _SPEAKERS).split(text)
    agent_spoke = False
    for speaker, words in zip(parts[1::2], parts[2::2], strict=True):
        block: dict[str, object] = {"type": "text", "text": words.strip()}
        if agent_spoke:
            block = {"type": "tool_result", "name": "history", "content": words.strip()}
        messages = _messages_of_agent(words) if speaker == "assistant" else [[block]]
        for blocks in messages if words.strip() else ():
            agent_spoke = agent_spoke or speaker == "assistant"
            role = "user" if blocks[0]["type"] == "tool_result" else speaker
            yield Line(json.dumps({"role": role, "message": {"content": blocks}}).encode())


def _messages_of_agent(text: str) -> list[list[dict[str, object]]]:
    messages: list[list[dict[str, object]]] = []
    for mark, name, below, words in _PARTS.findall(text):
        block: dict[str, object] = {"type": "text", "text": words.strip()}
        if mark == "Tool call":
            pairs = (line.strip().partition("=") for line in below.splitlines())
            arguments = {key: value for key, equals, value in pairs if equals and key}
            block = {"type": "tool_use", "name": name.strip(), "input": arguments}
        elif mark == "Tool result":
            block = {"type": "tool_result", "content": below.strip()}
            messages += [[block], []]
            continue
        elif mark or not words.strip():
            continue
        if not messages:
            messages.append([])
        messages[-1].append(block)
    return [blocks for blocks in messages if blocks]


# -- where they are ----------------------------------------------------------------------------------------------------


class CursorTranscripts(SessionFiles):
    """Reads transcripts. Sub-agents' conversations are automated."""

    harness = Harness.CURSOR
    harness_home, below = ("", "~/.cursor"), ("projects",)
    session = CursorSession
    named = re.compile(r"(?:(?:.*/)?agent-transcripts/|(?:.*/)?(?=([^/]+)/\1\.[a-z]+$)[^/]+/)?([^/]+)\.(?:jsonl|txt)")
    max_depth = 3

    @classmethod
    def directories(cls, given: Surroundings) -> list[str]:
        return [*super().directories(given), *editor_directories(given)]

    def id_in(self, name: str, path: str) -> str | None:
        """A conversation has a directory of its own, or only a file; a root may be the directory around them."""
        found = self.named.fullmatch(name)
        return found[2] if found else None

    def is_persons(self, session_id: str, path: str) -> bool:
        """Whether it is among the transcripts of a project."""
        return super().is_persons(session_id, path) and TRANSCRIPTS in path.split("/")[-3:-1]

    def read(self, file: OpenTranscript, session_id: str, mark: SessionMark | None) -> History:
        pieces = plain_text_pieces if file.path.endswith(".txt") else read_lines
        session = read_session(file, mark, partial(CursorSession, session_id), pieces)
        session.cwd = self._project_path(file.path, session_id)
        session.automated = _SUB_AGENTS in file.path or (
            session.prompts == 1 and self._is_delegated(file.path, session_id, session.first_prompt)
        )
        return history_in(session, file)

    def _project_path(self, path: str, session_id: str) -> str | None:
        """Where the project is: its directory's name here cannot be turned back into a path, but a file in it says so. A note
        of a session that is nowhere would hold everywhere (P6)."""
        project, found, _ = path.partition(f"/{TRANSCRIPTS}/")
        if not found:
            return None
        with file_beside(self.roots, f"{project}/{_PROJECT_FILE}", session_id) as file:
            data = os.read(file.descriptor, _MAX_PROJECT_FILE_BYTES) if file else b""
        text = data.decode("utf-8", "replace").strip()
        value = get.parsed(text)
        told = get.text(value, "workspacePath") if is_object(value) else "" if value else text.partition("\n")[0]
        return told.rstrip() if told.startswith("/") else None

    def _is_delegated(self, path: str, session_id: str, prompt: str) -> bool:
        """Whether a conversation beside this one handed exactly this prompt to a sub-agent. Of many, those that were written
        to at about the same time are looked at."""
        directory, found, _ = path.partition(f"/{TRANSCRIPTS}/")
        wanted = " ".join(prompt.split())
        others: list[str] = []
        for each in files_below(f"{directory}/{TRANSCRIPTS}", 1) if found and wanted else ():
            if isinstance(each, OSError):
                raise each
            if each[0] != path and each[0].endswith(".jsonl"):
                others.append(each[0])
        at = changed_at(path)
        nearest = sorted(others, key=lambda other: abs(changed_at(other) - at))[:_OTHERS_LOOKED_AT]
        return any(wanted in self._delegated_in(other, session_id) for other in nearest)

    def _delegated_in(self, path: str, session_id: str) -> Iterator[str]:
        """What a conversation gave to its tools as their prompts, with single spaces."""
        with file_beside(self.roots, path, session_id) as file:
            if file is None or file.size_bytes > MAX_LINE_BYTES:
                return
            for line in read_lines(file.descriptor, file.size_bytes):
                for value in objects_in(line.data).found if isinstance(line, Line) and b'"prompt"' in line.data else ():
                    for block in get.objects(get.mapping(value, "message"), "content"):
                        yield " ".join(get.text(get.mapping(block, "input"), "prompt").split())


class CursorSessions(CursorTranscripts):
    """Reads a conversation from the editor's store in one of the roots, and where that does not know it, or has lost some of
    it, from its transcript. What was begun from the transcript goes on from there: its records have other ids."""

    def __init__(self, roots: TranscriptRoots) -> None:
        super().__init__(roots)
        self._store = CursorStore(roots)

    def history(self, session_id: str, named: str | None, cwd: str | None, mark: SessionMark | None) -> History:
        database = named if named is not None and named.endswith(DATABASE) else None
        transcript = None if database else named
        with reading(session_id):
            is_there = transcript is not None and lies_there(transcript)
            path = transcript if is_there else self.path_of(session_id) or transcript
        is_of_lines = mark is not None and _ID_OF_LINE.fullmatch(mark.last_record_id) is not None
        stored: History | None = None
        failure: Error | None = None
        if path is None or not is_of_lines:
            try:
                stored = self._store.stored(session_id, database, mark)
            except Error as error:
                failure = error
        if path is not None and (stored is None or stored.skipped.get(MISSING_BUBBLE)):
            try:
                return self.read_at(path, session_id, mark)
            except Error:
                if stored is None:
                    raise
        if stored is None:
            raise failure or not_found(session_id, self.roots)
        return stored

    def find(self, since_ms: int | None) -> Findings:
        """See `ports.SessionFinder`: those with transcripts, and further ones in the editor's store."""
        return merged(chain(super().find(None), self._store.find(None)), since_ms)

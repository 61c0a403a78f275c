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

from attrs import define, field, frozen

from agent_memory.adapters.disk.lines import MAX_LINE_BYTES, Line, LongLine, objects_in, read_lines
from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.harness.any_json import (
    Json,
    answer_text,
    json_in,
    mapping_at,
    object_in,
    objects_at,
    text_at,
)
from agent_memory.adapters.harness.cursor_store import (
    DATABASE,
    MISSING_BUBBLE,
    Query,
    cursor_call,
    history_in_store,
    stored_rows,
    typed_query,
)
from agent_memory.adapters.harness.read_only_database import read_database
from agent_memory.adapters.harness.session_finders import Findings, TranscriptFinder, merged, sessions_in, uuid_in
from agent_memory.adapters.harness.transcripts import (
    OpenTranscript,
    SessionSource,
    Surroundings,
    TranscriptRoots,
    changed_at,
    directories_in,
    file_beside,
    history_in,
    is_session_id,
    looking_for,
    named_session,
    read_session,
)
from agent_memory.adapters.harness.turn_builder import Asked, NewFrom, Session
from agent_memory.domain.history import UNKNOWN_TYPE, History, Role, SessionMark
from agent_memory.domain.inbox_entry import InboxEntry
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import AgentMemoryError, HistoryUnavailable
from agent_memory.ports import SessionFinder
from agent_memory.results import as_result

TRANSCRIPTS = "agent-transcripts"
_SUFFIXES = (".jsonl", ".txt")
_SUB_AGENTS = "/subagents/"
_PROJECT_FILE = ".workspace-trusted"
_MAX_PROJECT_FILE_BYTES = 64 * 1024
_ID_OF_LINE = re.compile(r"\d+-[0-9a-f]{16}", re.ASCII)
_SIBLINGS_LOOKED_AT = 20


def source(given: Surroundings) -> CursorSessions:
    """The histories of Cursor's conversations."""
    return CursorSessions(_roots(given))


def finder(given: Surroundings) -> SessionFinder:
    """The past conversations of Cursor."""
    return CursorFinder(watched_finder(given))


def watched_finder(given: Surroundings) -> TranscriptFinder:
    """The past conversations that have transcripts."""
    return TranscriptFinder(Harness.CURSOR, _roots(given), _identify, 3)


def _roots(given: Surroundings) -> TranscriptRoots:
    """The transcripts' directory, and that of the editor's store on Linux and macOS."""
    editors = [*given.homes("XDG_CONFIG_HOME", "~/.config"), "~/Library/Application Support"]
    return given.roots("~/.cursor/projects", *(f"{each}/Cursor/User/globalStorage" for each in editors))


def _identify(path: str, names: tuple[str, ...]) -> str | None:
    stem, ending = os.path.splitext(names[-1])
    if ending not in _SUFFIXES or TRANSCRIPTS not in names[-3:-1]:
        return None
    return uuid_in(stem) if names[-2] in (TRANSCRIPTS, stem) else None


@frozen
class CursorFinder:
    """Looks for transcripts, and asks the editor's store in each of their roots for further conversations."""

    files: TranscriptFinder

    def find(self, since_ms: int | None) -> Findings:
        """See `ports.SessionFinder`. A draft is no conversation, nor is one in which nothing was said yet."""
        roots = self.files.roots
        stores = (sessions_in(roots, f"{root}/{DATABASE}", Harness.CURSOR, stored_rows) for root in roots.roots)
        return merged(chain(self.files.find(None), chain.from_iterable(stores)), since_ms)


class CursorSessions(SessionSource):
    """Reads a conversation from the editor's store in one of the roots, and where that does not know it, or has lost some of
    it, from its transcript. What was begun from the transcript goes on from there: its records have other ids.

    Sub-agents' conversations are automated. Errors: see `read_database` and `SessionSource`.
    """

    method = "cursor-session"

    @as_result
    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> History:
        """The turns after the mark, at most about 16 MiB of them (`remaining` then)."""
        session_id, named = named_session(entry, self.method)
        from_transcript = mark is not None and _ID_OF_LINE.fullmatch(mark.last_record_id) is not None
        stored: History | None = None
        failure: AgentMemoryError | None = None
        with looking_for(session_id):
            path = self._transcript_path(session_id, named)
            databases = [] if from_transcript and path is not None else self._databases(named)
        for database in databases:
            try:
                read = partial(history_in_store, session_id, mark)
                stored = stored or read_database(self.roots, database, session_id, read)
            except AgentMemoryError as error:
                failure = failure or error
        if stored is not None and (path is None or not stored.skipped.get(MISSING_BUBBLE)):
            return stored
        if path is not None:
            try:
                return self.read_at(path, session_id, mark)
            except AgentMemoryError:
                if stored is None:
                    raise
                return stored
        if failure is not None:
            raise failure
        where = ", ".join(self.roots.roots) or "any known directory"
        raise HistoryUnavailable(session_id, f"there is no conversation {session_id} in {where}", is_missing=True)

    def find(self, session_id: str) -> str | None:
        """The newest transcript of this conversation, below a root that holds projects, is one, or holds a project's
        conversations."""
        if not is_session_id(session_id):
            return None
        names = [f"{stem}{end}" for end in _SUFFIXES for stem in (f"{session_id}/{session_id}", session_id)]
        directories = [
            directory
            for root in self.roots.roots
            for directory in (root, *(f"{each}/{TRANSCRIPTS}" for each in (root, *directories_in(root))))
        ]
        paths = (f"{directory}/{name}" for directory in directories for name in names)
        return max(filter(lies_there, paths), key=changed_at, default=None)

    def read(self, file: OpenTranscript, session_id: str, mark: SessionMark | None) -> History:
        """What a transcript says after the mark."""
        pieces = plain_text_pieces if file.path.endswith(".txt") else read_lines
        session = read_session(file, mark, partial(CursorSession, session_id), pieces)
        session.cwd = self._project_path(file.path, session_id)
        session.automated = _SUB_AGENTS in file.path or (
            session.prompts == 1 and self._is_delegated(file.path, session_id, session.first_prompt)
        )
        return history_in(session, file)

    def _databases(self, named: str | None) -> list[str]:
        paths = [f"{root}/{DATABASE}" for root in self.roots.roots]
        named_one = [named] if named is not None and named.endswith(DATABASE) else []
        return [*named_one, *(path for path in paths if path != named and lies_there(path))]

    def _transcript_path(self, session_id: str, named: str | None) -> str | None:
        if named is not None and named.endswith(DATABASE):
            named = None
        return named if named is not None and lies_there(named) else self.find(session_id) or named

    def _project_path(self, path: str, session_id: str) -> str | None:
        """Where the project is: its directory's name here cannot be turned back into a path, but a file in it says so. A note
        of a session that is nowhere would hold everywhere (P6)."""
        project, found, _ = path.partition(f"/{TRANSCRIPTS}/")
        if not found:
            return None
        with file_beside(self.roots, f"{project}/{_PROJECT_FILE}", session_id) as file:
            data = os.read(file.descriptor, _MAX_PROJECT_FILE_BYTES) if file else b""
        text = data.decode("utf-8", "replace").strip()
        value = json_in(text)
        if value is None:
            value = {"workspacePath": text.splitlines()[0] if text else ""}
        told = text_at(value, "workspacePath") if is_object(value) else ""
        return told if told.startswith("/") else None

    def _is_delegated(self, path: str, session_id: str, prompt: str) -> bool:
        """Whether a conversation beside this one handed exactly this prompt to a sub-agent."""
        wanted = " ".join(prompt.split())
        return bool(wanted) and any(self._hands_over(each, session_id, wanted) for each in _siblings(path))

    def _hands_over(self, path: str, session_id: str, wanted: str) -> bool:
        with file_beside(self.roots, path, session_id) as file:
            if file is None or file.size_bytes > MAX_LINE_BYTES:
                return False
            lines = (line for line in read_lines(file.descriptor, file.size_bytes) if isinstance(line, Line))
            return any(
                value.get("role") == "assistant"
                and any(
                    " ".join(text_at(mapping_at(block, "input"), "prompt").split()) == wanted
                    for block in objects_at(mapping_at(value, "message"), "content")
                )
                for line in lines
                if b'"prompt"' in line.data
                for value in objects_in(line.data).found
            )


def _siblings(path: str) -> list[str]:
    """The other conversations of the project: of many, those that were written to at about the same time."""
    parent, name = os.path.split(path)
    above, own = os.path.split(parent)
    directory = above if name.startswith(f"{own}.") else parent if own == TRANSCRIPTS else None
    try:
        names = os.listdir(directory) if directory is not None else []
    except (FileNotFoundError, NotADirectoryError):
        return []
    paths = [f"{directory}/{name}" if name.endswith(".jsonl") else f"{directory}/{name}/{name}.jsonl" for name in names]
    at = changed_at(path)
    others = [other for other in paths if other != path and lies_there(other)]
    return sorted(others, key=lambda other: abs(changed_at(other) - at))[:_SIBLINGS_LOOKED_AT]


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
    harness_name = "Cursor"

    def __init__(self, session_id: str, new_from: NewFrom) -> None:
        super().__init__(session_id, new_from)
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
        """The next line."""
        self._line_number += 1
        role, content = value.get("role"), mapping_at(value, "message").get("content")
        if role not in ("user", "assistant"):
            self._take_sign(value)
        elif not isinstance(content, str) and not is_list(content):
            self.skip("bad-record")
        else:
            blocks: list[object] = [{"type": "text", "text": content}] if isinstance(content, str) else content
            self._take_message(role == "user", [block for block in blocks if is_object(block)])

    def _take_sign(self, value: Json) -> None:
        if value.get("type") != "turn_ended":
            self.skip_unknown(value.get("type") or f"role {value.get('role')}")
            return
        self.known_records += 1
        self.enter(self._line_id("turn_ended"), self._clock_ms)
        self._tell_of_unseen_answers()
        self.leave()
        self._mid_turn = False

    def _take_message(self, of_user: bool, blocks: list[Json]) -> None:
        results = [block for block in blocks if block.get("type") in _RESULTS]
        self.known_records += 1
        query = self._query(blocks) if of_user else Query()
        self._clock_ms = query.at_ms or self._clock_ms
        self.started(self._clock_ms)
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
        self.leave()

    def _query(self, blocks: list[Json]) -> Query:
        texts = [text_at(block, "text") for block in blocks if block.get("type") == "text"]
        query = typed_query(*texts, tags_expected=self._tags_expected)
        self._tags_expected = self._tags_expected or query.tagged
        images = sum(block.get("type") == "image" for block in blocks) if query.text or not texts else 0
        return query.with_images(images)

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
            text_at(block, "text").strip().removesuffix(_REDACTED).strip()
            for block in blocks
            if block.get("type") == "text"
        )
        text = "\n\n".join(filter(None, texts))
        calls: list[Asked] = []
        for block in blocks:
            if block.get("type") in _CALLS:
                call_id = text_at(block, "id") or f"{self._line_number}.{len(self._pending)}"
                self._pending.append(call_id)
                calls.append(cursor_call(call_id, text_at(block, "name"), object_in(block.get("input"))))
        if text or calls:
            self.speak(None, text, calls)
            self._mid_turn = bool(calls)
        self._answers_due = self._answers_due or bool(calls)

    def _take_result(self, block: Json) -> None:
        call_id = text_at(block, "tool_use_id")
        if not self.awaits(call_id) and self._pending:  # answers come in the order of the calls
            call_id = self._pending.popleft()
        name, failed = text_at(block, "name") or None, block.get("is_error") is True
        self.answer(call_id, answer_text(block.get("content")), tool_name=name, failed=failed)
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

_THOUGHT, _CALL, _RESULT = "[Thinking]", "[Tool call]", "[Tool result]"
_MAX_PART_CHARS = 1_000_000


def plain_text_pieces(descriptor: int, size_bytes: int) -> Iterator[Line | LongLine]:
    """The messages of a file in the text form, as lines of JSON."""
    talk = _PlainTalk()
    for piece in read_lines(descriptor, size_bytes):
        if isinstance(piece, LongLine):
            yield piece
        else:
            yield from talk.take(piece.data.decode("utf-8", "replace").rstrip("\r"))
    yield from talk.finish()


@define
class _Part:
    """Lines that belong together: words, a thought, a call, a result."""

    kind: str = ""
    name: str = ""
    lines: list[str] = field(factory=list[str])
    chars: int = 0

    def block(self) -> dict[str, object] | None:
        text = "\n".join(self.lines).strip()
        if self.kind == _CALL:
            pairs = (line.strip().partition("=") for line in self.lines)
            arguments = {key: value for key, equals, value in pairs if equals and key}
            return {"type": "tool_use", "name": self.name, "input": arguments}
        if self.kind == _RESULT:
            return {"type": "tool_result", "content": text}
        return {"type": "text", "text": text} if text and not self.kind else None


class _PlainTalk:
    """Takes the file's lines; gives each message as soon as it is over. A result is a message of its own."""

    def __init__(self) -> None:
        self._speaker = ""
        self._parts = [_Part()]
        self._tagged: bool | None = None
        """Whether the first words of a person had tags: from then on a speaker's line without them is somebody's text."""
        self._agent_spoke = False
        self._after_user = False
        """The line before was `user:`."""

    def take(self, line: str) -> Iterator[Line]:
        """What is over with the next line."""
        if self._after_user:
            self._after_user = False
            tagged = line.lstrip().startswith(("<user_query>", "<timestamp>"))
            self._tagged = tagged if self._tagged is None else self._tagged
            if tagged or not self._tagged:
                yield from self.finish()
                self._speaker = "user"
            else:
                self._add("user:")
        bare = line.strip()
        if line.rstrip() == "user:":
            self._after_user = True
        elif line.rstrip() == "assistant:":
            yield from self.finish()
            self._speaker = "assistant"
        elif self._speaker == "assistant" and bare.startswith((_THOUGHT, _CALL, _RESULT)):
            kind = next(mark for mark in (_THOUGHT, _CALL, _RESULT) if bare.startswith(mark))
            yield from self._begin_part(_Part(kind, bare.removeprefix(kind).strip()))
        else:
            if self._parts[-1].kind and line[:1] not in (" ", "\t"):
                yield from self._begin_part(_Part())
            self._add(line)

    def finish(self) -> Iterator[Line]:
        """The message so far."""
        blocks = [block for part in self._parts if (block := part.block()) is not None]
        self._parts = [_Part()]
        if not blocks or not self._speaker:
            return
        is_answer = blocks[0]["type"] == "tool_result"
        role = "user" if is_answer else self._speaker
        if role == "user" and self._agent_spoke and not is_answer:
            blocks = [{"type": "tool_result", "name": "history", "content": each["text"]} for each in blocks]
        self._agent_spoke = self._agent_spoke or role == "assistant" or is_answer
        yield Line(json.dumps({"role": role, "message": {"content": blocks}}).encode())

    def _begin_part(self, part: _Part) -> Iterator[Line]:
        if part.kind == _RESULT or any(each.kind == _RESULT for each in self._parts):
            yield from self.finish()
        self._parts.append(part)

    def _add(self, line: str) -> None:
        part = self._parts[-1]
        part.chars += len(line)
        if part.chars <= _MAX_PART_CHARS:
            part.lines.append(line)

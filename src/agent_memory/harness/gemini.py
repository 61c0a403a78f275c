"""The Gemini CLI: chats in `~/.gemini/tmp/<project>/chats/session-<time>-<short id>.jsonl`; before 0.40 `.json`.

Both forms hold the same messages: `{id, timestamp, type, content, toolCalls[{id, name, args, result, status}]}`. Before 0.40 they
are a list in one JSON document; since then each is a line, a message that comes again has grown, `$set` changes facts (and may
list all messages as they are after a compression), and `$rewindTo` takes back a message and all that came after it. A tool's
answer is part of the message that called it. Where the session took place is in no chat; it is in the project's
`.project_root`, or in `projects.json`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from hashlib import sha256

from attrs import evolve

from agent_memory.files.lines import MAX_LINE_BYTES, Line, LongLine, read_lines
from agent_memory.harness import any_json as get, transcripts as files
from agent_memory.harness.turn_builder import MAX_CALLS_PER_RECORD, Places, Session, asked
from agent_memory.note.note import Harness
from agent_memory.session.history import History, SessionMark
from agent_memory.session.own_marks import typed_words
from agent_memory.text.ids import IdSet

_SESSION_ID = re.compile(rb'"sessionId"\s*:\s*"([^"\\]{1,128})"')


_HASH = re.compile(r"[0-9a-f]{64}")


def _project_of(path: str, session_id: str) -> str | None:
    """Returns the directory of the chat's project; where only a hash tells it, and of no directory that is known, Gemini's own
    for that project, since what was said there holds nowhere else."""
    project, found, _ = path.rpartition("/chats/")
    if not found:
        return None
    told = files.text_beside(project, ".project_root", session_id).strip()
    if told.startswith("/"):
        return told
    tmp, name = os.path.split(project)
    gemini = os.path.dirname(tmp)
    known = files.text_beside(gemini, "projects.json", session_id)
    slugs = {os.path.dirname(gemini): "", **get.mapping(get.parsed_object(known), "projects")}
    for directory, slug in slugs.items():
        if name in (slug, _hash_of(directory)):
            return directory
    return project if _HASH.fullmatch(name) else None


def _hash_of(directory: str) -> str:
    """Returns the name under which Gemini keeps the chats of a directory."""
    return sha256(directory.encode("utf-8", "surrogatepass")).hexdigest()


def document_pieces(descriptor: int, size_bytes: int) -> Iterator[Line | LongLine]:
    """Yields the messages of a document, one at a time, then what is around them. The CLI indents it by two spaces, so
    that each message begins and ends with a brace on a line of its own behind four; one that is not indented is one
    line. Of a document that was cut short the last message is not `finished`."""
    around = bytearray()
    message: bytearray | None = None
    message_bytes = 0
    for line in read_lines(descriptor, size_bytes):
        if isinstance(line, LongLine):
            yield line
        elif message is None and line.data.rstrip() == b"    {":
            message, message_bytes = bytearray(b"{"), 1
        elif message is None:
            around += line.data[: MAX_LINE_BYTES - len(around)]
        elif line.data.rstrip() in (b"    }", b"    },"):
            yield Line(message + b"}") if message_bytes <= MAX_LINE_BYTES else LongLine(message_bytes)
            message = None
        else:
            message_bytes += len(line.data)
            message += line.data if message_bytes <= MAX_LINE_BYTES else b""
    if message is not None:
        yield Line(message, finished=False)
    if frame := around.rstrip(b" \t\r\n\0"):  # in UTF-16 a NUL follows
        yield Line(frame + b"]}" if frame.endswith(b"[") else frame, finished=frame.endswith(b"}"))


# -- the chat ---------------------------------------------------------------------------------------------------------

_TOLD = ("user", "gemini")
_NOTICES = ("info", "warning", "error")
_FAILED = ("error", "cancelled")
_ENDED = ("success", *_FAILED)
_SERVER = re.compile(r"\((.{1,80}) MCP Server\)\Z")
"""Ends the name that is shown for a tool of an MCP server, whose own name need not tell."""


class GeminiSession(Session):
    """The objects of one chat, without what was taken back."""

    harness, question_tool, rewinds = Harness.GEMINI, "ask_user", True

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self._away = bytearray()
        self._places = Places()
        self._pieces = IdSet()

    def is_left_out(self, branch: int, record_ids: Sequence[str]) -> bool:
        return bool(self._away[branch])

    def take(self, value: get.Json) -> None:
        if "$rewindTo" in value:
            self.known_records += 1
            place = self._places.find(get.text(value, "$rewindTo"))
            if place is not None:
                self._away[place:] = b"\1" * (len(self._places) - place)
                self.end_message()
        elif "$set" in value or ("sessionId" in value and "type" not in value and "id" not in value):
            self.known_records += 1
            facts = get.mapping(value, "$set") if "$set" in value else value
            self.started_at_ms = get.time(facts, "startTime") or self.started_at_ms
            self.automated = self.automated or get.text(facts, "kind") == "subagent"
            directories = (each for each in get.items(facts, "directories") if isinstance(each, str))
            self.note(title=get.text(facts, "summary"), cwd=next(directories, ""))
            recorded = facts is value or not len(self._places)
            for message in get.objects(facts, "messages"):
                self._take_message(message, recorded=recorded)
        elif "type" in value or "id" in value:
            self._take_message(value, recorded=True)
        else:
            self.skip("bad-record")

    def _take_message(self, message: get.Json, *, recorded: bool) -> None:
        """One message, for the first time or grown. One that was not `recorded` when it was said is known from a list of
        what the model is shown: nobody knows who said it."""
        kind, id = get.text(message, "type"), get.text(message, "id")
        if not self.knows(kind or "message", kind in _NOTICES or (kind in _TOLD and id)) or kind in _NOTICES:
            return
        if self.seen_ids.add(id):
            self._away.append(0)
            place: int | None = self._places.add(id)
            self.full = self.full or self.has_enough
        else:
            place = self._places.find(id)
        if self.full or place is None:
            return
        self.branch = place
        self.note(agent=get.text(message, "model"))
        at_ms = get.time(message, "timestamp")
        raw = get.texts(message.get("content"), "\n")
        if kind == "gemini":
            if raw.strip() and self._pieces.add(id):
                self.enter(id, at_ms)
                self.speak(id, raw)
            for call in get.objects(message, "toolCalls")[:MAX_CALLS_PER_RECORD]:
                self._call(call, id, at_ms)
        elif self._pieces.add(id):
            # Also where it shows nothing: then a hook or the CLI spoke, after a tool had answered.
            raw = get.texts(message["displayContent"], "\n") if "displayContent" in message else raw
            self.enter(id, at_ms)
            self.hear(raw, typed_text(raw), by=None if recorded else "history")

    def _call(self, call: get.Json, message_id: str, at_ms: int | None) -> None:
        """One call and, once there is one, its answer: each is a piece of its own, since a message may be consolidated
        between them."""
        name, status = get.text(call, "name"), get.text(call, "status")
        if (server := _SERVER.search(get.text(call, "displayName"))) and not name.startswith("mcp_"):
            name = f"mcp_{server[1]}_{name}"
        call_id = f"{message_id}/{get.text(call, 'id') or name}"
        if self._pieces.add(call_id):
            self.enter(call_id, at_ms)
            self.speak(message_id, "", [asked(call_id, name, get.mapping(call, "args"))])
        if status in _ENDED and self._pieces.add(f"{call_id}="):
            ended_ms = get.time(call, "timestamp")
            self.enter(f"{call_id}=", at_ms if ended_ms is None else ended_ms)
            # What the tool answered to the model, else what it showed to the person.
            text = get.answer(call.get("result")) or get.text(call, "resultDisplay")
            self.answer(call_id, text, tool_name=name, failed=status in _FAILED)


# A command is one word without a slash in it: a path may begin a sentence.
_COMMAND = re.compile(r"(?:/[A-Za-z?][\w:.-]*|\?)(?=\s|\Z)")
_INJECTED = ("Here is the user's editor context", "I ran the following shell command:\n```")
_FILES = re.compile(r"--- Content from referenced (?:files|context) ---.*", re.DOTALL)
"""Stands after what was typed; the files follow to the end."""


def typed_text(raw: str) -> str:
    """Returns what the person typed: without what hooks, the CLI or memory added, and without the files that were named
    in it. A command to the CLI itself is left out."""
    text = typed_words(_FILES.sub("", raw))
    return "" if _COMMAND.match(raw.strip()) or text.startswith(_INJECTED) else text


class GeminiSessions(files.SessionFiles):
    """Reads chats of both forms, one message at a time."""

    harness_home, below = ("GEMINI_CLI_HOME", "~"), (".gemini/tmp",)
    session = GeminiSession
    named = re.compile(r"(?:(?:.*/)?chats/(?:.*/)?[^/]+|(?:.*/)?session-[^/]+)\.jsonl?")
    max_depth = 3
    """Chats are in `tmp/<project>/chats/`, those of sub-agents one level deeper."""

    def id_in(self, name: str, path: str) -> str | None:
        """Returns the id that the chat itself tells: its name holds only the beginning of it."""
        if not self.named.fullmatch(name):
            return None
        found = _SESSION_ID.search(files.head_of(path))
        session_id = found[1].decode("utf-8", "replace") if found else ""
        return session_id if files.is_session_id(session_id) else None

    def is_persons(self, session_id: str, path: str) -> bool:
        """Tells whether it is directly among the chats."""
        directory, _, name = path.rpartition("/")
        return directory.endswith("/chats") and name.startswith("session-")

    def pieces_in(self, path: str) -> files.ReadsPieces:
        return document_pieces if path.endswith(".json") else read_lines

    def history(self, session_id: str, named: str | None, cwd: str | None, mark: SessionMark | None) -> History:
        history = super().history(session_id, named, cwd, mark)
        is_hash_of_it = os.path.basename(history.cwd or "") == _hash_of(cwd or "")
        return evolve(history, cwd=cwd) if is_hash_of_it else history

    def read(self, file: files.OpenTranscript, session_id: str, mark: SessionMark | None) -> History:
        history = super().read(file, session_id, mark)
        return evolve(history, cwd=_project_of(file.path, session_id) or history.cwd)

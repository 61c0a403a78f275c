"""Cursor, the editor and its command line (2025 to 2026.09): transcripts; the editor's own store is in `cursor_store`.

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
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

from attrs import frozen

from agent_memory.files.lines import MAX_LINE_BYTES, Line, LongLine, objects_in, read_lines
from agent_memory.harness import any_json as get, transcripts as files
from agent_memory.harness.turn_builder import Asked, Session, asked
from agent_memory.note.note import Harness
from agent_memory.session.history import UNKNOWN_TYPE, History, SessionMark
from agent_memory.session.own_marks import typed_words
from agent_memory.text.json_shape import is_object

TRANSCRIPTS = "agent-transcripts"

# -- what a person typed ----------------------------------------------------------------------------------------------

_TIMESTAMP = re.compile(r"<timestamp>([^<]{0,100})</timestamp>")
_CLOCK = re.compile(
    r"(?:[A-Za-z]+, )?([A-Za-z]{3})[a-z]* (\d{1,2}), (\d{4}),? (\d{1,2}):(\d\d)(?::(\d\d))?\s*([AP]M)?"
    r"\s*(?:\((?:UTC|GMT)(?:([+-])(\d{1,2})(?::?(\d\d))?)?\))?",
    re.ASCII,
)
_OPENING, _CLOSING = "<user_query>", "</user_query>"
_OWN_LINE_CLOSING = re.compile(r"^</user_query>[ \t]*$", re.MULTILINE)
_ELEMENT = re.compile(r"\s*<([A-Za-z][\w-]*)(\s?/>)?")
# A text that is one element as a whole: nobody types that, and Cursor puts rules and tools into a session so.
_WRAPPED = re.compile(r"<([a-z][a-z0-9_-]{2,40})(?:\s[^<>]{0,300})?>.*</\1>", re.DOTALL)


@frozen
class Query:
    text: str = ""
    raw: str = ""  # as typed, for recognising our own prompts
    at_ms: int | None = None  # to the minute: the only clock of a transcript
    tagged: bool = False  # it was inside the tags of a query


def typed_query(*texts: str, tags_expected: bool = False, images: int = 0) -> Query:
    """Returns the person's words in the texts of one record, and its images; none where it is all Cursor's. With
    `tags_expected` (others of the session had tags) a text without tags is Cursor's."""
    text = "\n\n".join(texts)
    stamp = _TIMESTAMP.search(text[:1_000])
    at_ms = _ms_of_clock(stamp[1]) if stamp else None
    is_tagged = _CLOSING in text.partition(_OPENING)[2]
    bare = (_TIMESTAMP.sub("", each, count=1).strip() for each in texts if not tags_expected)
    outside = "\n\n".join(each for each in bare if each and not _WRAPPED.fullmatch(each))
    raw = _inside(text) if is_tagged else outside
    words = typed_words(raw)
    shown = ["[image]"] * images if words or not text.strip() else []
    return Query("\n\n".join(filter(None, [words, *shown])), raw.strip(), at_ms, is_tagged)


def _inside(text: str) -> str:
    """Returns what the one query holds that stands outside of all other elements; nothing where it cannot be told which
    that is. An attached file may hold any tag, so its element reaches to the last end of it."""
    found = ""
    at = 0
    for _ in range(100):
        opened = _ELEMENT.match(text, at)
        if opened is None:
            return found if text.find(_OPENING, at) < 0 else ""
        tag, at = opened[1], opened.end()
        if tag == "user_query" and found:
            return ""
        if opened[2]:
            continue
        if tag == "user_query":
            own_line = _OWN_LINE_CLOSING.search(text, at) if text.startswith(">\n", at) else None
            end = own_line.start() if own_line else text.find(_CLOSING, at)
            found = text[at + 1 : max(at + 1, end)]
        else:
            end = text.find("</timestamp>", at) if tag == "timestamp" else text.rfind(f"</{tag}>", at)
        if end < 0:
            return found
        at = end + len(f"</{tag}>")
    return ""


def _ms_of_clock(text: str) -> int | None:
    found = _CLOCK.fullmatch(text.strip())
    if found is None:
        return None
    *date, half, sign, zone_hours, zone_minutes = found.groups("0")
    offset = timedelta(hours=int(zone_hours), minutes=int(zone_minutes))
    try:
        form = "%b %d %Y %H %M %S 0" if half == "0" else "%b %d %Y %I %M %S %p"
        at = datetime.strptime(" ".join([*date, half]), form).replace(tzinfo=UTC)
        return int((at + offset if sign == "-" else at - offset).timestamp()) * 1000
    except (ValueError, OverflowError):
        return None


_THROUGH = frozenset(("CallMcpTool", "CallDynamicTool", "call_mcp_tool", "mcp"))
"""Tools that only pass a call on to a server's tool, named in the arguments."""
_MCP = re.compile(r"[A-Za-z0-9_-]{1,100}", re.ASCII)


def cursor_call(call_id: str, name: str, arguments: get.Json) -> Asked:
    """Returns a call of a tool, also of one in a transcript; one passed on to a server's tool under the name
    `mcp__server__tool`."""
    if name in _THROUGH:
        server = get.text(arguments, "server", "serverName", "namespace", "providerIdentifier")
        tool = get.text(arguments, "toolName", "tool", "name")
        if _MCP.fullmatch(server) and _MCP.fullmatch(tool):
            inner = get.mapping(arguments, "arguments") or get.mapping(arguments, "args")
            return asked(call_id, f"mcp__{server}__{tool}", inner)
    return asked(call_id, name, arguments)


# Stands once, where the first answer would: what the agent says from there on may come from a page (P19).
UNSEEN_ANSWERS = "[Cursor keeps no record of what its tools answered]"
_CALLS = ("tool_use", "tool_call", "tool-call")
_RESULTS = ("tool_result", "tool-result")
_SILENT_BLOCKS = ("thinking", "redacted_thinking", "reasoning")
_REDACTED = "[REDACTED]"
_NUMBERED = {1: "user", 2: "assistant"}
"""The roles of lines that `@inosx/agent-memory` reads, and its users bring."""


class CursorSession(Session):
    harness = Harness.CURSOR

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.prompts = 0  # how often a person, or what stands in a person's place, spoke
        self.first_prompt = ""
        self._line_number = 0
        self._clock_ms: int | None = None
        self._tags_expected = False
        self._last_prompt: list[get.Json] = []
        self._mid_turn = False  # the agent called a tool, and the turn has not ended since
        self._pending: deque[str] = deque(maxlen=1_000)
        self._answers_due = self._answers_seen = False

    def take(self, value: get.Json) -> None:
        self._line_number += 1
        role, message = value.get("role") or _NUMBERED.get(get.number(value, "type") or 0), value.get("message")
        blocks = get.blocks(message if is_object(message) else {"content": value.get("text")})
        if role in ("user", "assistant") and blocks is None:
            self.skip("bad-record")
        elif role in ("user", "assistant"):
            self._take_message(role == "user", blocks or [])
        elif value.get("type") != "turn_ended":
            self.skip_unknown(value.get("type") or f"role {role}")
        else:
            self.known_records += 1
            self.enter(self._line_id("turn_ended"), self._clock_ms)
            self._tell_of_unseen_answers()
            self._mid_turn = False

    def _take_message(self, of_user: bool, blocks: list[get.Json]) -> None:
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
            call_id = get.text(block, "tool_use_id")
            if call_id not in self.open_calls and self._pending:  # answers come in the order of the calls
                call_id = self._pending.popleft()
            name, failed = get.text(block, "name") or None, block.get("is_error") is True
            self.answer(call_id, get.answer(block.get("content")), tool_name=name, failed=failed)
            self._answers_due, self._answers_seen = False, True
        if not of_user:
            self._take_answer(blocks)
        elif len(results) < len(blocks) or not blocks:
            self._take_query(query, blocks)
        for block in blocks:
            if block.get("type") not in ("text", "image", *_CALLS, *_RESULTS, *_SILENT_BLOCKS):
                self.skip(f"{UNKNOWN_TYPE}block {block.get('type')}")

    def _take_query(self, query: Query, blocks: list[get.Json]) -> None:
        if self.begins_with_own_prompt(query.raw):
            return
        if query.text and blocks == self._last_prompt and self._mid_turn:
            return
        if query.text:
            self._last_prompt, self._mid_turn = blocks, False
            self._pending.clear()
            self.prompts += 1
            self.first_prompt = self.first_prompt or query.raw[:20_000]
        self.hear(query.raw, query.text)

    def _take_answer(self, blocks: list[get.Json]) -> None:
        # `[REDACTED]` stands for the agent's thoughts.
        texts = (text.strip().removesuffix(_REDACTED).strip() for text in get.block_texts(blocks))
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
# Where the first words of a person have tags, a speaker's line without them is somebody's text.
_TAGGED_SPEAKERS = re.compile(rf"^(assistant|user(?=:[ \t]*\n{_QUERY})):[ \t]*(?:\n|\Z)", re.MULTILINE)
Block = dict[str, object]
_MARK = r"[ \t]*\[(?:Thinking|Tool call|Tool result)\]"
# Of the agent's text: a mark, the rest of its line, the indented lines below it; or words.
_PARTS = re.compile(
    rf"^[ \t]*\[(Thinking|Tool call|Tool result)\](.*)\n?((?:(?!{_MARK})[ \t].*\n?)*)|^((?:(?!{_MARK}).*\n?)+)",
    re.MULTILINE,
)


def plain_text_pieces(descriptor: int, size_bytes: int) -> Iterator[Line | LongLine]:
    """Yields the messages of a file in the text form, as lines of JSON. Anybody could have written a speaker's line:
    after the agent's first word no message is sure to be the person's (P19)."""
    if size_bytes > MAX_LINE_BYTES:
        yield LongLine(size_bytes)
        return
    lines = os.pread(descriptor, size_bytes, 0).decode("utf-8", "replace").split("\n")
    text = "\n".join(filter(None, (line.rstrip("\r") for line in lines)))
    first = _FIRST_QUERY.search(text)
    parts = (_TAGGED_SPEAKERS if first and first[1] else _SPEAKERS).split(text)
    agent_spoke = False
    for speaker, words in zip(parts[1::2], map(str.strip, parts[2::2]), strict=True):
        if speaker == "assistant":
            messages = _messages_of_agent(words)
            agent_spoke = agent_spoke or bool(messages)
        else:
            typed: Block = {"type": "text", "text": words}
            told: Block = {"type": "tool_result", "name": "history", "content": words}
            messages = [("user", [told if agent_spoke else typed])] if words else []
        for role, blocks in messages:
            yield Line(json.dumps({"role": role, "message": {"content": blocks}}).encode())


def _messages_of_agent(text: str) -> list[tuple[str, list[Block]]]:
    """Returns the agent's messages, and as the user's the answers of its tools."""
    messages: list[tuple[str, list[Block]]] = [("assistant", [])]
    for mark, name, below, words in _PARTS.findall(text):
        if mark == "Tool call":
            pairs = (line.strip().partition("=") for line in below.splitlines())
            arguments = {key: value for key, equals, value in pairs if equals and key}
            messages[-1][1].append({"type": "tool_use", "name": name.strip(), "input": arguments})
        elif mark == "Tool result":
            answer: Block = {"type": "tool_result", "content": below.strip()}
            messages.append(("user", [answer]))
            messages.append(("assistant", []))
        elif not mark and words.strip():
            messages[-1][1].append({"type": "text", "text": words.strip()})
    return [(role, blocks) for role, blocks in messages if blocks]


class CursorTranscripts(files.SessionFiles):
    """Reads transcripts. Sub-agents' conversations are automated."""

    harness_home, below = ("", "~/.cursor"), ("projects",)
    session = CursorSession
    # A conversation has a directory of its own, or only a file; a root may be the directory around them.
    named = re.compile(
        r"(?:(?:.*/)?agent-transcripts/|(?:.*/)?(?=([^/]+)/\1\.[a-z]+$)[^/]+/)?(?P<id>[^/]+)\.(?:jsonl|txt)"
    )
    max_depth = 3

    @classmethod
    def directories(cls, given: files.Surroundings) -> list[str]:
        """Returns the directories of transcripts, and where the editor's store is on Linux and macOS."""
        homes = [*given.homes("XDG_CONFIG_HOME", "~/.config"), "~/Library/Application Support"]
        return [*super().directories(given), *(f"{each}/Cursor/User/globalStorage" for each in homes)]

    def is_persons(self, session_id: str, path: str) -> bool:
        """Tells whether it is among the transcripts of a project."""
        return super().is_persons(session_id, path) and TRANSCRIPTS in path.split("/")[-3:-1]

    def read(self, file: files.OpenTranscript, session_id: str, mark: SessionMark | None) -> History:
        pieces = plain_text_pieces if file.path.endswith(".txt") else read_lines
        session = files.read_session(file, mark, CursorSession(session_id), pieces)
        session.cwd = self._project_path(file.path, session_id)
        only_prompt = session.first_prompt if session.prompts == 1 else ""
        session.automated = "/subagents/" in file.path or self._is_delegated(file.path, session_id, only_prompt)
        return files.file_history(session, file)

    def _project_path(self, path: str, session_id: str) -> str | None:
        """Tells where the project is: its directory's name here cannot be turned back into a path, but a file in it
        says so. A note of a session that is nowhere would hold everywhere (P6)."""
        project, found, _ = path.partition(f"/{TRANSCRIPTS}/")
        text = files.text_beside(project, ".workspace-trusted", session_id).strip() if found else ""
        value = get.parsed(text)
        told = get.text(value, "workspacePath") if is_object(value) else "" if value else text.partition("\n")[0]
        return told.rstrip() if told.startswith("/") else None

    def _is_delegated(self, path: str, session_id: str, prompt: str) -> bool:
        """Tells whether a conversation beside this one handed exactly this prompt to a sub-agent. Of many, those that
        were written to at about the same time are looked at."""
        directory, found, _ = path.partition(f"/{TRANSCRIPTS}/")
        wanted = " ".join(prompt.split())
        beside = files.files_below(f"{directory}/{TRANSCRIPTS}", 1) if found and wanted else ()
        others = [each for each in map(files.seen, beside) if each[0] != path and each[0].endswith(".jsonl")]
        at = os.lstat(path).st_mtime
        others.sort(key=lambda other: abs(other[1].st_mtime - at))
        return any(wanted in self._delegated_in(other, session_id) for other, _ in others[:20])

    def _delegated_in(self, path: str, session_id: str) -> Iterator[str]:
        """Yields what a conversation gave to its tools as their prompts, with single spaces."""
        with files.file_beside(self.roots, path, session_id) as file:
            if file is None or file.size_bytes > MAX_LINE_BYTES:
                return
            for line in read_lines(file.descriptor, file.size_bytes):
                for value in objects_in(line.data).found if isinstance(line, Line) and b'"prompt"' in line.data else ():
                    for block in get.objects(get.mapping(value, "message"), "content"):
                        yield " ".join(get.text(get.mapping(block, "input"), "prompt").split())

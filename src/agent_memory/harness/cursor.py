"""Cursor, the editor and its command line (2025 to 2026.09): transcripts, and the editor's own store.

A transcript is `<project>/agent-transcripts/<id>/<id>.jsonl` in `~/.cursor/projects`, in older versions `<id>.jsonl` or
`<id>.txt` in `agent-transcripts`. A line: `{"role": "user" | "assistant", "message": {"content": [block, …]}}`, or `{"type":
"turn_ended", "status"}`. Lines have no ids and no times; most versions keep no answers of tools. After a compaction the prompt
at work is written once more. Since the summer of 2026 a prompt is `<timestamp>…</timestamp>` and `<user_query>…</user_query>`;
before, the query alone; before that, the bare text. What stands outside the query is Cursor's: rules, open files, the contents
of attached ones. The text form has lines `user:` and `assistant:`, and `[Thinking]`, `[Tool call] Name`, `[Tool result]` with
indented lines below them.

The store, `state.vscdb`, knows more of the conversations than the transcripts do: answers of tools, times, title, branch. Table `cursorDiskKV(key, value)`; under `composerData:<id>` the conversation, with the order of its bubbles in
`fullConversationHeadersOnly`, under `bubbleId:<id>:<bubble>` each
bubble: `type` 1 the person's, 2 the agent's; `text`; `toolFormerData{toolCallId, name, params|rawArgs, result, status}`.
"""

from __future__ import annotations

import json
import os
import re
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import chain

from attrs import frozen

from agent_memory.errors import Error, HistoryUnreadable
from agent_memory.files.lines import MAX_LINE_BYTES, Line, LongLine, objects_in, read_lines
from agent_memory.files.paths import lies_there
from agent_memory.harness import any_json as get, databases as db, transcripts as files
from agent_memory.harness.turn_builder import Asked, Session, asked
from agent_memory.note.note import Harness
from agent_memory.session.history import UNKNOWN_TYPE, History, SessionMark
from agent_memory.session.own_marks import typed_words
from agent_memory.text.json_shape import is_object

TRANSCRIPTS = "agent-transcripts"
_ID_OF_LINE = re.compile(r"\d+-[0-9a-f]{16}", re.ASCII)
_OTHERS_LOOKED_AT = 20

# -- what a person typed ----------------------------------------------------------------------------------------------

_TIMESTAMP = re.compile(r"<timestamp>([^<]{0,100})</timestamp>")
_CLOCK = re.compile(
    r"(?:[A-Za-z]+, )?([A-Za-z]{3})[a-z]* (\d{1,2}), (\d{4}),? (\d{1,2}):(\d\d)(?::(\d\d))?\s*([AP]M)?"
    r"\s*(?:\((?:UTC|GMT)(?:([+-])(\d{1,2})(?::?(\d\d))?)?\))?",
    re.ASCII,
)
_OPENING, _CLOSING = "<user_query>", "</user_query>"
_OWN_LINE_CLOSING = re.compile(r"^</user_query>[ \t]*$", re.MULTILINE)
_MAX_ELEMENTS = 100
_ELEMENT = re.compile(r"\s*<([A-Za-z][\w-]*)(\s?/>)?")
_WRAPPED = re.compile(r"<([a-z][a-z0-9_-]{2,40})(?:\s[^<>]{0,300})?>.*</\1>", re.DOTALL)
"""A text that is one element as a whole: nobody types that, and Cursor puts rules and tools into a session so."""


@frozen
class Query:
    """What is left of a text."""

    text: str = ""
    raw: str = ""
    """As typed, for recognising our own prompts."""
    at_ms: int | None = None
    """To the minute: the only clock of a transcript."""
    tagged: bool = False
    """It was inside the tags of a query."""


def typed_query(*texts: str, tags_expected: bool = False, images: int = 0) -> Query:
    """Returns the person's words in the texts of one record, and its images; none where it is all Cursor's. With
    `tags_expected` (others of the session had tags) a text without tags is Cursor's."""
    text = "\n\n".join(texts)
    stamp = _TIMESTAMP.search(text[:1_000])
    at_ms = _ms_of_clock(stamp[1]) if stamp else None
    is_tagged = _CLOSING in text.partition(_OPENING)[2]
    if is_tagged:
        raw = _inside(text)
    else:
        bare = (_TIMESTAMP.sub("", each, count=1).strip() for each in texts)
        raw = "" if tags_expected else "\n\n".join(each for each in bare if each and not _WRAPPED.fullmatch(each))
    words = typed_words(raw)
    shown = ["[image]"] * images if words or not text.strip() else []
    return Query("\n\n".join(filter(None, [words, *shown])), raw.strip(), at_ms, is_tagged)


def _inside(text: str) -> str:
    """Returns what the one query holds that stands outside of all other elements; nothing where it cannot be told which
    that is. An attached file may hold any tag, so its element reaches to the last end of it."""
    found = ""
    at = 0
    for _ in range(_MAX_ELEMENTS):
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
        self._last_prompt: list[get.Json] = []
        self._mid_turn = False
        """The agent called a tool, and the turn has not ended since."""
        self._pending: deque[str] = deque(maxlen=_PENDING_CALLS)
        self._answers_due = False
        self._answers_seen = False

    def take(self, value: get.Json) -> None:
        self._line_number += 1
        role, blocks = value.get("role"), get.blocks(get.mapping(value, "message"))
        if role in ("user", "assistant"):
            if blocks is None:
                self.skip("bad-record")
            else:
                self._take_message(role == "user", blocks)
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
            self.first_prompt = self.first_prompt or query.raw[:_PROMPT_CHARS]
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
_TAGGED_SPEAKERS = re.compile(rf"^(assistant|user(?=:[ \t]*\n{_QUERY})):[ \t]*(?:\n|\Z)", re.MULTILINE)
"""Where the first words of a person have tags, a speaker's line without them is somebody's text."""
_MARK = r"[ \t]*\[(?:Thinking|Tool call|Tool result)\]"
_PARTS = re.compile(
    rf"^[ \t]*\[(Thinking|Tool call|Tool result)\](.*)\n?((?:(?!{_MARK})[ \t].*\n?)*)|^((?:(?!{_MARK}).*\n?)+)",
    re.MULTILINE,
)
"""Of the agent's text: a mark, the rest of its line, the indented lines below it; or words."""


def plain_text_pieces(descriptor: int, size_bytes: int) -> Iterator[Line | LongLine]:
    """Yields the messages of a file in the text form, as lines of JSON; a result is a message of its own. Who printed
    what, or wrote it, could write a speaker's line: after the agent's first word no message is sure to be the person's
    (P19)."""
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


# -- the editor's store -------------------------------------------------------------------------------------------------

DATABASE = "state.vscdb"
MISSING_BUBBLE = "missing-bubble"

_EMPTY_DRAFT = "empty-state-draft"
_VALUE = "SELECT value FROM cursorDiskKV WHERE key = ?"
_COMPOSERS = "composerData:"
_PERSON, _AGENT = 1, 2
_UNFINISHED = frozenset(("loading", "pending", "running", "streaming", "generating"))
_FAILED = frozenset(("error", "cancelled", "rejected", "aborted"))


def _is_begun(session_id: str, composer: get.Json) -> bool:
    is_draft = composer.get("isDraft") is True or session_id == _EMPTY_DRAFT
    return not is_draft and bool(get.items(composer, "fullConversationHeadersOnly"))


def _is_sub_agents(database: db.Database, session_id: str, composer: get.Json) -> bool:
    of_sub_agent = get.mapping(composer, "subagentInfo") or get.text(composer, "subagentTypeName")
    return bool(of_sub_agent) or _in_list(database, "isSubagent", session_id) == "1"


def _in_list(database: db.Database, column: str, session_id: str) -> str:
    """Returns what the list of conversations says of one; empty where there is no such column."""
    if not {"composerId", column} <= database.columns("composerHeaders"):
        return ""
    return database.text(f"SELECT {column} FROM composerHeaders WHERE composerId = ?", session_id)[:20]


def _keys(database: db.Database, prefix: str) -> list[str]:
    """Returns the keys that begin with a prefix, which ends with a colon: `;` comes after it. They are read from the
    index."""
    query = "SELECT key FROM cursorDiskKV WHERE key >= ? AND key < ?"
    return [db.text_of(key) for (key,) in database.rows(query, prefix, f"{prefix[:-1]};")]


class ComposerSession(db.StoredSession):
    """A conversation, and its bubbles in order. The last bubble is left for the next time while it is being written."""

    harness = Harness.CURSOR

    def take_from(self, database: db.Database) -> None:
        value = get.parsed_object(database.text(_VALUE, _COMPOSERS + self.session_id))
        self.known_records += 1
        repositories = get.objects(value, "trackedGitRepos")
        of_workspace = get.text(get.mapping(value, "workspaceIdentifier", "uri"), "fsPath")
        cwd = of_workspace or next((get.text(each, "repoPath") for each in repositories), "")
        branches = (branch for each in repositories for branch in get.objects(each, "branches"))
        named = (branch for branch in branches if get.text(branch, "branchName"))
        latest: get.Json = max(
            named, key=lambda branch: get.number(branch, "lastInteractionAt") or 0, default=dict[str, object]()
        )
        self.note(title=get.text(value, "name"), cwd=cwd, branch=get.text(latest, "branchName"))
        self.note(agent=get.text(get.mapping(value, "modelConfig"), "modelName"))
        self.automated = _is_sub_agents(database, self.session_id, value)
        self.started_at_ms = _made_at(value)
        is_generating = get.text(value, "status") in _UNFINISHED
        prefix = f"bubbleId:{self.session_id}:"
        keys = [prefix + get.text(header, "bubbleId") for header in get.objects(value, "fullConversationHeadersOnly")]
        if not any(database.text("SELECT 1 FROM cursorDiskKV WHERE key = ?", key) for key in keys):
            # The headers' ids may be other ones than the rows': then the times in the bubbles tell their order.
            rows = _keys(database, prefix)
            told = ((key, db.object_of(database.value(_VALUE, key))) for key in rows)
            times = {key: _made_at(bubble) for key, bubble in told if not isinstance(bubble, str)}
            keys = sorted(rows, key=lambda key: (times.get(key) or 0, key)) or keys
        for key in keys:
            if self.done:
                return
            data = database.value(_VALUE, key)
            if not data:
                self.skip(MISSING_BUBBLE)  # updates of Cursor are known to lose some
            elif (bubble := db.one_object(self, data)) is not None:
                status = get.text(get.mapping(bubble, "toolFormerData"), "status")
                is_unfinished = bubble.get("type") == _AGENT and (is_generating or status in _UNFINISHED)
                if not (is_unfinished and key == keys[-1]):
                    self.take({**bubble, "bubbleId": key.removeprefix(prefix)})

    def take(self, value: get.Json) -> None:
        kind = value.get("type")
        if kind not in (_PERSON, _AGENT):
            self.skip_unknown(f"bubble {kind}")
            return
        self.known_records += 1
        self.enter(get.text(value, "bubbleId") or f"#{self.position}", _made_at(value))
        if kind == _AGENT:
            self._take_answer(value)
            return
        query = typed_query(get.text(value, "text"), images=len(get.items(value, "images")))
        self.hear(query.raw, query.text)

    def _take_answer(self, bubble: get.Json) -> None:
        text, tool = get.text(bubble, "text").strip(), get.mapping(bubble, "toolFormerData")
        call_id = get.text(tool, "toolCallId") or get.text(bubble, "bubbleId")
        name = get.text(tool, "name")
        arguments = get.parsed_object(tool.get("rawArgs")) or get.parsed_object(tool.get("params"))
        calls = [cursor_call(call_id, name, arguments)] if name else []
        self.speak(None, text, calls)
        status = get.text(tool, "status")
        failed = status in _FAILED or get.text(tool, "userDecision") == "rejected"
        if calls and (tool.get("result") is not None or status not in _UNFINISHED):
            result = tool.get("result") or tool.get("error")
            # An object or a list may be in the JSON of one.
            inner = get.parsed(result) if isinstance(result, str) and result.lstrip()[:1] in ("{", "[", '"') else None
            self.answer(call_id, get.answer(result if inner is None else inner), failed=failed)


def _made_at(value: get.Json) -> int | None:
    """Tells when a conversation or a bubble was made."""
    at_ms = get.instant(value, "createdAt")
    return get.instant(get.mapping(value, "timingInfo"), "clientStartTime") if at_ms is None else at_ms


class CursorStore(db.SessionDatabases):
    """The conversations in the editor's store. A draft is none, nor is one in which nothing was said yet."""

    session, file_name = ComposerSession, DATABASE

    def knows(self, session_id: str, database: db.Database) -> bool:
        """Tells whether the store has the conversation, and something was said in it."""
        data = database.value(_VALUE, _COMPOSERS + session_id)
        composer: get.Json | str = db.object_of(data) if data else {}
        if isinstance(composer, str):
            how = "over 16 MiB" if isinstance(data, db.TooLarge) else "ruined"
            raise HistoryUnreadable(database.path, f"the record of conversation {session_id} is {how}")
        return _is_begun(session_id, composer)

    def sessions(self, database: db.Database) -> list[db.Listed]:
        """See `SessionDatabases`. One whose record cannot be read is one of them: reading it will tell why."""
        rows: list[db.Listed] = []
        for key in _keys(database, _COMPOSERS):
            # The store has tens of gigabytes with some people: the records come one at a time.
            session_id, data = key.removeprefix(_COMPOSERS), database.value(_VALUE, key)
            told = db.object_of(data)
            composer: get.Json = {} if isinstance(told, str) else told
            is_session = (told is not composer or _is_begun(session_id, composer)) and session_id != _EMPTY_DRAFT
            if data and is_session and not _is_sub_agents(database, session_id, composer):
                listed = _in_list(database, "lastUpdatedAt", session_id)
                updated = (get.number(composer, "lastUpdatedAt"), int(listed) if listed.isdigit() else None)
                rows.append((session_id, max(filter(None, map(db.instant_of, updated)), default=None)))
        return rows


class CursorTranscripts(files.SessionFiles):
    """Reads transcripts. Sub-agents' conversations are automated."""

    harness_home, below = ("", "~/.cursor"), ("projects",)
    session = CursorSession
    named = re.compile(
        r"(?:(?:.*/)?agent-transcripts/|(?:.*/)?(?=([^/]+)/\1\.[a-z]+$)[^/]+/)?(?P<id>[^/]+)\.(?:jsonl|txt)"
    )
    """A conversation has a directory of its own, or only a file; a root may be the directory around them."""
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
        session.automated = "/subagents/" in file.path or (
            session.prompts == 1 and self._is_delegated(file.path, session_id, session.first_prompt)
        )
        return files.file_history(session, file)

    def _project_path(self, path: str, session_id: str) -> str | None:
        """Tells where the project is: its directory's name here cannot be turned back into a path, but a file in it
        says so. A note of a session that is nowhere would hold everywhere (P6)."""
        project, found, _ = path.partition(f"/{TRANSCRIPTS}/")
        if not found:
            return None
        text = files.text_beside(project, ".workspace-trusted", session_id).strip()
        value = get.parsed(text)
        told = get.text(value, "workspacePath") if is_object(value) else "" if value else text.partition("\n")[0]
        return told.rstrip() if told.startswith("/") else None

    def _is_delegated(self, path: str, session_id: str, prompt: str) -> bool:
        """Tells whether a conversation beside this one handed exactly this prompt to a sub-agent. Of many, those that
        were written to at about the same time are looked at."""
        directory, found, _ = path.partition(f"/{TRANSCRIPTS}/")
        wanted = " ".join(prompt.split())
        others: dict[str, float] = {}
        beside = files.files_below(f"{directory}/{TRANSCRIPTS}", 1) if found and wanted else ()
        for other, status in map(files.seen, beside):
            if other != path and other.endswith(".jsonl"):
                others[other] = status.st_mtime
        at = os.lstat(path).st_mtime
        nearest = sorted(others, key=lambda other: abs(others[other] - at))[:_OTHERS_LOOKED_AT]
        return any(wanted in self._delegated_in(other, session_id) for other in nearest)

    def _delegated_in(self, path: str, session_id: str) -> Iterator[str]:
        """Yields what a conversation gave to its tools as their prompts, with single spaces."""
        with files.file_beside(self.roots, path, session_id) as file:
            if file is None or file.size_bytes > MAX_LINE_BYTES:
                return
            for line in read_lines(file.descriptor, file.size_bytes):
                for value in objects_in(line.data).found if isinstance(line, Line) and b'"prompt"' in line.data else ():
                    for block in get.objects(get.mapping(value, "message"), "content"):
                        yield " ".join(get.text(get.mapping(block, "input"), "prompt").split())


class CursorSessions(CursorTranscripts):
    """Reads a conversation from the editor's store in one of the roots, and where that does not know it, or has lost some of
    it, from its transcript. What was begun from the transcript goes on from there: its records have other ids."""

    def __init__(self, roots: files.TranscriptRoots) -> None:
        super().__init__(roots)
        self._store = CursorStore(roots)

    def history(self, session_id: str, named: str | None, cwd: str | None, mark: SessionMark | None) -> History:
        database = named if named is not None and named.endswith(DATABASE) else None
        transcript = None if database else named
        with files.looking_for(session_id):
            is_there = transcript is not None and lies_there(transcript)
            path = transcript if is_there else self.path_of(session_id) or transcript
        is_of_lines = mark is not None and _ID_OF_LINE.fullmatch(mark.last_record_id) is not None
        stored: History | None = None
        failure: Error | None = None
        if path is None or not is_of_lines:
            try:
                stored = self._store.history(session_id, database, cwd, mark)
            except Error as error:
                failure = error
        if path is not None and (stored is None or stored.skipped.get(MISSING_BUBBLE)):
            try:
                return self.read_at(path, session_id, mark)
            except Error:
                if stored is None:
                    raise
        if stored is None:
            raise failure or files.not_found(session_id, self.roots)
        return stored

    def find(self, since_ms: int | None) -> files.Findings:
        """See `ports.SessionFinder`: those with transcripts, and further ones in the editor's store."""
        return db.merged(chain(super().find(None), self._store.find(None)), since_ms)

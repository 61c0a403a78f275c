"""The conversations in the store of Cursor's editor, `state.vscdb`, which knows more of them than its transcripts do: answers
of tools, times, title, branch (Cursor 3.19 and older).

Table `cursorDiskKV(key, value)`; under `composerData:<id>` the conversation, with the order of its bubbles in
`fullConversationHeadersOnly`, under `bubbleId:<id>:<bubble>` each
bubble: `type` 1 the person's, 2 the agent's; `text`; `toolFormerData{toolCallId, name, params|rawArgs, result, status}`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import ClassVar

from attrs import frozen

from agent_memory.adapters.harness import any_json as get
from agent_memory.adapters.harness.any_json import Json
from agent_memory.adapters.harness.databases import (
    Database,
    Listed,
    SessionDatabases,
    StoredSession,
    TooLarge,
    instant_of,
    object_of,
    one_object,
    text_of,
)
from agent_memory.adapters.harness.transcripts import Surroundings
from agent_memory.adapters.harness.turn_builder import Asked, asked
from agent_memory.domain.transcripts.own_marks import typed_words
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import HistoryUnreadable

DATABASE = "state.vscdb"
MISSING_BUBBLE = "missing-bubble"

_EMPTY_DRAFT = "empty-state-draft"
_VALUE = "SELECT value FROM cursorDiskKV WHERE key = ?"
_KEYS = "SELECT key FROM cursorDiskKV WHERE key >= ? AND key < ?"
_COMPOSERS = "composerData:"
_PERSON, _AGENT = 1, 2
_UNFINISHED = frozenset(("loading", "pending", "running", "streaming", "generating"))
_FAILED = frozenset(("error", "cancelled", "rejected", "aborted"))


def editor_directories(given: Surroundings) -> list[str]:
    """Where the editor's store is on Linux and macOS."""
    homes = [*given.homes("XDG_CONFIG_HOME", "~/.config"), "~/Library/Application Support"]
    return [f"{each}/Cursor/User/globalStorage" for each in homes]


def _row(database: Database, session_id: str) -> Listed | None:
    data = database.value(_VALUE, _COMPOSERS + session_id)
    if not data or session_id == _EMPTY_DRAFT:
        return None
    told = object_of(data)
    composer: Json = {} if isinstance(told, str) else told
    if (told is composer and not _is_begun(session_id, composer)) or _is_sub_agents(database, session_id, composer):
        return None
    listed = _in_list(database, "lastUpdatedAt", session_id)
    updated = (get.number(composer, "lastUpdatedAt"), int(listed) if listed.isdigit() else None)
    return session_id, max(filter(None, map(instant_of, updated)), default=None), instant_of(_made_at(composer))


def _is_begun(session_id: str, composer: Json) -> bool:
    is_draft = composer.get("isDraft") is True or session_id == _EMPTY_DRAFT
    return not is_draft and bool(get.items(composer, "fullConversationHeadersOnly"))


def _is_sub_agents(database: Database, session_id: str, composer: Json) -> bool:
    of_sub_agent = get.mapping(composer, "subagentInfo") or get.text(composer, "subagentTypeName")
    return bool(of_sub_agent) or _in_list(database, "isSubagent", session_id) == "1"


def _in_list(database: Database, column: str, session_id: str) -> str:
    """What the list of conversations says of one; empty where there is no such column."""
    if not {"composerId", column} <= database.columns("composerHeaders"):
        return ""
    return database.text(f"SELECT {column} FROM composerHeaders WHERE composerId = ?", session_id)[:20]


def _after(prefix: str) -> str:
    """The first key that does not begin with a prefix, which ends with a colon."""
    return f"{prefix[:-1]};"


class ComposerSession(StoredSession):
    """A conversation, and its bubbles in order. The last bubble is left for the next time while it is being written."""

    harness = Harness.CURSOR

    def take_from(self, database: Database) -> None:
        value = get.parsed_object(database.text(_VALUE, _COMPOSERS + self.session_id))
        self.known_records += 1
        repositories = get.objects(value, "trackedGitRepos")
        of_workspace = get.text(get.mapping(value, "workspaceIdentifier", "uri"), "fsPath")
        cwd = of_workspace or next((get.text(each, "repoPath") for each in repositories), "")
        branches = (branch for each in repositories for branch in get.objects(each, "branches"))
        named = (branch for branch in branches if get.text(branch, "branchName"))
        latest: Json = max(named, key=lambda branch: get.number(branch, "lastInteractionAt") or 0, default={})
        self.note(title=get.text(value, "name"), cwd=cwd, branch=get.text(latest, "branchName"))
        self.note(agent=get.text(get.mapping(value, "modelConfig"), "modelName"))
        self.automated = _is_sub_agents(database, self.session_id, value)
        self.started_at_ms = _made_at(value)
        is_generating = get.text(value, "status") in _UNFINISHED
        prefix = f"bubbleId:{self.session_id}:"
        keys = [prefix + get.text(header, "bubbleId") for header in get.objects(value, "fullConversationHeadersOnly")]
        if not any(database.text("SELECT 1 FROM cursorDiskKV WHERE key = ?", key) for key in keys):
            # The headers' ids may be other ones than the rows': then the times in the bubbles tell their order.
            rows = [text_of(key) for (key,) in database.rows(_KEYS, prefix, _after(prefix))]
            told = ((key, object_of(database.value(_VALUE, key))) for key in rows)
            times = {key: _made_at(bubble) for key, bubble in told if not isinstance(bubble, str)}
            keys = sorted(rows, key=lambda key: (times.get(key) or 0, key)) or keys
        for key in keys:
            if self.done:
                return
            data = database.value(_VALUE, key)
            if not data:
                self.skip(MISSING_BUBBLE)  # updates of Cursor are known to lose some
            elif (bubble := one_object(self, data)) is not None:
                status = get.text(get.mapping(bubble, "toolFormerData"), "status")
                is_unfinished = bubble.get("type") == _AGENT and (is_generating or status in _UNFINISHED)
                if is_unfinished and key == keys[-1]:
                    self.skip("unfinished-message")
                else:
                    self.take({**bubble, "bubbleId": key.removeprefix(prefix)})

    def take(self, value: Json) -> None:
        kind = value.get("type")
        if kind not in (_PERSON, _AGENT):
            self.skip_unknown(f"bubble {kind}")
            return
        self.known_records += 1
        self.enter(get.text(value, "bubbleId") or f"#{self.position}", _made_at(value))
        if kind == _AGENT:
            self._take_answer(value)
            return
        raw = get.text(value, "text")
        query = typed_query(raw, images=len(get.items(value, "images")))
        self.hear(query.raw, query.text, otherwise="injected" if raw.strip() else "empty")

    def _take_answer(self, bubble: Json) -> None:
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


def _made_at(value: Json) -> int | None:
    """When a conversation or a bubble was made."""
    numbers = (get.number(value, "createdAt"), get.number(get.mapping(value, "timingInfo"), "clientStartTime"))
    at_ms = get.time(value, "createdAt")
    return at_ms if at_ms is not None else next((number for number in numbers if number and number > 0), None)


_THROUGH = frozenset(("CallMcpTool", "CallDynamicTool", "call_mcp_tool", "mcp"))
"""Tools that only pass a call on to a server's tool, named in the arguments."""
_MCP = re.compile(r"[A-Za-z0-9_-]{1,100}", re.ASCII)


def cursor_call(call_id: str, name: str, arguments: Json) -> Asked:
    """A call of a tool, also of one in a transcript; one passed on to a server's tool under the name `mcp__server__tool`."""
    if name in _THROUGH:
        server = get.text(arguments, "server", "serverName", "namespace", "providerIdentifier")
        tool = get.text(arguments, "toolName", "tool", "name")
        if _MCP.fullmatch(server) and _MCP.fullmatch(tool):
            inner = get.mapping(arguments, "arguments") or get.mapping(arguments, "args")
            return asked(call_id, f"mcp__{server}__{tool}", inner)
    return asked(call_id, name, arguments)


# -- what a person typed ----------------------------------------------------------------------------------------------

_TIMESTAMP = re.compile(r"<timestamp>([^<]{0,100})</timestamp>")
_CLOCK = re.compile(
    r"(?:[A-Za-z]+, )?([A-Za-z]{3})[a-z]* (\d{1,2}), (\d{4}),? (\d{1,2}):(\d\d)(?::(\d\d))?\s*([AP]M)?"
    r"\s*(?:\((?:UTC|GMT)(?:([+-])(\d{1,2})(?::?(\d\d))?)?\))?",
    re.ASCII,
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
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
    """The person's words in the texts of one record, and its images; none where it is all Cursor's. With `tags_expected`
    (others of the session had tags) a text without tags is Cursor's."""
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
    """What the one query holds that stands outside of all other elements; nothing where it cannot be told which that is. An
    attached file may hold any tag, so its element reaches to the last end of it."""
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
    if found is None or found[1].title() not in _MONTHS:
        return None
    month, day, year, hour, minute, second, half, sign, zone_hours, zone_minutes = found.groups()
    hours = int(hour) % 12 + (12 if half == "PM" else 0) if half else int(hour)
    offset = timedelta(hours=int(zone_hours or 0), minutes=int(zone_minutes or 0))
    try:
        zone = timezone(-offset if sign == "-" else offset) if offset else UTC
        date = (int(year), _MONTHS.index(month.title()) + 1, int(day))
        at = datetime(*date, hours, int(minute), int(second or 0), tzinfo=zone)
    except ValueError:
        return None
    return int(at.timestamp()) * 1000


# -- where they are ---------------------------------------------------------------------------------------------------


class CursorStore(SessionDatabases):
    """The conversations in the editor's store. A draft is none, nor is one in which nothing was said yet."""

    harness = Harness.CURSOR
    session, file_name = ComposerSession, DATABASE
    needed: ClassVar = {"cursorDiskKV": ("key", "value")}

    @classmethod
    def directories(cls, given: Surroundings) -> list[str]:
        return editor_directories(given)

    def knows(self, session_id: str, database: Database) -> bool:
        """Whether the store has the conversation, and something was said in it."""
        data = database.value(_VALUE, _COMPOSERS + session_id)
        composer = object_of(data) if data else {}
        if isinstance(composer, str):
            how = "over 16 MiB" if isinstance(data, TooLarge) else "ruined"
            raise HistoryUnreadable(database.path, f"the record of conversation {session_id} is {how}")
        return _is_begun(session_id, composer)

    def sessions(self, database: Database) -> list[Listed]:
        """See `SessionDatabases`. One whose record cannot be read is one of them: reading it will tell why."""
        database.must_have(self.needed, self.harness)
        # The store has tens of gigabytes with some people: the keys come from its index, and of the records one at a time.
        keys = [text_of(key) for (key,) in database.rows(_KEYS, _COMPOSERS, _after(_COMPOSERS))]
        return [row for key in keys if (row := _row(database, key.removeprefix(_COMPOSERS))) is not None]

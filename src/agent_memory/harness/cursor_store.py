"""The store of Cursor's editor, `state.vscdb`: it knows more of the conversations than the transcripts do: answers of tools,
times, title, branch.

Table `cursorDiskKV(key, value)`; under `composerData:<id>` the conversation, with the order of its bubbles in
`fullConversationHeadersOnly`, under `bubbleId:<id>:<bubble>` each bubble: `type` 1 the person's, 2 the agent's; `text`;
`toolFormerData{toolCallId, name, params|rawArgs, result, status}`.
"""

from __future__ import annotations

import re
from itertools import chain

from agent_memory.errors import Error, HistoryUnreadable
from agent_memory.files.paths import lies_there
from agent_memory.harness import any_json as get, databases as db, transcripts as files
from agent_memory.harness.cursor import CursorTranscripts, cursor_call, typed_query
from agent_memory.note.note import Harness
from agent_memory.session.history import History, SessionMark

DATABASE = "state.vscdb"
MISSING_BUBBLE = "missing-bubble"

_ID_OF_LINE = re.compile(r"\d+-[0-9a-f]{16}", re.ASCII)
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
        if not self.knows(f"bubble {kind}", kind in (_PERSON, _AGENT)):
            return
        self.enter(get.text(value, "bubbleId") or f"#{self.position}", _made_at(value))
        if kind == _AGENT:
            text, tool = get.text(value, "text").strip(), get.mapping(value, "toolFormerData")
            call_id = get.text(tool, "toolCallId") or get.text(value, "bubbleId")
            name = get.text(tool, "name")
            arguments = get.parsed_object(tool.get("rawArgs")) or get.parsed_object(tool.get("params"))
            calls = [cursor_call(call_id, name, arguments)] if name else []
            self.speak(None, text, calls)
            status = get.text(tool, "status")
            failed = status in _FAILED or get.text(tool, "userDecision") == "rejected"
            if calls and (tool.get("result") is not None or status not in _UNFINISHED):
                result = tool.get("result") or tool.get("error")
                # An object or a list may be in the JSON of one.
                inner = (
                    get.parsed(result) if isinstance(result, str) and result.lstrip()[:1] in ("{", "[", '"') else None
                )
                self.answer(call_id, get.answer(result if inner is None else inner), failed=failed)
            return
        query = typed_query(get.text(value, "text"), images=len(get.items(value, "images")))
        self.hear(query.raw, query.text)


def _made_at(value: get.Json) -> int | None:
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


class CursorSessions(CursorTranscripts):
    """Reads a conversation from the editor's store in one of the roots, and where that does not know it, or has lost some of
    it, from its transcript. What was begun from the transcript goes on from there: its records have other ids."""

    def __init__(self, roots: files.Roots) -> None:
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

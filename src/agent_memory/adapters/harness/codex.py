"""Codex (0.2 to 0.149): `<year>/<month>/<day>/rollout-<time>-<thread id>.jsonl` in `~/.codex/sessions`.

A line is `{timestamp, type, payload}` (0.149 adds `ordinal`); rollouts of 2025's first versions have the payload itself as
their line. Each message is logged up to three times, as an `event_msg`, an item and a `response_item` for the model. A fork
begins with its parent's lines, under new time stamps. Sub-agents have rollouts of their own, whose `session_id` is the root's.
The format is internal to Codex and differs between versions; what is not understood is left out and counted.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from attrs import define, evolve, frozen

from agent_memory.adapters.harness.any_json import (
    Json,
    digest_of,
    json_in,
    list_at,
    mapping_at,
    object_in,
    objects_at,
    text_at,
    time_at,
)
from agent_memory.adapters.harness.session_finders import TranscriptFinder, head_of, uuid_in
from agent_memory.adapters.harness.transcripts import (
    OpenTranscript,
    SessionSource,
    Surroundings,
    TranscriptRoots,
    history_in,
    is_session_id,
    read_session,
    transcripts_below,
)
from agent_memory.adapters.harness.turn_builder import Asked, Draft, NewFrom, Session, asked
from agent_memory.domain.history import UNKNOWN_TYPE, History, Role, SessionMark
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.text.id_set import IdSet
from agent_memory.domain.transcripts.own_marks import typed_words
from agent_memory.domain.transcripts.tool_calls import changed_lines
from agent_memory.domain.vocabulary import Harness
from agent_memory.ports import SessionFinder

_MAX_DEPTH = 4
"""A root may be the directory around `sessions`."""
_UUID_CHARS = 36
_OF_SUB_AGENT = re.compile(rb'"(?:thread_source"\s*:\s*"subagent"|subagent"\s*:\s*[{"])')


def source(given: Surroundings) -> CodexSessions:
    """The histories of Codex's threads."""
    return CodexSessions(_roots(given))


def finder(given: Surroundings) -> SessionFinder:
    """The past threads of Codex."""
    return TranscriptFinder(Harness.CODEX, _roots(given), _identify, _MAX_DEPTH, in_one_file=True)


def _roots(given: Surroundings) -> TranscriptRoots:
    homes = given.homes("CODEX_HOME", "~/.codex")
    return given.roots(*(f"{each}/{kind}" for each in homes for kind in ("sessions", "archived_sessions")))


def _identify(path: str, names: tuple[str, ...]) -> str | None:
    """The thread's id, unless the rollout's first line says that it is a sub-agent's."""
    name = names[-1]
    if not (name.startswith("rollout-") and name.endswith(".jsonl")):
        return None
    thread_id = uuid_in(name.removesuffix(".jsonl")[-_UUID_CHARS:])
    first_line = head_of(path).partition(b"\n")[0] if thread_id else b""
    return None if _OF_SUB_AGENT.search(first_line) else thread_id


class CodexSessions(SessionSource):
    """Reads rollouts. A sub-agent's that an entry of its root session names is passed over for the root's own, which has the
    sub-agent's answer."""

    method = "codex-session"

    def find(self, session_id: str) -> str | None:
        """The newest `rollout-…-<session id>.jsonl`."""
        if not is_session_id(session_id):
            return None
        end = f"-{session_id}.jsonl"
        found = transcripts_below(
            self.roots, lambda name: name.startswith("rollout-") and name.endswith(end), _MAX_DEPTH
        )
        return found[0] if found else None

    def read(self, file: OpenTranscript, session_id: str, mark: SessionMark | None) -> History:
        """The turns after the mark."""
        session = read_session(file, mark, partial(CodexSession, session_id))
        if session.root_id == session_id:
            path = self.find(session_id)
            if path is not None and path != file.path:
                return self.read_at(path, session_id, mark)
        return history_in(session, file)


# -- what one line says -----------------------------------------------------------------------------------------------


@frozen
class Spoken:
    """Words of the person's or the agent's. `carrier` says as what they were logged: an `event`, an `item`, a `record` for
    the model, the end of a `task`."""

    role: Role
    text: str
    carrier: str
    raw: str = ""
    """As recorded, for recognising our own prompts."""


@frozen
class Called:
    """A call of a tool."""

    call: Asked


@frozen
class Returned:
    """What a tool answered to a call recorded before; or, without one, what a sub-agent or a review did (`tool_name`)."""

    call_id: str
    text: str
    failed: bool = False
    tool_name: str | None = None


@frozen
class Finished:
    """A call with its answer, which is recorded elsewhere too, unless it was made inside another call."""

    call: Asked
    text: str
    failed: bool
    by_person: bool = False


@frozen
class Searched:
    """A search of the web, recorded as a `record` and as an `event`."""

    query: str
    results: str
    carrier: str


@frozen
class Patched:
    """Files that were changed by a call; they may be known from the call."""

    call_id: str
    calls: tuple[Asked, ...]


@frozen
class LeftOut:
    """A part that is not kept, and why."""

    reason: str


Part = Spoken | Called | Returned | Finished | Searched | Patched | LeftOut


@frozen
class Origin:
    """What a `session_meta` says."""

    id: str
    root_id: str | None
    """Of a sub-agent's thread: the session it belongs to, empty where that is not said."""
    forked_from_id: str
    started_at_ms: int | None
    cwd: str | None
    branch: str | None
    scripted: bool
    """No person types in it: `codex exec`, a server's client, a sub-agent."""


@frozen
class Record:
    """One line."""

    kind: str
    """`type`, or `type/type of the payload`."""
    payload: Json
    at_ms: int | None
    is_known: bool
    """Of a kind that some version of Codex writes."""
    id: str = ""
    """Made from its content; empty for a line that says nothing."""
    parts: tuple[Part, ...] = ()
    origin: Origin | None = None


_SILENT: Mapping[str, frozenset[str]] = {
    "event_msg": frozenset((
        "task_started", "turn_started", "turn_aborted", "turn.completed", "token_count", "context_compacted",
        "agent_reasoning", "agent_reasoning_raw_content", "thread_settings_applied", "thread_name_updated",
        "thread_goal_updated", "thread_rolled_back", "entered_review_mode", "error", "warning", "stream_error",
        "sub_agent_activity", "collab_agent_spawn_begin", "collab_agent_spawn_end", "collab_waiting_end",
        "collab_close_end", "collab_agent_interaction_end", "collab_resume_end", "guardian_assessment",
        "image_generation_end", "view_image_tool_call", "dynamic_tool_call_request", "undo_completed",
        "dynamic_tool_call_response", "item_started", "exec_command_begin", "mcp_tool_call_begin", "patch_apply_begin",
        "web_search_begin", "codex/event/raw_item", "account/rateLimits/updated", "background_event",
        "session_configured", "plan_update", "turn_diff", "shutdown_complete",
    )),
    "response_item": frozenset((
        "reasoning", "agent_message", "ghost_snapshot", "image_generation_call", "compaction", "compaction_summary", "other",
    )),
}  # fmt: skip
_SILENT_LINES = frozenset(
    ("session_meta", "turn_context", "compacted", "world_state", "inter_agent_communication_metadata", "state")
)
_SILENT_ITEMS = frozenset(
    ("Reasoning", "ContextCompaction", "ImageView", "ImageGeneration", "EnteredReviewMode", "ExitedReviewMode", "Sleep")
)
_ID_CHARS = 1_000


def read_record(value: Json) -> Record:
    """The record in an object. Pure; never raises."""
    kind, payload = _kind_of(value)
    at_ms = time_at(value, "timestamp")
    if kind == "session_meta":
        return Record(kind, payload, at_ms, True, origin=_origin(payload, at_ms))
    readers = _READERS.get(kind)
    if readers is None:
        return Record(kind, payload, at_ms, kind in _SILENT_LINES)
    inner = text_at(payload, "type") or ("message" if text_at(payload, "role") else "")
    full = f"{kind}/{inner}"
    parts = tuple(readers[inner](payload)) if inner in readers else ()
    record_id = _id_of(value, full, payload) if parts else ""
    return Record(full, payload, at_ms, inner in readers or inner in _SILENT[kind], record_id, parts)


def _kind_of(value: Json) -> tuple[str, Json]:
    kind, payload = text_at(value, "type"), value.get("payload")
    if is_object(payload):
        return kind, payload
    if kind in _READERS["response_item"] and any(key in value for key in ("role", "name", "call_id", "action")):
        return "response_item", value
    if not kind and "timestamp" in value and ("instructions" in value or "git" in value) and text_at(value, "id"):
        return "session_meta", value
    return "state" if text_at(value, "record_type") == "state" else kind, {}


def _id_of(value: Json, kind: str, payload: Json) -> str:
    said = text_at(payload, "message", "text", "last_agent_message", "arguments", "input", "output")
    texts = [said, *(text_at(block, "text") for block in objects_at(payload, "content")[:20])]
    named = text_at(payload, "call_id", "id", "turn_id")
    return digest_of(text_at(value, "timestamp"), kind, named, *(text[:_ID_CHARS] for text in texts))


def _origin(payload: Json, at_ms: int | None) -> Origin:
    thread_id = text_at(payload, "id", "session_id")
    source_of = payload.get("source")
    of_sub_agent = (is_object(source_of) and "subagent" in source_of) or text_at(payload, "thread_source") == "subagent"
    parents = (
        text_at(payload, "session_id"),
        text_at(payload, "parent_thread_id"),
        text_at(mapping_at(payload, "source", "subagent", "thread_spawn"), "parent_thread_id"),
    )
    started = time_at(payload, "timestamp")
    return Origin(
        thread_id,
        root_id=next((each for each in parents if each not in ("", thread_id)), "") if of_sub_agent else None,
        forked_from_id=text_at(payload, "forked_from_id"),
        started_at_ms=started if started is not None else at_ms,
        cwd=text_at(payload, "cwd") or None,
        branch=text_at(mapping_at(payload, "git"), "branch") or None,
        scripted=of_sub_agent or source_of in ("exec", "mcp") or text_at(payload, "originator") == "codex_exec",
    )


def _user_event(payload: Json) -> Iterator[Part]:
    if text_at(payload, "kind") in ("", "plain"):
        yield from _said([text_at(payload, "message")], "event")
    else:
        yield LeftOut("harness-text")


def _agent_event(payload: Json) -> Iterator[Part]:
    yield Spoken(Role.AGENT, text_at(payload, "message"), "event")


def _task_complete(payload: Json) -> Iterator[Part]:
    if last := text_at(payload, "last_agent_message"):
        yield Spoken(Role.AGENT, last, "task")


def _exec_end(payload: Json) -> Iterator[Part]:
    streams = filter(None, (text_at(payload, "stdout"), text_at(payload, "stderr")))
    text = text_at(payload, "aggregated_output") or "\n".join(streams)
    call = asked(text_at(payload, "call_id", "id"), "shell", {"command": command_of(payload)})
    by_person = text_at(payload, "source").startswith("user")
    yield Finished(call, text, payload.get("exit_code") not in (0, None), by_person)


def _mcp_end(payload: Json) -> Iterator[Part]:
    invocation = mapping_at(payload, "invocation") or payload
    name = f"mcp__{text_at(invocation, 'server')}__{text_at(invocation, 'tool')}"
    result = mapping_at(payload, "result")
    succeeded = mapping_at(result, "Ok") or result
    text, failed = printed(succeeded.get("content", result.get("Err", [])))
    call = asked(text_at(payload, "call_id", "id"), name, mapping_at(invocation, "arguments"))
    yield Finished(call, text, failed or succeeded.get("isError") is True or "Err" in result)


def _patch_end(payload: Json) -> Iterator[Part]:
    if payload.get("success") is False:
        yield LeftOut("failed-patch")
        return
    calls: list[Asked] = []
    for path, change in mapping_at(payload, "changes").items():
        told = change if is_object(change) else {}
        lines = text_at(told, "unified_diff").splitlines()
        new = changed_lines(lines) if lines else {"new_str": text_at(told, "content")}
        calls.append(asked("", "apply_patch", {"path": text_at(told, "move_path") or path, **new}))
    yield Patched(text_at(payload, "call_id", "id"), tuple(calls))


def _search_end(payload: Json) -> Iterator[Part]:
    keys = ("title", "url", "snippet")
    results = (" ".join(filter(None, (text_at(each, key) for key in keys))) for each in objects_at(payload, "results"))
    yield Searched(_query_of(payload), "\n".join(filter(None, results)), "event")


def _search_call(payload: Json) -> Iterator[Part]:
    yield Searched(_query_of(payload), "", "record")


def _query_of(payload: Json) -> str:
    action = mapping_at(payload, "action")
    queries = "; ".join(query for query in list_at(action, "queries") if isinstance(query, str))
    return text_at(payload, "query") or text_at(action, "query") or queries or text_at(action, "url", "pattern")


def _review_end(payload: Json) -> Iterator[Part]:
    review = mapping_at(payload, "review_output")
    findings = [f"{text_at(each, 'title')}\n{text_at(each, 'body')}" for each in objects_at(review, "findings")]
    text = "\n\n".join(filter(None, map(str.strip, [text_at(review, "overall_explanation"), *findings])))
    if text:
        yield Returned("", text, tool_name="review")


def _item(payload: Json) -> Iterator[Part]:
    item = mapping_at(payload, "item")
    kind = text_at(item, "type")
    if kind in _ITEMS:
        yield from _ITEMS[kind](item)
    elif kind not in _SILENT_ITEMS:
        yield LeftOut(f"{UNKNOWN_TYPE}item_completed/{kind}")


def _user_item(item: Json) -> Iterator[Part]:
    yield from _said([text_at(block, "text") for block in objects_at(item, "content")], "item")


def _agent_item(item: Json) -> Iterator[Part]:
    texts = [text_at(block, "text") for block in objects_at(item, "content")] or [text_at(item, "text")]
    yield Spoken(Role.AGENT, "\n\n".join(filter(None, texts)), "item")


def _message(payload: Json) -> Iterator[Part]:
    content, role = payload.get("content"), text_at(payload, "role")
    texts = [text_at(block, "text") for block in objects_at(payload, "content")]
    blocks = [content] if isinstance(content, str) else texts
    if role == "user":
        yield from _said(blocks, "record")
    elif role == "assistant":
        yield Spoken(Role.AGENT, "\n\n".join(filter(None, blocks)), "record")
    else:
        yield LeftOut("harness-text")


def _call(payload: Json) -> Iterator[Part]:
    named = text_at(payload, "name") or text_at(mapping_at(payload, "function"), "name")
    name = named or text_at(payload, "type").removesuffix("_call")
    namespace = text_at(payload, "namespace").rstrip("_")
    # A JSON text, an object, or (of a custom tool) any text, which is called `command` then.
    given = payload.get("arguments", payload.get("input"))
    if isinstance(given, str):
        parsed = json_in(given)
        given = parsed if is_object(parsed) else {"command": given}
    yield _called(payload, f"{namespace}__{name}" if namespace else name, object_in(given))


def _shell_call(payload: Json) -> Iterator[Part]:
    yield _called(payload, "shell", mapping_at(payload, "action"))


def _called(payload: Json, name: str, arguments: Json) -> Called:
    command = command_of(arguments)
    steps = [
        {"content": text_at(step, "step"), "status": text_at(step, "status")} for step in objects_at(arguments, "plan")
    ]
    told = {"todos": steps} if steps else {**arguments, "command": command} if command else arguments
    return Called(asked(text_at(payload, "call_id", "id"), name, told))


def _output(payload: Json) -> Iterator[Part]:
    yield Returned(text_at(payload, "call_id", "id"), *printed(payload.get("output", payload.get("result"))))


def _found_tools(payload: Json) -> Iterator[Part]:
    names = (text_at(each, "name") for each in objects_at(payload, "tools"))
    yield Returned(text_at(payload, "call_id"), ", ".join(filter(None, names)))


_Reader = Callable[[Json], Iterator[Part]]

_ITEMS: Mapping[str, _Reader] = {
    "UserMessage": _user_item,
    **dict.fromkeys(("AgentMessage", "Plan"), _agent_item),
    "CommandExecution": _exec_end,
    "McpToolCall": _mcp_end,
    "FileChange": _patch_end,
    **dict.fromkeys(("Extension", "WebSearch"), _search_end),
}
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output", "mcp_tool_call_output")
_READERS: Mapping[str, Mapping[str, _Reader]] = {
    "event_msg": {
        "user_message": _user_event,
        "agent_message": _agent_event,
        **dict.fromkeys(("task_complete", "turn_complete"), _task_complete),
        "exec_command_end": _exec_end,
        "mcp_tool_call_end": _mcp_end,
        "patch_apply_end": _patch_end,
        "web_search_end": _search_end,
        "exited_review_mode": _review_end,
        "item_completed": _item,
    },
    "response_item": {
        "message": _message,
        **dict.fromkeys(("function_call", "custom_tool_call", "tool_search_call", "tool_call"), _call),
        "local_shell_call": _shell_call,
        **dict.fromkeys((*_OUTPUTS, "tool_result"), _output),
        "tool_search_output": _found_tools,
        "web_search_call": _search_call,
    },
}
"""How to read a payload, by the type of its line and its own."""


# -- what a person typed, and what a tool printed ---------------------------------------------------------------------

_NOTIFICATION, _NOTIFICATION_END = "<subagent_notification>", "</subagent_notification>"
_INJECTED = (
    *("# AGENTS.md instructions", "<INSTRUCTIONS>", "<user_instructions>", "<environment_context>", "<skill>"),
    *("<recommended_plugins>", "<goal_context>", "<codex_internal_context", "<turn_aborted>", "<hook_prompt"),
    *("<user_action>", "<user_shell_command>", "<permissions instructions>", "<collaboration_mode>", "<model_switch>"),
    *("<skills_instructions>", "<apps_instructions>", "<plugins_instructions>", "<personality_spec>", _NOTIFICATION),
    "Warning: The maximum number of unified exec processes",
)
"""How the texts begin that Codex puts into a session in the person's name."""
_TAG = re.compile(r"<([A-Za-z][\w-]*)")
_TAGGED = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^<>]{0,300})?>.*</\1>", re.DOTALL)
_IDE_CONTEXT = re.compile(r"^# Context from my IDE setup:", re.MULTILINE)
_IDE_REQUEST = re.compile(r".*^## My request for Codex:", re.DOTALL | re.MULTILINE)
_OUTPUT_HEAD = re.compile(
    r"(?:(?:Chunk ID|Wall time|Exit code|Process exited|Process running|Original token count|Total output lines|Command)"
    r"[^\n]{0,300}\n){1,8}Output:\n?"
)
_EXIT_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)", re.MULTILINE)


def _said(blocks: list[str], carrier: str) -> Iterator[Part]:
    reports = [_report(text) for text in map(str.strip, blocks) if text.startswith(_NOTIFICATION)]
    for report in filter(None, reports):
        yield Returned("", report, tool_name="subagent")
    if words := typed_text(blocks, as_event=carrier != "record"):
        yield Spoken(Role.USER, words, carrier, "\n\n".join(blocks))
    elif not any(reports):
        yield LeftOut("harness-text" if any(block.strip() for block in blocks) else "empty")


def typed_text(blocks: Sequence[str], *, as_event: bool) -> str:
    """What the person typed: without what Codex, an editor or memory put there. Outside of an event, which holds nothing
    else, a text that is all one tag is the harness's as well. What an editor put before the request may hold the request's
    heading too: the last one counts."""
    kept: list[str] = []
    tags: set[str] = set()
    for text in map(str.strip, blocks):
        if text.startswith(_INJECTED):
            if tag := _TAG.match(text):  # what it wraps may go on in the next block
                tags.add(tag[1])
                kept.append(f"<{tag[1]}>" + f"</{tag[1]}>" * (f"</{tag[1]}" in text))
        elif not text.startswith(("<image", "</image>")) and (as_event or not _TAGGED.fullmatch(text)):
            kept.append(text)
    words = typed_words(kept, tuple(sorted(tags)))
    request = _IDE_REQUEST.match(words)
    return words[request.end() :].strip() if request else "" if _IDE_CONTEXT.search(words) else words


def _report(text: str) -> str:
    """What a sub-agent answered to its parent, recorded as if the person had said it."""
    body = text.removeprefix(_NOTIFICATION).removesuffix(_NOTIFICATION_END).strip()
    status = object_in(body).get("status")
    if is_object(status):
        return "\n".join(text for text in status.values() if isinstance(text, str))
    return status if isinstance(status, str) else body


def printed(output: object) -> tuple[str, bool]:
    """The text of a tool's output, without the head that Codex puts before it, and whether the tool failed. The output is a
    text, with or without a head or in JSON, an object or a list of blocks."""
    if isinstance(output, str):
        return _printed_text(output)
    if is_list(output):
        return "\n".join(filter(None, map(_block_text, output))), False
    if not is_object(output):
        return "" if output is None else str(output), False
    if "content" in output or "output" in output:
        text, failed = printed(output.get("content") or output.get("output"))
        return text, failed or output.get("success") is False or _is_failure(
            mapping_at(output, "metadata"), "exit_code"
        )
    text = "\n".join(filter(None, (text_at(output, key) for key in ("text", "stdout", "stderr"))))
    return text or (json.dumps(output, ensure_ascii=False) if output else ""), _is_failure(output, "exitCode")


def _printed_text(output: str) -> tuple[str, bool]:
    inner = object_in(output) if output.startswith("{") else {}
    text = inner.get("output")
    if isinstance(text, str):
        return text, _is_failure(mapping_at(inner, "metadata"), "exit_code")
    head = _OUTPUT_HEAD.match(output)
    if head is None:
        return output, False
    code = _EXIT_CODE.search(head[0])
    return output[head.end() :], code is not None and code[1] != "0"


def _is_failure(value: Json, key: str) -> bool:
    code = value.get(key)
    return isinstance(code, int) and not isinstance(code, bool) and code != 0


def _block_text(block: object) -> str:
    if not is_object(block):
        return block if isinstance(block, str) else ""
    return text_at(block, "text") or ("[image]" if "image" in text_at(block, "type") else "")


def command_of(arguments: Json) -> str:
    """The shell command among a call's arguments: a text, or a list of words, of which `bash -lc` is taken away."""
    command = arguments.get("command", arguments.get("cmd"))
    if isinstance(command, str):
        return command
    words = [word for word in command if isinstance(word, str)] if is_list(command) else []
    return words[2] if len(words) == 3 and words[1] in ("-lc", "-c") else " ".join(words)


# -- the thread -------------------------------------------------------------------------------------------------------


class CodexSession(Session):
    """The lines of one rollout in file order.

    A message that is logged several times is one turn. What a fork copied from its parent is left out, as are turns that
    were rolled back. A sub-agent's thread is automated, and its `root_id` names the session that it belongs to.
    """

    harness = Harness.CODEX
    harness_name = "Codex"

    def __init__(self, session_id: str, new_from: NewFrom) -> None:
        super().__init__(session_id, new_from)
        self._said = {Role.USER: Copies(), Role.AGENT: Copies()}
        self._searched = Copies()
        self._called = IdSet()
        self._patched = IdSet()
        self._messages = 0
        self._prompts = 0
        self._rolled_back: set[int] = set()
        self._fork: ForkedLines | None = None
        self._origin: Origin | None = None
        self._scripted = False
        self._typed_prompts = 0
        self._scripted_prompts = 0

    @property
    def root_id(self) -> str | None:
        """Of a sub-agent's thread: the session it belongs to, empty where the rollout does not say; None for a root."""
        return self._origin.root_id if self._origin else None

    def take(self, value: Json) -> None:
        """The next object of the file."""
        record = read_record(value)
        if not record.is_known:
            self.skip_unknown(record.kind)
            return
        self._note(record)
        if record.origin is not None and self._fork is None:
            self._fork = ForkedLines(record.origin)
        prelude = self._fork.pass_on(record) if self._fork else ()
        if prelude is None:
            self.skip_known("forked-history")
            return
        for each in (*prelude, record):
            self._take(each)

    def left_out(self, draft: Draft) -> str | None:
        """What was rolled back."""
        return "rolled-back" if draft.branch in self._rolled_back else None

    def history(self) -> History:
        """A sub-agent's thread is automated, and one in which every prompt came from a program."""
        self.git_branch = self._origin.branch if self._origin else None
        self.automated = self.root_id is not None or (self._scripted_prompts > 0 and not self._typed_prompts)
        return super().history()

    def _note(self, record: Record) -> None:
        """What the line says about the thread as a whole."""
        origin, payload = record.origin, record.payload
        if origin is not None and (self._origin is None or origin.id == self._origin.id):
            self._origin = self._origin or origin
            self._scripted = origin.scripted
            self.cwd = self.cwd or origin.cwd
            self.started_at_ms = self.started_at_ms or origin.started_at_ms
        if record.kind == "turn_context":
            self.cwd = self.cwd or text_at(payload, "cwd") or None
            self.agent = text_at(payload, "model") or self.agent
        if record.kind == "event_msg/thread_name_updated":
            self.title = text_at(payload, "thread_name") or self.title
        self.started_at_ms = self.started_at_ms or record.at_ms

    def _take(self, record: Record) -> None:
        if self.has_enough and any(self._begins_turn(part) for part in record.parts):
            self.full = True
            return
        if not any(isinstance(part, LeftOut) and part.reason.startswith(UNKNOWN_TYPE) for part in record.parts):
            self.known_records += 1
        back = record.payload.get("num_turns") if record.kind == "event_msg/thread_rolled_back" else 0
        if isinstance(back, int) and back > 0:
            self._rolled_back.update(range(max(1, self._prompts - back + 1), self._prompts + 1))
        self.enter(self.own_id(record.id) if record.parts else "", record.at_ms)
        for part in record.parts:
            self._take_part(part)
        self.leave()

    def _begins_turn(self, part: Part) -> bool:
        if isinstance(part, LeftOut | Patched):
            return False
        return not (isinstance(part, Returned) and self.awaits(part.call_id))

    # -- parts --------------------------------------------------------------------------------------------------------

    def _take_part(self, part: Part) -> None:
        match part:
            case Spoken():
                self._say(part)
            case Called(call):
                self._call(call)
            case Returned(call_id, text, failed, tool_name):
                self._answer(call_id, text, tool_name=tool_name, failed=failed)
            case Finished():
                self._finish(part)
            case Searched():
                self._search(part)
            case Patched(call_id, calls):
                if not call_id or self._patched.add(call_id):
                    self._speak("", calls)
            case LeftOut(reason) if reason.startswith(UNKNOWN_TYPE):
                self.skip_unknown(reason.removeprefix(UNKNOWN_TYPE))
            case LeftOut(reason):
                self.skip(reason)

    def _say(self, spoken: Spoken) -> None:
        if not spoken.text.strip() or not self._said[spoken.role].is_new(spoken.text, spoken.carrier):
            return
        if spoken.role is Role.AGENT:
            self.end_message()
            self._speak(spoken.text, ())
        elif not self.begins_with_own_prompt(spoken.raw):
            self._prompts += 1
            self._scripted_prompts += self._scripted
            self._typed_prompts += not self._scripted
            self.say(Role.USER, spoken.text, branch=self._prompts)

    def _speak(self, text: str, calls: tuple[Asked, ...]) -> None:
        if self.message_id is None:
            self._messages += 1
        self.speak(f"{self._messages}", text, calls, branch=self._prompts)

    def _call(self, made: Asked) -> None:
        if made.call_id:
            self._called.add(made.call_id)
            if made.calls[0].name == "apply_patch":
                self._patched.add(made.call_id)
        self._speak("", (made,))

    def _answer(self, call_id: str, text: str, *, tool_name: str | None = None, failed: bool = False) -> None:
        self.answer(call_id, text, tool_name=tool_name, failed=failed, branch=self._prompts)
        self.end_message()

    def _finish(self, finished: Finished) -> None:
        call = finished.call
        if call.call_id and not self._called.add(call.call_id):
            return
        if finished.by_person:
            self._answer("", f"$ {call.calls[0].brief}\n{finished.text}", tool_name="shell")
        elif self.awaits_any:
            # Made by a program that the agent wrote and that is still running: its output will tell what came of it.
            if call.of_memory:
                self.asks_memory()
            self._speak("", (evolve(call, call_id=""),))
        else:
            self._speak("", (call,))
            self._answer(call.call_id, finished.text, failed=finished.failed)

    def _search(self, searched: Searched) -> None:
        if self._searched.is_new(searched.query, searched.carrier):
            self._speak("", (asked("", "web_search", {"query": searched.query}),))
            self._answer("", searched.results or "[what was found is not recorded]", tool_name="web_search")
        elif searched.results:
            self._answer("", searched.results, tool_name="web_search")


_RECENT = 60
_KEY_CHARS = 4_000
_WHOLE_CHARS = 60
"""Of a text so long, its beginning is a copy of it: citations and directives at the end are in some carriers only."""


class Copies:
    """Tells the first record of some words from the copies of it in records of other kinds (`carrier`): within one kind
    the same words, said again, are said again. Only the last sixty different words are compared."""

    def __init__(self) -> None:
        self._recent: deque[tuple[str, set[str]]] = deque(maxlen=_RECENT)
        """Words, and what carried them so far."""

    def is_new(self, text: str, carrier: str) -> bool:
        """Whether these words were not heard from a carrier of another kind that still waits for its copy in this one."""
        key = " ".join(text[:_KEY_CHARS].split())
        for heard, carriers in self._recent:
            if carrier not in carriers and _is_copy(heard, key):
                carriers.add(carrier)
                return False
        self._recent.append((key, {carrier}))
        return True


def _is_copy(first: str, second: str) -> bool:
    shorter, longer = sorted((first, second), key=len)
    return shorter == longer or (len(shorter) >= _WHOLE_CHARS and longer.startswith(shorter))


_MAX_PRELUDE = 20
_UUID_DIGITS = 32


@define(init=False)
class ForkedLines:
    """Which lines of a forked rollout are copies of its parent's.

    What tells them apart are the ids of the model's turns, which hold the time when each was begun (UUIDv7): the first one
    that is not older than the fork is its own, with the prompt right before it. Ids of another form tell nothing, and
    everything from there on is taken.
    """

    created_ms: int
    is_over: bool
    prelude: list[Record]

    def __init__(self, origin: Origin) -> None:
        """`origin` is what the first `session_meta` says."""
        self.created_ms = _time_in(origin.id) or origin.started_at_ms or 0
        self.is_over = not (origin.forked_from_id and self.created_ms)
        self.prelude = []

    def pass_on(self, record: Record) -> tuple[Record, ...] | None:
        """What is to be taken before this record, held back until now; None where this one is not to be taken (yet)."""
        if self.is_over or record.origin is not None:
            return ()
        before, self.prelude = self.prelude, []
        if record.kind in ("turn_context", "event_msg/task_started"):
            turn_id = text_at(record.payload, "turn_id")
            time_ms = _time_in(turn_id)
            self.is_over = bool(turn_id) and (time_ms is None or time_ms >= self.created_ms)
            return tuple(before) if self.is_over else None
        if all(isinstance(part, LeftOut) or _is_prompt(part) for part in record.parts):
            self.prelude = [*before, *([record] if record.parts else [])][-_MAX_PRELUDE:]
        return None


def _is_prompt(part: Part) -> bool:
    return isinstance(part, Spoken) and part.role is Role.USER


def _time_in(id: str) -> int | None:
    """The time in a UUIDv7, in ms since 1970; None for any other id."""
    digits = id.replace("-", "")
    if len(digits) != _UUID_DIGITS or digits[12] != "7":
        return None
    try:
        return int(digits[:12], 16)
    except ValueError:
        return None

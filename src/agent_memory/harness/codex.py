"""Codex (0.3x to 0.149): `<year>/<month>/<day>/rollout-<time>-<thread id>.jsonl` in `~/.codex/sessions`.

A line is `{timestamp, type, payload}` (0.149 adds `ordinal`). Each message is logged up to three times, as an `event_msg`, an item and a `response_item` for the model. A fork
begins with its parent's lines, under new time stamps. Sub-agents have rollouts of their own, whose `session_id` is the root's.
The format is internal to Codex and differs between versions; what is not understood is left out and counted.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from typing import ClassVar

from attrs import evolve, frozen

from agent_memory.harness import any_json as get, transcripts as files
from agent_memory.harness.turn_builder import Asked, Session, asked
from agent_memory.note.note import Harness
from agent_memory.session.history import History, Role, SessionMark
from agent_memory.session.own_marks import typed_words
from agent_memory.session.tool_calls import changed_lines
from agent_memory.text.ids import IdSet
from agent_memory.text.json_shape import is_list, is_object

_OF_SUB_AGENT = re.compile(rb'"(?:thread_source"\s*:\s*"subagent"|subagent"\s*:\s*[{"])')


# -- what a person typed, and what a tool printed ---------------------------------------------------------------------

_NOTIFICATION, _NOTIFICATION_END = "<subagent_notification>", "</subagent_notification>"
# How the texts begin that Codex puts into a session in the person's name.
_INJECTED = (
    *("# AGENTS.md instructions", "<INSTRUCTIONS>", "<user_instructions>", "<environment_context>", "<skill>"),
    *("<recommended_plugins>", "<goal_context>", "<codex_internal_context", "<turn_aborted>", "<hook_prompt"),
    *("<user_action>", "<user_shell_command>", "<permissions instructions>", "<collaboration_mode>", "<model_switch>"),
    *("<skills_instructions>", "<apps_instructions>", "<plugins_instructions>", "<personality_spec>", _NOTIFICATION),
    *("<heartbeat>", "<external_", "<extension_context>"),
    "Warning: The maximum number of unified exec processes",
)
_TAG = re.compile(r"<([A-Za-z][\w-]*)")
_TAGGED = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^<>]{0,300})?>.*</\1>", re.DOTALL)
# What an editor or the desktop app puts above a request: selections, files, pages, comments on earlier answers.
_CONTEXT = re.compile(
    r"^# (?:Context from my IDE setup|Files (?:mentioned|pasted) by the user|Response annotations|Chrome tabs):",
    re.MULTILINE,
)
_REQUEST = re.compile(r".*^## My request(?: for Codex)?:", re.DOTALL | re.MULTILINE)
_REPLY = re.compile(r"<send_user_message_question_reply>(.*)</send_user_message_question_reply>", re.DOTALL)
_OUTPUT_HEAD = re.compile(
    r"(?:(?:Chunk ID|Wall time|Exit code|Process exited|Process running|Original token count|Total output lines|Command)"
    r"[^\n]{0,300}\n){1,8}Output:\n?"
)
_PLAN_TAG = re.compile(r"</?proposed_plan>\n?")
_EXIT_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)", re.MULTILINE)


def typed_text(blocks: Sequence[str], *, as_event: bool) -> str:
    """Returns what the person typed, without what Codex, an editor or memory put there. A text that is all one tag
    is the harness's, unless it is an event. The last heading of a request counts: an editor's text may hold others."""
    kept: list[str] = []
    tags: set[str] = set()
    for text in map(str.strip, blocks):
        if text.startswith(_INJECTED) or (not as_event and _TAGGED.fullmatch(text)):
            if tag := _TAG.match(text):  # what it wraps may go on in the next block
                tags.add(tag[1])
                kept.append(f"<{tag[1]}>" + f"</{tag[1]}>" * (f"</{tag[1]}" in text))
        elif not text.startswith(("<image", "</image>")):
            kept.append(text)
    words = typed_words(kept, tuple(sorted(tags)))
    if request := _REQUEST.match(words):
        words = words[request.end() :].strip()
    elif _CONTEXT.search(words):
        return ""
    if reply := _REPLY.fullmatch(words):  # the questions in it are the agent's
        given = get.parsed(reply[1])
        return "\n".join(get.text(each, "answer") for each in (given if is_list(given) else [given]) if is_object(each))
    return words


def _report(text: str) -> str:
    body = text.removeprefix(_NOTIFICATION).removesuffix(_NOTIFICATION_END).strip()
    status = get.parsed_object(body).get("status", body)
    told = status.values() if is_object(status) else [status if isinstance(status, str) else body]
    return "\n".join(each for each in told if isinstance(each, str))


def printed(output: object) -> tuple[str, bool]:
    """Returns the text of a tool's output without the head that Codex puts before it, and whether the tool failed."""
    if isinstance(output, str):
        if output.startswith("{") and isinstance((inner := get.parsed_object(output)).get("output"), str):
            return printed(inner)
        head = _OUTPUT_HEAD.match(output)
        code = _EXIT_CODE.search(head[0]) if head else None
        refused = output.startswith("apply_patch verification failed")
        return output[head.end() :] if head else output, refused or (code is not None and code[1] != "0")
    if not is_object(output):
        return get.answer(output), False
    codes = (get.mapping(output, "metadata").get("exit_code"), output.get("exitCode"))
    failed = output.get("success") is False or any(isinstance(code, int) and code != 0 for code in codes)
    if "content" not in output and "output" not in output:
        return get.answer(output), failed
    text, inner_failed = printed(output.get("content") or output.get("output"))
    return text, failed or inner_failed


def command_of(arguments: get.Json) -> str:
    """Returns the shell command among a call's arguments: a text, or a list of words without `bash -lc`."""
    command = arguments.get("command", arguments.get("cmd"))
    if isinstance(command, str):
        return command
    words = [word for word in command if isinstance(word, str)] if is_list(command) else []
    return words[2] if len(words) == 3 and words[1] in ("-lc", "-c") else " ".join(words)


# -- the thread -------------------------------------------------------------------------------------------------------

# Kinds of lines that no reader takes words from; some tell of the thread as a whole (`_take_line`).
_OTHER_KINDS = re.compile(
    r"event_msg/(?:(?:task|turn)_started|turn_(?:aborted|diff)|turn\.completed|token_count|context_compacted|agent_reasoning.*"
    r"|thread_(?:settings_applied|name_updated|goal_updated|rolled_back)|entered_review_mode|error|warning|stream_error"
    r"|sub_agent_activity|collab_.+|guardian_assessment|image_generation_end|view_image_tool_call|dynamic_tool_call_.+"
    r"|undo_completed|item_started|.+_begin|codex/event/raw_item|account/.+|background_event|session_configured|plan_update"
    r"|shutdown_complete)"
    r"|response_item/(?:reasoning|agent_message|ghost_snapshot|image_generation_call|compaction(?:_summary)?|other)"
    r"|item/(?:Reasoning|ContextCompaction|ImageView|ImageGeneration|EnteredReviewMode|ExitedReviewMode|Sleep)"
    r"|session_meta|turn_context|compacted|world_state|inter_agent_communication_metadata"
)
_CALLS = ("function_call", "custom_tool_call", "tool_search_call", "tool_call", "local_shell_call")
_OUTPUTS = (
    *("function_call_output", "custom_tool_call_output", "local_shell_call_output", "mcp_tool_call_output"),
    *("tool_search_output", "tool_result"),
)
_TURN_BEGINS = ("turn_context", "event_msg/task_started")
_TASK_ENDS = ("event_msg/task_complete", "event_msg/turn_complete")
_WHOLE_CHARS = 60  # of a text so long, its beginning is a copy of it: some carriers only have citations at the end
_UUID7 = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)


@frozen
class Line:
    id: str  # made from its content: it has none
    kind: str  # `type/type of the payload`, `item/type of the item`; the first alone where the second tells nothing
    payload: get.Json
    at_ms: int | None


class CodexSession(Session):
    """The lines of one rollout in file order. Copies of a message are one turn; what a fork copied, was imported or
    rolled back is left out. A sub-agent's thread is automated, and `root_id` names the session that it belongs to."""

    harness, question_tool, rewinds = Harness.CODEX, "request_user_input", True

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        # Of a sub-agent's thread: the session it belongs to, empty where the rollout does not say; None for a root.
        self.root_id: str | None = None
        # The last words of the person and of the agent, and searches, with what carried them so far.
        self._said: dict[str, deque[tuple[str, set[str]]]] = {}
        self._called = IdSet()
        self._patched = IdSet()
        self._prompts = 0
        self._rolled_back: set[int] = set()
        self._forked_at_ms: int | None = None  # when a fork was made, as long as its parent's lines come
        self._prelude: deque[Line] = deque(maxlen=20)  # prompts before what may be the fork's first turn
        self._thread_id: str | None = None
        self._scripted = False  # no person types in it: `codex exec`, a server's client, a sub-agent
        self._prompted: set[bool] = set()  # whether prompts came from programs
        self._imported = False

    def take(self, value: get.Json) -> None:
        kind, payload = get.text(value, "type"), get.mapping(value, "payload")
        if kind in ("event_msg", "response_item"):
            kind += "/" + (get.text(payload, "type") or ("message" if get.text(payload, "role") else ""))
        said = get.text(payload, "message", "text", "last_agent_message", "arguments", "input", "output")
        texts = [said, *(get.text(block, "text") for block in get.objects(payload, "content")[:20])]
        named = get.text(payload, "call_id", "id", "turn_id")
        id = get.digest(get.text(value, "timestamp"), kind, named, *(text[:1_000] for text in texts))
        if kind == "event_msg/item_completed":
            payload = get.mapping(payload, "item")
            kind = f"item/{get.text(payload, 'type')}"
        line = Line(id, kind, payload, get.time(value, "timestamp"))
        if line.kind not in self.READERS and not _OTHER_KINDS.fullmatch(line.kind):
            self.skip_unknown(line.kind)
            return
        if line.kind == "session_meta":
            self._note_origin(line)
        self.started_at_ms = self.started_at_ms or line.at_ms
        if line.kind in _TURN_BEGINS:
            # Turns that Codex took over from another harness have lost the marks of who said what.
            self._imported = get.text(payload, "turn_id").startswith("external-import-turn-")
        if self._imported:
            lines = []
        else:
            lines = [line] if self._forked_at_ms is None or line.kind == "session_meta" else self._of_fork(line)
        self.known_records += not lines
        for each in lines:
            self._take_line(each)

    def is_left_out(self, branch: int, record_ids: Sequence[str]) -> bool:
        return branch in self._rolled_back

    def history(self) -> History:
        """Returns the history, automated where the thread is a sub-agent's or every prompt came from a program."""
        self.automated = self.root_id is not None or self._prompted == {True}
        return super().history()

    def _note_origin(self, line: Line) -> None:
        """What a `session_meta` says of this thread; a fork has its parent's as well."""
        payload = line.payload
        thread_id, origin = get.text(payload, "id", "session_id"), payload.get("source")
        if self._thread_id not in (None, thread_id):
            return
        of_sub_agent = (is_object(origin) and "subagent" in origin) or get.text(payload, "thread_source") == "subagent"
        told_ms = get.time(payload, "timestamp")
        started_at_ms = line.at_ms if told_ms is None else told_ms
        if self._thread_id is None:
            self._thread_id = thread_id
            if get.text(payload, "forked_from_id"):
                self._forked_at_ms = _time_in(thread_id) or started_at_ms
            self.note(branch=get.text(get.mapping(payload, "git"), "branch"))
            spawned = get.mapping(payload, "source", "subagent", "thread_spawn")
            roots = (
                get.text(payload, "session_id"),
                *(get.text(each, "parent_thread_id") for each in (payload, spawned)),
            )
            self.root_id = next((each for each in roots if each not in ("", thread_id)), "") if of_sub_agent else None
        self._scripted = of_sub_agent or origin in ("exec", "mcp") or get.text(payload, "originator") == "codex_exec"
        self.note(cwd=get.text(payload, "cwd"))
        self.started_at_ms = self.started_at_ms or started_at_ms

    def _of_fork(self, line: Line) -> list[Line]:
        """Returns what is to be taken of a fork: nothing (yet), the line, or the prompts held back until now with it.

        The ids of the model's turns hold the time when each began (UUIDv7): the first one that is not older than the
        fork is its own, with the prompt right before it. From an id of another form on everything is taken.
        """
        forked_at_ms = self._forked_at_ms or 0
        turn_id = get.text(line.payload, "turn_id") if line.kind in _TURN_BEGINS else ""
        if turn_id and (_time_in(turn_id) or forked_at_ms) >= forked_at_ms:
            self._forked_at_ms = None
            return [*self._prelude, line]
        in_others_name = line.kind == "response_item/message" and get.text(line.payload, "role") != "assistant"
        if in_others_name or line.kind in ("event_msg/user_message", "item/UserMessage"):
            self._prelude.append(line)
        elif line.kind in _TURN_BEGINS or line.kind in self.READERS:
            self._prelude.clear()
        return []

    def _take_line(self, line: Line) -> None:
        payload = line.payload
        if line.kind == "turn_context":
            self.note(cwd=get.text(payload, "cwd"), agent=get.text(payload, "model"))
        elif line.kind == "event_msg/thread_name_updated":
            self.note(title=get.text(payload, "thread_name"))
        elif line.kind == "event_msg/thread_rolled_back":
            back = payload.get("num_turns")
            if isinstance(back, int) and back > 0:
                self._rolled_back.update(range(max(1, self._prompts - back + 1), self._prompts + 1))
        self.known_records += 1
        is_silent = line.kind in _TASK_ENDS and not get.text(payload, "last_agent_message")
        read = None if is_silent else self.READERS.get(line.kind)
        self.enter(self.own_id(line.id) if read else "", line.at_ms)
        if read:
            read(self, payload)

    # -- words --------------------------------------------------------------------------------------------------------

    def _user_event(self, payload: get.Json) -> None:
        if get.text(payload, "kind") in ("", "plain"):
            self._hear_blocks([get.text(payload, "message")], "event")

    def _agent_event(self, payload: get.Json) -> None:
        text = get.text(payload, "last_agent_message")
        self._tell([text or get.text(payload, "message")], "task" if text else "event")

    def _take_message(self, payload: get.Json) -> None:
        kind, role = get.text(payload, "type"), get.text(payload, "role")
        carrier = "record" if role else "item"
        blocks = [get.text(block, "text") for block in get.blocks(payload) or ()] or [get.text(payload, "text")]
        if role == "user" or kind == "UserMessage":
            self._hear_blocks(blocks, carrier)
        elif role in ("", "assistant"):
            self._tell(blocks, carrier)

    def _hear_blocks(self, blocks: list[str], carrier: str) -> None:
        """Words in the person's name. Codex logs them up to three times; `carrier` says as what: an `event`, an `item`, a
        `record` for the model."""
        reports = [_report(text) for text in map(str.strip, blocks) if text.startswith(_NOTIFICATION)]
        for report in filter(None, reports):
            self._answer("", report, tool_name="subagent")
        words = typed_text(blocks, as_event=carrier != "record")
        is_new = bool(words) and self._is_new(Role.USER, words, carrier)
        if is_new and not self.begins_with_own_prompt("\n\n".join(blocks)):
            self._prompts += 1
            self.branch = self._prompts
            self._prompted.add(self._scripted)
            self.hear("", words)

    def _tell(self, texts: list[str], carrier: str) -> None:
        text = _PLAN_TAG.sub("", "\n\n".join(filter(None, texts)))
        if text.strip() and self._is_new(Role.AGENT, text, carrier):
            self.end_message()
            self._speak(text)

    def _is_new(self, whose: str, text: str, carrier: str) -> bool:
        """Tells the first record of some words from the copies of it in records of other kinds (`carrier`): within one kind
        the same words, said again, are said again. Only the last sixty different words are compared."""
        key = " ".join(text[:4_000].split())
        recent = self._said.setdefault(whose, deque(maxlen=60))
        for heard, carriers in recent:
            shorter, longer = sorted((heard, key), key=len)
            is_copy = shorter == longer or (len(shorter) >= _WHOLE_CHARS and longer.startswith(shorter))
            if carrier not in carriers and is_copy:
                carriers.add(carrier)
                return False
        recent.append((key, {carrier}))
        return True

    def _speak(self, text: str, *calls: Asked) -> None:
        self.speak(self.message_id or f"{self.position}", text, calls)

    # -- tools --------------------------------------------------------------------------------------------------------

    def _call(self, payload: get.Json) -> None:
        named = get.text(payload, "name") or get.text(get.mapping(payload, "function"), "name")
        name = named or get.text(payload, "type").removesuffix("_call").removeprefix("local_")
        namespace = get.text(payload, "namespace").rstrip("_")
        arguments = get.arguments(payload.get("arguments", payload.get("input", payload.get("action"))))
        if plan := get.objects(arguments, "plan"):
            arguments = {"todos": [{"content": get.text(step, "step"), "status": step.get("status")} for step in plan]}
        elif command := command_of(arguments):
            arguments = {**arguments, "command": command}
        made = asked(_call_id(payload), f"{namespace}__{name}" if namespace else name, arguments)
        if made.call_id:
            self._called.add(made.call_id)
            if made.calls[0].name == "apply_patch":
                self._patched.add(made.call_id)
        self._speak("", made)

    def _output(self, payload: get.Json) -> None:
        text, failed = printed(payload.get("output", payload.get("result")))
        names = (get.text(each, "name") for each in get.objects(payload, "tools"))
        self._answer(_call_id(payload), text or ", ".join(filter(None, names)), failed=failed)

    def _answer(self, call_id: str, text: str, *, tool_name: str | None = None, failed: bool = False) -> None:
        self.answer(call_id, text, tool_name=tool_name, failed=failed)
        self.end_message()

    def _exec_end(self, payload: get.Json) -> None:
        streams = filter(None, (get.text(payload, "stdout"), get.text(payload, "stderr")))
        text = get.text(payload, "aggregated_output") or "\n".join(streams)
        call = asked(_call_id(payload), "shell", {"command": command_of(payload)})
        if not get.text(payload, "source").startswith("user"):
            self._finish(call, text, failed=payload.get("exit_code") not in (0, None))
        elif not call.call_id or self._called.add(call.call_id):
            self.ran(call.calls[0].brief, text, "shell")
            self.end_message()

    def _mcp_end(self, payload: get.Json) -> None:
        invocation = get.mapping(payload, "invocation") or payload
        name = f"mcp__{get.text(invocation, 'server')}__{get.text(invocation, 'tool')}"
        result = get.mapping(payload, "result")
        succeeded = get.mapping(result, "Ok") or result
        text, failed = printed(succeeded.get("content", result.get("Err", [])))
        call = asked(_call_id(payload), name, get.mapping(invocation, "arguments"))
        self._finish(call, text, failed=failed or succeeded.get("isError") is True or "Err" in result)

    def _finish(self, call: Asked, text: str, *, failed: bool) -> None:
        """A call with its answer, which is recorded elsewhere too, unless it was made inside another call."""
        if call.call_id and not self._called.add(call.call_id):
            return
        if self.open_calls:
            # Made by a program that the agent wrote and that is still running: its output will tell what came of it.
            if call.of_memory:
                self.open_calls = {id: evolve(each, of_memory=True) for id, each in self.open_calls.items()}
            self._speak("", evolve(call, call_id=""))
        else:
            self._speak("", call)
            self._answer(call.call_id, text, failed=failed)

    def _patch_end(self, payload: get.Json) -> None:
        call_id = _call_id(payload)
        if payload.get("success") is False or (call_id and not self._patched.add(call_id)):
            return
        calls: list[Asked] = []
        for path, change in get.mapping(payload, "changes").items():
            told = change if is_object(change) else {}
            lines = get.text(told, "unified_diff").splitlines()
            new = changed_lines(lines) if lines else {"new_str": get.text(told, "content")}
            calls.append(asked("", "apply_patch", {"path": get.text(told, "move_path") or path, **new}))
        self._speak("", *calls)

    def _search(self, payload: get.Json) -> None:
        keys, found = ("title", "url", "snippet"), get.objects(payload, "results")
        results = (" ".join(filter(None, (get.text(each, key) for key in keys))) for each in found)
        action = get.mapping(payload, "action")
        queries = "; ".join(query for query in get.items(action, "queries") if isinstance(query, str))
        told = get.text(payload, "query") or get.text(action, "query") or queries or get.text(action, "url", "pattern")
        is_new = self._is_new("search", told, "record" if payload.get("type") == "web_search_call" else "event")
        if is_new:
            self._speak("", asked("", "web_search", {"query": told}))
        text = "\n".join(filter(None, results))
        if is_new or text:
            self._answer("", text or "[what was found is not recorded]", tool_name="web_search")

    def _review_end(self, payload: get.Json) -> None:
        review = get.mapping(payload, "review_output")
        findings = [f"{get.text(each, 'title')}\n{get.text(each, 'body')}" for each in get.objects(review, "findings")]
        text = "\n\n".join(filter(None, map(str.strip, [get.text(review, "overall_explanation"), *findings])))
        if text:
            self._answer("", text, tool_name="review")

    READERS: ClassVar = {
        "event_msg/user_message": _user_event,
        **dict.fromkeys(("event_msg/agent_message", *_TASK_ENDS), _agent_event),
        **dict.fromkeys(("response_item/message", "item/UserMessage", "item/AgentMessage", "item/Plan"), _take_message),
        **dict.fromkeys(map("response_item/".__add__, _CALLS), _call),
        **dict.fromkeys(map("response_item/".__add__, _OUTPUTS), _output),
        **dict.fromkeys(("event_msg/exec_command_end", "item/CommandExecution"), _exec_end),
        **dict.fromkeys(("event_msg/mcp_tool_call_end", "item/McpToolCall"), _mcp_end),
        **dict.fromkeys(("event_msg/patch_apply_end", "item/FileChange"), _patch_end),
        **dict.fromkeys(("event_msg/web_search_end", "item/Extension", "item/WebSearch"), _search),
        "response_item/web_search_call": _search,
        "event_msg/exited_review_mode": _review_end,
    }


def _call_id(payload: get.Json) -> str:
    return get.text(payload, "call_id", "id")


def _time_in(id: str) -> int | None:
    """Returns the time in a UUIDv7, in ms since 1970; None for any other id."""
    found = _UUID7.fullmatch(id)
    return int(found[1] + found[2], 16) if found else None


class CodexSessions(files.SessionFiles):
    """Reads rollouts. A sub-agent's that an entry of its root session names is passed over for the root's own."""

    harness_home, below = ("CODEX_HOME", "~/.codex"), ("sessions", "archived_sessions")
    session = CodexSession
    named = re.compile(r"(?:.*/)?rollout-\d{4}-\d\d-\d\dT[\d-]{8}-(?P<id>[^/]+)\.jsonl")
    max_depth = 4  # a root may be the directory around `sessions`

    def is_persons(self, session_id: str, path: str) -> bool:
        """Tells whether the first line does not say that it is a sub-agent's."""
        head = files.head_of(path).partition(b"\n")[0]
        return super().is_persons(session_id, path) and not _OF_SUB_AGENT.search(head)

    def read(self, file: files.OpenTranscript, session_id: str, mark: SessionMark | None) -> History:
        session = files.read_session(file, mark, CodexSession(session_id))
        path = self.path_of(session_id) if session.root_id == session_id else None
        if path is not None and path != file.path:
            return self.read_at(path, session_id, mark)
        return files.file_history(session, file)

"""An Amp thread, as `amp threads export` prints it and as versions until early 2026 kept it, as turns. Pure.

The format is Amp's own (`v` 1 to 212 seen): `{id, created, title, env.initial.trees, messages[{role, messageId, content}]}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urlsplit

from attrs import define, field

from agent_memory.adapters.harness.any_json import answer_text
from agent_memory.domain.history import History, Role, SessionMark, ToolCall, Turn
from agent_memory.domain.instants import ms_of
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.transcripts.own_marks import (
    MEMORY_OUTPUT_PLACEHOLDER,
    is_entry_path,
    is_memory_command,
    is_memory_tool,
    is_own_prompt,
    shows_an_entry,
    typed_words,
    without_own_output,
)
from agent_memory.domain.transcripts.tool_calls import tool_call
from agent_memory.domain.transcripts.turns import (
    as_many_as_fit,
    excerpt,
    last_time,
    readable,
    text_limit,
    tools_answered_before,
    turns_after,
)
from agent_memory.domain.vocabulary import Harness

_TITLE_CHARS = 300
_FAILED_RUNS = ("error", "cancelled", "rejected-by-user")
_UNFINISHED_STATES = ("streaming", "in-progress", "pending")


def is_thread(value: object, thread_id: str) -> bool:
    """Whether a JSON value is an export of this thread with at least one message."""
    if not is_object(value) or value.get("id") not in (thread_id, None):
        return False
    messages = value.get("messages")
    return is_list(messages) and bool(messages)


def thread_history(value: Mapping[str, object], thread_id: str, mark: SessionMark | None) -> History:
    """The thread's turns after the mark. A last answer that is still being written is left for the next time."""
    thread = _Thread()
    messages = value.get("messages")
    for at, message in enumerate(messages if is_list(messages) else []):
        thread.take(message, at)
    turns = tuple(thread.turns)
    new = turns_after(turns, mark)
    kept = () if thread.own_call else as_many_as_fit(new)
    tree = _first_tree(value)
    created = _number(value.get("created"))
    return History(
        harness=Harness.AMP,
        session_id=thread_id,
        turns=kept,
        title=one_line(_text(value, "title"), _TITLE_CHARS) or None,
        cwd=_path_of(_text(tree, "uri")),
        branch=_text(_mapping(tree, "repository"), "ref").removeprefix("refs/heads/") or None,
        agent=thread.model or _text(value, "agentMode") or None,
        started_at_ms=created if created is not None else next((turn.at_ms for turn in turns if turn.at_ms), None),
        ended_at_ms=last_time(kept),
        tools_answered_before=tools_answered_before(turns, new),
        remaining=len(kept) < len(new) and not thread.own_call,
        own_call=thread.own_call,
        skipped=dict(sorted(thread.skipped.items())),
    )


@define
class _Thread:
    """What the messages taken so far say."""

    turns: list[Turn] = field(factory=list[Turn])
    skipped: dict[str, int] = field(factory=dict[str, int])
    model: str | None = None
    own_call: bool = False
    names: dict[str, str] = field(factory=dict[str, str])
    """Of the tools called, by the id of the call."""
    of_memory: set[str] = field(factory=set[str])
    """Calls that asked memory itself (P26)."""

    def take(self, message: object, at: int) -> None:
        if not is_object(message):
            self.skip("bad-record")
            return
        role = message.get("role")
        content = message.get("content")
        blocks: object = list[object]((content,)) if isinstance(content, str) else content
        if role not in ("user", "assistant"):
            self.skip(f"unknown-role:{one_line(str(role), 40)}")
        elif not is_list(blocks):
            self.skip("bad-record")
        elif _text(_mapping(message, "state"), "type") in _UNFINISHED_STATES:
            self.skip("unfinished-message")
        else:
            number = message.get("messageId")
            id = f"{number}" if isinstance(number, int | str) and number != "" else f"#{at}"
            self._take_blocks(role == "user", blocks, id, _time_of(message))
            self.model = _text(_mapping(message, "usage"), "model") or self.model

    def skip(self, reason: str) -> None:
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def _take_blocks(self, of_user: bool, blocks: list[object], id: str, at_ms: int | None) -> None:
        text = "\n\n".join(text for block in blocks if (text := _block_text(block)).strip())
        calls = [] if of_user else list(self._calls(blocks))
        if of_user and not self.turns and is_own_prompt(text):
            self.own_call = True
        if of_user:
            text = typed_words(text)
        if text.strip() or calls:
            role = Role.USER if of_user else Role.AGENT
            self._add(role, text.strip(), id, at_ms, calls=calls)
        for block in blocks:
            if is_object(block) and block.get("type") == "tool_result":
                self._answer(block, id, at_ms)

    def _calls(self, blocks: list[object]) -> Iterator[ToolCall]:
        for block in blocks:
            if not (is_object(block) and block.get("type") == "tool_use"):
                continue
            name, arguments, id = _text(block, "name") or "unknown", _mapping(block, "input"), _text(block, "id")
            call = tool_call(name, arguments)
            command = _text(arguments, "cmd") or _text(arguments, "command")
            if is_memory_tool(name) or is_memory_command(command) or is_entry_path(call.path or ""):
                self.of_memory.add(id)
            self.names[id] = call.name
            yield call

    def _answer(self, block: Mapping[str, object], id: str, at_ms: int | None) -> None:
        call = _text(block, "toolUseID") or _text(block, "tool_use_id")
        run = _mapping(block, "run")
        failed = _text(run, "status") in _FAILED_RUNS or block.get("is_error") is True
        answer = run.get("result") if run else block.get("content")
        text = answer_text(answer) or answer_text(run.get("error"))
        if call in self.of_memory or shows_an_entry(text):
            text = MEMORY_OUTPUT_PLACEHOLDER
        self._add(Role.TOOL, without_own_output(text), f"{id}/{call}", at_ms, self.names.get(call), failed)

    def _add(
        self,
        role: Role,
        text: str,
        id: str,
        at_ms: int | None,
        tool_name: str | None = None,
        failed: bool = False,
        calls: list[ToolCall] | None = None,
    ) -> None:
        kept = excerpt(text, text_limit(role))
        turn = Turn(
            number=len(self.turns) + 1,
            role=role,
            text=readable(kept.text),
            record_id=id,
            at_ms=at_ms,
            tool_calls=tuple(calls or ()),
            tool_name=tool_name,
            failed=failed,
            clipped_chars=kept.clipped_chars,
        )
        self.turns.append(turn)


def _block_text(block: object) -> str:
    if isinstance(block, str):
        return block
    return _text(block, "text") if is_object(block) and block.get("type") == "text" else ""


def _time_of(message: Mapping[str, object]) -> int | None:
    sent = _number(_mapping(message, "meta").get("sentAt"))
    return sent if sent is not None else ms_of(_text(_mapping(message, "usage"), "timestamp")[:40])


def _first_tree(value: Mapping[str, object]) -> Mapping[str, object]:
    trees = _mapping(_mapping(value, "env"), "initial").get("trees")
    first = trees[0] if is_list(trees) and trees else None
    return first if is_object(first) else {}


def _path_of(uri: str) -> str | None:
    if not uri.startswith("file://"):
        return None
    try:
        return unquote(urlsplit(uri).path) or None
    except ValueError:
        return None


def _text(value: Mapping[str, object], key: str) -> str:
    text = value.get(key)
    return text if isinstance(text, str) else ""


def _mapping(value: Mapping[str, object], key: str) -> Mapping[str, object]:
    inner = value.get(key)
    return inner if is_object(inner) else {}


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None

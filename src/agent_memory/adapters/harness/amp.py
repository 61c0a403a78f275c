"""Amp: threads are on its server, and its command exports them (`amp threads export`, `v` 1 to 212 seen).

An export: `{id, created, title, env.initial.trees, messages[{role, messageId, content, state, usage, meta}]}`. Content is a
text or blocks: `text`, `thinking`, `tool_use{id, name, input}`, `tool_result{toolUseID, run{status, result, error}}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import ClassVar, Self
from urllib.parse import unquote, urlsplit

from attrs import frozen
from returns.result import Failure, Success

from agent_memory.adapters.harness.any_json import (
    Json,
    answer_text,
    json_in,
    list_at,
    mapping_at,
    objects_at,
    text_at,
    texts_in,
    time_at,
)
from agent_memory.adapters.harness.harness_command import (
    MAX_PRINTED_BYTES,
    HarnessCommand,
    RunsHarness,
    is_absent,
    what_it_said,
)
from agent_memory.adapters.harness.transcripts import Findings, Surroundings, session_after
from agent_memory.adapters.harness.turn_builder import Session, asked
from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.inbox_entry import AmpThread, InboxEntry
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.transcripts.own_marks import typed_words
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import HistoryUnavailable, HistoryUnreadable, StoreIo
from agent_memory.results import as_result

RETRY_SECONDS = (3.0, 7.0)
"""An export is empty until about seven seconds after the agent's last word."""
AMP_VARIABLES = ("AMP_API_KEY", "AMP_URL", "AMP_SETTINGS_FILE")
LIST_COMMAND = ("amp", "threads", "list", "--json")

_ANYWHERE = "/"
"""In the root directory there is no project whose settings amp would follow."""
_THREAD_ID = re.compile(r"T-[A-Za-z0-9]+(?:-[A-Za-z0-9]+){0,8}", re.ASCII)
_MAX_ID_CHARS = 100
_FAILED_RUNS = ("error", "cancelled", "rejected-by-user")
_UNFINISHED_STATES = ("streaming", "in-progress", "pending")
_CHANGED_KEYS = ("updatedAt", "updated", "lastUpdated", "updated_at", "modified")
_CREATED_KEYS = ("createdAt", "created", "created_at")
_LIST_KEYS = ("threads", "items", "data", "results")
_LEAST_MS, _MOST_MS = 10**11, 10**14
"""Smaller numbers are seconds, larger ones no instants."""


@frozen
class AmpThreads:
    """Asks `amp threads export`, again after a while where that is empty.

    HistoryUnavailable: no `amp`, not logged in, no network, nothing there yet. HistoryUnreadable: an id that is none.
    """

    harness: ClassVar = Harness.AMP

    run: RunsHarness
    sleep: Callable[[float], object]

    @classmethod
    def at(cls, given: Surroundings) -> Self:
        """The threads of the person whose surroundings these are."""
        return cls(HarnessCommand(given.environ, AMP_VARIABLES), given.sleep)

    @as_result
    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> History:
        """The turns after the mark."""
        if not isinstance(entry.retrieval, AmpThread):
            raise TypeError(f"{entry.retrieval.method} is no Amp thread")
        thread_id = entry.retrieval.thread_id
        if not is_thread_id(thread_id):
            raise HistoryUnreadable(thread_id, "it is not the id of an Amp thread")
        try:
            return thread_history(self._exported_in_a_while(thread_id), thread_id, mark)
        except StoreIo as error:
            missing = "the command amp cannot be found or run; install it and log in"
            reason = missing if is_absent(error) else f"amp could not be started: {error.reason}"
            raise HistoryUnavailable(thread_id, reason) from None

    def _exported_in_a_while(self, thread_id: str) -> Json:
        for seconds in RETRY_SECONDS:
            try:
                return self._exported(thread_id)
            except HistoryUnavailable as absent:
                if not absent.is_missing:
                    raise
            self.sleep(seconds)
        return self._exported(thread_id)

    def _exported(self, thread_id: str) -> Json:
        """The thread. HistoryUnavailable, `is_missing` where there may be one in a while."""
        finished = self.run(("amp", "threads", "export", thread_id), _ANYWHERE)
        if finished.stdout_capped:
            raise HistoryUnavailable(thread_id, f"its export is larger than {MAX_PRINTED_BYTES // 2**20} MiB")
        if finished.timed_out or finished.exit_status != 0:
            raise HistoryUnavailable(thread_id, what_it_said("amp", finished))
        printed = finished.stdout.decode("utf-8-sig", "replace").strip()
        thread = json_in(printed)
        if is_object(thread) and thread.get("id") in (thread_id, None) and list_at(thread, "messages"):
            return thread
        if printed and printed[:1] not in ("{", "["):
            raise HistoryUnavailable(thread_id, "amp printed no JSON for it")
        empty = "its export holds no messages of it yet" if printed else "its export is still empty"
        raise HistoryUnavailable(thread_id, empty, is_missing=True)

    def find(self, since_ms: int | None) -> Findings:
        """See `ports.SessionFinder`; there are no threads where the command is not installed. HistoryUnavailable: `amp` is
        there and does not tell, for instance before a login."""
        try:
            finished = self.run(LIST_COMMAND, _ANYWHERE)
        except StoreIo as error:
            if not is_absent(error):
                yield Failure(HistoryUnavailable("of Amp", f"amp could not be started: {error.reason}"))
            return
        threads = None if finished.timed_out or finished.exit_status else _threads_in(finished.stdout)
        if threads is None:
            yield Failure(HistoryUnavailable("of Amp", f"{' '.join(LIST_COMMAND)}: {what_it_said('amp', finished)}"))
            return
        found = {thread.session_id: thread for thread in sorted(threads, key=lambda thread: thread.changed_at_ms)}
        yield from (Success(each) for each in found.values() if since_ms is None or each.changed_at_ms >= since_ms)


def is_thread_id(text: str) -> bool:
    """Whether this is the id of an Amp thread: `T-` and groups of letters and digits."""
    return len(text) <= _MAX_ID_CHARS and bool(_THREAD_ID.fullmatch(text))


# -- a thread ---------------------------------------------------------------------------------------------------------


def thread_history(thread: Json, thread_id: str, mark: SessionMark | None) -> History:
    """The thread's turns after the mark. A last answer that is still being written is left for the next time."""

    def fill(session: AmpSession) -> None:
        session.take_thread(thread)

    return session_after(mark, partial(AmpSession, thread_id), fill).history()


class AmpSession(Session):
    """The messages of one thread."""

    harness = Harness.AMP
    _message_index = 0

    def take_thread(self, thread: Json) -> None:
        """All of an export."""
        trees = objects_at(mapping_at(thread, "env", "initial"), "trees")
        tree: Json = trees[0] if trees else {}
        self.title = text_at(thread, "title") or None
        self.cwd = _path_of(text_at(tree, "uri"))
        self.git_branch = text_at(mapping_at(tree, "repository"), "ref").removeprefix("refs/heads/") or None
        self.started_at_ms = _whole(thread, "created")
        for self._message_index, message in enumerate(list_at(thread, "messages")):
            if is_object(message):
                self.take(message)
            else:
                self.skip("bad-record")
            if self.done:
                break
        self.agent = self.agent or text_at(thread, "agentMode") or None

    def take(self, value: Json) -> None:
        """The next message."""
        role, content = value.get("role"), value.get("content")
        if role not in ("user", "assistant"):
            self.skip(f"unknown-role:{role}")
        elif not isinstance(content, str) and not is_list(content):
            self.skip("bad-record")
        elif text_at(mapping_at(value, "state"), "type") in _UNFINISHED_STATES:
            self.skip("unfinished-message")
        else:
            self.agent = text_at(mapping_at(value, "usage"), "model") or self.agent
            self._take_message(value, role == "user")

    def _take_message(self, message: Json, of_user: bool) -> None:
        sent_at_ms = _whole(mapping_at(message, "meta"), "sentAt")
        at_ms = sent_at_ms if sent_at_ms is not None else time_at(mapping_at(message, "usage"), "timestamp")
        number = message.get("messageId")
        record_id = f"{number}" if isinstance(number, int | str) and number != "" else f"#{self._message_index}"
        content = message.get("content")
        blocks = objects_at(message, "content")
        text = texts_in(
            [each for each in list_at(message, "content") if _is_text(each)] if is_list(content) else content
        )
        self.enter(record_id, at_ms)
        if not of_user:
            calls = [
                asked(text_at(block, "id"), text_at(block, "name"), mapping_at(block, "input"))
                for block in blocks
                if block.get("type") == "tool_use"
            ]
            if text.strip() or calls:
                self.speak(None, text.strip(), calls)
        elif text.strip():
            self.hear(text, typed_words(text))
        for block in blocks:
            if block.get("type") == "tool_result":
                self._take_result(block, record_id, at_ms)

    def _take_result(self, block: Json, record_id: str, at_ms: int | None) -> None:
        call_id = text_at(block, "toolUseID", "tool_use_id")
        run = mapping_at(block, "run")
        failed = text_at(run, "status") in _FAILED_RUNS or block.get("is_error") is True
        text = answer_text(run.get("result") if run else block.get("content")) or answer_text(run.get("error"))
        self.enter(f"{record_id}/{call_id}", at_ms)
        self.answer(call_id, text, failed=failed)


def _is_text(block: object) -> bool:
    return isinstance(block, str) or (is_object(block) and block.get("type") == "text")


def _path_of(uri: str) -> str | None:
    if not uri.startswith("file://"):
        return None
    try:
        return unquote(urlsplit(uri).path) or None
    except ValueError:
        return None


def _whole(value: Json, key: str) -> int | None:
    number = value.get(key)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


# -- the list of threads ----------------------------------------------------------------------------------------------


def _threads_in(printed: bytes) -> list[FoundSession] | None:
    """The threads in a list, however it is wrapped; None for what is no list of them."""
    value = json_in(printed.decode("utf-8-sig", "replace") or "[]")
    if is_object(value):
        value = next((value[key] for key in _LIST_KEYS if is_list(value.get(key))), None)
    if not is_list(value):
        return None
    return [found for each in value if is_object(each) and (found := _thread(each)) is not None]


def _thread(value: Json) -> FoundSession | None:
    thread_id = text_at(value, "id", "threadId", "threadID")
    if not is_thread_id(thread_id):
        return None
    started_at_ms, changed_at_ms = _instant(value, _CREATED_KEYS), _instant(value, _CHANGED_KEYS)
    return FoundSession(
        harness=Harness.AMP,
        retrieval=AmpThread(thread_id),
        changed_at_ms=changed_at_ms or started_at_ms or 0,
        started_at_ms=started_at_ms,
        ended_at_ms=changed_at_ms,
    )


def _instant(value: Json, keys: tuple[str, ...]) -> int | None:
    for key in keys:
        if (at_ms := time_at(value, key)) is not None:
            return at_ms
        number = value.get(key)
        if isinstance(number, int | float) and not isinstance(number, bool) and 0 < number < _MOST_MS:
            return int(number) if number >= _LEAST_MS else int(number * 1000)
    return None

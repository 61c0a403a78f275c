"""Amp: threads are on its server, and its command exports them (`amp threads export`, `v` 1 to 212 seen).

An export: `{id, created, title, env.initial.trees, messages[{role, messageId, content, state, usage, meta}]}`. Content is a
text or blocks: `text`, `thinking`, `tool_use{id, name, input}`, `tool_result{toolUseID, run{status, result, error}}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Self
from urllib.parse import unquote, urlsplit

from returns.result import Failure, Success

from agent_memory.agent.child_process import Finished, child_environment, run_child
from agent_memory.errors import HistoryUnavailable, HistoryUnreadable, StoreIo
from agent_memory.files.lines import MAX_LINE_BYTES
from agent_memory.harness import any_json as get
from agent_memory.harness.transcripts import Findings, Sessions, Surroundings, filled
from agent_memory.harness.turn_builder import Session, asked_in
from agent_memory.note.note import Harness
from agent_memory.redaction.redact import stored_line
from agent_memory.session.found_session import FoundSession
from agent_memory.session.history import History, SessionMark
from agent_memory.session.queue import AmpThread
from agent_memory.text.json_shape import is_list, is_object

AMP_VARIABLES = ("AMP_API_KEY", "AMP_URL", "AMP_SETTINGS_FILE")
LIST_COMMAND = ("amp", "threads", "list", "--json")
TIMEOUT_SECONDS = 60.0
_SAID_CHARS = 200

_THREAD_ID = re.compile(r"(?=.{3,100}\Z)T-[A-Za-z0-9]+(?:-[A-Za-z0-9]+){0,8}", re.ASCII)
_FAILED_RUNS = ("error", "cancelled", "rejected-by-user")
_UNFINISHED_STATES = ("streaming", "in-progress", "pending")
_CHANGED_KEYS = ("updatedAt", "updated", "lastUpdated", "updated_at", "modified")
_CREATED_KEYS = ("createdAt", "created", "created_at")
_LIST_KEYS = ("threads", "items", "data", "results")


def run_amp(environ: Mapping[str, str], argv: Sequence[str]) -> Finished:
    """Runs amp to its end, without a shell, within `TIMEOUT_SECONDS` and 16 MiB, with few of our variables. In the root
    directory there is no project whose settings it would follow. Raises StoreIo where it cannot be started."""
    env = child_environment(environ, AMP_VARIABLES, {})
    return run_child(
        argv, stdin=b"", env=env, cwd="/", timeout_seconds=TIMEOUT_SECONDS, max_stdout_bytes=MAX_LINE_BYTES
    )


class AmpThreads(Sessions):
    """Asks `amp threads export`, which is empty until about seven seconds after the agent's last word.
    HistoryUnavailable: no `amp`, no login, no network, nothing there yet. HistoryUnreadable: an id that is none."""

    def __init__(self, run: Callable[[Sequence[str]], Finished]) -> None:
        self.run = run

    @classmethod
    def at(cls, given: Surroundings) -> Self:
        return cls(partial(run_amp, given.environ))

    def history(self, session_id: str, named: str | None, cwd: str | None, mark: SessionMark | None) -> History:
        if not _THREAD_ID.fullmatch(session_id):
            raise HistoryUnreadable(session_id, "it is not the id of an Amp thread")
        try:
            return thread_history(self._exported(session_id), session_id, mark)
        except StoreIo:
            reason = "the command amp cannot be found or run; install it and log in"
            raise HistoryUnavailable(session_id, reason) from None

    def _exported(self, thread_id: str) -> get.Json:
        """Returns the thread. HistoryUnavailable, `is_missing` where there may be one in a while."""
        data = self._printed_by(("amp", "threads", "export", thread_id), thread_id)
        printed = data.decode("utf-8-sig", "replace").strip()
        thread = get.parsed_object(printed)
        if thread.get("id") in (thread_id, None) and get.items(thread, "messages"):
            return thread
        if printed and printed[:1] not in ("{", "["):
            raise HistoryUnavailable(thread_id, "amp printed no JSON for it")
        empty = "its export holds no messages of it yet" if printed else "its export is still empty"
        raise HistoryUnavailable(thread_id, empty, is_missing=True)

    def _printed_by(self, argv: Sequence[str], thread_id: str) -> bytes:
        """Returns what the command printed. StoreIo where amp is not installed here, HistoryUnavailable where it cannot
        be started, goes wrong or prints too much."""
        try:
            finished = self.run(argv)
        except StoreIo as error:
            if error.errno_name in ("ENOENT", "EACCES", "ENOTDIR"):
                raise
            raise HistoryUnavailable(thread_id, f"amp could not be started: {error.reason}") from None
        if finished.stdout_capped:
            raise HistoryUnavailable(thread_id, f"its export is larger than {MAX_LINE_BYTES // 2**20} MiB")
        if finished.timed_out:
            raise HistoryUnavailable(thread_id, f"amp did not answer within {TIMEOUT_SECONDS:g} s")
        if finished.exit_status != 0:
            words = (finished.stderr_tail or finished.stdout[-_SAID_CHARS * 4 :]).decode("utf-8", "replace")
            said = stored_line(words, _SAID_CHARS)
            ended = f"amp exited with status {finished.exit_status}"
            raise HistoryUnavailable(thread_id, f"{ended}: {said}" if said else ended)
        return finished.stdout

    def find(self, since_ms: int | None) -> Findings:
        """See `ports.SessionFinder`; there are no threads where the command is not installed. HistoryUnavailable: `amp` is
        there and does not tell, for instance before a login."""
        try:
            threads = _threads_in(self._printed_by(LIST_COMMAND, "of Amp"))
        except StoreIo:
            return
        except HistoryUnavailable as error:
            yield Failure(error)
            return
        found = {thread.session_id: thread for thread in sorted(threads, key=lambda thread: thread.changed_at_ms)}
        yield from (Success(each) for each in found.values() if since_ms is None or each.changed_at_ms >= since_ms)


def thread_history(thread: get.Json, thread_id: str, mark: SessionMark | None) -> History:
    """Returns the thread's turns after the mark. A last answer that is still being written is left for the next
    time."""
    return filled(AmpSession(thread_id), mark, lambda session: session.take_thread(thread)).history()


class AmpSession(Session):
    harness = Harness.AMP

    def take_thread(self, thread: get.Json) -> None:
        trees = get.objects(get.mapping(thread, "env", "initial"), "trees")
        tree: get.Json = trees[0] if trees else {}
        branch = get.text(get.mapping(tree, "repository"), "ref").removeprefix("refs/heads/")
        self.note(title=get.text(thread, "title"), cwd=_path_of(get.text(tree, "uri")), branch=branch)
        self.started_at_ms = get.number(thread, "created")
        for index, message in enumerate(get.items(thread, "messages")):
            if (
                not is_object(message)
                or message.get("role") not in ("user", "assistant")
                or (blocks := get.blocks(message)) is None
            ):
                self.skip("bad-record")
            elif get.text(get.mapping(message, "state"), "type") not in _UNFINISHED_STATES:
                self._take_message(message, blocks, index)
            if self.done:
                break
        self.agent = self.agent or get.text(thread, "agentMode") or None

    def _take_message(self, message: get.Json, blocks: list[get.Json], index: int) -> None:
        usage, text = get.mapping(message, "usage"), "\n\n".join(get.block_texts(blocks))
        self.note(agent=get.text(usage, "model"))
        sent_at_ms = get.number(get.mapping(message, "meta"), "sentAt")
        at_ms = sent_at_ms if sent_at_ms is not None else get.time(usage, "timestamp")
        number = message.get("messageId")
        record_id = f"{number}" if isinstance(number, int | str) and number != "" else f"#{index}"
        self.enter(record_id, at_ms)
        if message.get("role") == "assistant":
            self.speak(None, text.strip(), asked_in(blocks, ("tool_use",)))
        elif text.strip():
            self.hear(text)
        for block in blocks:
            if block.get("type") == "tool_result":
                call_id, run = get.text(block, "toolUseID", "tool_use_id"), get.mapping(block, "run")
                failed = get.text(run, "status") in _FAILED_RUNS or block.get("is_error") is True
                told = get.answer(run.get("result") if run else block.get("content"))
                self.enter(f"{record_id}/{call_id}", at_ms)
                self.answer(call_id, told or get.answer(run.get("error")), failed=failed)


def _path_of(uri: str) -> str:
    try:
        return unquote(urlsplit(uri).path) if uri.startswith("file://") else ""
    except ValueError:
        return ""


def _threads_in(printed: bytes) -> list[FoundSession]:
    """Returns the threads in a list, however it is wrapped. HistoryUnavailable for what is no list of them."""
    value = get.parsed(printed.decode("utf-8-sig", "replace") or "[]")
    if is_object(value):
        value = next((value[key] for key in _LIST_KEYS if is_list(value.get(key))), None)
    if not is_list(value):
        raise HistoryUnavailable("of Amp", f"{' '.join(LIST_COMMAND)}: what amp printed cannot be understood")
    threads: list[FoundSession] = []
    for each in filter(is_object, value):
        thread_id = get.text(each, "id", "threadId", "threadID")
        started, changed = get.instant(each, *_CREATED_KEYS), get.instant(each, *_CHANGED_KEYS)
        if _THREAD_ID.fullmatch(thread_id):
            at_ms, retrieval = changed or started or 0, AmpThread(thread_id)
            threads.append(FoundSession(Harness.AMP, retrieval, at_ms, ended_at_ms=changed))
    return threads

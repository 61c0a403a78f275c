"""Claude Code (versions 1.0 to 2.1.24x): `<project>/<session id>.jsonl` in `~/.claude/projects`.

One record a line; each has a `type`, most a `uuid` and a `parentUuid`. Each content block of an assistant message is a record
of its own, with the message's `id`. Tools' answers are `user` records with `tool_result` blocks. A prompt that was typed
while the agent worked is in up to three records. Rewinding leaves a branch behind; forks and resumptions copy records of
other sessions into the file. Sub-agents write files of their own, in older versions records with `isSidechain`. The format
is internal to Claude Code and differs between versions; what is not understood is left out and counted.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice, takewhile

from attrs import frozen

from agent_memory.adapters.harness.any_json import (
    Json,
    digest_of,
    list_at,
    mapping_at,
    text_at,
    texts_in,
    time_at,
)
from agent_memory.adapters.harness.session_finders import TranscriptFinder, uuid_in
from agent_memory.adapters.harness.transcripts import (
    OpenTranscript,
    SessionSource,
    Surroundings,
    TranscriptRoots,
    find_transcript,
    history_in,
    read_session,
)
from agent_memory.adapters.harness.turn_builder import MAX_CALLS_PER_RECORD, Asked, Draft, NewFrom, Session, asked
from agent_memory.domain.history import UNKNOWN_TYPE, History, Role, SessionMark
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.transcripts.own_marks import machine_text, typed_words
from agent_memory.domain.vocabulary import Harness
from agent_memory.ports import SessionFinder


def source(given: Surroundings) -> ClaudeCodeSessions:
    """The histories of Claude Code's sessions."""
    return ClaudeCodeSessions(_roots(given))


def finder(given: Surroundings) -> SessionFinder:
    """The past sessions of Claude Code."""
    return TranscriptFinder(Harness.CLAUDE_CODE, _roots(given), _identify, 1, shares_record_ids=True, in_one_file=True)


def _roots(given: Surroundings) -> TranscriptRoots:
    return given.roots(*(f"{each}/projects" for each in given.homes("CLAUDE_CONFIG_DIR", "~/.claude")))


def _identify(path: str, names: tuple[str, ...]) -> str | None:
    """`<project>/<session id>.jsonl`. Sub-agents have `agent-<id>.jsonl` beside it, or a directory of the session's."""
    return uuid_in(names[-1].removesuffix(".jsonl")) if names[-1].endswith(".jsonl") else None


class ClaudeCodeSessions(SessionSource):
    """Reads transcripts in the order of the file, without what was rewound away or retracted. Left out, and counted:
    sub-agents' own turns (their final answers are tool turns), records of another session that a fork or resumption copied
    into the file, the harness's own texts."""

    method = "claude-code-session"

    def find(self, session_id: str) -> str | None:
        """The newest `<session id>.jsonl` of any project."""
        return find_transcript(self.roots, session_id)

    def read(self, file: OpenTranscript, session_id: str, mark: SessionMark | None) -> History:
        """The turns after the mark. A file whose records all name another session was found under this one's name: it is read
        as a whole."""
        session = read_session(file, mark, partial(ClaudeSession, session_id))
        if session.all_foreign:
            session = read_session(file, mark, partial(ClaudeSession, session_id, any_session=True))
            session.skip("session-id-mismatch")
        return history_in(session, file)


# -- what one record says ---------------------------------------------------------------------------------------------


@frozen
class Said:
    """A text that is not the agent's. `source` is None for the person; else it names what sent it, and the text counts as a
    tool's. `queued` marks the copies of a prompt that was typed while the agent worked."""

    text: str
    raw: str = ""
    """As recorded, for recognising our own prompts."""
    source: str | None = None
    queued: bool = False
    prompt: bool = True
    """It begins a branch of the conversation where it has siblings."""


@frozen
class Answered:
    """A part of an assistant message."""

    message_id: str | None
    text: str
    asked: tuple[Asked, ...] = ()


@frozen
class Returned:
    """What a tool answered."""

    text: str
    tool_use_id: str | None
    tool_name: str | None = None
    failed: bool = False
    answers: str = ""
    """What the person chose or typed in answer to AskUserQuestion."""
    rejection: str = ""
    """What the person said when refusing the call."""
    rejection_sure: bool = False
    """The harness itself says that the person refused; else the tool could have printed those words."""


@frozen
class QueueStep:
    """A change to the prompts waiting while the agent works: `enqueue`, `dequeue`, `remove`."""

    operation: str
    text: str
    reason: str


@frozen
class LeftOut:
    """A part that is not kept, and why."""

    reason: str


Part = Said | Answered | Returned | QueueStep | LeftOut


@frozen
class Record:
    """One line: its object and what it says."""

    value: Json
    kind: str
    id: str
    at_ms: int | None
    session_id: str
    parts: tuple[Part, ...] = ()

    @property
    def says_nothing(self) -> bool:
        """Nothing in it would be a turn."""
        return all(isinstance(part, LeftOut) for part in self.parts)


_SILENT_TYPES = frozenset((
    "progress", "file-history-snapshot", "file-history-delta", "mode", "permission-mode", "bridge-session", "atis-latch",
    "worktree-state", "frame-link", "last-prompt", "agent-name", "agent-color", "agent-setting", "tag",
))  # fmt: skip
_KNOWN_TYPES = _SILENT_TYPES | {
    *("user", "assistant", "attachment", "queue-operation", "pr-link"),
    *("system", "summary", "ai-title", "custom-title", "relocated"),
}
_TITLES = {"summary": (1, "summary"), "ai-title": (2, "aiTitle"), "custom-title": (3, "customTitle")}
"""A person's title before the harness's before a summary: its rank, and the member that holds it."""
_TYPE_CHARS = 40
_SYNTHETIC_MODEL = "<synthetic>"
"""Stands where a model is named in what Claude Code made itself."""
_REJECTED, _REJECTED_BECAUSE = "The user doesn't want to proceed with this tool use.", "the user said:"
_NOTIFICATION = "task-notification"
_USER_BLOCKS = ("text", "tool_result", "image", "document")
_CALL_BLOCKS = ("tool_use", "server_tool_use", "mcp_tool_use")
_HIDING_FLAGS = {"isMeta": "meta", "isCompactSummary": "compact-summary", "isVisibleInTranscriptOnly": "meta"}


def read_record(value: Json) -> Record | None:
    """The record in an object; None for an object that no version of Claude Code writes. Pure; never raises."""
    kind = text_at(value, "type")
    if not kind:
        return None
    record_id = text_at(value, "uuid")
    if not record_id:
        told = repr(value.get("message") or value.get("attachment") or value)
        record_id = digest_of(kind, text_at(value, "timestamp"), told)
    parts = tuple(_parts(kind, value))
    return Record(value, kind, record_id, time_at(value, "timestamp"), text_at(value, "sessionId"), parts)


def _parts(kind: str, value: Json) -> Iterator[Part]:
    if kind == "user":
        yield from _of_user(value)
    elif kind == "assistant":
        yield from _of_assistant(value)
    elif kind == "attachment":
        yield _of_attachment(value)
    elif kind == "queue-operation":
        yield QueueStep(text_at(value, "operation"), text_at(value, "content"), text_at(value, "reason"))
    elif kind == "pr-link":
        yield _of_pull_request(value)
    elif kind not in _KNOWN_TYPES:
        yield LeftOut(f"{UNKNOWN_TYPE}{kind[:_TYPE_CHARS]}")


def _blocks_of(message: Json) -> list[object] | None:
    content = message.get("content")
    return [content] if isinstance(content, str) else content if is_list(content) else None


def _of_user(value: Json) -> Iterator[Part]:
    blocks = _blocks_of(mapping_at(value, "message"))
    if blocks is None:
        yield LeftOut("bad-record")
        return
    objects = [block for block in blocks if is_object(block)]
    yield from (_returned(block, value) for block in objects if block.get("type") == "tool_result")
    if any(block.get("type") not in _USER_BLOCKS for block in objects):
        yield LeftOut("unknown-block")
    if any(not isinstance(block, dict | str) for block in blocks):
        yield LeftOut("bad-record")
    texts = _texts_of(blocks)
    if texts:
        yield _said(texts, value, images=sum(map(_is_image, blocks)))


def _said(texts: list[str], value: Json, images: int) -> Part:
    for flag, reason in _HIDING_FLAGS.items():
        if value.get(flag) is True:
            return LeftOut(reason)
    raw = "\n\n".join(texts)
    kind = _origin(value)
    if notice_in(raw) == _NOTIFICATION and kind in ("", _NOTIFICATION):
        return _notified(raw)
    text, reason = typed_text(texts)
    if not text:
        return LeftOut(reason)
    by_system = value.get("promptSource") == "system"
    sent_by = machine_text(text) or kind or ("system" if by_system else "human")
    return Said("\n\n".join([text, *["[image]"] * images]), raw, None if sent_by == "human" else sent_by[:_TYPE_CHARS])


def _origin(value: Json) -> str:
    return text_at(mapping_at(value, "origin"), "kind")


def _notified(raw: str) -> Said:
    """What a background task reported, empty where it did not."""
    return Said(element(raw, "result") or element(raw, "summary"), raw, source=_NOTIFICATION, prompt=False)


def _returned(block: Json, value: Json) -> Returned:
    text = _answer_text(block.get("content"))
    failed = block.get("is_error") is True
    outcome = value.get("toolUseResult")
    answers = mapping_at(value, "toolUseResult", "answers").values()
    refused = failed and text.startswith(_REJECTED) and _REJECTED_BECAUSE in text
    return Returned(
        text,
        text_at(block, "tool_use_id") or None,
        failed=failed,
        answers="\n".join(answer for answer in answers if isinstance(answer, str) and answer.strip()),
        rejection=typed_text([text.split(_REJECTED_BECAUSE, 1)[1]])[0] if refused else "",
        rejection_sure=outcome == "User rejected tool use" or value.get("toolDenialKind") == "user-rejected",
    )


def _of_assistant(value: Json) -> Iterator[Part]:
    message = mapping_at(value, "message")
    blocks = _blocks_of(message)
    if blocks is None:
        yield LeftOut("bad-record")
        return
    if value.get("isApiErrorMessage") is True or message.get("model") == _SYNTHETIC_MODEL:
        yield LeftOut("api-error")
        return
    texts = [text for text in _texts_of(blocks) if text.strip()]
    objects = [block for block in blocks if is_object(block)]
    uses = islice((block for block in objects if block.get("type") in _CALL_BLOCKS), MAX_CALLS_PER_RECORD)
    calls = tuple(asked(text_at(use, "id"), text_at(use, "name"), mapping_at(use, "input")) for use in uses)
    if texts or calls:
        yield Answered(text_at(message, "id") or None, "\n\n".join(texts), calls)
    for block in objects:
        if str(block.get("type")).endswith("_tool_result"):
            yield Returned(_answer_text(block.get("content")), text_at(block, "tool_use_id") or None)


def _of_attachment(value: Json) -> Part:
    attachment = mapping_at(value, "attachment")
    if attachment.get("type") != "queued_command":
        return LeftOut("attachment")
    raw = _answer_text(attachment.get("prompt"))
    if notice_in(raw) == _NOTIFICATION:
        return _notified(raw)
    kind = _origin(attachment) or _origin(value)
    if kind not in ("", "human") or attachment.get("commandMode", "prompt") != "prompt":
        return LeftOut("not-typed")
    text, reason = typed_text([raw])
    return Said(text, raw, queued=True, prompt=False) if text else LeftOut(reason)


def _of_pull_request(value: Json) -> Part:
    url, number, repository = text_at(value, "prUrl"), value.get("prNumber"), text_at(value, "prRepository")
    return Returned(f"Pull request {number} of {repository}: {url}", None, "pr-link") if url else LeftOut("bad-record")


def _texts_of(blocks: list[object]) -> list[str]:
    texts = (block if isinstance(block, str) else _block_text(block) for block in blocks)
    return [text for text in texts if text is not None]


def _block_text(block: object) -> str | None:
    return text_at(block, "text") if is_object(block) and block.get("type") == "text" else None


def _is_image(block: object) -> bool:
    return is_object(block) and block.get("type") in ("image", "document")


def _answer_text(content: object) -> str:
    """The text of a tool's answer: a string, or a list of blocks; of a page that was found its title and address."""
    blocks = content if is_list(content) else [content]
    texts = (
        " ".join(filter(None, (text_at(block, "title"), text_at(block, "url"))))
        if is_object(block) and not _is_image(block) and not text_at(block, "text")
        else texts_in(block, image="[image]")
        for block in blocks
    )
    return "\n".join(filter(None, texts))


# -- what a person typed, out of what is recorded as a user's text ----------------------------------------------------

_HARNESS_LINE = re.compile(
    r"^[ \t]*\[(?:Request interrupted by user[^\]\n]{0,80}|Image: (?:original|source)[^\]\n]{0,400})\][ \t]*$",
    re.MULTILINE,
)
_NOTICES = {
    "Caveat: The messages below were generated by the user while running local commands.": "local-command",
    "This session is being continued from a previous conversation": "compact-summary",
    "Base directory for this skill:": "skill",
    "<task-notification": _NOTIFICATION,
}
"""How the texts begin that are the harness's as a whole: what stands after a notification tells where the report is."""
_COMMAND_TAGS = ("<command-name>", "<command-message>")
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
_REMINDER = re.compile(r"\s*<system-reminder>(?:(?!<system-reminder>).)*?</system-reminder>\s*", re.DOTALL)

_SETTINGS_COMMANDS = frozenset((
    "/add-dir", "/agents", "/clear", "/color", "/config", "/context", "/cost", "/doctor", "/effort", "/exit", "/export",
    "/fast", "/help", "/hooks", "/ide", "/login", "/logout", "/mcp", "/memory", "/model", "/output-style", "/permissions",
    "/plugin", "/plugins", "/privacy-settings", "/quit", "/release-notes", "/rename", "/resume", "/rewind", "/sandbox",
    "/skills", "/status", "/statusline", "/tasks", "/terminal-setup", "/theme", "/upgrade", "/usage", "/vim",
))  # fmt: skip
"""Commands that only set the harness itself: their arguments say nothing about the work."""


def typed_text(texts: Sequence[str]) -> tuple[str, str]:
    """What the person typed, of the texts of one record: without the harness's wrappers, notices and markers, and without
    what memory injected; where nothing is left, what it was.

    A slash command becomes its name and arguments; without arguments, or if it only sets the harness, it is left out.
    """
    raw = "\n\n".join(takewhile(lambda text: notice_in(text) is None, map(str.strip, texts))).strip()
    if raw.startswith(_COMMAND_TAGS):
        return _command(typed_words(raw)), "command"
    kept = _BLANK_LINES.sub("\n\n", _HARNESS_LINE.sub("", typed_words(raw))).strip()
    if raw.startswith("[Request interrupted"):
        return kept, "interrupted"
    return kept, next(filter(None, map(notice_in, texts)), "harness-text" if raw else "empty")


def notice_in(text: str) -> str | None:
    """What a text is that is the harness's as a whole; None for any other."""
    return next((kind for begins, kind in _NOTICES.items() if text.lstrip().startswith(begins)), None)


def element(text: str, tag: str) -> str:
    """The text from the first `<tag>` to the last `</tag>`; empty where it is not there or not closed."""
    inside, closed, _ = text.partition(f"<{tag}>")[2].rpartition(f"</{tag}>")
    return inside.strip() if closed else ""


def _command(text: str) -> str:
    before, _, arguments = text.rpartition("<command-args>")
    name = "/" + element(before or text, "command-name").removeprefix("/")
    typed = arguments.rpartition("</command-args>")[0].strip()
    return f"{name} {typed}" if typed and name not in _SETTINGS_COMMANDS else ""


def _without_reminders(text: str) -> str:
    """The text of a tool's result without the reminders that the harness added to it for the agent."""
    return _REMINDER.sub("\n", text).strip("\n") if "<system-reminder>" in text else text


# -- the session ------------------------------------------------------------------------------------------------------

_MOST_PLACES = 20
_MOST_BEFORE = 20
_MOST_REMEMBERED = 1_000
_QUESTION_TOOL = "AskUserQuestion"
_TRUSTED_REFUSALS = frozenset(
    ("ExitPlanMode", _QUESTION_TOOL, "Edit", "MultiEdit", "Write", "NotebookEdit", "TodoWrite")
)
"""Tools whose error messages Claude Code makes itself: others could print a refusal that nobody spoke."""


class ClaudeSession(Session):
    """The records of one session in the order of the file."""

    harness = Harness.CLAUDE_CODE
    harness_name = "Claude Code"

    def __init__(self, session_id: str, new_from: NewFrom, *, any_session: bool = False) -> None:
        """`any_session` takes the records of every session in the file as this one's."""
        super().__init__(session_id, new_from)
        self._any_session = any_session
        self._branches = Branches()
        self._queued = QueuedPrompts()
        self._abandoned: frozenset[int] = frozenset()
        self._retracted: set[str] = set()
        self._pull_requests: set[str] = set()
        self._before: list[Record] | None = []
        """Records under the id of another session, as long as they may be this one's first."""
        self._foreign = 0
        self._named = False
        self._title_rank = 0
        self._relocated_cwd: str | None = None
        self._spoken_in: set[str] = set()
        self._typed_prompts = 0
        self._scripted_prompts = 0
        self._human = False
        """`origin.kind` said that a person typed a prompt: the one sure sign."""
        self._scheduled = False

    @property
    def all_foreign(self) -> bool:
        """Records named other sessions, and none this one."""
        return self._foreign > 0 and not self._named

    def take(self, value: Json) -> None:
        """The next object of the file."""
        record = read_record(value)
        if record is None:
            self.skip("bad-record")
            return
        self.known_records += record.kind in _KNOWN_TYPES
        if not self._any_session and record.session_id not in ("", self.session_id):
            self._take_foreign(record)
            return
        if record.session_id:
            self._named = True
            self._take_before(record)
        self._take_own(record)

    def left_out(self, draft: Draft) -> str | None:
        """What was rewound away or retracted."""
        if draft.branch in self._abandoned:
            return "abandoned-branch"
        return "retracted" if self._retracted.intersection(draft.record_ids) else None

    def history(self) -> History:
        """Whether it is automated is told only by signs that a person's session never shows: every prompt sent through the
        SDK, or none at all and a schedule that fired."""
        self._abandoned = self._branches.abandoned()
        home = self._relocated_cwd or self.cwd
        self.cwd, self.also_in = home, tuple(sorted(self._spoken_in - {home or ""}))
        by_person = self._human or self._typed_prompts > 0
        self.automated = not by_person and (self._scripted_prompts > 0 or self._scheduled)
        return super().history()

    # -- records ------------------------------------------------------------------------------------------------------

    def _take_foreign(self, record: Record) -> None:
        self._foreign += 1
        self.skip("other-session")
        if self._before is not None:
            is_copy = len(self._before) > _MOST_BEFORE or any(isinstance(part, Answered) for part in record.parts)
            self._before = None if is_copy else [*self._before, record]

    def _take_before(self, record: Record) -> None:
        """Take what stands before the first record of this session under the id of the one before it, if this follows on it:
        so begins what `/clear`, or a plan to be carried out, begins. What a fork copied holds the agent's words too."""
        before = self._before or []
        if _parent_of(record) in {each.id for each in before}:
            self._before = None
            self.skip("other-session", -len(before))
            for each in before:
                self._take_own(each)
        elif not record.says_nothing:
            self._before = None

    def _take_own(self, record: Record) -> None:
        value = record.value
        if value.get("isSidechain") is True:
            self.skip("sidechain")
            return
        has_own_id = bool(text_at(value, "uuid"))
        if (has_own_id or record.at_ms is not None) and not self.seen_ids.add(record.id):
            self.skip("repeated-record")
            return
        if self._begins_after_enough(record):
            self.full = True
            return
        self._note(record)
        self.enter(record.id, record.at_ms)
        branch = self._branches.note(record.id, _parent_of(record), self.position, _begins_branch(record))
        for part in record.parts:
            self._take_part(part, record, branch)
        if not self.past_mark:
            self._branches.forget()
        self.leave()

    def _begins_after_enough(self, record: Record) -> bool:
        """Whether a turn begins here that no turn before it can grow beyond, with enough kept already."""
        if not self.has_enough or record.says_nothing:
            return False
        return not any(
            (isinstance(part, Answered) and self.goes_on(part.message_id or ""))
            or (isinstance(part, Returned) and self.awaits(part.tool_use_id))
            for part in record.parts
        )

    def _note(self, record: Record) -> None:
        """What the record says about the session as a whole."""
        value, kind = record.value, record.kind
        self.cwd = self.cwd or text_at(value, "cwd") or None
        if kind == "relocated":
            self._relocated_cwd = text_at(value, "relocatedCwd") or self._relocated_cwd
        branch, model = text_at(value, "gitBranch"), text_at(mapping_at(value, "message"), "model")
        self.git_branch = branch if branch not in ("", "HEAD") else self.git_branch
        self.agent = model if kind == "assistant" and model not in ("", _SYNTHETIC_MODEL) else self.agent
        self.started_at_ms = self.started_at_ms or record.at_ms
        self._scheduled = self._scheduled or text_at(value, "subtype") == "scheduled_task_fire"
        rank, key = _TITLES.get(kind, (0, ""))
        title, leaf_id = text_at(value, key), text_at(value, "leafUuid")
        # Files begin with summaries of other sessions: one belongs to the session that holds its record.
        is_ours = rank != 1 or not leaf_id or leaf_id in self.seen_ids
        if title.strip() and is_ours and rank >= self._title_rank:
            self.title, self._title_rank = title, rank
        retracted = (each for each in list_at(value, "retractedMessageUuids") if isinstance(each, str))
        self._retracted.update(islice(retracted, _MOST_REMEMBERED))

    # -- parts --------------------------------------------------------------------------------------------------------

    def _take_part(self, part: Part, record: Record, branch: int) -> None:
        match part:
            case Said():
                self._say(part, record, branch)
            case Answered():
                self.speak(part.message_id, part.text, part.asked, branch=branch)
            case Returned():
                self._return(part, branch)
            case QueueStep():
                self._step_queue(part, record, branch)
            case LeftOut(reason) if reason.startswith(UNKNOWN_TYPE):
                self.skip_unknown(reason.removeprefix(UNKNOWN_TYPE))
            case LeftOut(reason):
                self.skip(reason)

    def _say(self, said: Said, record: Record, branch: int) -> None:
        if self.begins_with_own_prompt(said.raw):
            return
        if not said.text:
            self.skip(said.source or "empty")
        elif said.source is not None:
            self.say(Role.TOOL, said.text, branch=branch, tool_name=said.source)
        elif self._queued.is_new(said.text, is_record=not said.queued):
            self._note_prompt(record.value)
            self.say(Role.USER, said.text, branch=branch)
        else:
            self.skip("repeated-prompt")

    def _note_prompt(self, value: Json) -> None:
        self._human = self._human or _origin(value) == "human"
        cwd = text_at(value, "cwd")
        if cwd and len(self._spoken_in) < _MOST_PLACES:
            self._spoken_in.add(cwd)
        is_scripted = text_at(value, "entrypoint").startswith("sdk-")
        self._scripted_prompts += is_scripted
        self._typed_prompts += not is_scripted

    def _step_queue(self, step: QueueStep, record: Record, branch: int) -> None:
        if step.operation == "enqueue":
            self._queued.enqueue(step.text)
        elif step.operation == "dequeue":
            self._queued.dequeue()
        elif step.operation == "remove":
            text = self._queued.remove(step.text)
            if step.reason not in ("", "absorbed_mid_turn") or text.startswith("/"):
                return
            if typed := typed_text([text])[0]:
                self._say(Said(typed, text, queued=True, prompt=False), record, branch)

    def _return(self, returned: Returned, branch: int) -> None:
        if returned.tool_name == "pr-link":
            if returned.text in self._pull_requests:
                return
            if len(self._pull_requests) < _MOST_REMEMBERED:
                self._pull_requests.add(returned.text)
        name = self.answer(
            returned.tool_use_id,
            _without_reminders(returned.text),
            tool_name=returned.tool_name,
            failed=returned.failed,
            branch=branch,
        )
        if spoken := _spoken(returned, name):
            self.say(Role.USER, spoken, branch=branch)


def _parent_of(record: Record) -> str:
    keys = ("parentUuid",) if record.kind in _SILENT_TYPES else ("parentUuid", "logicalParentUuid")
    return text_at(record.value, *keys)


def _begins_branch(record: Record) -> bool:
    if any(isinstance(part, Returned) for part in record.parts):
        return False
    return any(isinstance(part, Said) and part.prompt and part.source is None for part in record.parts)


def _spoken(returned: Returned, tool_name: str | None) -> str:
    """What the person said through a tool: an answer to a question, or why a call was refused."""
    if tool_name == _QUESTION_TOOL and returned.answers:
        return returned.answers
    return returned.rejection if returned.rejection_sure or tool_name in _TRUSTED_REFUSALS else ""


_WAITING = 200
_PROMPTS_APART = 3
"""A copy comes soon: by the third prompt after the first record, the same words were typed again."""


class QueuedPrompts:
    """Three records may hold one queued prompt: its removal from the queue when the agent takes it (in some versions the
    only one, with the text or without), an attachment, a user record. The first to come counts."""

    def __init__(self) -> None:
        self._waiting: deque[str] = deque(maxlen=_WAITING)
        self._heard: dict[str, int] = {}
        """How many more prompts a copy of this text is expected for."""

    def enqueue(self, text: str) -> None:
        """It waits."""
        self._waiting.append(text)

    def dequeue(self) -> str:
        """The first that waits, which becomes a prompt in a record of its own."""
        return self._waiting.popleft() if self._waiting else ""

    def remove(self, text: str) -> str:
        """The text that left the queue, which may not say so itself."""
        if not text:
            return self.dequeue()
        if text in self._waiting:
            self._waiting.remove(text)
        return text

    def is_new(self, text: str, *, is_record: bool) -> bool:
        """Whether this is the first record of the prompt. `is_record` for a user record, of which only the copy of a
        queued prompt is a repetition: a person may type the same words twice."""
        key = " ".join(text.split())
        if key in self._heard:
            del self._heard[key]
            return False
        self._heard = {known: left - is_record for known, left in self._heard.items() if left > is_record}
        if not is_record:
            self._heard[key] = _PROMPTS_APART
        return True


_RECENT_RECORDS = 20_000
_MAX_BRANCHES = 60_000


class Branches:
    """Follows the parent links of a transcript in file order.

    A branch begins at each prompt. It is abandoned if another prompt with the same parent was given after everything
    that grew from it was written: that is what rewinding leaves behind. Two branches that were both written on afterwards
    (a session resumed twice) are both kept. Compaction sets a new root and may rewrite parents; since nothing here walks
    back to a root, it abandons nothing. Memory is bounded: links further back than the last 20,000 records are not
    followed.
    """

    def __init__(self) -> None:
        self._branch_of: dict[str, int] = {}
        self._parents: list[int] = []
        self._begun_at: list[int] = []
        self._last_at: list[int] = []
        self._siblings: dict[str, list[int]] = {}

    def note(self, id: str, parent_id: str | None, position: int, begins: bool) -> int:
        """The branch that this record belongs to, -1 before the first; `begins` for a prompt."""
        branch = self._branch_of.get(parent_id, -1) if parent_id else -1
        if begins:
            branch = self._begin(parent_id, branch, position)
        if branch >= 0:
            self._last_at[branch] = position
        self._branch_of[id] = branch
        if len(self._branch_of) > _RECENT_RECORDS:
            del self._branch_of[next(iter(self._branch_of))]
        return branch

    def forget(self) -> None:
        """Start afresh if there is much to remember: for when nothing noted so far can matter any more."""
        if len(self._parents) > _MAX_BRANCHES:
            for held in (self._branch_of, self._siblings, self._parents, self._begun_at, self._last_at):
                held.clear()

    def abandoned(self) -> frozenset[int]:
        """The branches that were rewound away, with all that grew from them."""
        last_at = list(self._last_at)
        for branch in range(len(self._parents) - 1, -1, -1):
            parent = self._parents[branch]
            if parent >= 0:
                last_at[parent] = max(last_at[parent], last_at[branch])
        left: set[int] = set()
        for siblings in self._siblings.values():
            newest_begun_at = max(self._begun_at[branch] for branch in siblings)
            left.update(branch for branch in siblings if last_at[branch] < newest_begun_at)
        for branch, parent in enumerate(self._parents):
            if parent in left:
                left.add(branch)
        return frozenset(left)

    def _begin(self, parent_id: str | None, parent: int, position: int) -> int:
        branch = len(self._parents)
        self._parents.append(parent)
        self._begun_at.append(position)
        self._last_at.append(position)
        if parent_id:
            self._siblings.setdefault(parent_id, []).append(branch)
        return branch

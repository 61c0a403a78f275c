"""A session in one normal form: a history of turns."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from hashlib import sha256
from itertools import accumulate
from posixpath import commonprefix, normpath
from typing import Any

from attrs import evolve, field, frozen

from agent_memory.note.note import Harness
from agent_memory.redaction.redact import redact_path, redact_with_paths
from agent_memory.session.own_marks import is_memory_tool
from agent_memory.text.json_shape import is_list, is_object
from agent_memory.text.plain_text import ID_PATTERN, Count, EntryId, SomeText, one_line
from agent_memory.text.tables import read_table

UNKNOWN_TYPE = "unknown-type:"
"""Prefix of the reasons in `History.skipped` for kinds of records that we do not know."""


class Role(StrEnum):
    """The author of a turn. `tool` is everything from neither the person nor the agent: results, pages, files."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"


@frozen
class ToolCall:
    """One use of a tool inside an agent turn."""

    name: str
    """The harness's name for it: `Bash`, `Edit`, `mcp__x__y`."""
    brief: str
    """The request on one line: the command, query or path, at most 400 characters; or what it wrote and what that
    replaced, about 250 characters of code or 2,000 of a document."""
    path: str | None = field(default=None, metadata={"sparse": True})
    writes: bool = field(default=False, metadata={"sparse": True})


@frozen
class Turn:
    """One utterance. The blocks of one assistant message are one turn; each tool result is its own. The metadata are
    for storage (`store.kept_histories_files`)."""

    number: int
    """Counted from 1 over the whole session, whatever part of it this history holds."""
    role: Role
    text: str
    record_id: str = field(metadata={"key": "record"})
    """The harness's id of the (last) record of the turn: the unit of the session mark."""
    at_ms: int | None = field(default=None, metadata={"sparse": True})
    tool_calls: tuple[ToolCall, ...] = field(default=(), metadata={"key": "calls", "sparse": True})
    """For agent turns."""
    tool_name: str | None = field(default=None, metadata={"key": "tool", "sparse": True})
    """For tool turns: the tool that answered, if known."""
    failed: bool = field(default=False, metadata={"sparse": True})
    """For tool turns: the tool reported an error."""
    clipped_chars: int = field(default=0, metadata={"key": "clipped", "sparse": True})
    """How many characters of the original are missing in `text`."""
    answers: ToolCall | None = field(default=None, metadata={"sparse": True})
    """For tool turns: the call that is answered, None if unknown. It may have been made before the first turn here."""


def _sparse(default: Any = None) -> Any:
    return field(default=default, metadata={"sparse": True})


@frozen
class History:
    """The turns of one session after its mark, in order; may be empty. `remaining` says that the source stopped at its
    size limit and has more turns; the caller marks these and asks again."""

    harness: Harness
    session_id: str
    turns: tuple[Turn, ...] = _sparse(())
    title: str | None = _sparse()
    cwd: str | None = _sparse()
    also_in: tuple[str, ...] = _sparse(())
    """Other directories in which the person spoke: a session continued in another checkout belongs to both."""
    branch: str | None = _sparse()
    agent: str | None = _sparse()
    started_at_ms: int | None = _sparse()
    """The start of the whole session, not of this part."""
    ended_at_ms: int | None = _sparse()
    """The time of the last turn here."""
    tools_answered_before: bool = _sparse(False)
    """Whether the session had tool output before the first turn here."""
    remaining: bool = _sparse(False)
    after_record: str | None = _sparse()
    """The record before these turns; None at the beginning of the session."""
    transcript: str = _sparse("")
    """The session's file that this was read from (`transcript_key`); empty if it is not in a file."""
    automated: bool = _sparse(False)
    """True if no person took part: a scheduled or scripted run."""
    own_call: bool = _sparse(False)
    """True if the session is one of our own agent calls (recognised by the prompt marker)."""
    skipped: dict[str, int] = field(factory=dict[str, int], metadata={"sparse": True})
    """Counts of what could not be read, by reason (`unknown-type:foo`, `bad-line`, `line-too-long`), without what a
    reader leaves out on purpose, such as a harness's own texts."""

    @property
    def tools_answered(self) -> bool:
        """Returns whether the session had tool output before or among these turns."""
        return self.tools_answered_before or any(turn.role is Role.TOOL for turn in self.turns)

    @property
    def unknown_records(self) -> int:
        """Returns the number of records of unknown kinds; many of them mean that the harness's format has changed."""
        return sum(count for reason, count in self.skipped.items() if reason.startswith(UNKNOWN_TYPE))


@frozen
class TranscriptEnd:
    """How far one of a session's several files has been consolidated; the members are those of `SessionMark`."""

    transcript: str
    last_record_id: str
    last_at_ms: int | None = field(metadata={"sparse": True})
    turns_seen: int


COPY = "copy"
"""The agent name in the mark of a session that only repeats another session."""


@frozen
class SessionMark:
    """How far a session has been consolidated: one JSON file for each session in `state/sessions/`."""

    harness: Harness
    session_id: SomeText
    last_record_id: str
    last_at_ms: int | None = field(metadata={"sparse": True})
    """The time of that record: if its id is gone (a rewritten transcript), later records are new."""
    turns_seen: Count
    """The number of the last turn consolidated; numbering continues from here."""
    tools_answered: bool
    agent_name: SomeText = field(metadata={"key": "agent"})
    """The agent that consolidated it (`builtin`, a preset, or `command:<hash>`)."""
    handoff_id: EntryId | None = field(default=None, metadata={"sparse": True})
    """The id of the session's handoff note, which is updated as the session grows."""
    entry_ids: tuple[EntryId, ...] = ()
    used_ids: tuple[EntryId, ...] = field(default=(), metadata={"sparse": True})
    """Notes whose use in the session is in the usage ledger."""
    transcript: str = field(default="", metadata={"sparse": True})
    """The record's file (`transcript_key`). Without one, the mark counts for every file of the session."""
    elsewhere: tuple[TranscriptEnd, ...] = field(default=(), metadata={"sparse": True})
    """The ends in its other files: a session resumed in another directory, or copied, continues in each separately."""

    @property
    def ends(self) -> tuple[TranscriptEnd, ...]:
        """Returns where consolidation stopped in each file, the latest first."""
        return (TranscriptEnd(self.transcript, self.last_record_id, self.last_at_ms, self.turns_seen), *self.elsewhere)

    def within(self, transcript: str) -> SessionMark | None:
        """Returns the mark for one of the session's files, or None if nothing of it was consolidated."""
        end = next((end for end in self.ends if end.transcript == transcript), None)
        if end is None:
            return None if transcript and (self.transcript or self.elsewhere) else self
        others = tuple(other for other in self.ends if other is not end)
        return evolve(
            self,
            transcript=transcript,
            last_record_id=end.last_record_id,
            last_at_ms=end.last_at_ms,
            turns_seen=end.turns_seen,
            elsewhere=others,
        )


def transcript_key(path: str) -> str:
    """Returns a short key for a transcript; its path would say more than the store should keep."""
    return sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# -- the shell command that resumes a session in its own harness ------------------------------------------------------

_COMMANDS: Mapping[str, str] = {
    Harness.CLAUDE_CODE: "claude --resume {id}",
    Harness.CODEX: "codex resume {id}",
    Harness.CURSOR: "cursor-agent --resume {id}",
    Harness.AMP: "amp threads continue {id}",
    Harness.GEMINI: "gemini --resume {id}",
    Harness.OPENCODE: "opencode --session {id}",
    Harness.COPILOT: "copilot --resume {id}",
    Harness.PI: "pi --session {id}",
    Harness.GOOSE: "goose session --resume --session-id {id}",
    Harness.AIDER: "aider --restore-chat-history",
}


def resume_command(harness: str, session_id: str | None, cwd: str | None) -> str | None:
    """Returns the command, to run in the session's directory, or None for a harness without one and an id that none
    would mint. Id and directory come from files that anyone may have written, and must be one shell word each (P21)."""
    command = _COMMANDS.get(harness)
    if command is None or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}", session_id or "", re.ASCII):
        return None
    resumed = command.format(id=session_id)
    return f"cd {shlex.quote(cwd)} && {resumed}" if cwd and cwd.startswith("/") and cwd.isprintable() else resumed


# -- tool calls: what an agent asked of a tool, from the arguments that the harness recorded --------------------------

BRIEF_CHARS = 400
DOCUMENT_CHARS = 2_000
"""How much is kept of text written to a document: unlike code, it states findings and decisions."""

_NAME_CHARS = 120
_PATH_CHARS = 1_000
_RAW_CHARS = 4_000
"""How much of an argument is considered: some hold a whole file."""
_CUT_WORD = re.compile(r"\S{1,200}\Z")

_TABLE = read_table("agent_memory.session", "wording.txt")
_WRITING_TOOLS = _TABLE.words("writing_tools")
_PATH_KEYS = (
    *("file_path", "notebook_path", "filePath", "absolute_path", "path", "file"),
    *("target_file", "relativeWorkspacePath", "target_notebook"),
)
_OLD_KEYS = ("old_string", "old_str", "oldText", "oldString")
_NEW_KEYS = (
    *("new_string", "new_str", "newText", "newString", "content", "contents", "new_source", "code_edit"),
    "file_text",
)
_DOCUMENT = re.compile(r"\.(?:mdx?|markdown|txt|rst|adoc|org)$", re.IGNORECASE)
_CODE_CHARS = 250
_PATCH_FILE = re.compile(r"\*\*\* (?:(Add|Update|Delete) File|Move to): (.{1,1000})")
_PATCH = "*** Begin Patch"
_HUNK_CHARS = 2_000
_MAX_FILES = 200
_BRIEF_KEYS = (
    *("command", "cmd", "query", "pattern", "filePattern", "url", "description", "objective", "task", "question"),
    *("file_path", "notebook_path", "filePath", "path", "target_file", "skill", "plan", "prompt", "title"),
)

_FOREIGN_TOOL = _TABLE.expression("foreign_tool")
_EXTENSION = re.compile(r"(?!developer__|functions?__|multi_tool_use|collaboration__)[a-z0-9-]+__\w+", re.IGNORECASE)
"""Matches tools of goose's extensions and MCP servers, named `server__tool`; not what a harness names so itself."""
_FETCHES = _TABLE.expression("fetches", re.NOFLAG)
_OF_OTHERS = _TABLE.expression("of_others", re.NOFLAG)
_OWN_PLACES = _TABLE.expression("own_places", re.NOFLAG)
_LOGGED_IN = re.compile(
    r"(?:^|[\s;&|(])(?:ssh|scp|rsync)\s(?:[^;&|]{0,200}?[\s:])?(?!(?:git|hg|svn|aur)@)[\w.-]+@([\w-]+(?:\.[\w-]+)+)"
)


def answers(history: History) -> Iterator[tuple[Turn, tuple[ToolCall, ...]]]:
    """Yields each tool turn with the call that it answers. If the harness did not record which one, with the calls of its
    tool that awaited an answer, oldest first: it may be to any of them. No calls if they are unknown."""
    waiting: dict[str, list[ToolCall]] = {}
    made = {turn.number: turn.tool_calls for turn in history.turns}
    for turn in history.turns:
        if turn.role is Role.USER:
            waiting.clear()  # unanswered calls were interrupted
        for call in turn.tool_calls:
            waiting.setdefault(call.name, []).append(call)
        if turn.role is Role.TOOL:
            calls = waiting.get(turn.tool_name or "", [])
            number, place = turn.answers or (0, 0)
            if known := made.get(number, ())[place : place + 1]:
                yield turn, known
                if known[0] in calls:
                    calls.remove(known[0])
            else:
                yield turn, tuple(calls)
                del calls[:1]


def foreign_turns(history: History) -> frozenset[int]:
    """Returns the numbers of the tool turns with text from outside the project and its tools: pages, searches, MCP
    answers, issues, dependencies, files outside of the project; and answers to unknown calls. What a host that the agent
    logged in to answers is no page."""
    places = () if history.cwd is None else tuple(map(normpath, (history.cwd, *history.also_in)))
    briefs = (call.brief for turn in history.turns for call in turn.tool_calls if runs_commands(call))
    hosts = {re.escape(host) for brief in briefs for host in _LOGGED_IN.findall(brief)}
    own = re.compile(rf"(?<=://)(?:{'|'.join(sorted(hosts))})(?![\w.@-])") if hosts else None

    def is_foreign(call: ToolCall, failed: bool) -> bool:
        if call.writes or (failed and call.path):  # the tool itself speaks
            return False
        brief = call.brief if own is None else own.sub("localhost", call.brief)
        return bool(_FETCHES.search(brief)) or _is_foreign_path(call.path or call.brief, places)

    return frozenset(
        turn.number
        for turn, calls in answers(history)
        if (name := turn.tool_name) is None
        or _FOREIGN_TOOL.match(name)
        or _EXTENSION.match(name)
        or any(is_foreign(call, turn.failed) for call in calls)
    )


def _is_foreign_path(path: str, places: tuple[str, ...]) -> bool:
    if _OF_OTHERS.search(path):
        return True
    if not path.startswith("/") or not places or " " in path or _OWN_PLACES.match(path):
        return False
    path = normpath(path)
    above = f"{path.rpartition('/')[0]}/"
    return not any(path.startswith(f"{here}/") or path == here or here.startswith(above) for here in places)


def tool_calls(name: str, arguments: Mapping[str, object]) -> tuple[ToolCall, ...]:
    """Returns the call; for one that applies a patch, a call for each of its files."""
    texts = (text for text in arguments.values() if isinstance(text, str) and _PATCH in text)
    patch = "" if _first_text(arguments, _PATH_KEYS) else next(texts, "")
    files: list[tuple[str, list[str]]] = []
    for line in patch.partition(_PATCH)[2].splitlines():
        found = _PATCH_FILE.match(line)
        if found is None and files:
            files[-1][1].append(line)
        elif found is not None and found[1] is None and files:  # the file is moved
            files[-1] = (found[2].strip(), files[-1][1])
        elif found is not None and len(files) < _MAX_FILES:
            files.append((found[2].strip(), []))
    calls = (tool_call("apply_patch", {"path": path, **changed_lines(lines)}) for path, lines in files)
    return tuple(calls) or (tool_call(name, arguments),)


def tool_call(name: str, arguments: Mapping[str, object]) -> ToolCall:
    """Returns the call: with a path if the arguments name a file, and `writes` if the tool changes it."""
    path = _first_text(arguments, _PATH_KEYS)
    writes = name.lower() in _WRITING_TOOLS
    return ToolCall(
        one_line(name, _NAME_CHARS) or "unknown",
        (writes and _change(arguments, path)) or _line(_brief(name, arguments), BRIEF_CHARS),
        one_line(redact_path(path[:_RAW_CHARS]), _PATH_CHARS) if path else None,
        writes,
    )


def changed_lines(lines: Sequence[str]) -> dict[str, object]:
    """Returns the removed and the added lines of a diff, cut."""
    changed: dict[str, object] = {}
    for key, sign in (("old_str", "-"), ("new_str", "+")):
        kept = [line[1:] for line in lines if line.startswith(sign) and not line.startswith(sign * 3)]
        chars = accumulate(map(len, kept), initial=0)
        changed[key] = "\n".join(line for line, before in zip(kept, chars, strict=False) if before <= _HUNK_CHARS)
    return changed


def _line(text: str, max_chars: int) -> str:
    """Returns the beginning of a text on one line. Secrets are redacted first, while they are whole: a word that was cut goes."""
    head = text if len(text) < _RAW_CHARS else _CUT_WORD.sub("", text[:_RAW_CHARS])
    return one_line(redact_with_paths(head), max_chars)


def _brief(name: str, arguments: Mapping[str, object]) -> str:
    todos, questions = arguments.get("todos"), arguments.get("questions")
    if is_list(todos):
        items = ((_text_in(item, "status") if is_object(item) else "", _text_in(item, "content")) for item in todos)
        return "; ".join(f"[{status}] {content}" if status else content for status, content in items)
    if is_list(questions):
        return "; ".join(_text_in(item, "question") for item in questions)
    if name in ("Grep", "Glob") and isinstance(arguments.get("path"), str):
        return f"{arguments.get('pattern', '')} in {arguments['path']}"
    if (told := _first_text(arguments, _BRIEF_KEYS)) or not arguments:
        return told
    shortened = {key: value[:_RAW_CHARS] if isinstance(value, str) else value for key, value in arguments.items()}
    return json.dumps(shortened, ensure_ascii=False, separators=(", ", ": "), default=str)


def _change(arguments: Mapping[str, object], path: str) -> str:
    """Returns what a writing tool replaces, then the new text; both cut, code shorter than a document."""
    edits = arguments.get("edits")
    first = edits[0] if is_list(edits) and edits and is_object(edits[0]) else arguments
    room = DOCUMENT_CHARS if _DOCUMENT.search(path) else _CODE_CHARS
    before, after = (_first_text(first, keys).split("\n") for keys in (_OLD_KEYS, _NEW_KEYS))
    # An edit repeats unchanged lines at both ends to name its place.
    begin = len(commonprefix((before, after)))
    end = len(commonprefix((before[begin:][::-1], after[begin:][::-1])))
    old = _line("\n".join(before[begin : len(before) - end]), _CODE_CHARS // 3)
    new = _line("\n".join(after[begin : len(after) - end]), room - len(old))
    more = f" (+{len(edits) - 1} more edits)" if is_list(edits) and len(edits) > 1 else ""
    return f"{old} => {new}{more}" if old else new


def _first_text(arguments: Mapping[str, object], keys: tuple[str, ...]) -> str:
    return next((text for key in keys if isinstance(text := arguments.get(key), str) and text.strip()), "")


def _text_in(item: object, key: str) -> str:
    value = item.get(key) if is_object(item) else item
    return value if isinstance(value, str) else ""


# -- which notes an agent used -----------------------------------------------------------------------------------------

_ENTRY_FILE = re.compile(rf"\b({ID_PATTERN})\.md\b")
_ID = re.compile(rf"\b{ID_PATTERN}\b")
_BARE_ID = r"(?:id__)?[1-9A-HJ-NP-Za-km-z]{6}\b"
_MEMORY_READ = re.compile(rf"\b(?:memory|agent_memory[\w.]*)\s+(?:-\S+\s+)*read\s+(?:-\S+\s+)*['\"]?({_BARE_ID})")

_SHELLS = re.compile(r"bash|shell|exec|command|terminal", re.IGNORECASE)
_CHANGES = re.compile(r"write|edit|create|delete|remove|rename|move|patch|update|replace|insert", re.IGNORECASE)
_STEP = re.compile(r"[;|&]+")
_READING_STEP = re.compile(r"(?:^|[\s'\"(/])(?:cat|bat|batcat|head|tail|less|more|nl|sed|awk|grep|egrep|rg|view)\s")
_NOT_READING = re.compile(r"[<>]|\s-i\b|\s--in-place\b")


def runs_commands(call: ToolCall) -> bool:
    """Returns whether this is a call of a shell, whose command line is its brief."""
    return bool(_SHELLS.search(call.name))


def entry_uses(turns: Iterable[Turn]) -> tuple[set[str], dict[str, int | None]]:
    """Returns the ids of notes read through memory itself, which counted the reads; and those whose files were opened
    directly, with the time of the first read. Only naming or changing a note's file is not a use."""
    read: set[str] = set()
    opened: dict[str, int | None] = {}
    for turn in turns:
        for call in turn.tool_calls if turn.role is Role.AGENT else ():
            if is_memory_tool(call.name):
                if "read" in call.name.lower():
                    read.update(_ID.findall(call.brief))
                continue
            if runs_commands(call):
                read.update(f"id__{id.removeprefix('id__')}" for id in _MEMORY_READ.findall(call.brief))
            if call.path is not None:
                read_from = [] if call.writes or _CHANGES.search(call.name) else [call.path]
            else:
                steps = _STEP.split(call.brief) if runs_commands(call) else []
                read_from = [step for step in steps if _READING_STEP.search(step) and not _NOT_READING.search(step)]
            for id in (id for each in read_from for id in _ENTRY_FILE.findall(each)):
                opened.setdefault(id, turn.at_ms)
    return read, opened

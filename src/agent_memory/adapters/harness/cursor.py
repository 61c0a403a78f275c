"""Histories of Cursor conversations, of the editor and of its command line (`cursor-session`)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from functools import partial

from attrs import define, field, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.json_lines import objects_in
from agent_memory.adapters.disk.lines import MAX_LINE_BYTES, Line, LongLine, read_lines
from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.harness.any_json import mapping_at, objects_at, text_at
from agent_memory.adapters.harness.cursor_session import CursorSession
from agent_memory.adapters.harness.cursor_store import DATABASE, MISSING_BUBBLE, history_in_store
from agent_memory.adapters.harness.line_transcripts import history_in, not_looked_for, read_session, read_transcript
from agent_memory.adapters.harness.read_only_database import read_database
from agent_memory.adapters.harness.transcript_roots import (
    OpenTranscript,
    TranscriptRoots,
    file_beside,
    is_session_id,
    transcript,
)
from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.inbox_entry import InboxEntry, SessionFile
from agent_memory.domain.json_shape import is_object
from agent_memory.errors import Error, HistoryUnavailable

_ID_OF_LINE = re.compile(r"\d+-[0-9a-f]{16}", re.ASCII)
_SUFFIXES = (".jsonl", ".txt")
_PROJECT_FILE = ".workspace-trusted"
_MAX_PROJECT_FILE_BYTES = 64 * 1024

_Pieces = Callable[[int, int], Iterator[Line | LongLine]]


@frozen
class CursorSessions:
    """Reads a conversation from the editor's store in one of the `roots`, and where that does not know it, or has lost
    some of it, from its transcript: `<project>/agent-transcripts/<id>/<id>.jsonl`, or in older versions `<id>.jsonl` or
    `<id>.txt` in `agent-transcripts`. What was begun from the transcript goes on from there: its records have other ids.

    Sub-agents' conversations are automated. Errors: see `read_database` and `line_transcripts`.
    """

    roots: TranscriptRoots

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The turns after the mark, at most about 16 MiB of them (`remaining` then)."""
        retrieval = entry.retrieval
        if not isinstance(retrieval, SessionFile) or retrieval.method != "cursor-session":
            raise TypeError(f"{retrieval.method} is not cursor-session")
        from_transcript = mark is not None and _ID_OF_LINE.fullmatch(mark.last_record_id) is not None
        try:
            path = self._transcript_path(retrieval)
            stored = None if from_transcript and path is not None else self._stored(retrieval, mark)
        except OSError as error:
            return Failure(not_looked_for(retrieval.session_id, error))
        if path is None or _is_whole(stored):
            return stored or self._absent(retrieval.session_id)
        read = read_transcript(self.roots, path, retrieval.session_id, partial(self._read, mark))
        return stored if isinstance(read, Failure) and isinstance(stored, Success) else read

    def _absent(self, session_id: str) -> Result[History, Error]:
        where = ", ".join(self.roots.roots) or "any known directory"
        return Failure(
            HistoryUnavailable(session_id, f"there is no conversation {session_id} in {where}", is_missing=True)
        )

    def _stored(self, retrieval: SessionFile, mark: SessionMark | None) -> Result[History, Error] | None:
        """What the first store says that knows the conversation; else the first failure; None where none knows it."""
        failure: Result[History, Error] | None = None
        for database in self._databases(retrieval.session_path):
            id = retrieval.session_id
            found = read_database(self.roots, database, id, partial(history_in_store, id, mark))
            if isinstance(found, Failure):
                failure = failure or found
            elif (history := found.unwrap()) is not None:
                return Success(history)
        return failure

    def _databases(self, named: str | None) -> list[str]:
        paths = [f"{root}/{DATABASE}" for root in self.roots.roots]
        named_one = [named] if named is not None and named.endswith(DATABASE) else []
        return [*named_one, *(path for path in paths if path != named and lies_there(path))]

    def _transcript_path(self, retrieval: SessionFile) -> str | None:
        named = retrieval.session_path
        if named is not None and not named.endswith(DATABASE) and lies_there(named):
            return named
        found = _found(self.roots, retrieval.session_id)
        return found if named is None or named.endswith(DATABASE) else found or named

    def _read(self, mark: SessionMark | None, file: OpenTranscript, session_id: str) -> Result[History, Error]:
        pieces: _Pieces = plain_text_pieces if file.path.endswith(".txt") else read_lines
        session = read_session(file, mark, partial(CursorSession, session_id), pieces)
        facts = session.facts
        facts.cwd = _project_path(self.roots, file.path)
        alone = session.prompts == 1
        facts.automated = is_sub_agents(file.path) or (
            alone and is_delegated(self.roots, file.path, session.first_prompt)
        )
        return history_in(session, file, "Cursor")


def _is_whole(stored: Result[History, Error] | None) -> bool:
    return isinstance(stored, Success) and not stored.unwrap().skipped.get(MISSING_BUBBLE)


def _found(roots: TranscriptRoots, session_id: str) -> str | None:
    """The newest transcript of this conversation."""
    if not is_session_id(session_id):
        return None
    names = [name for suffix in _SUFFIXES for name in (f"{session_id}/{session_id}{suffix}", f"{session_id}{suffix}")]
    directories = [directory for root in roots.roots for directory in _directories(root)]
    paths = (f"{directory}/{name}" for directory in directories for name in names)
    return max((path for path in paths if lies_there(path)), key=lambda path: os.lstat(path).st_mtime, default=None)


def _directories(root: str) -> Iterator[str]:
    """Where conversations may be below a root that holds projects, is one, or holds a project's conversations."""
    yield root
    yield f"{root}/{TRANSCRIPTS}"
    try:
        with os.scandir(root) as entries:
            projects = [entry.path for entry in entries if entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return
    yield from (f"{project}/{TRANSCRIPTS}" for project in projects)


def _project_path(roots: TranscriptRoots, path: str) -> str | None:
    """Where the project is: its directory's name here cannot be turned back into a path, but a file in it says so. Raises
    OSError where that cannot be read: a note of it would hold everywhere (P6)."""
    project, found, _ = path.partition(f"/{TRANSCRIPTS}/")
    if not found:
        return None
    with transcript(roots, f"{project}/{_PROJECT_FILE}", "") as opened:
        file = file_beside(opened, path)
        if file is None:
            return None
        data = os.read(file.descriptor, _MAX_PROJECT_FILE_BYTES)
    return _path_in(data.decode("utf-8", "replace").strip())


def _path_in(text: str) -> str | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = {"workspacePath": text.splitlines()[0] if text else ""}
    path = value.get("workspacePath") if is_object(value) else None
    return path if isinstance(path, str) and path.startswith("/") else None


TRANSCRIPTS = "agent-transcripts"
_SUB_AGENTS = "/subagents/"
_LOOKED_AT = 20


def is_sub_agents(path: str) -> bool:
    """Whether the transcript's place says that it is a sub-agent's."""
    return _SUB_AGENTS in path


def is_delegated(roots: TranscriptRoots, path: str, prompt: str) -> bool:
    """Whether a conversation beside this one handed exactly this prompt to a sub-agent. Of many the twenty that were
    written to at about the same time are looked at."""
    wanted = " ".join(prompt.split())
    return bool(wanted) and any(wanted in _delegated(roots, sibling) for sibling in _siblings(path))


def _siblings(path: str) -> list[str]:
    directory = _directory_of(path)
    if directory is None:
        return []
    try:
        names = os.listdir(directory)
    except (FileNotFoundError, NotADirectoryError):
        return []
    paths = [f"{directory}/{name}" if name.endswith(".jsonl") else f"{directory}/{name}/{name}.jsonl" for name in names]
    at = _changed_at(path)
    others = [other for other in paths if other != path and lies_there(other)]
    return sorted(others, key=lambda other: abs(_changed_at(other) - at))[:_LOOKED_AT]


def _directory_of(path: str) -> str | None:
    """The directory of all of a project's conversations: of this one's own, or that of its own directory."""
    parent, name = os.path.split(path)
    above, own = os.path.split(parent)
    return above if name.startswith(f"{own}.") else parent if own == TRANSCRIPTS else None


def _delegated(roots: TranscriptRoots, path: str) -> set[str]:
    with transcript(roots, path, "") as opened:
        file = file_beside(opened, path)
        if file is None or file.size_bytes > MAX_LINE_BYTES:
            return set()
        return set(_prompts_in(read_lines(file.descriptor, file.size_bytes)))


def _prompts_in(pieces: Iterator[object]) -> Iterator[str]:
    for piece in pieces:
        if not isinstance(piece, Line) or b'"prompt"' not in piece.data:
            continue
        for value in objects_in(piece.data).found:
            for block in objects_at(mapping_at(value, "message"), "content"):
                prompt = text_at(mapping_at(block, "input"), "prompt")
                if value.get("role") == "assistant" and prompt:
                    yield " ".join(prompt.split())


def _changed_at(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0


_SPEAKERS = ("user:", "assistant:")
_THOUGHT, _CALL, _RESULT = "[Thinking]", "[Tool call]", "[Tool result]"
_MAX_PART_CHARS = 1_000_000

Json = dict[str, object]


def plain_text_pieces(descriptor: int, size_bytes: int) -> Iterator[Line | LongLine]:
    """The file's content as lines of JSON."""
    reader = _Reader()
    for piece in read_lines(descriptor, size_bytes):
        if isinstance(piece, LongLine):
            yield piece
            continue
        yield from map(_as_line, reader.take(piece.data.decode("utf-8", "replace").rstrip("\r")))
    yield from map(_as_line, reader.end())


def _as_line(value: Json) -> Line:
    return Line(json.dumps(value).encode())


@define
class _Reader:
    """Takes the file's lines; gives what was said as soon as it is over."""

    _speaker: str = ""
    _kind: str = "text"
    """What the lines at hand belong to: `text`, a thought, a call, a result."""
    _name: str = ""
    _lines: list[str] = field(factory=list[str])
    _chars: int = 0
    _content: list[Json] = field(factory=list[Json])
    _tagged: bool | None = None
    """Whether the first words of a person had tags: from then on a speaker's line without them is somebody's text."""
    _agent_spoke: bool = False
    _held: bool = False
    """The line before was `user:`."""

    def take(self, line: str) -> Iterator[Json]:
        if self._held:
            yield from self._begin_user(line)
        bare = line.strip()
        if line.rstrip() in _SPEAKERS:
            if bare == "user:":
                self._held = True
            else:
                yield from self._begin("assistant:")
        elif self._speaker == "assistant:" and bare.startswith((_THOUGHT, _CALL, _RESULT)):
            yield from self._begin_part(bare)
        else:
            if self._kind != "text" and line[:1] not in (" ", "\t"):
                yield from self._begin_part("")
            self._add(line)

    def end(self) -> Iterator[Json]:
        yield from self._finish()

    def _begin_user(self, next_line: str) -> Iterator[Json]:
        self._held = False
        tagged = next_line.lstrip().startswith(("<user_query>", "<timestamp>"))
        self._tagged = tagged if self._tagged is None else self._tagged
        if self._tagged and not tagged:
            self._add("user:")
        else:
            yield from self._begin("user:")

    def _begin(self, speaker: str) -> Iterator[Json]:
        yield from self._finish()
        self._speaker = speaker

    def _begin_part(self, mark: str) -> Iterator[Json]:
        self._close_part()
        if self._content and self._content[0]["type"] == "tool_result":
            yield from self._finish()
        if mark.startswith(_RESULT):
            yield from self._finish()
            self._kind = _RESULT
        elif mark.startswith(_CALL):
            self._kind, self._name = _CALL, mark.removeprefix(_CALL).strip()
        elif mark.startswith(_THOUGHT):
            self._kind = _THOUGHT

    def _add(self, line: str) -> None:
        self._chars += len(line)
        if self._chars <= _MAX_PART_CHARS:
            self._lines.append(line)

    def _close_part(self) -> None:
        lines, kind, name = self._lines, self._kind, self._name
        self._lines, self._kind, self._name, self._chars = [], "text", "", 0
        text = "\n".join(lines).strip()
        if kind == _CALL:
            self._content.append({"type": "tool_use", "name": name, "input": _arguments(lines)})
        elif kind == _RESULT:
            self._content.append({"type": "tool_result", "content": text})
        elif kind == "text" and text:
            self._content.append({"type": "text", "text": text})

    def _finish(self) -> Iterator[Json]:
        self._close_part()
        content, self._content = self._content, []
        if not content or not self._speaker:
            return
        answers = content[0]["type"] == "tool_result"
        role = "user" if answers or self._speaker == "user:" else "assistant"
        if role == "user" and self._agent_spoke and not answers:
            content = [{"type": "tool_result", "name": "history", "content": each["text"]} for each in content]
        self._agent_spoke = self._agent_spoke or role == "assistant" or answers
        yield {"role": role, "message": {"content": content}}


def _arguments(lines: list[str]) -> Json:
    found = (line.strip().partition("=") for line in lines)
    return {key: value for key, equals, value in found if equals and key}

"""One module a harness: how to find its past sessions, and how to read them."""

from __future__ import annotations

import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from glob import escape, iglob
from hashlib import sha256
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import cast

from attrs import evolve, frozen

from agent_memory.capture.repository import work_tree_above
from agent_memory.errors import HistoryUnavailable, HistoryUnreadable, PathRefused, StoreIo
from agent_memory.files.durable import read_loosely
from agent_memory.files.lines import MAX_LINE_BYTES
from agent_memory.files.paths import files_below, path_in, read_image, real_root
from agent_memory.harness import any_json as get
from agent_memory.harness.transcripts import SessionFiles, Sessions, Surroundings as Surroundings
from agent_memory.note.note import Harness
from agent_memory.ports import HistorySource, SessionFinder
from agent_memory.results import as_result
from agent_memory.session.found_session import FoundSession
from agent_memory.session.history import History, Role, SessionMark, Turn
from agent_memory.session.own_marks import is_own_prompt
from agent_memory.session.queue import SNAPSHOTS, FileSnapshot, InboxEntry, InlineNote, retrieval_of
from agent_memory.session.turns import USER_TEXT_CHARS, as_many_as_fit, document_turns, excerpt, turns_after
from agent_memory.text.markdown import first_heading
from agent_memory.text.plain_text import clean_text

_SESSIONS: Mapping[Harness, tuple[str, str]] = {
    Harness.CLAUDE_CODE: ("claude_code", "ClaudeCodeSessions"),
    Harness.CODEX: ("codex", "CodexSessions"),
    Harness.CURSOR: ("cursor_store", "CursorSessions"),
    Harness.AMP: ("amp", "AmpThreads"),
    Harness.GEMINI: ("gemini", "GeminiSessions"),
    Harness.COPILOT: ("copilot", "CopilotSessions"),
    Harness.AIDER: ("aider", "AiderChats"),
    Harness.GOOSE: ("goose", "GooseSessions"),
    Harness.OPENCODE: ("opencode", "OpencodeSessions"),
    Harness.PI: ("pi", "PiSessions"),
}
"""The module and the class of each harness, loaded when they are needed: a new harness is one module, and a line here."""
_UNWATCHED = (Harness.AMP, Harness.GOOSE, Harness.OPENCODE)
"""They keep sessions behind a network or in a database, which is not asked every two seconds while its owner works."""


def _sessions_of(harness: Harness) -> type[Sessions]:
    module, name = _SESSIONS[harness]
    return cast("type[Sessions]", getattr(import_module(f"{__name__}.{module}"), name))


@frozen
class Histories:
    """`HistorySource` of whatever may be in the inbox: the session of any harness, a file, a note."""

    given: Surroundings

    @as_result
    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> History:
        match entry.retrieval:
            case InlineNote() as note:
                return note_history(entry, note)
            case FileSnapshot(path):
                return snapshot_history(self.given.root, entry, path, mark)
            case how:
                sessions = _sessions_of(entry.harness).at(self.given)
                history = sessions.history(how.session_id, how.session_path, entry.context.cwd, mark)
        return without_commands(history, self.given.home)


def session_finders(given: Surroundings) -> dict[Harness, SessionFinder]:
    return {harness: _sessions_of(harness).at(given) for harness in _SESSIONS}


def watched_finders(given: Surroundings) -> dict[Harness, SessionFinder]:
    """Of the harnesses that keep sessions in files."""
    from agent_memory.harness.cursor import CursorTranscripts

    watched = {each: _sessions_of(each) for each in _SESSIONS if each not in _UNWATCHED}
    return {each: sessions.at(given) for each, sessions in (watched | {Harness.CURSOR: CursorTranscripts}).items()}


def recorded_roots(given: Surroundings) -> tuple[str, ...]:
    """Directories of transcripts that only the variables name, for processes that do not have them."""
    own = [each for each in map(_sessions_of, _SESSIONS) if hasattr(each, "below")]

    def roots(given: Surroundings) -> tuple[str, ...]:
        return given.roots(*(path for each in own for path in each.directories(given)))

    usual = roots(evolve(given, environ={}))
    return tuple(path for path in roots(given) if path not in usual)


def watched_directories(finders: Mapping[Harness, SessionFinder]) -> tuple[str, ...]:
    """Tells where these look, whether it is there or not."""
    found = (each for finder in finders.values() if isinstance(finder, SessionFiles) for each in finder.roots)
    return tuple(dict.fromkeys(found))


_IN_FILES = (
    *(Harness.CLAUDE_CODE, Harness.CODEX, Harness.COPILOT, Harness.GEMINI),
    *(Harness.PI, Harness.CURSOR, Harness.OPENCODE),
)
_ID = re.compile(r'"(?:sessionId|sessionID|session_id|id)":\s*"([\w-]{8,128})"')
_OF_A_SUBAGENT = re.compile(r"/subagents/|/agent-[^/]*$")


def loose_sessions(histories: HistorySource, paths: Iterable[str]) -> Iterator[FoundSession | str]:
    """Yields the sessions in files, whatever they are called: copies under other names. Each is of the first harness that
    finds both sides of a talk in it; of a file that none can read the path is yielded, of a sub-agent's nothing."""
    for path in sorted(paths):
        if not path.endswith((".json", ".jsonl")) or _OF_A_SUBAGENT.search(path):
            continue
        head = read_loosely(path, 200_000).decode("utf-8", "replace")
        ids = Counter(_ID.findall(head) or [os.path.basename(path).partition(".")[0]])
        for harness in _IN_FILES:
            # In the records of these two other things have ids, too.
            is_most = harness in (Harness.CLAUDE_CODE, Harness.GEMINI)
            how = retrieval_of(harness, ids.most_common(1)[0][0] if is_most else next(iter(ids)), path)
            history = histories.fetch(InboxEntry(0, harness, how), None).value_or(None)
            if history is None:
                continue
            if {Role.USER, Role.AGENT} <= {turn.role for turn in history.turns}:
                status, shared = os.lstat(path), harness is Harness.CLAUDE_CODE
                changed_at_ms, size_bytes = status.st_mtime_ns // 1_000_000, status.st_size
                yield FoundSession(harness, how, changed_at_ms, size_bytes, shares_record_ids=shared)
                break
            if history.automated:
                break  # a sub-agent's: left out, as it is where its harness keeps it
        else:
            yield path


# -- prompts that a harness made of the file of a command: what the file holds was typed by nobody ---------------------

_COMMANDS: Mapping[Harness, tuple[str, ...]] = {
    Harness.CODEX: (".codex/prompts",),
    Harness.GEMINI: (".gemini/commands", ".gemini/extensions/*/commands"),
    Harness.OPENCODE: tuple(f"{each}/command{s}" for each in (".opencode", ".config/opencode") for s in ("", "s")),
    Harness.PI: (".pi/prompts", ".pi/agent/prompts"),
}
"""Where their files are, below the home or a project."""
_MOST_COMMANDS, _MAX_COMMAND_BYTES, _LEAST_COMMAND_CHARS = 500, 64 << 10, 20
_FRONTMATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_PRINTED = re.compile(r"!\{(?:[^{}]|\{\{args\}\}|\{[^{}]*\})*\}|@\{[^{}]*\}|!`[^`]+`")
"""Matches what becomes a command's output, or a file."""
_GIVEN = re.compile(r"\{\{args\}\}|\$(?:[1-9@]|[A-Z][A-Z0-9_]*|\{@[^{}]*\})")
"""Matches what becomes an argument."""


def without_commands(history: History, home: str) -> History:
    """Returns the history where a prompt that was made of a command's file holds only what was given to the command, or is
    a tool's: if nothing was, or the file puts in what a shell prints."""
    commands = list(_commands(history, home))
    return evolve(history, turns=tuple(_typed(turn, commands) for turn in history.turns)) if commands else history


def _typed(turn: Turn, commands: Iterable[tuple[re.Pattern[str], bool]]) -> Turn:
    for command, prints in commands if turn.role is Role.USER else ():
        if found := command.fullmatch(turn.text.strip()):
            given = "" if prints else "\n".join(filter(None, map(str.strip, found.groups())))
            return evolve(turn, text=given) if given else evolve(turn, role=Role.TOOL, tool_name="command")
    return turn


def _commands(history: History, home: str) -> Iterator[tuple[re.Pattern[str], bool]]:
    """Yields for each command what matches its prompts, and whether it prints something into them."""
    names, cwd = _COMMANDS.get(history.harness, ()), history.cwd or home
    with suppress(OSError, StoreIo):
        places = dict.fromkeys((home, cwd, work_tree_above(cwd) or cwd))
        directories = (each for place in places for name in names for each in iglob(f"{escape(place)}/{name}"))
        paths = (
            each for directory in directories for each in files_below(directory) if each.endswith((".md", ".toml"))
        )
        for path in islice(paths, _MOST_COMMANDS):
            text = clean_text(read_loosely(path, _MAX_COMMAND_BYTES).decode("utf-8", "replace"))
            if path.endswith(".toml"):
                with suppress(tomllib.TOMLDecodeError):
                    text = str(tomllib.loads(text).get("prompt", ""))
            parts = [_GIVEN.split(each) for each in _PRINTED.split(_FRONTMATTER.sub("", text).strip())]
            first, *rest = (r"\s+".join(map(re.escape, each.split())) for part in parts for each in part)
            if sum(len("".join(each.split())) for part in parts for each in part) >= _LEAST_COMMAND_CHARS:
                # Each part is looked for once, after the one before it: no text takes long to compare.
                pattern = first + "".join(rf"(?>(.*?){each})" for each in rest) + r"(.*)"
                yield re.compile(pattern, re.DOTALL), len(parts) > 1


# -- what no harness keeps: notes in the inbox entry itself (`inline`), and copies that capture made (`file`) ---------


def note_history(entry: InboxEntry, note: InlineNote) -> History:
    """Returns one turn with the note: the person's if they wrote it at a terminal, else the agent's. Its session id is
    made from the note, since the thread that it names has a mark of its own."""
    text = excerpt(f"{note.title}\n\n{note.body}", USER_TEXT_CHARS)
    note_id = f"note-{get.digest(str(entry.at_ms), note.title, note.body)}"
    role = Role.USER if entry.harness is Harness.MANUAL else Role.AGENT
    turn = Turn(1, role, clean_text(text.text), note_id, entry.at_ms, clipped_chars=text.clipped_chars)
    return _history(entry, note_id, (turn,), note.title)


def _history(entry: InboxEntry, session_id: str, turns: tuple[Turn, ...], title: str | None) -> History:
    harness, cwd, branch, at_ms = entry.harness, entry.context.cwd, entry.context.branch, entry.at_ms
    return History(harness, session_id, turns, title, cwd, branch=branch, started_at_ms=at_ms, ended_at_ms=at_ms)


def snapshot_history(root: Path, entry: InboxEntry, path: str, mark: SessionMark | None) -> History:
    """Returns the document's sections as tool turns; its session id is made from its content. Reads the snapshots of a
    root and nothing else in it (P21, P27). HistoryUnreadable: gone, empty, no text, no regular file, over 16 MiB.
    HistoryUnavailable: a failing read."""
    if os.path.dirname(path) != SNAPSHOTS:
        raise HistoryUnreadable(path, f"only copies in {SNAPSHOTS}/ are read")
    try:
        image = read_image(path_in(real_root(root), path), MAX_LINE_BYTES)
    except PathRefused as error:
        raise HistoryUnreadable(path, error.reason) from None
    except StoreIo as error:
        raise HistoryUnavailable(path, f"it cannot be read: {error.reason}") from None
    if image is None:
        raise HistoryUnreadable(path, "the snapshot is gone")
    if image.links > 1:
        raise HistoryUnreadable(path, "it is another file's hard link, and no copy of its own")
    data = image.data
    if b"\0" in data[:8_192]:
        raise HistoryUnreadable(path, "it is not a text file")
    text = data.decode("utf-8-sig", "replace")
    turns = document_turns(text, "file")
    if not turns:
        raise HistoryUnreadable(path, "it is empty")
    new = turns_after(turns, mark)
    kept = as_many_as_fit(new)
    return evolve(
        _history(entry, f"file-{sha256(data).hexdigest()[:20]}", kept, first_heading(text)),
        tools_answered_before=len(new) < len(turns),
        remaining=len(kept) < len(new),
        own_call=is_own_prompt(text),
    )

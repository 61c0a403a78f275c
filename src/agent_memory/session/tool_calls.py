"""Tool calls: what an agent asked of a tool, from the arguments that the harness recorded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from posixpath import commonprefix, normpath

from agent_memory.redaction.redact import redact_path, redact_with_paths
from agent_memory.session.history import History, Role, ToolCall, Turn
from agent_memory.session.own_marks import is_memory_tool
from agent_memory.text.ids import ID_PATTERN
from agent_memory.text.json_shape import is_list, is_object
from agent_memory.text.plain_text import one_line
from agent_memory.text.salience import content_terms
from agent_memory.text.tables import read_table

BRIEF_CHARS = 400
_FETCH_CHARS = 150
DOCUMENT_CHARS = 2_000
"""How much is kept of text written to a document: unlike code, it states findings and decisions."""

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
_BRIEF_KEYS = (
    *("command", "cmd", "query", "pattern", "filePattern", "url", "description", "objective", "task", "question"),
    *("file_path", "notebook_path", "filePath", "path", "target_file", "skill", "plan", "prompt", "title"),
)

_FOREIGN_TOOL = _TABLE.expression("foreign_tool")
_EXTENSION = re.compile(r"(?!developer__|functions?__|multi_tool_use|collaboration__)[a-z0-9-]+__\w+", re.IGNORECASE)
"""Matches tools of goose's extensions and MCP servers, named `server__tool`; not what a harness names so itself."""
_SUB_AGENT = re.compile(r".*__(?:(?:run|spawn|wait)_)?(?:sub_?)?agents?", re.IGNORECASE)
"""Matches tools by which an agent asks an agent of its own, whoever offers them."""
_FETCHES = _TABLE.expression("fetches", re.NOFLAG)
_OF_OTHERS = _TABLE.expression("of_others", re.NOFLAG)
_OWN_PLACES = _TABLE.expression("own_places", re.NOFLAG)
_LOGGED_IN = re.compile(
    r"(?:^|[\s;&|(])(?:ssh|scp|rsync)\s(?:[^;&|]{0,200}?[\s:])?(?!(?:git|hg|svn|aur)@)[\w.-]+@([\w-]+(?:\.[\w-]+)+)"
)
_ELSEWHERE = re.compile(r"(?:^|[\s;&|(])(?:ssh|docker|podman|kubectl)\s")
_LEFT_OUT = re.compile(
    r"(?:-not|!)\s+-i?(?:path|wholename|name)\s+\S+|-i?(?:path|name)\s+\S+\s+-prune|--exclude(?:-dir)?[=\s]\S+"
    r"|(?:\s-g|--glob)[=\s]*['\"]?!\S+|grep\s+-\w*v\w*\s+\S+"
)
"""Matches where a command says what it does not look at."""
_WORKTREES = re.compile(r"/\.(?:\w+/)?worktrees/")
"""Matches where the worktrees of a checkout lie in it: `.worktrees/`, `.claude/worktrees/`."""
_LISTS = re.compile(r"(?:^|(?<=[;&\n]))\s*(?:ls|which|test|stat|du|mkdir|rm)\s[^;&|\n]*")
"""Matches commands that print no text of the files that they name."""
_ABSOLUTE = re.compile(r"(?<![^\s=<])/[\w.+@/-]+")
_ASIDE = re.compile(r"'[^']*'|\"[^\"]*\"|<<.*|\d?>\s*(?:/dev/null|&\d)")
"""Matches what in a command line is no command and no file: quotations, a script for its input."""
_LOGIN = re.compile(r"\b(?:ssh|scp|rsync)\b|@", re.IGNORECASE)
_SAVES = re.compile(
    r"(?:>|\s--?(?:o|O|output|output-document)[\s=]|\btee\s(?:-a\s)?)\s*['\"]?(?!/dev/|-)([\w~-]*[./][\w./~-]+)(?![\w(])"
    r"|(?:\bwget\s|\bcurl\s[^;&|]*?-\w*O)[^;&|]*?://[^\s'\"?]*/([\w.-]+)"
    r"|\sclone\s[^;&|]*?/([\w.-]+?)(?:\.git)?/?['\"]?(?:\s+(?:--\s+)?['\"]?(?!-)([\w./~-]+))?['\"]?\s*(?=$|[;&|\d>])"
)
"""Matches a file that a command writes, which no function is (`n => tools.exec_command(…)`), or the name of a repository that it
clones and the directory for it."""


def answers(history: History) -> Iterator[tuple[Turn, tuple[ToolCall, ...]]]:
    """Yields each tool turn with the call that it answers. If the harness did not record which one, with the calls of its
    tool that awaited an answer, oldest first: it may be to any of them. No calls if they are unknown."""
    waiting: dict[str, list[ToolCall]] = {}
    for turn in history.turns:
        if turn.role is Role.USER:
            waiting.clear()  # unanswered calls were interrupted
        for call in turn.tool_calls:
            waiting.setdefault(call.name, []).append(call)
        if turn.role is Role.TOOL:
            calls = waiting.get(turn.tool_name or "", [])
            if turn.answers is not None:
                yield turn, (turn.answers,)
                if turn.answers in calls:
                    calls.remove(turn.answers)
            else:
                yield turn, tuple(calls)
                del calls[:1]


def foreign_turns(history: History) -> frozenset[int]:
    """Returns the numbers of the tool turns with text from outside the project and its tools: pages, searches, MCP
    answers, issues, dependencies, files outside of the project and files that a fetch wrote; and answers to unknown calls.
    What a host that the agent logged in to answers is no page, unless a page had told it to."""
    here = () if history.cwd is None else (history.cwd, *history.also_in)
    # The checkout that a worktree is of is the project, too.
    places = tuple(_WORKTREES.split(normpath(each))[0] for each in here)
    answered = tuple(answers(history))
    strangers = _foreign_turns(answered, places, frozenset())
    hosts = set[str]()
    told = ""
    for turn, calls in answered:
        if turn.number in strangers and _LOGIN.search(turn.text):
            told += turn.text.casefold()
        elif not turn.failed:
            unquoted = (_ASIDE.sub("", call.brief) for call in calls if runs_commands(call))
            hosts |= {host for brief in unquoted for host in _LOGGED_IN.findall(brief) if host.casefold() not in told}
    return _foreign_turns(answered, places, frozenset(hosts)) if hosts else strangers


def _foreign_turns(
    answered: Iterable[tuple[Turn, tuple[ToolCall, ...]]], places: tuple[str, ...], hosts: frozenset[str]
) -> frozenset[int]:
    own = re.compile(rf"(?<=://)(?:{'|'.join(map(re.escape, sorted(hosts)))})(?![\w.@-])") if hosts else None
    foreign, saved = set[int](), set[str]()

    def is_foreign(call: ToolCall, failed: bool) -> bool:
        if call.writes:  # the tool itself speaks
            return _OF_OTHERS.search(call.path or "") is not None
        brief = call.brief if own is None else own.sub("localhost", call.brief)
        if _FETCHES.search(brief):
            for written, named, repository, directory in _SAVES.findall(brief.partition("<<")[0]):
                # A clone elsewhere is outside of the project, or the project.
                cloned = directory.rstrip("/").rpartition("/")[2] or repository
                before, name = (r"/tmp/(?:\S*/)?", cloned) if cloned else (r"(?:^|[\s'\"=/])", written or named)
                saved.add(f"{before}{re.escape(name.removeprefix('./'))}(?![\\w.-])")
            return True
        said = call.path or _LEFT_OUT.sub("", call.brief)
        if any(re.search(each, said) for each in saved):
            return True
        paths = [said if call.path or "xargs" in said else _LISTS.sub("", said)]
        if not call.path and runs_commands(call) and not _ELSEWHERE.search(brief):
            steps = _STEP.split(_ASIDE.sub("", brief))
            reading = (step for step in steps if _READING_STEP.search(step) and not _NOT_READING.search(step))
            paths += [path for step in reading for path in _ABSOLUTE.findall(step)]
        return not (failed and call.path) and any(_is_foreign_path(path, places) for path in paths)

    for turn, calls in answered:
        name, fetched = turn.tool_name, {call for call in calls if is_foreign(call, turn.failed)}
        of_server = name and (_FOREIGN_TOOL.match(name) or _EXTENSION.match(name)) and not _SUB_AGENT.fullmatch(name)
        of_others = name is None or of_server or fetched
        # An answer in the words of its call, as to a question with answers on offer, is nobody's but the agent's.
        if of_others and not any(content_terms(turn.text) <= content_terms(call.brief) for call in calls):
            foreign.add(turn.number)
    return frozenset(foreign)


def _is_foreign_path(path: str, places: tuple[str, ...]) -> bool:
    if _OF_OTHERS.search(path):
        return True
    if not path.startswith("/") or not places or " " in path or _OWN_PLACES.match(path := normpath(path)):
        return False
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
        elif found is not None and len(files) < 200:
            files.append((found[2].strip(), []))
    calls = (tool_call("apply_patch", {"path": path, **changed_lines(lines)}) for path, lines in files)
    return tuple(calls) or (tool_call(name, arguments),)


def tool_call(name: str, arguments: Mapping[str, object]) -> ToolCall:
    """Returns the call: with a path if the arguments name a file, and `writes` if the tool changes it."""
    path = _first_text(arguments, _PATH_KEYS)
    writes = name.lower() in _WRITING_TOOLS
    told = _brief(name, arguments)
    head = told[: BRIEF_CHARS - _FETCH_CHARS]
    if len(told) > BRIEF_CHARS and (found := _FETCHES.search(told, len(head), _RAW_CHARS)):
        # What a command fetches is told, wherever in it that stands.
        told = f"{_line(told, len(head))} {_line(told[found.start() :], _FETCH_CHARS - 1)}"
    return ToolCall(
        one_line(name, 120) or "unknown",
        (writes and _change(arguments, path))
        or _line(told, DOCUMENT_CHARS if "questions" in arguments else BRIEF_CHARS),
        one_line(redact_path(path[:_RAW_CHARS]), 1_000) if path else None,
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
    todos = arguments.get("todos")
    questions = arguments.get("questions", [arguments] if "question" in arguments else None)
    if is_list(todos):
        states = (_text_in(item, "status") if is_object(item) else "" for item in todos)
        items = (_text_in(item, "content") or _text_in(item, "description") for item in todos)
        return "; ".join(f"[{state}] {item}" if state else item for state, item in zip(states, items, strict=True))
    if is_list(questions):
        return "; ".join(map(_question, questions))
    if name in ("Grep", "Glob") and isinstance(arguments.get("path"), str):
        return f"{arguments.get('pattern', '')} in {arguments['path']}"
    if (told := _first_text(arguments, _BRIEF_KEYS)) or not arguments:
        return told
    shortened = {key: value[:_RAW_CHARS] if isinstance(value, str) else value for key, value in arguments.items()}
    return json.dumps(shortened, ensure_ascii=False, separators=(", ", ": "), default=str)


def _question(asked: object) -> str:
    """Returns a question to the person with the answers that are offered: `Which port? (8081 | 9999)`."""
    named = (asked.get("options", asked.get("choices")) if is_object(asked) else None) or ()
    labels = [label for each in named if (label := _text_in(each, "label"))] if is_list(named) else []
    question = _text_in(asked, "question")
    return f"{question} ({' | '.join(labels)})" if labels else question


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

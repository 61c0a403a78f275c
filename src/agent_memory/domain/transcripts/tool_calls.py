"""What an agent asked of a tool, from the arguments as the harness recorded them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from agent_memory.domain.history import ToolCall
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.redacted_path import redact_path, redact_with_paths
from agent_memory.domain.text.plain_text import one_line

BRIEF_CHARS = 400

_NAME_CHARS = 120
_PATH_CHARS = 1_000
_RAW_CHARS = 4_000
"""Of an argument, before it is put on one line: some hold a whole file."""

_WRITING_TOOLS = frozenset(
    (
        *("write", "edit", "multiedit", "notebookedit", "update"),  # Claude Code
        *("create_file", "edit_file", "undo_edit", "apply_patch", "format_file"),  # Amp, Codex
        *("write_file", "replace"),  # Gemini CLI
        *("strreplace", "search_replace", "editnotebook", "edit_file_v2"),  # Cursor
        *("delete", "delete_file", "applypatch"),  # Cursor
        "patch",  # opencode
        "create",  # Copilot
    )
)
_PATH_KEYS = (
    *("file_path", "notebook_path", "filePath", "absolute_path", "path", "file"),
    *("target_file", "relativeWorkspacePath", "target_notebook"),
)
_OLD_KEYS = ("old_string", "old_str", "oldText", "oldString")
_NEW_KEYS = (
    *("new_string", "new_str", "newText", "newString", "content", "contents", "new_source", "code_edit"),
    "file_text",
)
_OLD_CHARS = 120
_ARROW_CHARS = 30
_BRIEF_KEYS = (
    *("command", "cmd", "query", "pattern", "filePattern", "url", "description", "objective", "task", "question"),
    *("file_path", "notebook_path", "filePath", "path", "target_file", "skill", "plan", "prompt", "title"),
)


def tool_call(name: str, arguments: Mapping[str, object]) -> ToolCall:
    """The call: its path where the arguments name a file, `writes` for the tools that change that file."""
    path = _first_text(arguments, _PATH_KEYS)
    return ToolCall(
        one_line(name, _NAME_CHARS) or "unknown",
        _line(_brief(name, arguments), BRIEF_CHARS),
        one_line(redact_path(path[:_RAW_CHARS]), _PATH_CHARS) if path else None,
        name.lower() in _WRITING_TOOLS,
    )


def _line(text: str, max_chars: int) -> str:
    """The beginning of a text on one line. Secrets go first: a key that is cut, or on one line, may not be told as one."""
    return one_line(redact_with_paths(text[:_RAW_CHARS]), max_chars)


def _brief(name: str, arguments: Mapping[str, object]) -> str:
    todos, questions = arguments.get("todos"), arguments.get("questions")
    if is_list(todos):
        return "; ".join(_todo(item) for item in todos)
    if is_list(questions):
        return "; ".join(_text_in(item, "question") for item in questions)
    if name.lower() in _WRITING_TOOLS and (change := _change(arguments)):
        return change
    if name in ("Grep", "Glob") and isinstance(arguments.get("path"), str):
        return f"{arguments.get('pattern', '')} in {arguments['path']}"
    return _first_text(arguments, _BRIEF_KEYS) or (_as_json(arguments) if arguments else "")


def _change(arguments: Mapping[str, object]) -> str:
    """What a writing tool was to write: what it replaces, then the new text; both cut."""
    edits = arguments.get("edits")
    first = edits[0] if is_list(edits) and edits and is_object(edits[0]) else arguments
    old = _line(_first_text(first, _OLD_KEYS), _OLD_CHARS)
    new = _line(_first_text(first, _NEW_KEYS), BRIEF_CHARS - len(old) - _ARROW_CHARS)
    more = f" (+{len(edits) - 1} more edits)" if is_list(edits) and len(edits) > 1 else ""
    return f"{old} => {new}{more}" if old else new


def _first_text(arguments: Mapping[str, object], keys: tuple[str, ...]) -> str:
    return next((text for key in keys if isinstance(text := arguments.get(key), str) and text.strip()), "")


def _todo(item: object) -> str:
    status = _text_in(item, "status") if is_object(item) else ""
    return f"[{status}] {_text_in(item, 'content')}" if status else _text_in(item, "content")


def _text_in(item: object, key: str) -> str:
    value = item.get(key) if is_object(item) else item
    return value if isinstance(value, str) else ""


def _as_json(arguments: Mapping[str, object]) -> str:
    shortened = {key: value[:_RAW_CHARS] if isinstance(value, str) else value for key, value in arguments.items()}
    return json.dumps(shortened, ensure_ascii=False, separators=(", ", ": "), default=str)

"""Whose words the texts of a session hold: memory's own prompts (P23), what memory put there (P26), what a harness wrapped
(P19)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache

from agent_memory.domain.text.file_name import ID_PATTERN
from agent_memory.domain.text.markdown import find_code
from agent_memory.domain.text.plain_text import spliced

PROMPT_MARKER = "[agent-memory:agent-call:v1]"
"""First line of every prompt to an agent command: a transcript that begins with it is one of our own calls."""

SECTION_START = "<!-- agent-memory:start -->"
SECTION_END = "<!-- agent-memory:end -->"
"""Around the managed section of a target."""

CONTEXT_START = "<agent-memory-context>"
CONTEXT_END = "</agent-memory-context>"
"""Around whatever is injected into a session unasked."""

MEMORY_OUTPUT_PLACEHOLDER = "[memory output left out]"

WRAPPERS = (
    *("system-reminder", "system_reminder", "system-notification", "system_notification", "system_warning"),
    *("task-notification", "ci-monitor-event", "teammate-message", "channel-message", "cross-session-message"),
    *("local-command-stdout", "local-command-stderr", "local-command-caveat", "command-contents"),
    *("bash-input", "bash-stdout", "bash-stderr", "user_shell_command", "fork-boilerplate", "remote-review"),
    *("ide_opened_file", "ide_selection", "ide_diagnostics", "new-diagnostics"),
    *("user-prompt-submit-hook", "session-start-hook", "post-tool-use-hook", "hook_context", "hook_prompt"),
    *("session_context", "state_snapshot", "skill-context", "info-msg", "attached_files", "dynamic_tools"),
    *("environment_context", "user_instructions", "subagent_notification", "turn_aborted", "goal_context"),
    *("codex_internal_context", "recommended_plugins", "open_and_recently_viewed_files"),
)
"""The tags around what some harness puts into a person's text: what a command printed, a file, a page, another agent said."""

_MACHINE_TEXTS = {
    "Implement the following plan:": "plan",  # Claude Code
    "PLEASE IMPLEMENT THIS PLAN:": "plan",  # Codex
    "A previous agent produced the plan below": "plan",  # Codex
    "Implement the plan as specified, it is attached for your reference": "plan",  # Cursor
    "Operation stopped by hook": "hook",  # Claude Code
    "UserPromptSubmit operation blocked by hook": "hook",
    "Stop hook feedback:": "hook",
    "This session is being continued from a previous conversation": "summary",  # Claude Code
    "Another language model started to solve this problem": "summary",  # Codex
}
"""How the texts begin that harnesses put in the person's place: a plan of the agent's is approved, and not typed."""

_PROMPT_HEAD_CHARS = 1_000
"""Harnesses may put a line or two of their own before a piped prompt."""

_PAIRS = ((SECTION_START, SECTION_END), (CONTEXT_START, CONTEXT_END))

_SUBCOMMANDS = (
    "capture|consolidate|defrag|list|read|search|inject|remember|edit|pin|unpin|promote|archive|restore|forget|"
    "generate-agents-md|doctor|status|stats|log|diff|undo|why|links|backfill|watch|handoff|state|tags|scope|mcp|sync|merge-driver|config|"
    "export|import|setup|uninstall|install-cron|uninstall-cron|run-scheduled|completions|trust"
)
_OPTION = r"(?:--?[A-Za-z][\w-]*(?:=\S*)?\s+)"
_MEMORY_COMMAND = re.compile(
    rf"(?:^|[\s;&|(`\"'/])(?:(?:agent-)?memory|-m\s+agent_memory[\w.]*)\s+{_OPTION}{{0,4}}(?:{_SUBCOMMANDS})(?=$|[\s;&|)`\"'<>])",
    re.MULTILINE,
)
_TOPIC_FILE = re.compile(r"\bid__[1-9A-HJ-NP-Za-km-z]{6}\.md\b")
_TOOLS = (
    "session_context|search_context|write_context|update_context|read_context|list_context|delete_context|"
    "get_state|set_state"
)
_MEMORY_TOOL = re.compile(
    r"mcp__?(?:[\w-]*[_-])?(?:agent[-_])?memory(?:__|_)|(?:agent[-_])?memory__"
    rf"|(?:[\w-]*[_-])?memory[-_]+(?:{_TOOLS})$|(?:{_TOOLS})$",
    re.IGNORECASE,
)
# A line's beginning, also as file viewers number it ("   2→", "2:").
_LINE_START = r"^\s{0,8}(?:\d{1,7}\s{0,2}[→:\-|\t]\s{0,2})?"
# The id line of an entry's frontmatter; the line below a note's title in a managed section, an injection, `memory read`; the
# file's name as `grep`, `rg` and `ls` print it.
_ENTRY_LINE = re.compile(
    rf"{_LINE_START}\"?id\"?: {{0,2}}\"?{ID_PATTERN}\b|{_LINE_START}{ID_PATTERN} · |\b{ID_PATTERN}\.md(?=$|[:\-])",
    re.MULTILINE,
)


def is_own_prompt(text: str) -> bool:
    """Whether this text, the first of a session, is a prompt of ours."""
    return any(line.strip().startswith(PROMPT_MARKER) for line in text[:_PROMPT_HEAD_CHARS].splitlines())


def machine_text(text: str) -> str | None:
    """What a text in the person's place is that a program put there: `plan`, `hook`, `summary`; None for any other."""
    return next((kind for begins, kind in _MACHINE_TEXTS.items() if text.lstrip().startswith(begins)), None)


def is_memory_command(command: str) -> bool:
    """Whether a shell command runs `memory` (also `agent-memory`, `python -m agent_memory`) or prints an entry's file."""
    return bool(_MEMORY_COMMAND.search(command) or _TOPIC_FILE.search(command))


def is_memory_tool(name: str) -> bool:
    """Whether this is the name of a tool of our MCP server, in any harness's spelling (`mcp__memory__search`,
    `mcp_memory_search`, `memory__search`, `agent-memory_search_context`, or without the server's name)."""
    return bool(_MEMORY_TOOL.match(name))


def is_entry_path(path: str) -> bool:
    """Whether this is the path of a memory entry's file, by its name alone."""
    return bool(_TOPIC_FILE.search(path))


def shows_an_entry(output: str) -> bool:
    """Whether a tool's output holds a memory entry, by whatever command it was printed: its frontmatter, the facts below its
    title where it is shown to agents, or lines that were found in its file."""
    return bool(_ENTRY_LINE.search(output))


def typed_words(texts: str | Iterable[str], wrappers: tuple[str, ...] = ()) -> str:
    """What the person typed, of the texts of one record: without what a harness wrapped, and what memory put there.

    What is wrapped may hold any tag, so it reaches from the first opening of its tag to the last end of it in the record,
    and to the end of the record where none follows. Only a tag in code that nothing ends is left: people write about tags.
    `wrappers` are further tags that this record has.
    """
    text = texts if isinstance(texts, str) else "\n\n".join(filter(None, map(str.strip, texts)))
    tags = _tags((*WRAPPERS, *wrappers))
    text = without_own_text(_without(text, _wrapped_spans(text, tags), ""))
    return text[: _open_end(text, tags)].strip()


def without_own_text(text: str) -> str:
    """What somebody wrote, without the managed sections and injected contexts in it. A lone mark is left as it is: a
    person may be writing about it."""
    return _without(text, _paired_spans(text), MEMORY_OUTPUT_PLACEHOLDER)


def without_own_output(text: str) -> str:
    """What a tool printed, without managed sections and injected contexts, also where only one end of them was printed."""
    text = without_own_text(text)
    for start, end in _PAIRS:
        closed_at = text.rfind(end)
        if closed_at >= 0:
            text = MEMORY_OUTPUT_PLACEHOLDER + text[closed_at + len(end) :]
        opened_at = text.find(start)
        if opened_at >= 0:
            text = text[:opened_at] + MEMORY_OUTPUT_PLACEHOLDER
    return text


@cache
def _tags(names: tuple[str, ...]) -> re.Pattern[str]:
    # An opening's attributes may hold anything, so it is known by its beginning.
    return re.compile(
        rf"<(?=[\s/\w])\s{{0,9}}(/)?\s{{0,9}}({'|'.join(map(re.escape, names))})(?![\w-])(?(1)[^<>]*>?)", re.IGNORECASE
    )


def _wrapped_spans(text: str, tags: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    opened: dict[str, int] = {}
    ended: dict[str, int] = {}
    for tag in tags.finditer(text):
        name = tag[2].casefold()
        if not tag[1]:
            opened.setdefault(name, tag.start())
        elif name in opened:
            ended[name] = tag.end()
    yield from ((opened[name], end) for name, end in ended.items())


def _open_end(text: str, tags: re.Pattern[str]) -> int | None:
    """Where a wrapper opens that nothing ends; None where none does, or only in code."""
    starts = [tag.start() for tag in tags.finditer(text) if not tag[1]]
    code = find_code(text).ranges if starts else ()
    for start in starts:
        before = bisect_left(code, (start + 1,))
        if not before or code[before - 1][1] <= start:
            return start
    return None


def _paired_spans(text: str) -> Iterator[tuple[int, int]]:
    for start, end in _PAIRS:
        opened_at = text.find(start)
        while opened_at >= 0:
            closed_at = text.find(end, opened_at)
            if closed_at < 0:
                break
            yield opened_at, closed_at + len(end)
            opened_at = text.find(start, closed_at)


def _without(text: str, spans: Iterable[tuple[int, int]], placeholder: str) -> str:
    return spliced(text, ((begin, end, placeholder) for begin, end in sorted(spans)))

"""The marks by which memory recognises its own words in a session: its prompts (P23), and what it put there (P26)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_memory.domain.text.ids import ID_PATTERN

PROMPT_MARKER = "[agent-memory:agent-call:v1]"
"""First line of every prompt to an agent command: a transcript that begins with it is one of our own calls."""

SECTION_START = "<!-- agent-memory:start -->"
SECTION_END = "<!-- agent-memory:end -->"
"""Around the managed section of a target."""

CONTEXT_START = "<agent-memory-context>"
CONTEXT_END = "</agent-memory-context>"
"""Around whatever is injected into a session unasked."""

MEMORY_OUTPUT_PLACEHOLDER = "[memory output left out]"

_PROMPT_HEAD_CHARS = 1_000
"""Harnesses may put a line or two of their own before a piped prompt."""

_PAIRS = ((SECTION_START, SECTION_END), (CONTEXT_START, CONTEXT_END))

_SUBCOMMANDS = (
    "capture|consolidate|defrag|list|read|search|inject|remember|edit|pin|unpin|promote|archive|restore|forget|"
    "generate-agents-md|doctor|status|stats|log|diff|undo|why|links|backfill|watch|handoff|state|tags|mcp|sync|merge-driver|config|"
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


def without_own_text(text: str) -> str:
    """What somebody wrote, without the managed sections and injected contexts in it. A lone mark is left as it is: a
    person may be writing about it."""
    spans = list(_paired_spans(text))
    return _without(text, spans) if spans else text


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


def _paired_spans(text: str) -> Iterator[tuple[int, int]]:
    for start, end in _PAIRS:
        opened_at = text.find(start)
        while opened_at >= 0:
            closed_at = text.find(end, opened_at)
            if closed_at < 0:
                break
            yield opened_at, closed_at + len(end)
            opened_at = text.find(start, closed_at)


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    kept: list[str] = []
    at = 0
    for opened_at, closed_at in sorted(spans):
        if opened_at >= at:
            kept.append(text[at:opened_at])
            kept.append(MEMORY_OUTPUT_PLACEHOLDER)
        at = max(at, closed_at)
    kept.append(text[at:])
    return "".join(kept)

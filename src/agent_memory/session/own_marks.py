"""Tells whose words a session's texts are: memory's own (P23, P26), a harness's, a pasted review's (P19)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from agent_memory.text.ids import ID_PATTERN
from agent_memory.text.markdown import find_code, is_inside
from agent_memory.text.plain_text import spliced
from agent_memory.text.tables import read_table

PROMPT_MARKER = "[agent-memory:agent-call:v1]"
"""The first line of every prompt to an agent command: a transcript that begins with it is one of our own calls."""

SECTION_START = "<!-- agent-memory:start -->"
SECTION_END = "<!-- agent-memory:end -->"
"""The end marker of the managed section of a target."""

CONTEXT_START = "<agent-memory-context>"
CONTEXT_END = "</agent-memory-context>"
"""The end marker of whatever is injected into a session unasked."""

MEMORY_OUTPUT_PLACEHOLDER = "[memory output left out]"

_TABLE = read_table("agent_memory.session", "wording.txt")
WRAPPERS = tuple(sorted(_TABLE.words("wrappers")))
_LEADING_WRAPPER = re.compile(
    r"\s*<((?!agent-memory-)[a-z]+(?:[_-][a-z]+)*[_-](?:context|instructions|notification|policy|reminder))>(?=.*?</\1>)",
    re.DOTALL,
)
"""Matches what programs that run a harness for the person put before what they typed: each names its tag itself."""

_MACHINE_TEXTS = {
    begins: header.removeprefix("machine ")
    for header, lines in _TABLE.lines.items()
    if header.startswith("machine ")
    for begins in lines
}


_PAIRS = ((SECTION_START, SECTION_END), (CONTEXT_START, CONTEXT_END))

_SUBCOMMANDS = "|".join(_TABLE.lines["subcommands"][0].split())
_OPTION = r"(?:--?[A-Za-z][\w-]*(?:=\S*)?\s+)"
_MEMORY_COMMAND = re.compile(
    rf"(?:^|[\s;&|(`\"'/])(?:(?:agent-)?memory|-m\s+agent_memory[\w.]*)\s+{_OPTION}{{0,4}}(?:{_SUBCOMMANDS})(?=$|[\s;&|)`\"'<>])",
    re.MULTILINE,
)
_TOPIC_FILE = re.compile(r"\bid__[1-9A-HJ-NP-Za-km-z]{6}\.md\b")
_TOOLS = "|".join(_TABLE.lines["memory_tools"][0].split())
_MEMORY_TOOL = re.compile(
    r"mcp__?(?:[\w-]*[_-])?(?:agent[-_])?memory(?:__|_)|(?:agent[-_])?memory__"
    rf"|(?:[\w-]*[_-])?memory[-_]+(?:{_TOOLS})$|(?:{_TOOLS})$",
    re.IGNORECASE,
)
# The beginning of a line, also as numbered by file viewers (" 2→", "2:").
_LINE_START = r"^\s{0,8}(?:\d{1,7}\s{0,2}[→:\-|\t]\s{0,2})?"
# The id line of a note's frontmatter; the line below a note's title in a managed section, an injection or `memory
# read`; the file's name as printed by `grep`, `rg` and `ls`.
_ENTRY_LINE = re.compile(
    rf"{_LINE_START}\"?id\"?: {{0,2}}\"?{ID_PATTERN}\b|{_LINE_START}{ID_PATTERN} · |\b{ID_PATTERN}\.md(?=$|[:\-])",
    re.MULTILINE,
)


def is_own_prompt(text: str) -> bool:
    """Returns whether this text, the first of a session, is one of our prompts."""
    # Harnesses may add a line or two before a piped prompt.
    return any(line.strip().startswith(PROMPT_MARKER) for line in text[:1_000].splitlines())


def machine_text(text: str) -> str | None:
    """Returns what kind of program text stands in the person's place: `plan`, `hook`, `summary`, `unanswered`, `task`
    or None."""
    return next((kind for begins, kind in _MACHINE_TEXTS.items() if text.lstrip().startswith(begins)), None)


def is_memory_command(command: str) -> bool:
    """Returns whether a command runs `memory` (or `agent-memory`, `python -m agent_memory`) or prints a note's file."""
    return bool(_MEMORY_COMMAND.search(command) or _TOPIC_FILE.search(command))


def is_memory_tool(name: str) -> bool:
    """Returns whether this is a tool of our MCP server, in any harness's spelling (`mcp__memory__search`,
    `mcp_memory_search`, `memory__search`, `agent-memory_search_context`, or without the server's name)."""
    return bool(_MEMORY_TOOL.match(name))


def is_entry_path(path: str) -> bool:
    """Returns whether this path, by its name alone, is a note's."""
    return bool(_TOPIC_FILE.search(path))


def shows_an_entry(output: str) -> bool:
    """Returns whether a tool's output shows a note, however it was printed: its frontmatter, the facts below its title
    as agents see them, or lines found in its file."""
    return bool(_ENTRY_LINE.search(output))


def typed_words(texts: str | Iterable[str], wrappers: tuple[str, ...] = ()) -> str:
    """Returns what the person typed, from the texts of one record: without what a harness wrapped or memory injected.

    Wrapped text may contain any tag, so it reaches from the first opening of its tag to the last end of it in the
    record, or to the end of the record. An unclosed tag in code is kept: people write about tags. `wrappers` are
    further tags of this record; one with which it begins is a wrapper by the shape of its name.
    """
    text = texts if isinstance(texts, str) else "\n\n".join(filter(None, map(str.strip, texts)))
    leading = _LEADING_WRAPPER.match(text)
    tags = _tags((*WRAPPERS, *wrappers, *(leading.groups() if leading else ())))
    opened: dict[str, int] = {}
    ended: dict[str, int] = {}
    for tag in tags.finditer(text):
        name = tag[2].casefold()
        if not tag[1]:
            opened.setdefault(name, tag.start())
        elif name in opened:
            ended[name] = tag.end()
    text = without_own_text(_without(text, ((opened[name], end) for name, end in ended.items()), ""))
    still_open = [tag.start() for tag in tags.finditer(text) if not tag[1]]
    code = find_code(text).ranges if still_open else ()
    outside = (start for start in still_open if not is_inside(start, code))
    return text[: next(outside, None)].strip()


def without_own_text(text: str) -> str:
    """Returns the text without managed sections and injected contexts; a lone marker, as in a text about them, stays."""
    return _without(text, _paired_spans(text), MEMORY_OUTPUT_PLACEHOLDER)


def without_own_output(text: str) -> str:
    """Returns a tool's output without managed sections and injected contexts, even if only one end of them was printed."""
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
    # An opening's attributes may contain anything, so it is recognised by its beginning.
    return re.compile(
        rf"<(?=[\s/\w])\s{{0,9}}(/)?\s{{0,9}}({'|'.join(map(re.escape, names))})(?![\w-])(?(1)[^<>]*>?)", re.IGNORECASE
    )


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


# -- a review or a linter's report pasted by the person: words of a bot or of a colleague ------------------------------

PASTED_MARKS = ("[pasted review, not the person's words:]", "[end of the pasted review]")
"""The marks around it in a prompt."""

_INTRODUCES = _TABLE.expression("introduces")
"""Matches a line that names the reviewer or announces a review."""
_BOT = _TABLE.expression("bot", re.NOFLAG)
_MAIL = _TABLE.expression("mail")
"""Matches the head of a mail."""
_SEVERITY = re.compile(
    r"^\s*(?:[-*•]\s*)?(?:#{1,4}\s*)?(?:\(?\d{1,2}[.)]\s*)?[*_[(]*(?:critical|blocker|major|minor|high|medium|low|nit|p[0-3]|severity)\b[*_\])]*\s?[:\])(–—-]",
    re.IGNORECASE | re.MULTILINE,
)
_OWN_END_CHARS = 80
_ASKS = _TABLE.expression("asks")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


@lru_cache(maxsize=4096)
def pasted_review(text: str) -> tuple[int, int] | None:
    """Returns where a pasted review begins and ends in a person's message, or None.

    It begins after the line that introduces it, at the head of a mail, or at the paragraph with a bot's wording or a list
    of severities, and extends to the end of the message, except for a short last paragraph in which the person asks for something.
    """
    begin = _review_start(text)
    if begin is None:
        return None
    end = len(text.rstrip())
    last = max((found.end() for found in _PARAGRAPH.finditer(text, begin, end)), default=None)
    if (
        last is not None
        and end - last <= _OWN_END_CHARS
        and _ASKS.match(text, last)
        and not _SEVERITY.match(text, last)
    ):
        end = len(text[:last].rstrip())
    return (begin, end) if text[begin:end].strip() else None


def _review_start(text: str) -> int | None:
    at = 0
    starts: list[int] = []
    paragraph = 0
    for line in text.splitlines(keepends=True):
        said, colon, rest = line.strip().partition(": ") if ": " in line.strip() else (line.strip(), "", "")
        end = at + len(line)
        if not line.strip():
            paragraph = end
        elif _BOT.search(line) or _MAIL.match(text, at):
            return min([paragraph, *starts])
        elif colon and _INTRODUCES.match(said) and len(rest) > len(said):
            return at + line.index(": ") + 2
        elif _INTRODUCES.match(line.strip()) and _introduces(line, text[end:]):
            return end + len(text[end:]) - len(text[end:].lstrip())
        elif _SEVERITY.match(line):
            starts.append(at)
        at = end
    return starts[0] if len(starts) > 1 else None


def _introduces(line: str, rest: str) -> bool:
    """Returns whether the line introduces the rest: it ends in a colon, or a paragraph longer than itself follows."""
    said, following = line.rstrip(), rest.strip()
    if said.endswith(":"):
        return bool(following)
    begins_anew = rest.split("\n", 1)[0].strip() == ""
    return not said.endswith((".", "!")) and begins_anew and len(following) > len(said)


def without_pasted_review(text: str) -> str:
    """Returns what the person themselves says in a message."""
    span = pasted_review(text)
    return text if span is None else f"{text[: span[0]]}\n{text[span[1] :]}"


def marked_review(text: str) -> str:
    """Returns the message with marks around a pasted review."""
    span = pasted_review(text)
    if span is None:
        return text
    before, after = text[: span[0]].rstrip(), text[span[1] :].strip()
    parts = (before, PASTED_MARKS[0], text[span[0] : span[1]], PASTED_MARKS[1], after)
    return "\n".join(part for part in parts if part)

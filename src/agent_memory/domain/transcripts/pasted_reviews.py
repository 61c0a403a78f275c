"""A review or a linter's report that the person pasted into a message: words of a bot or of a colleague, not of the person."""

from __future__ import annotations

import re
from functools import lru_cache

PASTED_MARKS = ("[pasted review, not the person's words:]", "[end of the pasted review]")
"""Around it in a prompt."""

_WHO = (
    r"copilot|code ?rabbit|bug ?bot|sonar\w*|greptile|qodo|codex|gemini|claude|cursor|devin|sourcery|codacy|deep ?source|snyk|dependabot"
    r"|reviewers?|linters?|eslint|ruff|mypy|clippy|golangci\S*|(?:review )?bots?|ci|github actions|(?:another|other|the) (?:agent|model|ai)|pr|pull request"
)
_WHAT = r"reviews?|reviewed|comments?|commented|feedback|findings?|suggest(?:s|ed|ions?)|reports?|reported|complain(?:s|ed|ts?)|flag(?:s|ged)|says|said|wrote"
_INTRODUCES = re.compile(
    rf"^(?=.{{0,200}}$)(?!.*\b(?:my|our) (?:own )?(?:{_WHAT})\b).*(?:\b(?:{_WHO})\b.{{0,60}}\b(?:{_WHAT})\b|\b(?:{_WHAT})\b.{{0,40}}\b(?:from|by|of) (?:an? |the |our |gh |github )*(?:{_WHO})\b"
    r"|\b(?:(?:code|pr) )?review comments?\b|\b(?:this|these|the following|another) (?:(?:code|pr) )?(?:review|comment|feedback|finding|suggestion)s?\b(?! (?:is|are|was|were)\b)).*",
    re.IGNORECASE,
)
"""A line that names who reviewed or that a review follows."""
_BOT = re.compile(
    r"coderabbitai|copilot-pull-request-reviewer|auto-generated (?:comment|reply) by|Actionable comments posted|Committable suggestion"
    r"|Prompt for AI agents|_⚠️ Potential issue_|_🛠️ Refactor suggestion_|Useful\? React with|!\[P[0-3] Badge\]|Quality Gate (?:passed|failed)"
    r"|<!-- (?:BUGBOT|greptile)|Written by \[?Cursor|### (?:Bug|Issue): "
)
"""Words by which review bots are known, wherever they stand."""
_SEVERITY = re.compile(
    r"^\s*(?:[-*•]\s*)?(?:#{1,4}\s*)?(?:\(?\d{1,2}[.)]\s*)?[*_[(]*(?:critical|blocker|major|minor|high|medium|low|nit|p[0-3]|severity)\b[*_\])]*\s?[:\])(–—-]",
    re.IGNORECASE | re.MULTILINE,
)
_OWN_END_CHARS = 80
_ASKS = re.compile(
    r"\s*(?:please|can|could|would|should|do|does|is|are|what|which|how|why|fix|address|handle|check|evaluate|only|skip|ignore|i|we|let's|and|but|ok)\b",
    re.IGNORECASE,
)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


@lru_cache(maxsize=4096)
def pasted_review(text: str) -> tuple[int, int] | None:
    """Where in a person's message a pasted review begins and ends; None where there is none.

    It begins behind the line that introduces it, or at the paragraph that a bot's wording or a list of severities gives
    away, and goes to the end of the message, but for a short last paragraph in which the person asks for something.
    """
    begin = _beginning(text)
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


def _beginning(text: str) -> int | None:
    at = 0
    starts: list[int] = []
    paragraph = 0
    for line in text.splitlines(keepends=True):
        said, colon, rest = line.strip().partition(": ") if ": " in line.strip() else (line.strip(), "", "")
        end = at + len(line)
        if not line.strip():
            paragraph = end
        elif _BOT.search(line):
            return min([paragraph, *starts])
        elif colon and _INTRODUCES.match(said) and len(rest) > len(said):
            return at + line.index(": ") + 2
        elif _INTRODUCES.match(line.strip()) and _leads_on(line, text[end:]):
            return end + len(text[end:]) - len(text[end:].lstrip())
        elif _SEVERITY.match(line):
            starts.append(at)
        at = end
    return starts[0] if len(starts) > 1 else None


def _leads_on(line: str, rest: str) -> bool:
    """Whether what follows the line is what it speaks of: it ends in a colon, or a longer text than itself follows as a paragraph."""
    said, following = line.rstrip(), rest.strip()
    if said.endswith(":"):
        return bool(following)
    begins_anew = rest.split("\n", 1)[0].strip() == ""
    return not said.endswith((".", "!")) and begins_anew and len(following) > len(said)


def without_pasted_review(text: str) -> str:
    """What the person themselves says in a message."""
    span = pasted_review(text)
    return text if span is None else f"{text[: span[0]]}\n{text[span[1] :]}"


def marked_review(text: str) -> str:
    """The message with marks around the review that is pasted into it."""
    span = pasted_review(text)
    if span is None:
        return text
    before, after = text[: span[0]].rstrip(), text[span[1] :].strip()
    parts = (before, PASTED_MARKS[0], text[span[0] : span[1]], PASTED_MARKS[1], after)
    return "\n".join(part for part in parts if part)

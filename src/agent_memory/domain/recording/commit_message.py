"""The text of a commit: readable, bounded, free of secrets, and unable to forge a trailer."""

from __future__ import annotations

import re

from agent_memory.domain.redaction import redact

_SUBJECT_CHARS = 120
_BODY_LINES = 200
_LINE_CHARS = 300
_FALLBACK = "Update memories"

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_GAP = re.compile(r"\n{3,}")
_TRAILER = re.compile(r"[A-Za-z0-9-]+[ \t]*:|\(cherry picked from|---(?:\s|$)")
"""What git takes for a trailer, or for the end of the message, where it begins a line (git-interpret-trailers(1))."""


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[: chars - 1].rstrip()}…"


def _body_line(line: str) -> str:
    line = _cut(_CONTROL.sub("", line).rstrip(), _LINE_CHARS)
    return f"- {line}" if _TRAILER.match(line) else line


def commit_message(subject: str, body: str = "") -> str:
    """The message that git is given: one subject line, then the body after an empty line; both without secrets.

    A line of the body that git would read as a trailer, or as what comes after them, becomes a list item, so that only the template writes trailers. Git's
    own `whitespace` cleanup would change nothing in it.
    """
    first = _cut(" ".join(_CONTROL.sub(" ", redact(subject).text).split()), _SUBJECT_CHARS) or _FALLBACK
    lines = [_body_line(line) for line in redact(body).text.splitlines()]
    shown = lines[:_BODY_LINES]
    if len(lines) > len(shown):
        shown.append(f"… and {len(lines) - len(shown)} lines more")
    return "\n\n".join(filter(None, (first, _GAP.sub("\n\n", "\n".join(shown)).strip("\n")))) + "\n"

"""Redaction of names: of files, directories and branches, where separators and endings stand beside what is secret (P20)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_memory.domain.redaction import placeholder, plain_secret_spans, redact

_ENDINGS = re.compile(r"(?:\.[A-Za-z][A-Za-z0-9]{0,7}){1,3}(?![^\s/\\\"'`,;:)\]}>])")
"""`.tar.gz`, at the end of a name: a token in front of it is whole."""
_SEPARATOR = re.compile(r"[/\\]")
_WORD = re.compile(r"(?<![^\s\"'`])[^\s\"'`/\\=.]*+[/\\=.][^\s\"'`]*+")
"""What may be a path in a text: something with a separator, an assignment or an ending."""
_TELLS = re.compile(r"[/\\=][^\s/\\]*?(?:=|[\w+-]{20})|[\w+-]{20}\.[A-Za-z]|=.*\.[A-Za-z]")
"""What makes a part of it worth a look: an assignment, or what is long enough to be a token."""

_NAME_TELLS = re.compile(r"=[^=]{4}|[\w+-]{20}")
"""The same of one part."""
_NAME_CHARS = 1_000
"""No file has a longer name, and what is longer was looked at as text."""


def redact_path(path: str) -> str:
    """The path with every secret in it replaced, each of its parts and the name without its ending looked at by itself.

    Separators and endings stay. A part is `b` in `/a/b/c`, `a\\b\\c` and `fix/b`. Total and idempotent.
    """
    return _without_secrets_in_parts(redact(path).text)


def redact_with_paths(text: str) -> str:
    """A text such as a command, with the secrets in it and in the paths that it names replaced."""
    return _WORD.sub(_redacted_word, redact(text).text)


def _redacted_word(word: re.Match[str]) -> str:
    return _without_secrets_in_parts(word.group()) if _TELLS.search(word.group()) else word.group()


def _without_secrets_in_parts(path: str) -> str:
    while found := tuple(_spans(path)):
        for start, end, name in reversed(found):
            path = f"{path[:start]}{placeholder(name)}{path[end:]}"
    return path


def _spans(path: str) -> Iterator[tuple[int, int, str]]:
    """Where the secrets of the parts are, in order."""
    start = 0
    for part in _SEPARATOR.split(path):
        if _NAME_TELLS.search(part) and len(part) <= _NAME_CHARS:
            for span in plain_secret_spans(_ENDINGS.sub("", part)):
                yield start + span.start, start + span.end, span.name
        start += len(part) + 1

"""What a command prints on: text for people, one JSON document with `--json`, errors on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, TextIO

from agent_memory.errors import Error
from agent_memory.surfaces.documents import camel_case, mapped_texts

_ERASE = "\r\x1b[K"
BOLD, DIM, RED, GREEN, CYAN = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[36m"
_PLAIN = "\x1b[0m"


class Console:
    """Two streams and the choice between text and JSON. One that `holds` says what goes to stderr when it is closed, as one
    document where the call failed: `{"error": …}`, with `"warnings"` where there were any."""

    def __init__(self, stdout: TextIO, stderr: TextIO, *, json: bool = False, holds: bool = False) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.json = json
        self.closing: list[Callable[[], Iterable[str]]] = []
        """Asked, when the console is closed, for the warnings that are left to say."""
        self._holds = holds
        self._held: list[str] = []
        self._failure: dict[str, Any] | None = None
        self._has_line = False

    def out(self, *lines: str) -> None:
        """Print for people; with `--json` nothing but the document goes to stdout."""
        if lines and not self.json:
            self._clear_line()
            # At once: ten thousand calls of `print` take as long as reading the store.
            print("\n".join(lines), file=self.stdout)

    def answer(self, document: dict[str, Any], *lines: str) -> None:
        """Print what the command has to say: the one document of a `--json` call, else the lines."""
        if self.json:
            print(self._encoded(document, self.stdout), file=self.stdout)
        self.out(*lines)

    def warn(self, *sentences: str) -> None:
        """Print remarks on stderr."""
        for each in sentences:
            if self._holds:
                self._held.append(each)
            else:
                self.err(f"memory: {each}")

    def err(self, text: str) -> None:
        """Print a line on stderr, at once."""
        self._clear_line()
        print(text, file=self.stderr)

    def fail(self, error: Error) -> int:
        """Report an error on stderr, as a sentence or as JSON, without what the call may have quoted of secrets (P20); the
        exit code to end with."""
        from agent_memory.domain.redaction import redact  # only what fails pays for it

        if not self.json:
            self.err(f"memory: {redact(str(error)).text}")
            return error.exit_code
        details = {camel_case(key): value for key, value in error.facts.items()}
        failure = {"error": {"code": error.code, "message": str(error), "details": details}}
        self._failure = mapped_texts(failure, lambda text: redact(text).text)
        if not self._holds:
            self._say_failure()
        return error.exit_code

    def close(self) -> None:
        """Say what is left to say: where remarks were held and the call failed, all of it as one document."""
        for warnings_of in self.closing:
            self.warn(*warnings_of())
        self.closing.clear()
        if self._failure is not None:
            self._failure |= {"warnings": self._held} if self._held else {}
            self._say_failure()
        else:
            for each in self._held:
                self.err(f"memory: {each}")
        self._held = []

    def _say_failure(self) -> None:
        self.err(self._encoded(self._failure, self.stderr))
        self._failure = None

    def _encoded(self, document: Any, stream: TextIO) -> str:
        """Characters as they are where the stream can show them all; else escaped, as JSON and not the stream would."""
        encoding = (stream.encoding or "").lower().replace("_", "-")
        return json.dumps(document, ensure_ascii=encoding not in ("utf-8", "utf8"), indent=2)

    def progress(self, text: str) -> None:
        """Show what long work is at, on a terminal only: in place of what was shown before, until something is printed. The
        beginning stays in view; the cursor is in front of it, so that whatever else is printed does not follow it. On a
        terminal that cannot erase (TERM=dumb) each report stays as a line of its own."""
        if not self.stderr.isatty() or self.json:
            return
        from agent_memory.domain.text.plain_text import one_line
        from agent_memory.surfaces.terminal import cut, terminal_columns

        columns = terminal_columns()
        line = one_line(text, 4 * columns)
        self._has_line = can_erase(self.stderr)
        self.stderr.write(f"{_ERASE}{cut(line, max(columns - 1, 1))}\r" if self._has_line else f"{line}\n")
        self.stderr.flush()

    def _clear_line(self) -> None:
        if self._has_line:
            self.stderr.write(_ERASE)
            self.stderr.flush()
            self._has_line = False

    @property
    def is_terminal(self) -> bool:
        """Whether a person looks at stdout."""
        return self.stdout.isatty() and not self.json

    @property
    def colour(self) -> bool:
        """Whether colour is welcome: a terminal, and no NO_COLOR (https://no-color.org)."""
        return self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def styled(self, style: str, text: str) -> str:
        """The text in a style, where colour is welcome."""
        return styled(style, text, colour=self.colour)


def styled(style: str, text: str, *, colour: bool) -> str:
    """The text between an escape sequence and the one that ends it."""
    return f"{style}{text}{_PLAIN}" if colour and style else text


def standard_console(*, as_json: bool, holds: bool = False) -> Console:
    """The process's own streams."""
    return Console(sys.stdout, sys.stderr, json=as_json, holds=holds)


def can_erase(stream: TextIO) -> bool:
    """Whether what was printed on this stream's line can be taken back."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def erase_line(stream: TextIO) -> None:
    """Take away whatever a console that is out of reach may have left on the line."""
    if can_erase(stream):
        stream.write("\x1b[K")

"""What a command prints on: text for people, one JSON document with `--json`, errors on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TextIO

from attrs import field, frozen

from agent_memory.domain.json_shape import is_object, is_row
from agent_memory.errors import Error
from agent_memory.surfaces.progress_line import ProgressLine
from agent_memory.wording import describe

_ROWS_AT_ONCE = 500


class Held:
    """What a call with `--json` is going to say on stderr when it ends."""

    def __init__(self) -> None:
        self.remarks: list[str] = []
        self.failure: dict[str, Any] | None = None


@frozen
class Console:
    """Two streams and the choice between text and JSON. One that holds what goes to stderr until it is closed can say it as
    one JSON document where the call fails: `{"error": …}`, with `"warnings"` where there were remarks."""

    stdout: TextIO
    stderr: TextIO
    json: bool = False
    line: ProgressLine = field(factory=ProgressLine, repr=False)
    held: Held | None = None
    closing: list[Callable[[], Iterable[str]]] = field(factory=list[Callable[[], Iterable[str]]], repr=False)
    """Asked, when the console is closed, for what is left to say on stderr."""

    def out(self, text: str) -> None:
        """Print for people; with `--json` nothing but the document goes to stdout."""
        if not self.json:
            self.line.clear(self.stderr)
            print(text, file=self.stdout)

    def err(self, text: str) -> None:
        """Print a remark on stderr."""
        if self.held is not None:
            self.held.remarks.append(text)
            return
        self.line.clear(self.stderr)
        print(text, file=self.stderr)

    def document(self, document: dict[str, Any]) -> None:
        """Print the one document of a `--json` call; nothing otherwise."""
        if self.json:
            print(_json(document, self.stdout), file=self.stdout)

    def document_of(self, name: str, rows: Iterable[dict[str, Any]], rest: dict[str, Any]) -> None:
        """Print the document of a `--json` call that is `{name: [rows …], **rest}`, a few rows at a time: all of fifty thousand
        would take half a gigabyte."""
        if not self.json:
            return
        encode = _encoder(self.stdout).encode
        left = iter(rows)
        self.stdout.write(f'{{\n  "{name}": [')
        lead = ""
        while some := [encode(each).replace("\n", "\n    ") for each in islice(left, _ROWS_AT_ONCE)]:
            self.stdout.write(lead + ",".join([f"\n    {each}" for each in some]))
            lead = ","
        end = "\n  ]" if lead else "]"
        print(f"{end},{_json(rest, self.stdout)[1:]}", file=self.stdout)

    def fail(self, error: Error) -> int:
        """Report an error on stderr, as a sentence or as JSON, without what the call may have quoted of secrets (P20); the
        exit code to end with."""
        from agent_memory.domain.redaction import redact  # only what fails pays for it

        self.line.clear(self.stderr)
        if self.json:
            from attrs import asdict

            details = {_camel(key): value for key, value in asdict(error).items()}
            failure = {"error": {"code": error.code, "message": describe(error), "details": details}}
            document = _without_secrets(failure, lambda text: redact(text).text)
            if self.held is not None:
                self.held.failure = document
            else:
                print(_json(document, self.stderr), file=self.stderr)
        else:
            print(f"memory: {redact(describe(error)).text}", file=self.stderr)
        return error.exit_code

    def close(self) -> None:
        """Say what is left to say: where remarks were held and the call failed, all of it as one document."""
        for remarks_of in self.closing:
            for remark in remarks_of():
                self.err(f"memory: {remark}")
        self.closing.clear()
        if self.held is None:
            return
        failure, remarks = self.held.failure, self.held.remarks
        if failure is not None:
            document = (
                {**failure, "warnings": [each.removeprefix("memory: ") for each in remarks]} if remarks else failure
            )
            print(_json(document, self.stderr), file=self.stderr)
        else:
            for each in remarks:
                print(each, file=self.stderr)
        self.held.failure, self.held.remarks = None, []

    def progress(self, text: str) -> None:
        """Show what long work is at, on a terminal only: in place of what was shown before, until something is printed."""
        if self.stderr.isatty() and not self.json:
            self.line.show(self.stderr, text)

    @property
    def is_terminal(self) -> bool:
        """Whether a person looks at stdout."""
        return self.stdout.isatty() and not self.json

    @property
    def colour(self) -> bool:
        """Whether colour is welcome: a terminal, and no NO_COLOR (https://no-color.org)."""
        return self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def strong(self, text: str) -> str:
        """A heading, where colour is welcome."""
        return f"\x1b[1m{text}\x1b[0m" if self.colour else text


def standard_console(*, as_json: bool, held: Held | None = None) -> Console:
    """The process's own streams."""
    return Console(sys.stdout, sys.stderr, as_json, held=held)


def _json(document: dict[str, Any], stream: TextIO) -> str:
    return _encoder(stream).encode(document)


def _encoder(stream: TextIO) -> json.JSONEncoder:
    """Characters as they are where the stream can show them all; else escaped, as JSON and not the stream would."""
    encoding = (stream.encoding or "").lower().replace("_", "-")
    return json.JSONEncoder(ensure_ascii=encoding not in ("utf-8", "utf8"), indent=2)


def _without_secrets(value: Any, safe: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return safe(value)
    if is_object(value):
        return {key: _without_secrets(each, safe) for key, each in value.items()}
    if is_row(value):
        return [_without_secrets(each, safe) for each in value]
    return value


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)

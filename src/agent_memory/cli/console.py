"""What a command prints on: text for people, one JSON document with `--json`, errors on stderr."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from functools import cache
from typing import Any, TextIO

from attrs import fields, fields_dict, has

from agent_memory.errors import Error
from agent_memory.note.note import Listed, Status, Tier, UnreadableFile, Usage
from agent_memory.text.instants import iso_of
from agent_memory.text.json_shape import is_object, is_row

# -- terminal ---------------------------------------------------------------------------------------------------------
# Text for a terminal, measured in its cells: two for a wide character, none for a combining one. Cut and padded texts, tables,
# and passages in lines with some of their characters marked.


def terminal_columns() -> int:
    """Cells in a line of the terminal, 80 where there is none; `COLUMNS` of the environment goes before."""
    import shutil  # loads every compressor there is: only whoever prints for a person needs it

    return shutil.get_terminal_size().columns


def cells_of(text: str) -> int:
    """Returns the cells that a text takes; control characters count as nothing, and should not be in it."""
    from wcwidth import wcswidth

    return max(wcswidth(text), 0)


def cut(text: str, room: int) -> str:
    """Returns the text, or as much of it as leaves room for an ellipsis of one cell; never half of a grapheme."""
    from wcwidth import clip

    return text if cells_of(text) <= room else f"{clip(text, 0, max(room - 1, 0), fillchar='')}…"


# -- tables -----------------------------------------------------------------------------------------------------------

_GAP = "  "
_ENOUGH_CELLS = 36
"""For the last column: with less, other columns give way."""
_LEAST_CELLS = 8


def table_lines(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    width_cells: int | None = None,
    give_way: Sequence[str] = (),
) -> list[str]:
    """Returns the headings, then one line a row, without trailing white space: columns as wide as they need to be, the
    last one cut to what is left of the line. On a narrow line the columns with the headings in `give_way` are left out,
    one after the other, until the last column has room."""
    line_cells = width_cells if width_cells is not None else terminal_columns()
    columns = [(max(map(cells_of, column)), column) for column in zip(headings, *rows, strict=True)]

    def room() -> int:
        """Returns what is left for the last column."""
        return line_cells - sum(cells + len(_GAP) for cells, _ in columns[:-1])

    for heading in give_way:
        if room() >= min(_ENOUGH_CELLS, columns[-1][0]):
            break
        columns = [(cells, column) for cells, column in columns if column[0] != heading]
    from wcwidth import ljust

    widths = [cells for cells, _ in columns[:-1]]
    return [
        _GAP.join((*map(ljust, before, widths), cut(last, max(room(), _LEAST_CELLS)))).rstrip()
        for *before, last in zip(*(column for _, column in columns), strict=True)
    ]


# -- passages ---------------------------------------------------------------------------------------------------------

_MARK, _OFF = "\x1b[1;33m", "\x1b[0m"
_LAST_SPACES = r" +((?:\x1b\[[\d;]*m)*)$"


def broken_lines(text: str, width_cells: int) -> list[str]:
    """Returns the text in lines of at most so many cells, broken between words where that is possible."""
    from wcwidth import wrap

    return wrap(text, width_cells, break_on_hyphens=False)


def marked_lines(text: str, marks: Sequence[tuple[int, int]], width_cells: int, *, colour: bool) -> list[str]:
    """Returns the same; with `colour` the marked ranges, half-open ones of characters in their order, stand out."""
    if not colour:
        return broken_lines(text, width_cells)
    written, at = "", 0
    for mark_start, mark_end in marks:
        first, last = max(mark_start, at), min(mark_end, len(text))
        if first < last:
            written += f"{text[at:first]}{_MARK}{text[first:last]}{_OFF}"
            at = last
    # A space at which a line is broken within a mark stays in front of the end of the mark.
    return [re.sub(_LAST_SPACES, r"\1", line) for line in broken_lines(written + text[at:], width_cells)]


# -- documents --------------------------------------------------------------------------------------------------------
# Values of ours as JSON, for `--json`: one rule for all of them, and by hand what differs from it.


_AS_IT_IS = frozenset({str, int, float, bool, type(None)})


def json_of(value: Any) -> Any:
    """Returns a value as JSON has it: an object of ours by its attributes, of a word of a vocabulary its text."""
    kind: type[Any] = (
        value.__class__
    )  # in the order in which they are met: two thousand notes have fifty thousand values
    if kind in _AS_IT_IS:
        return value
    if is_row(value):
        return [json_of(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Error):
        return {"code": value.code, "message": str(value)}
    if isinstance(value, UnreadableFile):
        return fields_of(value, "path", "problems")  # of the notes that are missing from an answer (P6)
    if kind is dict:
        return {json_of(key): json_of(each) for key, each in value.items()}
    return fields_of(value)


def fields_of(value: Any, *names: str) -> dict[str, Any]:
    """Returns the attributes of a value, or only those with these names: keys in camelCase, or as its class names them;
    an instant, whose name ends with `at_ms`, in ISO 8601."""
    document: dict[str, Any] = {}
    for name in names or [each.name for each in fields(value.__class__)]:
        key, is_instant = _key(value.__class__, name)
        member = getattr(value, name)
        document[key] = iso_or_none(member) if is_instant else json_of(member)
    return document


@cache
def _key(cls: type, name: str) -> tuple[str, bool]:
    is_instant = name.endswith("at_ms")
    known = fields_dict(cls) if has(cls) else {}
    stated: str | None = known[name].metadata.get("key") if name in known else None
    return stated or camel_case(name.removesuffix("_ms") if is_instant else name), is_instant


def rows_of(values: Iterable[Any], *names: str) -> list[dict[str, Any]]:
    """Returns a list of such objects."""
    return [fields_of(each, *names) for each in values]


def iso_or_none(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso_of(at_ms)


def camel_case(name: str) -> str:
    """Returns `notBefore` of `not_before`."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def mapped_texts(value: Any, mapped: Callable[[str], str]) -> Any:
    """Returns a JSON value with each of its texts, but no key, made another."""
    if isinstance(value, str):
        return mapped(value)
    if is_object(value):
        return {key: mapped_texts(each, mapped) for key, each in value.items()}
    return [mapped_texts(each, mapped) for each in value] if is_row(value) else value


def entry_document(
    listed: Listed, usage: Usage | None = None, body: str | None = None, *, tier: Tier = Tier.COLD
) -> dict[str, Any]:
    """Returns a note: the frontmatter keys of design §3.2, with `path`, `tier` and, where it is given, `body`. `used`
    and `last_used` include every host's ledger, where `usage` says so; `status` is `promoted` for what is hot. Instants
    are epoch ms, `last_used` ISO 8601."""
    meta = listed.meta
    usage = usage or Usage(meta.used, meta.last_used_at_ms)
    return {
        **fields_of(meta, "id", "title", "description", "kind", "tags"),
        "status": (Status.PROMOTED if tier is Tier.HOT else meta.status).value,
        **fields_of(meta, "origin", "scope", "importance", "confidence", "sensitivity", "pinned", "promoted_by"),
        "used": usage.count,
        "last_used": iso_or_none(usage.last_at_ms),
        "createdAt": meta.created_at_ms,
        "updatedAt": meta.updated_at_ms,
        "expiresAt": meta.expires_at_ms,
        "validFrom": meta.valid_from_ms,
        "validUntil": meta.valid_until_ms,
        **fields_of(meta, "aliases", "supersedes"),
        "sources": rows_of(meta.sources, "harness", "thread_id", "repo", "cwd", "agent", "turns"),
        "path": listed.path,
        "archived": listed.archived,
        "tier": tier.value,
        **({} if body is None else {"body": body}),
    }


_ERASE = "\r\x1b[K"
BOLD, DIM, RED, GREEN, CYAN = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[36m"
_PLAIN = "\x1b[0m"


class Console:
    """Two streams and the choice between text and JSON. One that `holds` says what goes to stderr when it is closed, as
    one document where the call failed: `{"error": …}`, with `"warnings"` where there were any."""

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
        """Report an error on stderr, as a sentence or as JSON, without what the call may have quoted of secrets (P20);
        the exit code to end with."""
        from agent_memory.redaction.redact import redact  # only what fails pays for it

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
        """Show what long work is at, on a terminal only: in place of what was shown before, until something is printed.
        The beginning stays in view; the cursor is in front of it, so that whatever else is printed does not follow it.
        On a terminal that cannot erase (TERM=dumb) each report stays as a line of its own."""
        if not self.stderr.isatty() or self.json:
            return
        from agent_memory.text.plain_text import one_line

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
        """Returns the text in a style, where colour is welcome."""
        return styled(style, text, colour=self.colour)


def styled(style: str, text: str, *, colour: bool) -> str:
    """Returns the text between an escape sequence and the one that ends it."""
    return f"{style}{text}{_PLAIN}" if colour and style else text


def can_erase(stream: TextIO) -> bool:
    """Returns whether what was printed on this stream's line can be taken back."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"

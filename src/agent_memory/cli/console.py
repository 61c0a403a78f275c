"""What a command reads and prints: its arguments; text for people, one JSON document with `--json`, errors on stderr."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from agent_memory.documents import error_document
from agent_memory.errors import Error, UsageInvalid
from agent_memory.text.ids import normal_tag, split_tags
from agent_memory.text.instants import DAY_MS, HOUR_MS, LAST_MS, ms_of
from agent_memory.text.plain_text import one_line, shown_on_a_line

if TYPE_CHECKING:
    from agent_memory.rules.drafts import Expiry

# -- terminal ---------------------------------------------------------------------------------------------------------
# Text for a terminal, measured in its cells: two for a wide character, none for a combining one. Cutting and padding,
# tables, and passages in lines with some of their characters marked.


def terminal_columns() -> int:
    """Returns the cells in a line of the terminal, 80 without one; `COLUMNS` of the environment goes before."""
    import shutil  # loads every compressor there is: only printing for a person needs it

    return shutil.get_terminal_size().columns


def cells_of(text: str) -> int:
    """Returns the cells that a text takes; control characters count as nothing, and should not be in it."""
    from wcwidth import wcswidth

    return max(wcswidth(text), 0)


def cut(text: str, room: int) -> str:
    """Returns the text, cut to leave room for an ellipsis of one cell if it is longer; never cuts a grapheme."""
    from wcwidth import clip

    return text if cells_of(text) <= room else f"{clip(text, 0, max(room - 1, 0), fillchar='')}…"


_GAP = "  "
_LEAST_CELLS = 8


def table_lines(
    headings: Sequence[str], rows: Sequence[Sequence[str]], width_cells: int | None = None, give_way: Sequence[str] = ()
) -> list[str]:
    """Returns the headings, then one line for each row, without trailing white space: columns as wide as they need to
    be, the last one cut to the rest of the line. On a narrow line the columns with the headings in `give_way` are left
    out, one after the other, until the last column has room."""
    line_cells = width_cells if width_cells is not None else terminal_columns()
    columns = [(max(map(cells_of, column)), column) for column in zip(headings, *rows, strict=True)]

    def room() -> int:
        """Returns what is left for the last column."""
        return line_cells - sum(cells + len(_GAP) for cells, _ in columns[:-1])

    for heading in give_way:
        if room() >= min(36, columns[-1][0]):  # if the last column has less, other columns give way
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
    """Returns the same; with `colour` the marked ranges, half-open and in order, stand out."""
    if not colour:
        return broken_lines(text, width_cells)
    written, at = "", 0
    for mark_start, mark_end in marks:
        first, last = max(mark_start, at), min(mark_end, len(text))
        if first < last:
            written += f"{text[at:first]}{_MARK}{text[first:last]}{_OFF}"
            at = last
    # A space at which a line is broken within a mark stays before the end of the mark.
    return [re.sub(_LAST_SPACES, r"\1", line) for line in broken_lines(written + text[at:], width_cells)]


# -- the two streams -------------------------------------------------------------------------------------------------

_ERASE = "\r\x1b[K"
BOLD, DIM, RED, GREEN, CYAN = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[36m"
_PLAIN = "\x1b[0m"


class Console:
    """Two streams and the choice between text and JSON. With `holds`, what goes to stderr is printed on closing, as one
    document if the call failed: `{"error": …}`, with `"warnings"` if there were any."""

    def __init__(self, stdout: TextIO, stderr: TextIO, *, json: bool = False, holds: bool = False) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.json = json
        self.closing: list[Callable[[], Iterable[str]]] = []
        """Called when the console is closed; each returns the remaining warnings."""
        self._holds = holds
        self._held: list[str] = []
        self._failure: dict[str, Any] | None = None
        self._has_line = False

    def out(self, *lines: str) -> None:
        """Prints lines for people; with `--json` nothing but the document goes to stdout."""
        if lines and not self.json:
            self._clear_line()
            # At once: ten thousand calls of `print` take as long as reading the store.
            print("\n".join(lines), file=self.stdout)

    def answer(self, document: dict[str, Any], *lines: str) -> None:
        """Prints the answer of the command: the document of a `--json` call, else the lines."""
        if self.json:
            print(self._encoded(document, self.stdout), file=self.stdout)
        self.out(*lines)

    def warn(self, *sentences: str) -> None:
        for each in map(shown_on_a_line, sentences):
            if self._holds:
                self._held.append(each)
            else:
                self.err(f"memory: {each}")

    def err(self, text: str) -> None:
        """Prints a line on stderr, at once."""
        self._clear_line()
        print(text, file=self.stderr)

    def fail(self, error: Error) -> int:
        """Reports an error on stderr, as a sentence or as JSON, without any secrets that the call quoted (P20). Returns
        the exit code."""
        failure = error_document(error)
        if not self.json:
            self.err(f"memory: {failure['error']['message']}")
            return error.exit_code
        self._failure = failure
        if not self._holds:
            self._say_failure()
        return error.exit_code

    def close(self) -> None:
        """Prints what was held; if the call failed, as one document."""
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
        """Returns the JSON, with characters as they are if the stream can show them all; else escaped as JSON does it,
        not as the stream would."""
        encoding = (stream.encoding or "").lower().replace("_", "-")
        return json.dumps(document, ensure_ascii=encoding not in ("utf-8", "utf8"), indent=2)

    def progress(self, text: str) -> None:
        """Shows what long work is doing, on a terminal only; each report replaces the last, until something is printed.
        The beginning stays in view, with the cursor before it, so that other output does not follow it. On a terminal
        that cannot erase (TERM=dumb) each report stays as a line of its own."""
        if not self.stderr.isatty() or self.json:
            return
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

    def rows(
        self, headings: Sequence[str], rows: Sequence[Sequence[str]], give_way: Sequence[str] = ()
    ) -> Iterator[str]:
        """Yields a table for a terminal, see `table_lines`; else a line for each row, with tabs between its fields."""
        if self.is_terminal and rows:
            heading, *lines = table_lines(headings, rows, give_way=give_way)
            yield self.styled(BOLD, heading)
            yield from lines
        else:
            yield from map("\t".join, rows)

    @property
    def colour(self) -> bool:
        """Whether colour is welcome: a terminal, and no NO_COLOR (https://no-color.org)."""
        return self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def styled(self, style: str, text: str) -> str:
        return styled(style, text, colour=self.colour)


def styled(style: str, text: str, *, colour: bool) -> str:
    return f"{style}{text}{_PLAIN}" if colour and style else text


def can_erase(stream: TextIO) -> bool:
    """Returns whether a line that was printed on this stream can be erased."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


# -- arguments of commands: declared with argparse, and read as the values that they mean -----------------------------

Arguments: TypeAlias = argparse.Namespace
Run: TypeAlias = Callable[[Arguments, Console], int | None]
"""Carries out a command; its exit code, None for 0."""

MAX_STDIN_BYTES = 1 << 20
ENTRY = "a note: id__a1b2c3, a1b2c3, or its file"
_ID = r"(?:\A(?:id__)?|id__)([1-9A-HJ-NP-Za-km-z]{6})(?:\.md)?\Z"


class Options:
    """Declares the arguments of a command, or those of one group of them."""

    def __init__(self, parser: argparse.ArgumentParser, add: Callable[..., object] | None = None) -> None:
        self._parser = parser
        self.prog = parser.prog
        self.add = add or parser.add_argument

    def group(self, heading: str) -> Options:
        return Options(self._parser, self._parser.add_argument_group(heading).add_argument)

    def one_of(self) -> Options:
        """Returns a group of which a call may have one argument only."""
        return Options(self._parser, self._parser.add_mutually_exclusive_group().add_argument)

    def runs(self, run: Run, epilog: str = "", example: str = "", **defaults: object) -> None:
        """Says what the command does, and the part of its help after the options; `example` is a call that makes sense
        as it is, if the epilog shows none. `defaults` are arguments that nobody can give."""
        self._parser.set_defaults(command=run, **defaults)
        self._parser.epilog = "\n\n".join(filter(None, (epilog, example and f"Example:\n  {example}")))

    def flag(self, name: str, meaning: str) -> None:
        self.add(name, action="store_true", help=meaning)

    def number(
        self,
        name: str,
        meaning: str,
        metavar: str = "N",
        *,
        least: int,
        most: int | None = None,
        default: float | None = None,
        read: Callable[[str], float] = int,
    ) -> None:
        bounds = f"from {least}" if most is None else f"from {least} to {most:,}"

        class Store(argparse.Action):
            def __call__(self, _: object, namespace: Arguments, values: Any, option: object = None) -> None:
                if not (least <= values and (most is None or values <= most)):
                    given = f"{values:g}" if isinstance(values, float) else values
                    raise UsageInvalid(f"{name} is {given}, expected a number {bounds}")
                setattr(namespace, self.dest, values)

        self.add(name, action=Store, type=read, metavar=metavar, default=default, help=meaning)

    def id(self, meaning: str = ENTRY, *, optional: bool = False) -> None:
        """The argument ID: an id, with or without its `id__`, or a file of the store."""
        self.add("id", metavar="ID", nargs="?" if optional else None, type=entry_id, help=meaning)

    def ids(self) -> None:
        self.add("ids", metavar="ID", nargs="+", type=entry_id, help=ENTRY)

    def choice(self, name: str, words: type[StrEnum], meaning: str, default: StrEnum | None = None) -> None:
        """An option that takes one of a few words and stores the member of `words`; its help lists them."""
        known = [each.value for each in words]

        def member(word: str) -> StrEnum | str:
            return words(word) if word in known else word  # argparse reports anything else

        metavar, meaning = name.removeprefix("--").upper(), f"{meaning}: {', '.join(known)}"
        self.add(name, type=member, choices=known, metavar=metavar, default=default, help=meaning)

    def since(self, meaning: str, *words: str) -> None:
        """The option --since: an instant, or one of these words."""

        def when(text: str) -> int | str:
            return text if text in words else since_ms_of(text)

        self.add("--since", metavar="WHEN", type=when, help=meaning)

    def moment(self, name: str, meaning: str, *, required: bool = False) -> None:
        """An option for an instant (epoch ms), or for a commit by its id, abbreviated or not."""

        def moment(text: str) -> int | str:
            return text if re.fullmatch(r"[0-9a-f]{7,40}", text) else since_ms_of(text, name, "a commit, ")

        self.add(name, metavar="WHEN", type=moment, help=meaning, required=required)

    def expires(self, meaning: str) -> None:
        def when(text: str) -> Expiry:
            return expiry_of(text, _now_ms())

        self.add("--expires", metavar="WHEN", type=when, help=meaning)

    def harnesses(self, meaning: str, known: Sequence[str], paths: str = "") -> None:
        def harness(word: str) -> str:
            if word not in known and paths and ("/" in word or os.path.isdir(word)):
                raise UsageInvalid(f"{word} is not the name of a harness", paths)
            if word not in known:
                hint = f"{closest(word, known)}Known harnesses: {', '.join(known)}."
                raise UsageInvalid(f"There is no harness {word!r}", hint)
            return known[known.index(word)]

        self.add("harness", metavar="HARNESS", nargs="*", type=harness, help=meaning)


def closest(word: str, known: Iterable[str], form: str = "{}") -> str:
    """Returns "Did you mean …? " with the most similar of the known words; empty where none is."""
    import difflib

    return "".join(f"Did you mean {form.format(each)}? " for each in difflib.get_close_matches(word, list(known), n=1))


# -- read -------------------------------------------------------------------------------------------------------------


def entry_id(text: str) -> str:
    """Returns the id that a person means by `id__a1b2c3`, `a1b2c3` or `…/title -- id__a1b2c3.md`; other text as it is,
    so that the store can say that there is no such note."""
    found = re.search(_ID, text)
    return f"id__{found[1]}" if found else text


def text_of(argument: str) -> str:
    """Returns the argument; for `-` all of standard input, which must be UTF-8 and at most 1 MiB."""
    if argument != "-":
        return argument
    if sys.stdin is None:
        raise UsageInvalid("`-` reads standard input, but it is closed")
    try:
        content = sys.stdin.buffer.read(MAX_STDIN_BYTES + 1)
    except OSError as error:
        raise UsageInvalid(f"Standard input cannot be read: {error.strerror}") from None
    if len(content) > MAX_STDIN_BYTES:
        raise UsageInvalid(f"Standard input is larger than {MAX_STDIN_BYTES >> 20} MiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageInvalid("Standard input is not UTF-8 text") from None


def tags_of(words: str) -> tuple[str, ...]:
    """Returns the words in a list separated by commas or spaces; refuses one that cannot become a tag. They stay as they
    were typed, since a secret is recognised by its capitals too."""
    tags = split_tags(words)
    for word in tags:
        if normal_tag(word) is None:
            raise UsageInvalid(f"{word!r} in --tags cannot be a tag")
    return tags


def scope_of(given: str, here: str) -> str:
    """Returns the scope that `--scope` means: `repo` is that of the working directory, `here`."""
    from agent_memory.capture.places import redacted_scope  # few commands take one
    from agent_memory.capture.repository import stated_scope

    scope = here if given == "repo" else stated_scope(given)
    if scope is None:
        expected = "expected global, repo, or a repository's key such as github.com/owner/repo"
        raise UsageInvalid(f"--scope is {one_line(given, 80)!r}, {expected}")
    return redacted_scope(scope)


# -- periods and days as people write them ----------------------------------------------------------------------------

_PERIOD = r"(?a)(\d{1,6})\s*(m|h|d|w|y)"
_UNITS_MS = {"m": 60_000, "h": HOUR_MS, "d": DAY_MS, "w": 7 * DAY_MS, "y": 365 * DAY_MS}


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def since_ms_of(text: str, name: str = "--since", other: str = "") -> int:
    """Returns the instant that `30d` (also `m h w y`) or `2026-02-13` (UTC) means."""
    word = text.strip()
    period_ms = _period_ms(word)
    if period_ms is not None:
        return _now_ms() - period_ms
    at_ms = ms_of(f"{word}T00:00") if len(word) == 10 else ms_of(word)
    if at_ms is None:
        problem = f"{name} is {text!r}, expected {other}a period such as 30d (m h d w y) or a date such as 2026-02-13"
        raise UsageInvalid(problem)
    return at_ms


def expiry_of(text: str, now_ms: int) -> Expiry:
    """Returns the end that `30d` from now (also `m h w y`), the end of the day `2026-12-31` (UTC), an instant, or
    `never` means; refuses one that is past."""
    from agent_memory.rules.drafts import Expiry  # few commands ask for one

    word = text.strip()
    if word == "never":
        return Expiry(None)
    period_ms = _period_ms(word)
    if period_ms is not None:
        at_ms: int | None = now_ms + period_ms
    elif re.fullmatch(r"(?a)\d{4}-\d\d-\d\d", word):
        midnight = ms_of(f"{word}T00:00")
        at_ms = None if midnight is None else midnight + DAY_MS - 1
    else:
        at_ms = ms_of(word)
    if at_ms is None or at_ms > LAST_MS:
        expected = "expected a period such as 30d (m h d w y), a date such as 2026-12-31, or never"
        raise UsageInvalid(f"--expires is {text!r}, {expected}")
    if at_ms <= now_ms:
        raise UsageInvalid(
            f"--expires is {text!r}, which is in the past", "`memory archive` archives a note right away."
        )
    return Expiry(at_ms)


def duration_ms_of(text: str) -> int:
    """Returns the milliseconds that `2h` (also `m d w y`) means."""
    period_ms = _period_ms(text.strip())
    if not period_ms:
        raise UsageInvalid(f"--for is {text!r}, expected a period such as 2h (m h d w y)")
    return period_ms


def _period_ms(word: str) -> int | None:
    found = re.fullmatch(_PERIOD, word)
    return int(found[1]) * _UNITS_MS[found[2]] if found else None

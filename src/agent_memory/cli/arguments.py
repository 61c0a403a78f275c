"""The arguments of commands: declared with argparse, and read as the values that they mean."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from agent_memory.cli.console import Console
from agent_memory.errors import UsageInvalid
from agent_memory.text.ids import normal_tag, split_tags
from agent_memory.text.instants import DAY_MS, HOUR_MS, ms_of
from agent_memory.text.plain_text import one_line

if TYPE_CHECKING:
    from agent_memory.rules.drafts import Expiry

Options: TypeAlias = argparse._ActionsContainer  # pyright: ignore[reportPrivateUsage] - a parser, or a group of one
Run: TypeAlias = Callable[[argparse.Namespace, Console], int | None]
"""Carries out a command; its exit code, None for 0."""

MAX_STDIN_BYTES = 1 << 20
ENTRY = "a note: id__a1b2c3, a1b2c3, or its file"
_ID = r"(?:\A(?:id__)?|id__)([1-9A-HJ-NP-Za-km-z]{6})(?:\.md)?\Z"

# -- declared ---------------------------------------------------------------------------------------------------------


def set_command(parser: argparse.ArgumentParser, run: Run, epilog: str = "", example: str = "") -> None:
    """Tells the parser what its command does, and the part of its help after the options; `example` is a call that
    makes sense as it is, if the epilog shows none."""
    parser.set_defaults(command=run)
    parser.epilog = "\n\n".join(filter(None, (epilog, example and f"Example:\n  {example}")))


def add_flag(options: Options, name: str, meaning: str) -> None:
    options.add_argument(name, action="store_true", help=meaning)


def add_number(
    options: Options,
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
        def __call__(self, parser: object, namespace: argparse.Namespace, values: Any, option: object = None) -> None:
            if not (least <= values and (most is None or values <= most)):
                given = f"{values:g}" if isinstance(values, float) else values
                raise UsageInvalid(f"{name} is {given}, expected a number {bounds}")
            setattr(namespace, self.dest, values)

    options.add_argument(name, action=Store, type=read, metavar=metavar, default=default, help=meaning)


def add_id(options: Options, meaning: str = ENTRY, *, optional: bool = False) -> None:
    """The argument ID: an id, with or without its `id__`, or a file of the store."""
    options.add_argument("id", metavar="ID", nargs="?" if optional else None, type=entry_id, help=meaning)


def add_choice(options: Options, name: str, words: type[StrEnum], meaning: str, default: StrEnum | None = None) -> None:
    """An option that takes one of a few words and stores the member of `words`; its help lists them."""
    known = [each.value for each in words]
    options.add_argument(
        name,
        type=lambda word: words(word) if word in known else word,  # argparse reports anything else
        choices=known,
        metavar=name.removeprefix("--").upper(),
        default=default,
        help=f"{meaning}: {', '.join(known)}",
    )


def add_since(options: Options, meaning: str, *words: str) -> None:
    """The option --since: an instant, or one of these words."""

    def when(text: str) -> int | str:
        return text if text in words else since_ms_of(text, _now_ms())

    options.add_argument("--since", metavar="WHEN", type=when, help=meaning)


def add_moment(options: Options, name: str, meaning: str, *, required: bool = False) -> None:
    """An option for an instant (epoch ms), or for a commit by its id, abbreviated or not."""

    def moment(text: str) -> int | str:
        return text if re.fullmatch(r"[0-9a-f]{7,40}", text) else since_ms_of(text, _now_ms(), name)

    options.add_argument(name, metavar="WHEN", type=moment, help=meaning, required=required)


def add_expires(options: Options, meaning: str) -> None:
    """The option --expires: an Expiry."""
    options.add_argument("--expires", metavar="WHEN", type=lambda text: expiry_of(text, _now_ms()), help=meaning)


def add_harnesses(parser: argparse.ArgumentParser, meaning: str, known: Sequence[str]) -> None:
    """Adds the argument HARNESS …, each one of the known harnesses."""

    def harness(word: str) -> str:
        if word not in known:
            raise UsageInvalid(f"There is no harness {word!r}", f"Known harnesses: {', '.join(known)}.")
        return known[known.index(word)]

    parser.add_argument("harness", metavar="HARNESS", nargs="*", type=harness, help=meaning)


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
    from agent_memory.capture.repository import stated_scope  # few commands take one

    scope = here if given == "repo" else stated_scope(given)
    if scope is None:
        expected = "expected global, repo, or a repository's key such as github.com/owner/repo"
        raise UsageInvalid(f"--scope is {one_line(given, 80)!r}, {expected}")
    return scope


# -- periods and days as people write them ----------------------------------------------------------------------------

_PERIOD = r"(?a)(\d{1,6})\s*(m|h|d|w|y)"
_DATE = r"(?a)\d{4}-\d\d-\d\d"
_UNITS_MS = {"m": 60_000, "h": HOUR_MS, "d": DAY_MS, "w": 7 * DAY_MS, "y": 365 * DAY_MS}
_LATEST_MS = 253_402_300_799_999
"""The end of the year 9999, the last instant that can be written as a date."""


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def since_ms_of(text: str, now_ms: int, name: str = "--since") -> int:
    """Returns the instant that `30d` (also `m h w y`) or `2026-02-13` (UTC) means."""
    word = text.strip()
    period_ms = _period_ms(word)
    if period_ms is not None:
        return now_ms - period_ms
    at_ms = ms_of(f"{word}T00:00") if len(word) == 10 else ms_of(word)
    if at_ms is None:
        problem = f"{name} is {text!r}, expected a period such as 30d (m h d w y) or a date such as 2026-02-13"
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
    elif re.fullmatch(_DATE, word):
        midnight = ms_of(f"{word}T00:00")
        at_ms = None if midnight is None else midnight + DAY_MS - 1
    else:
        at_ms = ms_of(word)
    if at_ms is None or at_ms > _LATEST_MS:
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

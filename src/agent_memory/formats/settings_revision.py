"""From what a file is, what setup has put into it and what it is to hold, to what it becomes: pure.

The *baseline* is the file without ours. While nobody has touched the file since, it is the backup, byte for byte; else ours
is cut out of the file as it is now.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.installing.receipt import FileRecord, Placed, sha256_of
from agent_memory.domain.installing.wanted import Element, Member, Syntax, Whole
from agent_memory.formats.entry_values import has, holds, is_occupied
from agent_memory.formats.settings_text import cut, is_bare, parse_settings, put, text_of
from agent_memory.results import sealed


@frozen
class Revision:
    """A file's new bytes, the bytes it would have without ours, and what of ours is in it."""

    after: bytes | None
    baseline: bytes | None
    placed: tuple[Placed, ...]
    set_aside: bool = False
    """A file of ours that somebody has edited is replaced or removed: its bytes are to be kept."""


def with_placed(
    current: bytes | None,
    syntax: Syntax,
    record: FileRecord | None,
    backup: bytes | None,
    wanted: Iterable[Placed],
) -> Result[Revision, str]:
    """The file with what is wanted in it, besides what is there; in words why it cannot be.

    `backup` is the backup of the record. What was put in before stays where it stands while it is as it is wanted.
    """
    earlier = () if record is None else record.placed
    if syntax == "whole":
        return _whole(current, record, backup, tuple(wanted))

    def revised(text: str | None, baseline: bytes | None) -> Result[Revision, str]:
        return _filled(text, baseline, syntax, earlier, tuple(wanted))

    return _baseline(current, syntax, record, backup).bind(
        lambda baseline: _text(current).bind(lambda text: revised(text, baseline))
    )


def without_placed(
    current: bytes | None, record: FileRecord, backup: bytes | None, harnesses: frozenset[str]
) -> Result[Revision, str]:
    """The file without what is there for these harnesses alone; in words why it cannot be."""
    kept = tuple(left for each in record.placed if (left := _left(each, harnesses)) is not None)
    baseline = _baseline(current, record.syntax, record, backup)
    if current is None:
        return Success(Revision(None, None, ()))
    if record.syntax == "whole":
        edited = sha256_of(current) not in (record.after, record.before)
        return baseline.map(
            lambda before: Revision(current if kept else before, before, kept, set_aside=edited and not kept)
        )
    if not kept:
        return baseline.map(lambda before: Revision(before, before, ()))
    gone = [each for each in record.placed if _left(each, harnesses) is None]

    def partly(before: bytes | None) -> Result[Revision, str]:
        original = None if backup is None else backup.decode("utf-8", "replace")
        return (
            _text(current)
            .bind(lambda text: _cut_all(text or "", gone, record.syntax, original))
            .map(lambda text: Revision(text.encode(), before, kept))
        )

    return baseline.bind(partly)


def _left(placed: Placed, harnesses: frozenset[str]) -> Placed | None:
    """What stays of an entry when these harnesses go."""
    others = tuple(each for each in placed.harnesses if each not in harnesses)
    return evolve(placed, harnesses=others) if others else None


def _baseline(
    current: bytes | None, syntax: Syntax, record: FileRecord | None, backup: bytes | None
) -> Result[bytes | None, str]:
    if record is None or current is None:
        return Success(current)
    now = sha256_of(current)
    if now == record.after or syntax == "whole":
        return Success(backup)
    if now == record.before:
        return Success(current)
    original = None if backup is None else backup.decode("utf-8", "replace")

    def bare_or(text: str) -> bytes | None:
        return None if backup is None and is_bare(text, syntax) else text.encode()

    return _text(current).bind(lambda text: _cut_all(text or "", record.placed, syntax, original)).map(bare_or)


def _cut_all(text: str, placed: Iterable[Placed], syntax: Syntax, original: str | None) -> Result[str, str]:
    for each in sorted(placed, key=_may_stay):
        if isinstance(each.entry, Whole):
            continue
        match sealed(cut(text, each.entry, syntax, original)):
            case Failure(problem):
                return Failure(problem)
            case Success(shorter) if not _may_stay(each) or _is_as_before(shorter, syntax, original):
                text = shorter
            case Success(_):  # what somebody has added may need it
                continue
    return Success(text)


def _may_stay(placed: Placed) -> bool:
    return isinstance(placed.entry, Member) and placed.entry.stays


def _is_as_before(text: str, syntax: Syntax, original: str | None) -> bool:
    """Whether a document holds what it held before. If not, what somebody has added may need what came with ours."""
    return is_bare(text, syntax) or parse_settings(text, syntax) == parse_settings(original or "", syntax)


def _filled(
    text: str | None,
    baseline: bytes | None,
    syntax: Syntax,
    earlier: tuple[Placed, ...],
    wanted: tuple[Placed, ...],
) -> Result[Revision, str]:
    original = None if baseline is None else baseline.decode("utf-8", "replace")
    placed = list(earlier)
    now = text or ""
    for each in wanted:
        match sealed(_one_in(now, each, syntax, placed, original)):
            case Failure(problem):
                return Failure(problem)
            case Success(changed):
                if changed is not None:  # else somebody has put it there before
                    now, placed = changed
    after = None if text is None and now == "" else now.encode()
    return Success(Revision(after, baseline, tuple(placed)))


def _one_in(
    text: str, wanted: Placed, syntax: Syntax, placed: list[Placed], original: str | None
) -> Result[tuple[str, list[Placed]] | None, str]:
    """The text with one entry in it, and what is placed then; None where somebody else has put it there."""
    entry = wanted.entry
    assert not isinstance(entry, Whole)  # the caller takes care of these
    spot = entry
    mine = next((each for each in placed if _same_spot(each, wanted)), None)
    new = wanted if mine is None else _united(mine, wanted)
    then = [new if each is mine else each for each in placed] if mine is not None else [*placed, new]

    def into(value: object) -> Result[tuple[str, list[Placed]] | None, str]:
        if mine is not None and has(value, spot):
            return Success((text, then))
        if mine is None and holds(value, spot):
            return Success(None)
        if mine is None and is_occupied(value, spot):
            return Failure(f"something else is set up there as {'.'.join(spot.keys)}; remove or rename that first")
        outdated = Success(text) if mine is None else _cut_all(text, [mine], syntax, original)
        return outdated.bind(lambda clean: put(clean, spot, syntax)).map(lambda full: (full, then))

    return parse_settings(text, syntax).bind(into)


def _same_spot(placed: Placed, wanted: Placed) -> bool:
    """Whether an entry that was put in earlier is the earlier form of what is wanted."""
    match placed.entry, wanted.entry:
        case Element() as old, Element() as new:
            return old.keys == new.keys and (old.mark == new.mark if new.mark else old.value == new.value)
        case Member() as old, Member() as new:
            return old.keys == new.keys
        case Whole(), Whole():
            return True
        case _:
            return False


def _united(old: Placed, new: Placed) -> Placed:
    return evolve(new, harnesses=tuple(sorted({*old.harnesses, *new.harnesses})))


def _whole(
    current: bytes | None, record: FileRecord | None, backup: bytes | None, wanted: tuple[Placed, ...]
) -> Result[Revision, str]:
    """A file of ours: made, or brought up to date. What somebody else has made there is left alone."""
    placed = wanted[0]
    for each in (*wanted[1:], *(() if record is None else record.placed)):
        placed = _united(each, placed)
    text = placed.entry.text.encode() if isinstance(placed.entry, Whole) else b""
    if current == text and record is None:
        return Success(Revision(current, current, ()))
    if current is None or current == text or record is not None:
        edited = (
            current is not None and record is not None and sha256_of(current) not in (record.after, sha256_of(text))
        )
        return Success(Revision(text, backup, (placed,), set_aside=edited))
    return Failure("there is a file already that is not ours; move it away first")


def _text(data: bytes | None) -> Result[str | None, str]:
    return Success(None) if data is None else text_of(data)

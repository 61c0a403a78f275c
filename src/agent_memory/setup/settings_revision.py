"""Computes what a file becomes from its content, what setup has put into it, and what it should hold. Pure.

The *baseline* is the file without ours. While nobody has touched the file since, it is the backup, byte for byte; else
ours is cut out of the present file. EditRefused says why a file cannot be edited.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import evolve

from agent_memory.rules.change import TargetFile
from agent_memory.setup.plan import Element, Entry, FileRecord, Member, PlannedFile, Syntax, Whole
from agent_memory.setup.settings_edit import (
    BOM,
    NOTHING,
    EditRefused,
    Spot,
    cut,
    named,
    parse_settings,
    put,
    says,
    value_at,
)
from agent_memory.text.ids import content_hash
from agent_memory.text.json_shape import is_list


def _planned(
    file: TargetFile,
    syntax: Syntax,
    after: bytes | None,
    baseline: bytes | None,
    placed: tuple[Entry, ...],
    *,
    set_aside: bool = False,
) -> PlannedFile:
    """Returns the file with these bytes, the bytes that it would have without ours, and the record of what in it is
    ours."""
    if not placed:
        return PlannedFile(file, after, None, baseline, set_aside)
    before = None if baseline is None else content_hash(baseline)
    record = FileRecord(file.path, syntax, before, content_hash(after or b""), placed)
    return PlannedFile(file, after, record, baseline, set_aside)


def with_placed(
    file: TargetFile, syntax: Syntax, record: FileRecord | None, backup: bytes | None, wanted: Iterable[Entry]
) -> PlannedFile:
    """Returns the file with everything wanted in it, besides what is there. `backup` is the backup of the record. An
    entry that was put in before stays where it is as long as it is as wanted."""
    if syntax == "whole":
        return _whole(file, record, backup, tuple(wanted))
    current = file.data
    baseline = _baseline(current, syntax, record, backup)
    original = _decoded(baseline)
    placed = [] if record is None else list(record.placed)
    text = "" if current is None else text_of(current)
    for each in wanted:
        text = _with_one(text, each, syntax, placed, original)
    after = None if current is None and not text else text.encode()
    return _planned(file, syntax, after, baseline, tuple(placed))


def without_placed(
    file: TargetFile, record: FileRecord, backup: bytes | None, harnesses: frozenset[str]
) -> PlannedFile:
    """Returns the file without what is there for these harnesses alone."""
    kept: list[Entry] = []
    gone: list[Entry] = []
    for each in record.placed:
        others = tuple(harness for harness in each.harnesses if harness not in harnesses)
        (kept if others else gone).append(evolve(each, harnesses=others or each.harnesses))
    current, syntax = file.data, record.syntax
    baseline = _baseline(current, syntax, record, backup)
    if current is None:
        return PlannedFile(file, None)
    if syntax == "whole":
        edited = content_hash(current) not in (record.after, record.before)
        after = current if kept else baseline
        return _planned(file, syntax, after, baseline, tuple(kept), set_aside=edited and not kept)
    after = _cut_all(text_of(current), gone, syntax, _decoded(backup)).encode() if kept else baseline
    return _planned(file, syntax, after, baseline, tuple(kept))


def _baseline(current: bytes | None, syntax: Syntax, record: FileRecord | None, backup: bytes | None) -> bytes | None:
    if record is None or current is None:
        return current
    now = content_hash(current)
    if now == record.after or syntax == "whole":
        return backup
    if now == record.before:
        return current
    text = _cut_all(text_of(current), record.placed, syntax, _decoded(backup))
    return None if backup is None and _is_bare(text) else text.encode()


def _cut_all(text: str, placed: Iterable[Entry], syntax: Syntax, original: str | None) -> str:
    for each in sorted(placed, key=_may_stay):
        if isinstance(each, Whole):
            continue
        shorter = cut(text, each, syntax, original)
        if not _may_stay(each) or _is_as_before(shorter, syntax, original):
            text = shorter  # else what somebody has added may need it
    return text


def _may_stay(placed: Entry) -> bool:
    return isinstance(placed, Member) and placed.stays


def _is_as_before(text: str, syntax: Syntax, original: str | None) -> bool:
    """Returns whether a document holds what it held before."""
    if _is_bare(text):
        return True
    try:
        before = parse_settings(original or "", syntax)
    except EditRefused:
        return False
    return bool(parse_settings(text, syntax) == before)


def _with_one(text: str, wanted: Entry, syntax: Syntax, placed: list[Entry], original: str | None) -> str:
    """Returns the text with one entry in it, now also in `placed`; unchanged if somebody else has put it there."""
    assert not isinstance(wanted, Whole)  # the caller takes care of these
    number = next((number for number, each in enumerate(placed) if _same_spot(each, wanted)), None)
    found = value_at(parse_settings(text, syntax), wanted.keys, NOTHING)
    if number is None:
        if _holds(found, wanted):
            return text
        if isinstance(wanted, Member) and found is not NOTHING:
            raise EditRefused(f"something else is set up there as {named(wanted.keys)}; remove or rename that first")
        placed.append(wanted)
        return put(text, wanted, syntax)
    mine = placed[number]
    placed[number] = _united(mine, wanted)
    if wanted.value == found or (isinstance(wanted, Element) and is_list(found) and wanted.value in found):
        return text
    return put(_cut_all(text, [mine], syntax, original), wanted, syntax)


def _holds(found: Any, wanted: Spot) -> bool:
    """Returns whether the value at its keys will do for the entry, whoever put it there."""
    if isinstance(wanted, Member):
        return found is not NOTHING and (wanted.optional or found == wanted.value)
    each = found if is_list(found) else ()
    return any(one == wanted.value or (wanted.mark != "" and says(one, wanted.mark)) for one in each)


def _same_spot(placed: Entry, wanted: Entry) -> bool:
    """Returns whether an entry that was put in earlier is the earlier form of what is wanted."""
    match placed, wanted:
        case Element() as old, Element() as new:
            return old.keys == new.keys and (old.mark == new.mark if new.mark else old.value == new.value)
        case Member() as old, Member() as new:
            return old.keys == new.keys
        case _:
            return False


def _united(old: Entry, new: Entry) -> Entry:
    return evolve(new, harnesses=tuple(sorted({*old.harnesses, *new.harnesses})))


def _whole(file: TargetFile, record: FileRecord | None, backup: bytes | None, wanted: tuple[Entry, ...]) -> PlannedFile:
    """Creates or updates a file of ours. A file that somebody else has made there is left alone."""
    placed = wanted[0]
    for each in (*wanted[1:], *(() if record is None else record.placed)):
        placed = _united(each, placed)
    current, text = file.data, placed.text.encode() if isinstance(placed, Whole) else b""
    if record is None and current == text:
        return PlannedFile(file, current)
    if record is None and current is not None:
        raise EditRefused("there is a file already that is not ours; move it away first")
    edited = (
        current is not None and record is not None and content_hash(current) not in (record.after, content_hash(text))
    )
    return _planned(file, "whole", text, backup, (placed,), set_aside=edited)


def text_of(data: bytes) -> str:
    """Returns the text of a settings file; EditRefused if it is not text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EditRefused(f"it is not UTF-8 text (byte {error.start})") from None
    if "\0" in text:
        raise EditRefused("it holds the character \\0")
    return text


def _is_bare(text: str) -> bool:
    """Returns whether a document is empty, without even a comment."""
    return "".join(text.removeprefix(BOM).split()) in ("", "{}")


def _decoded(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "replace")

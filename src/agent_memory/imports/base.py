"""What the readers of other memories share: the record that they return, and how they read files that are not ours.

Nothing of a source is written, no link is followed, and a source's frontmatter never becomes text.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from attrs import evolve, frozen

from agent_memory.capture.repository import work_tree_above
from agent_memory.errors import Error, HistoryError, PathRefused, UsageInvalid
from agent_memory.files.paths import names_in, read_image, store_io
from agent_memory.harness.databases import Database, read_database, text_of
from agent_memory.harness.transcripts import files_below
from agent_memory.note.frontmatter import NotReadable, Plain, split_note
from agent_memory.note.note import GLOBAL_SCOPE, Harness, Importance, Kind, Meta, Origin, Sensitivity
from agent_memory.note.yaml_block import block_values
from agent_memory.redaction.redact import redact
from agent_memory.results import as_result
from agent_memory.section.section_splice import splice_section
from agent_memory.text.ids import is_id
from agent_memory.text.instants import DAY_MS, ms_of
from agent_memory.text.json_codec import NotJson, load_bytes
from agent_memory.text.json_shape import is_object
from agent_memory.text.markdown import find_code, is_inside

SOURCES_LINE = "Sources: "
"""Begins the line of a body that says where it comes from; that may move while the rest stays true."""
STEPS = "steps: "
"""Begins, in lower case, the title of a proposed skill."""
MAX_FILE_BYTES = 64 << 20
_MAX_DEPTH = 64
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t#]*$", re.MULTILINE)


@frozen
class Record:
    """Something that another memory knows, before it is a note. Instants are epoch ms."""

    id: str
    """The source's own, which stays the same between two imports."""
    body: str
    title: str = ""
    description: str = ""
    kind: Kind = Kind.FACT
    tags: tuple[str, ...] = ()
    created_at_ms: int | None = None
    updated_at_ms: int | None = None
    place: str | None = GLOBAL_SCOPE
    """The directory that it is about, or `global`; None where that is not known on this machine."""
    project: str = ""
    """What the source calls the place."""
    harness: Harness = Harness.MANUAL
    session_id: str | None = None
    agent: str | None = None
    importance: Importance = Importance.MEDIUM
    confidence: float | None = None
    sensitivity: Sensitivity = Sensitivity.NORMAL
    expires_at_ms: int | None = None
    is_archived: bool = False
    names: tuple[str, ...] = ()
    """By which links of other records mean this one."""
    valid_until_ms: int | None = None
    own: Meta | None = None
    """The frontmatter of an exported note of ours."""
    origin: Origin = Origin.USER
    """Whose word it is if the person says that the memory is theirs: an agent's where the source itself shows that."""


@frozen
class LeftOut:
    """Something of a source that does not become a note, and why."""

    name: str
    reason: str


@frozen
class Value:
    """A small value by key, which `memory state` keeps."""

    key: str
    value: object


Found = Record | Value | LeftOut


@frozen
class Machine:
    """What a reader may know of this machine."""

    home: str
    environ: Mapping[str, str]
    cwd: str | None = None

    def directory(self, variable: str, usual: str) -> str:
        """Returns the directory that a variable names, else the usual one below the home."""
        return self.environ.get(variable) or f"{self.home}/{usual}"

    def beside(self, *names: str) -> list[str]:
        """Returns where these may lie: in the working directory, or at the top of the work tree around it."""
        places = () if self.cwd is None else dict.fromkeys((self.cwd, repository_around(self.cwd)))
        return [f"{place}/{name}" for place in places if place != GLOBAL_SCOPE for name in names]


@frozen
class Source:
    title: str
    records: Callable[[str, Machine], Iterator[Found]]
    """Yields what is at a path; an Error where there is no such memory."""
    find: Callable[[Machine], Iterable[str]] = lambda machine: ()
    """Returns the paths at which it usually lies; they need not exist."""
    has_ids: bool = False
    """Its ids are its own; else they are names of files, which may be the same in two directories."""

    def read(self, path: str, machine: Machine) -> Iterator[Found]:
        """Yields the records; ids that are names of files get a key of their directory."""
        directory = os.path.realpath(path if os.path.isdir(path) else os.path.dirname(path))
        key = "" if self.has_ids else f"{sha256(os.fsencode(directory)).hexdigest()[:8]}/"
        for each in self.records(path, machine):
            yield evolve(each, id=key + each.id) if isinstance(each, Record) and not is_id(each.id) else each


# -- files ------------------------------------------------------------------------------------------------------------


@frozen
class Document:
    """A text file, with its frontmatter apart."""

    name: str
    """Its path below the directory that was read."""
    body: str
    front: Mapping[str, Plain]
    changed_at_ms: int

    def text(self, *keys: str) -> str:
        """Returns the first of these keys that has a text or a number."""
        found = (self.front.get(key) for key in keys)
        return next((str(each).strip() for each in found if isinstance(each, str | int | float)), "")

    def instant(self, *keys: str) -> int | None:
        return next((at for key in keys if (at := instant_in(self.front.get(key))) is not None), None)

    @property
    def stem(self) -> str:
        return os.path.splitext(os.path.basename(self.name))[0]


def each_file(
    record: Callable[[Document, str], Found | Iterator[Found]], *suffixes: str
) -> Callable[[str, Machine], Iterator[Found]]:
    """Returns the reader of a directory in which each file is a record, or some, about the repository around it."""

    def records(path: str, machine: Machine) -> Iterator[Found]:
        place = repository_around(path)
        return documents(path, lambda each: record(each, place), *(suffixes or (".md", ".markdown")))

    return records


def documents(
    path: str, records: Callable[[Document], Found | Iterator[Found]], *suffixes: str, depth: int = _MAX_DEPTH
) -> Iterator[Found]:
    """Yields the records in the text files of a directory, or in the one file at a path. What is hidden is passed over."""
    for each in _documents(path, suffixes or (".md",), depth):
        found = each if isinstance(each, LeftOut) else records(each)
        yield from found if isinstance(found, Iterator) else (found,)


def _documents(path: str, suffixes: tuple[str, ...], depth: int) -> Iterator[Document | LeftOut]:
    if os.path.isfile(path):
        need(path.endswith(suffixes), path, f"a file of this memory ends in {' or '.join(suffixes)}")
        yield document(os.path.dirname(path), os.path.basename(path))
        return
    need(os.path.isdir(path), path, "it is not a directory")
    for name, status in files_in(path, depth):
        if name.endswith(suffixes) and not any(part.startswith(".") for part in name.split("/")):
            is_file = stat.S_ISREG(status.st_mode)
            yield document(path, name) if is_file else LeftOut(name, "it is a link, or not a regular file")


def files_in(path: str, depth: int = _MAX_DEPTH) -> Iterator[tuple[str, os.stat_result]]:
    """Yields what is no directory below this one, by its relative path; links are not followed."""
    for found in files_below(path, depth):
        if isinstance(found, OSError):
            raise store_io(found, "read", path) from found
        yield found[0].removeprefix(f"{path}/"), found[1]


def document(directory: str, name: str) -> Document | LeftOut:
    try:
        image = read_image(f"{directory}/{name}", 4 << 20)
        if image is None:
            return LeftOut(name, "it is not there")
        # What memory itself wrote into a file is not learnt from it (P26).
        foreign = as_result(splice_section)(name, image.data, None).map(lambda spliced: spliced.data)
        text = foreign.value_or(image.data).decode()
    except PathRefused as error:
        return LeftOut(name, error.reason)
    except UnicodeDecodeError as error:
        return LeftOut(name, f"it is not UTF-8 at byte {error.start:,}")
    try:
        parts = split_note(text)
    except NotReadable:  # never closed: a line across the page
        parts = split_note(f"\n{text}")
    return Document(name, parts.body, _front(parts.block or ""), image.mtime_ns // 1_000_000)


def _front(block: str) -> dict[str, Plain]:
    """Returns the keys and values of a frontmatter. Other programs write `globs: *.ts` and `description: Use X: not Y`,
    which is not YAML: what cannot be read is taken as plain text, key by key."""
    try:
        return block_values(block)
    except NotReadable:
        keys = re.findall(r"^([\w-]+):(.*\n(?:[ \t-].*\n)*)", block, re.MULTILINE)
        if len(keys) > 1:
            return {name: value for key, text in keys for name, value in _front(f"{key}:{text}").items()}
        return {key: text.strip().strip("\"'") for key, text in keys}


def read_file(path: str) -> bytes:
    try:
        image = read_image(path, MAX_FILE_BYTES)
    except PathRefused as error:
        raise UsageInvalid(f"{path} cannot be read: {error.reason.split(',')[0]}") from None
    if image is None:
        raise UsageInvalid(f"There is nothing at {path}")
    return image.data


def read_json(path: str) -> Any:
    try:
        return load_bytes(read_file(path))
    except NotJson as error:
        raise UsageInvalid(f"{path} is not a file of this memory: {error}") from None


def json_files(path: str, directory: str, records: Callable[[str, dict[str, Any]], Iterator[Found]]) -> Iterator[Found]:
    """Yields the records in the JSON files of a directory, of whose relative path and object they are made."""
    for name in names_in(f"{path}/{directory}", lambda name: name.endswith(".json")):
        try:
            told = read_json(f"{path}/{directory}/{name}")
        except Error as error:
            yield LeftOut(f"{directory}/{name}", str(error))
        else:
            yield from records(f"{directory}/{name}", told if is_object(told) else {})


def read_tables(path: str, column: str, missing: str, *names: str) -> tuple[list[dict[str, Any]], ...]:
    """Returns the rows of these tables of another program's database by the names of their columns, texts decoded. It is not
    changed, and may be in use. The first table has to have the column; of others there may be none."""

    def rows(database: Database, name: str) -> Iterator[dict[str, Any]]:
        columns = sorted(database.columns(name))
        wanted = ", ".join(f'"{each}"' for each in columns)
        for row in database.rows(f"SELECT {wanted} FROM {name} ORDER BY rowid") if columns else ():
            texts = (text_of(value) if isinstance(value, bytes) else value for value in row)
            yield dict(zip(columns, texts, strict=True))

    def read(database: Database) -> tuple[list[dict[str, Any]], ...]:
        need(column in database.columns(names[0]), path, missing)
        return tuple(list(rows(database, name)) for name in names)

    need(os.path.lexists(path), path, "there is no such file")
    try:
        return read_database((os.path.dirname(path),), path, os.path.basename(path), read)
    except HistoryError as error:
        reason = str(error.facts.get("reason", ""))
        raise UsageInvalid(reason if reason.startswith(path) else f"{path} cannot be read: {reason}") from None


def need(holds: bool, path: str, reason: str) -> None:
    """Raises UsageInvalid where a path does not hold what was asked for."""
    if not holds:
        raise UsageInvalid(f"{path}: {reason}", "Give the path of the memory: `memory import SOURCE PATH`.")


def repository_around(path: str) -> str:
    """Returns the work tree that a file is in, else `global`: also of a directory that is a repository itself, as Letta's
    always is, since nobody works in a memory."""
    try:
        found = work_tree_above(path if os.path.isdir(path) else os.path.dirname(path))
    except OSError as error:
        raise store_io(error, "look at", path) from error
    return GLOBAL_SCOPE if found in (None, os.path.realpath(path)) else str(found)


# -- values -----------------------------------------------------------------------------------------------------------


def title_in(name: str) -> str:
    """Returns the title that a file's name, or another slug, holds. A secret in it is removed first: without its `_` no rule
    would know it (P20)."""
    redacted = redact(name).text
    return redacted if redacted != name else name.replace("-", " ").replace("_", " ")


def decoded(text: str | bytes) -> object:
    """Returns the JSON value in a text, else the text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def texts_in(value: object) -> tuple[str, ...]:
    """Returns the texts of a list, of JSON with one, or of a text with commas."""
    value = decoded(value) if isinstance(value, str) and value.startswith("[") else value
    if isinstance(value, str):
        value = value.strip("[]").split(",")
    found: list[object] = list(value) if isinstance(value, list | tuple) else []  # pyright: ignore[reportUnknownArgumentType]
    return tuple(each.strip().strip("'\"") for each in found if isinstance(each, str) and each.strip())


def instant_in(value: object) -> int | None:
    """Returns an instant as epoch ms: ISO 8601, a day, or a number of seconds or milliseconds since 1970."""
    if isinstance(value, str):
        text = value.strip().replace(" ", "T", 1)
        return ms_of(text) if "T" in text else ms_of(f"{text}T00:00Z")
    if isinstance(value, int | float) and not isinstance(value, bool):
        at_ms = value * 1000 if abs(value) < 10**11 else value
        return int(at_ms) if 1 <= at_ms < 100 * 365 * DAY_MS else None  # and of what is no number or endless
    return None


def kind_of(words: Iterable[str]) -> Kind:
    """Returns the kind that the first known word names, in the singular or plural, else a fact."""
    known = {**{each.value: each for each in Kind}, **{f"{each.value}s": each for each in Kind}, **_KINDS}
    return next((known[word.lower()] for word in words if word.lower() in known), Kind.FACT)


_KINDS = {
    "feedback": Kind.CONVENTION,
    "rule": Kind.CONVENTION,
    "pattern": Kind.CONVENTION,
    "gotcha": Kind.LESSON,
    "learned": Kind.LESSON,
    "learning": Kind.LESSON,
    "mistakes": Kind.LESSON,
    "bugfix": Kind.LESSON,
    "user": Kind.PREFERENCE,
    "user-preference": Kind.PREFERENCE,
    "todo": Kind.TASK,
}


def sections(body: str, level: int = 2) -> list[tuple[str, str]]:
    """Returns the parts of a markdown text that headings down to a level begin, each with its heading; what stands
    before the first has none. Headings in code are none."""
    fences = find_code(body).fences
    starts = [
        (found.start(), found.end(), found[2])
        for found in _HEADING.finditer(body)
        if len(found[1]) <= level and not is_inside(found.start(), fences)
    ]
    ends = [*(start for start, _, _ in starts), len(body)]
    parts = [("", body[: ends[0]].strip())]
    parts += [(heading, body[end:until].strip()) for (_, end, heading), until in zip(starts, ends[1:], strict=True)]
    return [part for part in parts if part[1]]

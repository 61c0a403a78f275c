"""An oracle over two states of a store: what a defrag may never do (P12-P15), told from the files alone.

It knows nothing of plans and actions. States are bytes by path relative to the root, as `faults.snapshot` gives them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from attrs import frozen

from agent_memory.note.file_name import id_in_name
from agent_memory.note.note import Meta
from agent_memory.note.note_format import parse_note

State = Mapping[str, bytes]

START, END = "<!-- agent-memory:start -->", "<!-- agent-memory:end -->"
TIERS = "state/tiers.json"

_TOKEN = re.compile(
    r"`[^`\n]{2,80}`|https?://[^\s)>\]]+|(?:[\w.-]+/)+[\w.-]+|\b[A-Za-z]+(?:[._-][A-Za-z0-9]+)+\b|\b[a-z]+[A-Z]\w+\b"
    r"|\b[A-Z]{2,}[A-Z0-9_]*\b|\b\d[\d.,:]*\d\b"
)
_LINK = re.compile(r"\[\[(id__\w{6})(?:\|[^\]]*)?\]\]")
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)


@frozen
class Note:
    """One file."""

    path: str
    data: bytes
    meta: Meta
    body: str


def notes_in(state: State, tree: str) -> list[Note]:
    """The notes of `topics` or `archive`; every file of it is one."""
    found = []
    for path, data in state.items():
        if path.startswith(f"{tree}/") and path.endswith(".md"):
            name = path.split("/")[1] + ".md" if path.count("/") > 1 else path.rpartition("/")[2]
            entry = parse_note(data, name, 0).unwrap().entry
            found.append(Note(path, data, entry.meta, entry.body))
    return found


def violations(before: State, after: State, most_changed: int | None = None) -> list[str]:
    """What of the promises is broken, in words; `most_changed` is how many live notes one run may change."""
    was, live, archive = notes_in(before, "topics"), notes_in(after, "topics"), notes_in(after, "archive")
    return [
        *_lost(was, live, archive),
        *_lost_versions(before, after),
        *_lost_tokens(before, after),
        *_touched_pins(was, live, after),
        *([] if most_changed is None else _too_many(was, live, most_changed)),
        *(["no live note is left"] if was and not live else []),
        *broken(after),
    ]


def broken(state: State) -> list[str]:
    """What is wrong with one state by itself (P15)."""
    live, archive = notes_in(state, "topics"), notes_in(state, "archive")
    ids = [each.meta.id.casefold() for each in live]
    names = [unicodedata.normalize("NFC", each.path).casefold() for each in live]
    aliases = [id.casefold() for each in live for id in each.meta.aliases]
    reachable = {*ids, *aliases, *(each.meta.id.casefold() for each in archive)}
    said = [f"{id} is live twice" for id in set(ids) if ids.count(id) > 1]
    said += [f"{id} is an alias of two" for id in set(aliases) if aliases.count(id) > 1]
    said += [f"{id} is live and an alias" for id in set(aliases) & set(ids)]
    said += [f"{name} is there twice" for name in set(names) if names.count(name) > 1]
    said += [f"{each.path} has a long name" for each in live if len(each.path.rpartition("/")[2].encode()) > 200]
    said += [f"{each.path} is called otherwise than it is" for each in live if id_in_name(each.path) != each.meta.id]
    for each in live:
        gone = {id for id in _LINK.findall(each.body) if id.casefold() not in reachable}
        said += [f"{each.path} links to {id}" for id in gone]
        said += [f"{each.path} hides text"] * bool(_HIDDEN.search(each.data.decode()))
        said += [f"{each.path} holds a marker"] * (START in each.body or END in each.body)
    return said


def ill_formed(target: bytes) -> list[str]:
    """What is wrong with the managed section of a file (P17, P18)."""
    lines = target.decode().splitlines()
    places = [number for number, line in enumerate(lines) if "agent-memory:" in line]
    if [lines[number] for number in places] != [START, END]:
        return [f"its markers are {[lines[number] for number in places]}"]
    inside = lines[places[0] + 1 : places[1]]
    prose = re.sub(r"(?ms)^(```+|~~~+)[^\n]*\n.*?^\1$", "", "\n".join(inside)).split("\n")
    headings = [line for line in prose if re.match(r"#{1,2} ", line)]
    said = (
        []
        if len(headings) == 1 and headings[0].startswith("## Memory of earlier sessions")
        else [f"it has the headings {headings}"]
    )
    said += ["a code block of it has no end"] * any(re.match("```|~~~", line) for line in prose)
    return said + (["it hides text"] if _HIDDEN.search("\n".join(inside)) else [])


def oracle(shared: Path, before: Path, after: Path, max_changed: float = 0.34) -> list[str]:
    """What the developers' oracle says of two roots: another check, by other hands."""
    words = [str(shared / "tools" / "store_oracle.py"), str(before), str(after), "--max-changed", str(max_changed)]
    said = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False).stdout.splitlines()
    assert said
    return [line for line in said if line != "ok"]


def tokens_of(state: State) -> set[str]:
    """The salient tokens of all live and archived notes."""
    bodies = (each.body for tree in ("topics", "archive") for each in notes_in(state, tree))
    return {token.strip("`").lower() for body in bodies for token in _TOKEN.findall(body)}


def _lost(was: Sequence[Note], live: Sequence[Note], archive: Sequence[Note]) -> Iterable[str]:
    """Notes that are neither live nor an alias nor archived, and changed ones without their original bytes."""
    now = {each.meta.id: each for each in live}
    aliases = {id for each in live for id in each.meta.aliases}
    originals = {each.data for each in archive}
    for note in was:
        there = now.get(note.meta.id)
        if there is None and note.meta.id not in aliases and note.data not in originals:
            yield f"{note.path} is lost"
        elif (there is None or there.body != note.body) and note.data not in originals:
            yield f"{note.path} was changed, and its bytes are not in the archive"


def _lost_versions(before: State, after: State) -> Iterable[str]:
    kept = set(after.values())
    for path, data in before.items():
        if path.startswith("archive/") and data not in kept:
            yield f"{path} is lost"


def _lost_tokens(before: State, after: State) -> Iterable[str]:
    text = "\n".join(each.body for tree in ("topics", "archive") for each in notes_in(after, tree)).lower()
    for token in sorted(tokens_of(before)):
        if token not in text:
            yield f"{token!r} is nowhere any more"


def _touched_pins(was: Sequence[Note], live: Sequence[Note], after: State) -> Iterable[str]:
    now = {each.path: each.data for each in live}
    hot = json.loads(after[TIERS])["hot"] if TIERS in after else []
    for note in was:
        if note.meta.pinned:
            if now.get(note.path) != note.data:
                yield f"{note.path} is pinned, and was touched"
            if TIERS in after and note.meta.id not in hot:
                yield f"{note.path} is pinned, and not hot"


def _too_many(was: Sequence[Note], live: Sequence[Note], most_changed: int) -> Iterable[str]:
    now = {each.meta.id: (each.path, each.body, each.meta.title) for each in live}
    changed = [each for each in was if now.get(each.meta.id) != (each.path, each.body, each.meta.title)]
    if len(changed) > most_changed:
        yield f"{len(changed)} of {len(was)} notes were changed, and {most_changed} may be"

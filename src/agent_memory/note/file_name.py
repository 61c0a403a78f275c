"""The name of a note's file: `descriptive title -- topic__x topic__y id__XXXXXX.md`. Only the id is identity (P15, P21). Also
decides when two names are the same on macOS or wherever a store may be copied to (P15)."""

from __future__ import annotations

import re
import unicodedata

from agent_memory.note.note import Meta
from agent_memory.text.ids import ID_PATTERN, normal_tags
from agent_memory.text.plain_text import clean_text, cut_bytes

MAX_NAME_BYTES = 200

NOTE_ENDING = ".md"
UNTITLED = "untitled"
_SEPARATOR = " --"
_NAME_ID = re.compile(rf"(?:^|[ /])({ID_PATTERN})\.md\Z")
_NAME_TITLE = rf"(?s)(.*?)(?: -- .*|(?:^| ){ID_PATTERN}|)\.md"

_SEPARATORS = ((r"\s*:\s+", " - "), (r"[/\\:|]+", "-"))
_NOT_OURS = (
    (r"id__+", "id_"),  # only the note's own id may be found in its name
    (r"(?<= )--(?= )", "-"),
)


_SAFE_MARKS = " -_.,+=@"


def file_name_of(meta: Meta) -> str:
    """Returns the note's file name: title, as many tags as fit, and the id; NFC, at most 200 bytes of UTF-8 even after
    a Mac decomposes it (NFD), cut between graphemes, without characters that a shell interprets. Two notes whose ids
    differ casefolded never have the same name under NFC and casefold."""
    ending = f" {meta.id}{NOTE_ENDING}"
    room = MAX_NAME_BYTES - len(ending) - len(_SEPARATOR)
    tags = tuple("".join(filter(_is_safe, tag)) for tag in normal_tags(meta.tags))
    title = _title_part(meta.title, 120 if tags else room)  # without tags it may use all the room
    room -= _decomposed_bytes(title)
    shown = ""
    for tag in tags:
        room -= _decomposed_bytes(tag) + 1
        if room < 0:
            break
        shown += f" {tag}"
    return title + _SEPARATOR + shown + ending


def is_safe_name(name: str) -> bool:
    """Returns whether the name has only letters, digits, spaces and `-_.,+=@`: nothing for a shell, a glob or markdown."""
    return all(map(_is_safe, name))


def _is_safe(character: str) -> bool:
    kind = unicodedata.category(character)
    is_letter = kind[0] in "LMN" and kind != "Me" and not "\ufe00" <= character <= "\ufe0f"
    return is_letter or character in _SAFE_MARKS


def is_note_name(name: str) -> bool:
    """Returns whether a file with this name in a notes directory should be a note; hidden files are other programs'."""
    return name.endswith(NOTE_ENDING) and not name.startswith(".")


def id_in_name(name: str) -> str | None:
    """Returns the id at the end of a file name or path (`… id__a1b2c3.md`), or None."""
    found = _NAME_ID.search(name)
    return found[1] if found else None


def title_in_name(name: str) -> str:
    """Returns the title in a file name: all before tags, id and `.md`; may be empty."""
    found = re.fullmatch(_NAME_TITLE, name)
    return (found[1] if found else name).strip()


def _title_part(title: str, max_bytes: int) -> str:
    words = " ".join(clean_text(title).split())
    for pattern, readable in _SEPARATORS:
        words = re.sub(pattern, readable, words)
    words = " ".join("".join(filter(_is_safe, words)).split())
    for pattern, readable in _NOT_OURS:
        words = re.sub(pattern, readable, words)
    cut = cut_bytes(_trimmed(words), max_bytes)
    while _decomposed_bytes(cut) > max_bytes:
        cut = cut_bytes(cut, len(cut.encode()) - 1)
    return _trimmed(cut) or UNTITLED


def _decomposed_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(unicodedata.normalize("NFD", text).encode())


def _trimmed(text: str) -> str:
    # A leading dot hides a file, a leading dash is an option to a command, a leading tilde a home directory.
    return " ".join(text.split()).lstrip(" .-~").rstrip(" .")


def folded_name(name: str) -> str:
    """Returns the same text for names that a case-insensitive or normalising file system cannot keep apart."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())

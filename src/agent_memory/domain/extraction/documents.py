"""A document as notes: what a person hands over as a file is kept as it stands, for a search to find."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_memory.domain.change_set import ChangeSet, ProposedEntry
from agent_memory.domain.extraction.prose import legible
from agent_memory.domain.extraction.topics import tags_of
from agent_memory.domain.history import History, Turn
from agent_memory.domain.text.derive import MAX_TITLE_CHARS, derive_title
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.vocabulary import Kind

NOTE_CHARS = 4_000
"""Of the sections that share a note; one that is longer has a note of its own."""
MOST_NOTES = 10


def document_notes(document: History) -> ChangeSet:
    """The sections of a document, whole and in order, in as few notes as can be read; `skipped` says why there are none.

    They cite the document's turns, which are nobody's words in a session: each comes out as external.
    """
    groups = tuple(_groups(document.turns))
    texts = tuple("\n\n".join(legible(turn.text) for turn in group).strip() for group in groups)
    chars = sum(map(len, texts))
    if _is_serialised("\n".join(texts)):
        return ChangeSet(skipped=f"it is no text for people but JSON; {_HOW_ELSE}")
    if len(groups) > MOST_NOTES:
        return ChangeSet(skipped=f"its {chars:,} characters are too many to be kept as they stand; {_HOW_ELSE}")
    name = one_line(document.title or "", MAX_TITLE_CHARS)
    entries = tuple(
        ProposedEntry(
            title=_title(name, text, alone=len(groups) == 1),
            body=text,
            kind=Kind.FACT,
            tags=tags_of(text),
            turns=tuple(turn.number for turn in group),
        )
        for group, text in zip(groups, texts, strict=True)
        if text
    )
    return ChangeSet(entries, skipped=None if entries else "it says nothing")


_HOW_ELSE = "an agent command (llm.preset) makes notes of it"


def _groups(turns: Sequence[Turn]) -> Iterator[tuple[Turn, ...]]:
    held: list[Turn] = []
    for turn in turns:
        if held and sum(len(each.text) for each in held) + len(turn.text) > NOTE_CHARS:
            yield tuple(held)
            held = []
        held.append(turn)
    if held:
        yield tuple(held)


def _is_serialised(text: str) -> bool:
    whole = text.strip()
    return whole[:1] + whole[-1:] in ("{}", "[]")


def _title(name: str, text: str, *, alone: bool) -> str:
    own = derive_title(text)
    title = name or own if alone else own if not name or own == name else f"{name}: {own}"
    return one_line(title, MAX_TITLE_CHARS) or "untitled document"

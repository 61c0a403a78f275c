"""The built-in agent: answers without a language model, without a network, the same every time.

Its answer is a reply in the envelope like any other agent's, so that the same checks apply to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from attrs import asdict, evolve

from agent_memory.domain.actions import Action, kind_of
from agent_memory.domain.agent_request import AgentReply, AgentRequest, DefragRequest, SessionRequest
from agent_memory.domain.command import BUILTIN
from agent_memory.domain.history import History, Turn
from agent_memory.domain.plan import ChangeSet, ProposedEntry, ProposedUpdate
from agent_memory.domain.queue import FileSnapshot, InlineNote
from agent_memory.domain.text.markdown import MAX_TITLE_CHARS, derive_title
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.vocabulary import Kind, Status
from agent_memory.results import as_result

NOTE_CHARS = 4_000
"""Of the sections of a document that share a note; one that is longer has a note of its own."""
MOST_NOTES = 10
_HOW_ELSE = "an agent command (llm.preset) makes notes of it"


class BuiltinAgent:
    """The agent for everyone who has configured none: it extracts by cues (`agent_memory.domain.extraction`), and tidies
    what needs no judgement (`agent_memory.domain.tidying`)."""

    name = BUILTIN
    status = Status.CAPTURED
    max_prompt_chars: int | None = None

    @as_result
    def answer(self, request: AgentRequest) -> AgentReply:
        """The reply, made from the values behind the prompt; never a failure."""
        items: dict[str, object]
        if isinstance(request, DefragRequest):
            from agent_memory.domain.defragging.tidied import tidied

            proposal = tidied(request)
            items = {"actions": [{"action": kind_of(each), **_present(each, "replace")} for each in proposal.actions]}
            if proposal.tiers is not None:
                items["tiers"] = {"hot": list(proposal.tiers.hot), "warm": list(proposal.tiers.warm)}
        else:
            found = _change_set(request)
            entries = (evolve(entry, ref=f"n{number}") for number, entry in enumerate(found.entries, 1))
            items = {"entries": [_present(entry, "tags") for entry in entries]}
            if found.updates:
                items["updates"] = list(map(_present, found.updates))
            if found.skipped is not None:
                items["skipped"] = found.skipped
        text = json.dumps({"version": 1, "nonce": request.nonce, **items}, ensure_ascii=False, indent=1)
        return AgentReply(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))


def _present(item: Action | ProposedEntry | ProposedUpdate, always: str = "") -> dict[str, object]:
    """What is not empty of an item of the envelope, and what its kind needs."""
    return {key: value for key, value in asdict(item).items() if key == always or value not in (None, (), "")}


def _change_set(request: SessionRequest) -> ChangeSet:
    # Its name is asked for more often than an answer, and the cues of two languages take their time to compile.
    from agent_memory.domain.extraction.extract import extracted
    from agent_memory.domain.extraction.text import legible

    note = request.entry.retrieval
    if isinstance(note, InlineNote):
        turns = tuple(turn.number for turn in request.window.turns)
        title, kind = " ".join(legible(note.title).split()), note.kind or Kind.FACT
        return ChangeSet((ProposedEntry(title=title, body=legible(note.body), kind=kind, tags=note.tags, turns=turns),))
    if isinstance(note, FileSnapshot):
        return document_notes(request.window)
    return extracted(
        request.window,
        now_ms=request.now_ms,
        shown=request.shown,
        handoff_id=request.handoff_id,
        final_window=request.final_window,
    )


def document_notes(document: History) -> ChangeSet:
    """The sections of a document, whole and in order, in as few notes as can be read; `skipped` says why there are none. They
    cite the document's turns, which are nobody's words in a session: each comes out as external."""
    from agent_memory.domain.extraction.notes import tags_of
    from agent_memory.domain.extraction.text import legible

    groups = tuple(_groups(document.turns))
    texts = tuple("\n\n".join(legible(turn.text) for turn in group).strip() for group in groups)
    chars = sum(map(len, texts))
    whole = "\n".join(texts).strip()
    if whole[:1] + whole[-1:] in ("{}", "[]"):
        return ChangeSet(skipped=f"it is no text for people but JSON; {_HOW_ELSE}")
    if len(groups) > MOST_NOTES:
        return ChangeSet(skipped=f"its {chars:,} characters are too many to be kept as they stand; {_HOW_ELSE}")
    name = one_line(document.title or "", MAX_TITLE_CHARS)
    entries: list[ProposedEntry] = []
    for group, text in zip(groups, texts, strict=True):
        if text:
            own = derive_title(text)
            title = name or own if len(groups) == 1 else own if not name or own == name else f"{name}: {own}"
            title = one_line(title, MAX_TITLE_CHARS) or "untitled document"
            turns = tuple(turn.number for turn in group)
            entries.append(ProposedEntry(title=title, body=text, kind=Kind.FACT, tags=tags_of(text), turns=turns))
    return ChangeSet(tuple(entries), skipped=None if entries else "it says nothing")


def _groups(turns: Sequence[Turn]) -> Iterator[tuple[Turn, ...]]:
    held: list[Turn] = []
    for turn in turns:
        if held and sum(len(each.text) for each in held) + len(turn.text) > NOTE_CHARS:
            yield tuple(held)
            held = []
        held.append(turn)
    if held:
        yield tuple(held)

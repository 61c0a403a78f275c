"""How near to an agent an entry may come unasked, and how much of it (P19)."""

from __future__ import annotations

import re

from attrs import evolve

from agent_memory.domain.entry import MemoryEntry, Meta, StoredEntry
from agent_memory.domain.text.directives import is_directive
from agent_memory.domain.text.markdown import find_code
from agent_memory.domain.text.salience import statements, typed_tokens
from agent_memory.domain.tiering.standing import best_tier
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Origin, Sensitivity

_SENTENCE = re.compile(r"\s*(?:[A-Z¿]|[^\x00-\x7f]).{12,}[\w`)][.!?。？！]\s*")
"""A line in a block of code that is none."""


def cites_a_turn(meta: Meta) -> bool:
    """Whether the entry says from which turns of a session it comes."""
    return any(source.turns for source in meta.sources)


def needs_vouching(entry: MemoryEntry) -> bool:
    """Whether an entry that says this is hot only at a person's word for it."""
    return best_tier(evolve(entry.meta, promoted_by=None)) is not Tier.HOT


def why_not_nearer(meta: Meta) -> str:
    """Why an entry may not be hot, in words; empty where it may."""
    if best_tier(meta) is Tier.HOT:
        return ""
    if meta.sensitivity is Sensitivity.SECRET:
        return "it is secret"
    if meta.origin is Origin.EXTERNAL:
        return "only a tool, a page or a file said it; `memory promote` vouches for it"
    return "an agent concluded it, and only what you said is shown whole; `memory promote` vouches for it"


def told_of(stored: StoredEntry) -> StoredEntry | None:
    """What of an entry may be told unasked; None for nothing.

    The person's word is told as it is. Of what an agent concluded, the sentences that tell somebody to do something are
    left out and counted: nobody can tell from the note alone that a person gave that order. Where no turn of a session
    is cited, there was nothing to compare the note with, so what somebody may type goes, too, in whatever language.
    """
    meta = stored.meta
    best = best_tier(meta)
    if best is not Tier.WARM:
        return None if best is Tier.COLD else stored
    is_compared = cites_a_turn(meta)
    code = [range(start, end) for start, end in find_code(stored.body).fences]
    lines, left_out, at = list[str](), 0, 0
    for line in stored.body.split("\n"):
        is_code = any(at in fence for fence in code) and is_compared and not _SENTENCE.fullmatch(line)
        told = line if is_code else _told_of_line(line, is_compared)
        left_out += told != line
        lines += [told] if told or not line else []
        at += len(line) + 1
    title = meta.title if _told_of_line(meta.title, is_compared) == meta.title else ""
    description = _told_of_line(meta.description, is_compared)
    if not title and lines and lines[0][:1].islower():  # the order goes on there
        lines, left_out = lines[1:], left_out + 1
    if not title and description[:1].islower():
        description = ""
    body = _without_empty_lists(lines)
    if (
        not any(line.strip() and not line.rstrip().endswith(":") for line in body)
        and (left_out or not title)
        and not description
    ):
        return None
    if left_out:
        note = f"({left_out} line{'' if left_out == 1 else 's'} with what may be orders left out: `memory read {meta.id}`.)"
        body = [*body, "", note]
    shown = evolve(meta, title=title or meta.kind.value.capitalize(), description=description)
    return StoredEntry(evolve(stored.listed, meta=shown), "\n".join(body).strip("\n"))


def _told_of_line(line: str, is_compared: bool) -> str:
    """The line without the sentences that tell a reader what to do."""
    if not _is_untold(line, is_compared):
        return line
    said, before = list[str](), ""
    for each in statements(line):
        if not _is_untold(each, is_compared) and not (before.endswith(":") and _is_untold(before, is_compared)):
            said.append(each)
        before = each
    kept = " ".join(said)
    mark = line[: len(line) - len(line.lstrip(" \t-*+>"))]
    return f"{mark}{kept}" if kept else ""


def _is_untold(text: str, is_compared: bool) -> bool:
    return is_directive(text) or (not is_compared and bool(typed_tokens(text)))


def _without_empty_lists(lines: list[str]) -> list[str]:
    """Without names of lists of which no item is left."""
    kept: list[str] = []
    for at, line in enumerate(lines):
        following = next((each for each in lines[at + 1 :] if each.strip()), "")
        if line.rstrip().endswith(":") and not following.lstrip().startswith(("-", "*", "+", "`", ">")):
            continue
        kept.append(line)
    return kept

"""Drafts: what a person or an agent asks to be stored or changed, made fit to be stored: nothing hidden (P18), no
secret (P20), within the limits, written out in full."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping

from attrs import evolve, frozen

from agent_memory.caller import Caller
from agent_memory.note.note import (
    BY_A_PERSON,
    Importance,
    Kind,
    Listed,
    Listing,
    MemoryEntry,
    Meta,
    Origin,
    Sensitivity,
    Status,
    folded_ids,
    furthest,
    least_trusted,
)
from agent_memory.redaction.redact import redact, stored_line
from agent_memory.rules.change import Cause, Dropped
from agent_memory.text.ids import ID_PATTERN, is_id, normal_tags
from agent_memory.text.markdown import (
    MAX_DESCRIPTION_CHARS,
    MAX_TITLE_CHARS,
    SEE_LINK,
    Link,
    append_see_also,
    derive_description,
    derive_title,
    find_links,
    without_links,
    without_see_also_of,
)
from agent_memory.text.plain_text import clean_text, one_line, spliced
from agent_memory.text.tables import read_table


@frozen
class Expiry:
    """When a note expires; None means never. The next defrag archives an expired note."""

    at_ms: int | None


@frozen
class NoteDraft:
    """A note to be stored at once. A missing title becomes the first line of the body; a missing scope becomes
    `global`."""

    body: str
    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    kind: Kind = Kind.FACT
    scope: str = "global"
    importance: Importance = Importance.MEDIUM
    sensitivity: Sensitivity = Sensitivity.NORMAL
    cwd: str | None = None
    agent: str | None = None
    """The agent that writes, where a client runs several, as it calls itself."""
    expiry: Expiry = Expiry(None)
    supersedes: tuple[str, ...] = ()
    """Ids of live notes that this one replaces: they are archived as no longer true."""
    here: str | None = None
    """The scope key of the place where the note was written, which may differ from its scope; None: the same."""
    commit: str | None = None
    """What is checked out there."""


@frozen
class MetaPatch:
    """New values for some of a note's frontmatter; None keeps the present value."""

    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] | None = None
    kind: Kind | None = None
    scope: str | None = None
    importance: Importance | None = None
    sensitivity: Sensitivity | None = None
    expiry: Expiry | None = None


MAX_BODY_CHARS = 8_000

_TABLE = read_table("agent_memory.rules", "drafts.txt")
ECHOED = _TABLE.lines["echoed"]

_ELISIONS = tuple(re.compile(each, re.IGNORECASE) for each in _TABLE.lines["elision"])

_PHRASE_WORDS = 6
_MOST_REPEATS = 6
_LOOPING_SHARE = 0.4
_LONG_RUN = re.compile(r"([^\s=*_#~+-])\1{99}")


def text_problems(text: str, before: str = "") -> tuple[str, ...]:
    """Returns the reasons why a text must not become part of a note; empty for honest text.

    `before` is the text that it replaces: an elision that was already there is not a new one. Length is not checked
    here.
    """
    elisions = dict.fromkeys(found[0].strip()[:80] for pattern in _ELISIONS for found in pattern.finditer(text))
    problems = [f"leaves text out: {phrase!r}" for phrase in elisions if phrase.lower() not in before.lower()]
    problems += [f"repeats the prompt: {phrase!r}" for phrase in ECHOED if phrase in text and phrase not in before]
    if is_looping(text):
        problems.append("repeats itself over and over")
    return tuple(problems)


def is_looping(text: str) -> bool:
    """Returns whether most of the text is the same few words again and again, or a long run of one character."""
    if _LONG_RUN.search(text):
        return True
    words = text.lower().split()
    phrases = Counter(tuple(words[at : at + _PHRASE_WORDS]) for at in range(len(words) - _PHRASE_WORDS + 1))
    repeated = sum(count for count in phrases.values() if count >= _MOST_REPEATS)
    lines = Counter(line.strip() for line in text.split("\n") if len(line.strip()) > 3)
    is_one_line = lines.total() >= 2 * _MOST_REPEATS and max(lines.values()) > _LOOPING_SHARE * lines.total()
    return repeated > _LOOPING_SHARE * len(words) or is_one_line


MAX_TAGS = 20


CHANGES_NOTHING = "it changes nothing"
"""Reason for dropping a change that says what the note says already."""
LEFT_OUT = "leads nowhere and was left out"
"""What is said of a link to a note that there is not."""


class Refused(Exception):
    """Raised where a proposed text or action may not become part of the store; holds the reasons, in words."""

    def __init__(self, reasons: tuple[str, ...], cause: Cause = Cause.REFUSED) -> None:
        super().__init__(reasons)
        self.reasons = reasons
        self.cause = cause


def has_secret(text: str) -> bool:
    """Returns whether the text holds a secret: an agent that was shown the note has not seen all of it then."""
    return redact(text).text != text


def why_untouchable(listed: Listed) -> tuple[str, ...]:
    """Returns the reasons why no program may replace or archive a note, whoever proposes it; empty if one may."""
    rules = (
        (listed.meta.pinned, "it is pinned"),
        (listed.conflicted, "it holds an unresolved conflict"),
        (listed.meta.is_secret, "it is secret"),
    )
    return tuple(words for holds, words in rules if holds)


def stored_subject(title: str) -> str:
    """Returns the name of a note in a report."""
    return stored_line(title, 80) or "a note without a title"


def stored_refusal(dropped: Dropped) -> Dropped:
    """Returns what a report says of an item that was refused earlier."""
    reasons = tuple(stored_line(reason, 500) for reason in dropped.reasons)
    return evolve(dropped, subject=stored_subject(dropped.subject), reasons=reasons)


def stored_title(text: str) -> str:
    """Returns a clean title without secrets and links; it may still be too long, or empty."""
    clean = stored_line(text)
    title = without_links(SEE_LINK.sub(lambda see: see[1] or see[2] or "", clean))
    return title if title == clean else title.rstrip(" ,;:–—-")


def stored_description(text: str) -> str:
    """Returns a clean description without secrets and links, cut at its limit."""
    return one_line(without_links(stored_line(text)), MAX_DESCRIPTION_CHARS)


def stored_agent(text: str) -> str | None:
    """Returns the name of an agent in the form in which it is stored and searched for; None where nothing of it is
    left."""
    return stored_line(text, 80) or None


def stored_body(text: str) -> str:
    """Returns a clean body without secrets, without blank lines around it."""
    return redact(clean_text(text)).text.strip("\n").rstrip()


def stored_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Returns the normal tags, without those that hold a secret, at most `MAX_TAGS`."""
    return normal_tags(text for text in texts if not has_secret(text))[:MAX_TAGS]


def title_problems(title: str) -> tuple[str, ...]:
    """Returns the reasons why a stored title is not acceptable."""
    if not any(character.isalnum() for character in title):
        return ("the title is empty",)
    if len(title) > MAX_TITLE_CHARS:
        return (f"the title has {len(title):,} characters, at most {MAX_TITLE_CHARS} are allowed",)
    return tuple(f"the title {problem}" for problem in text_problems(title))


def body_problems(body: str, before: str = "") -> tuple[str, ...]:
    """Returns the reasons why a stored body is not acceptable; `before` is the body that it replaces."""
    if not any(character.isalnum() for character in body):
        return ("the body is empty",)
    if len(body) > MAX_BODY_CHARS:
        return (f"the body has {len(body):,} characters, at most {MAX_BODY_CHARS:,} are allowed",)
    return tuple(f"the body {problem}" for problem in text_problems(body, before))


# In code too: a tool that checks a file for broken links may not know what is code.
_ID_LINK = re.compile(rf"\[\[({ID_PATTERN})(?:\|([^\[\]\n]*))?\]\]")
Unknown = tuple[str, ...]
"""Targets of links that lead nowhere and were turned into plain text."""
NOT_KEPT = "a note that was not kept"


@frozen
class Targets:
    """The notes to which links in a reply may point."""

    by_ref: Mapping[str, str]
    """Ids of the notes in the same reply, by ref."""
    live: Mapping[str, str]
    """Ids of live and planned notes and their aliases in their original spelling, by casefolded id."""
    taken: Container[str]
    """Every id in use, casefolded, including archived ones."""

    def id_of(self, target: str) -> str | None:
        """Returns the id that `id__…`, `ref:…` or a bare ref stands for; None where there is no such note."""
        if not is_id(target):
            return self.by_ref.get(target.removeprefix("ref:"))
        folded = target.casefold()
        return self.live.get(folded) or (target if folded in self.taken else None)


def link_body(body: str, also: tuple[str, ...], targets: Targets, own_id: str) -> tuple[str, Unknown]:
    """Returns the body with refs and ids resolved and the missing ids of `also` appended under `See also:`, and the
    unknown targets.

    A link to an unknown note becomes its label, else the bare id; a link to a note of the same reply that was not kept
    becomes plain words, not a title that nobody checked. A note does not link to itself.
    """
    links = [(link, targets.id_of(link.target)) for link in find_links(body)]
    unknown = [link.target for link, id in links if id is None]

    def resolved(link: Link, id: str | None) -> str:
        if id is None or id == own_id:
            return link.label or (NOT_KEPT if link.target.startswith("ref:") else link.target)
        return f"[[{id}|{link.label}]]" if link.label else f"[[{id}]]"

    text = spliced(body, ((link.start, link.end, resolved(link, id)) for link, id in links))
    text = _ID_LINK.sub(lambda link: link[0] if targets.id_of(link[1]) else link[2] or link[1], text)
    wanted = [(target, targets.id_of(target.strip("[] "))) for target in also]
    unknown += [target for target, id in wanted if id is None]
    linked = append_see_also(text, [id for _, id in wanted if id is not None and id != own_id])
    return linked, tuple(dict.fromkeys(unknown))


def with_links(entry: MemoryEntry, before: MemoryEntry, targets: Targets) -> tuple[MemoryEntry, Unknown]:
    """Returns the note with its links resolved; links that the earlier version held are left alone."""
    kept = {link.target.casefold(): link.target for link in find_links(before.body)}
    own = evolve(targets, live={**kept, **targets.live})
    body, unknown = link_body(entry.body, (), own, entry.meta.id)
    description = entry.meta.description or derive_description(body)  # the links may have been all that it said
    return evolve(entry, meta=evolve(entry.meta, description=description), body=body), unknown


def unlinked(subject: str, unknown: Iterable[str]) -> list[Dropped]:
    """Returns what a report says of the links of one note that lead nowhere."""
    links = tuple(f"a link to {stored_line(target, 80)} {LEFT_OUT}" for target in unknown)
    return [Dropped(subject, links)] if links else []


def taken_ids(live: Listing, archive: Listing) -> frozenset[str]:
    """Returns every id that is in use, casefolded: live ones, archived ones, and their aliases."""
    return frozenset(id for each in (*live.entries, *archive.entries) for id in folded_ids(each))


# -- edits ------------------------------------------------------------------------------------------------------------
# What an edit changes in a note, and what it must not change.


EDITABLE = (
    "title",
    "description",
    "tags",
    "kind",
    "scope",
    "importance",
    "confidence",
    "sensitivity",
    "expires_at_ms",
    "valid_from_ms",
    "valid_until_ms",
)
"""The fields of `Meta` that an edit may change."""


def patched(old: MemoryEntry, patch: MetaPatch, body: str) -> MemoryEntry:
    """Returns the note with new values and a new text, which a derived title and description follow."""
    meta = old.meta
    described = kept_description(old, body) if patch.description is None else stored_description(patch.description)
    changed = evolve(
        meta,
        title=edited_title(patch.title) if patch.title else kept_title(old, body),
        description=described,
        tags=meta.tags if patch.tags is None else stored_tags(patch.tags),
        kind=patch.kind or meta.kind,
        scope=patch.scope or meta.scope,
        importance=patch.importance or meta.importance,
        sensitivity=patch.sensitivity or meta.sensitivity,
        expires_at_ms=meta.expires_at_ms if patch.expiry is None else patch.expiry.at_ms,
    )
    return MemoryEntry(changed, body)


def promoted(meta: Meta) -> Meta:
    """Returns the frontmatter of the note once a person vouches for it."""
    return evolve(meta, withheld=False, status=furthest((meta.status, Status.PROMOTED)), promoted_by=BY_A_PERSON)


def superseding(entry: MemoryEntry, ids: Iterable[str], since_ms: int) -> MemoryEntry:
    """Returns the note as it takes the place of these others: it names them, and links to none of them."""
    replaced = tuple(ids)
    supersedes = tuple(dict.fromkeys((*entry.meta.supersedes, *replaced)))
    meta = evolve(entry.meta, supersedes=supersedes, valid_from_ms=since_ms)
    return MemoryEntry(meta, without_see_also_of(entry.body, replaced))


def trusted_after(before: MemoryEntry, after: MemoryEntry, caller: Caller) -> Meta:
    """Returns the frontmatter of `after` with the origin and promotion that remain once the caller has turned `before`
    into it.

    A secret note cannot be promoted. A person vouches for what they saw (P19): if a program changes it, the promotion
    ends where the note is external, or where its new text would need one. Nor does a turn of a session bear that text out.
    """
    meta, is_reworded = after.meta, before.texts != after.texts
    if caller.is_agent and is_reworded:
        meta = evolve(meta, sources=tuple(evolve(each, turns=()) for each in meta.sources))
    meta = evolve(meta, origin=least_trusted((meta.origin, caller.origin)))
    needs_another_word = meta.origin is Origin.EXTERNAL or (is_reworded and meta.needs_vouching)
    lapsed = meta.is_secret or (caller.is_agent and needs_another_word)
    return evolve(meta, promoted_by=None) if lapsed else meta


def edited_title(text: str) -> str:
    """Returns the title that a person or an agent gave, clean, on one line and never empty."""
    return one_line(stored_title(text), MAX_TITLE_CHARS) or "untitled"


def kept_title(old: MemoryEntry, body: str) -> str:
    """Returns the title of a note whose body changes: derived anew if it was derived before."""
    return edited_title(derive_title(body)) if has_derived_title(old) and body != old.body else old.meta.title


def has_derived_title(note: MemoryEntry) -> bool:
    """Returns whether the title is what the body begins with, so that it follows a new body."""
    return note.meta.title == edited_title(derive_title(note.body))


def kept_description(old: MemoryEntry, body: str) -> str:
    """Returns the description of a note whose body changes: derived anew if it was derived before."""
    was_derived = old.meta.description in ("", derive_description(old.body))
    return derive_description(body) if was_derived and body != old.body else old.meta.description

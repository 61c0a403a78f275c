"""What can be wrong with one note, looked at alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_memory.domain.checkup import catalogue as of
from agent_memory.domain.checkup.name_checks import examine_name
from agent_memory.domain.checkup.notes import NoteFile
from agent_memory.domain.checkup.symptom import Severity, Symptom
from agent_memory.domain.entry import Listed
from agent_memory.domain.instants import DAY_MS, has_passed, iso_of
from agent_memory.domain.redaction import redact
from agent_memory.domain.tagging.tag_vocabulary import TagVocabulary
from agent_memory.domain.text.plain_text import clean_text
from agent_memory.domain.text.tags import normal_tag, normal_tags
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.values import frozen

HARMLESS_HIDDEN = frozenset({"invisible characters", "variation selectors"})
"""What emoji and some scripts are written with: worth knowing, but no sign of anything."""


@frozen
class NoteRules:
    """What a note is held against."""

    now_ms: int
    expired_grace_ms: int
    """How long after its expiry an entry may wait for a defrag to archive it."""
    vocabulary: TagVocabulary = TagVocabulary()


def examine_note(file: NoteFile, rules: NoteRules) -> Iterator[Symptom]:
    """Everything about this one file. Of its text only kinds are told, never what it says."""
    note = file.stored.listed
    if note.provisional_id:
        yield of.MISSING_ID.found(note.path, f"It has no id yet: until it has one, links to {note.meta.id} may break")
    if not file.stored.body.strip():
        yield of.EMPTY_NOTE.found(
            note.path, "It says nothing: `git log` on it has what it said before, or `memory archive` puts it away"
        )
    if note.conflicted:
        yield of.MERGE_CONFLICT.found(
            note.path, "It holds unresolved merge-conflict markers, and no run touches it; edit it"
        )
    yield from examine_name(note)
    yield from _tags(file, rules.vocabulary)
    yield from _times(note, rules)
    yield from _what_it_says(file)


def _tags(file: NoteFile, vocabulary: TagVocabulary) -> Iterator[Symptom]:
    note = file.stored.listed
    if odd := [tag for tag in file.written_tags if normal_tag(tag) != tag]:
        meant = ", ".join(normal_tags(odd)) or "none"
        yield of.TAG_FORM.found(note.path, f"{_quoted(odd)} read as {meant}")
    for tag in note.meta.tags:
        if tag in vocabulary.renamed:
            now = vocabulary.renamed[tag]
            yield of.TAG_UNKNOWN.found(
                note.path, f"'{tag}' is called '{now}' now; `memory tags rename {tag} {now}` writes that"
            )


def _times(note: Listed, rules: NoteRules) -> Iterator[Symptom]:
    meta = note.meta
    if has_passed(meta.expires_at_ms, rules.now_ms):
        overdue = meta.expires_at_ms + rules.expired_grace_ms <= rules.now_ms
        yield of.EXPIRED.found(
            note.path,
            f"It expired on {iso_of(meta.expires_at_ms)[:10]}; `memory defrag` archives it",
            Severity.PROBLEM if overdue else None,
        )
    newest = max(meta.created_at_ms, meta.updated_at_ms)
    if newest > rules.now_ms + DAY_MS:
        yield of.FROM_THE_FUTURE.found(note.path, f"It says that it is from {iso_of(newest)}; was the clock wrong?")


def _what_it_says(note: NoteFile) -> Iterator[Symptom]:
    meta = note.stored.meta
    if meta.sensitivity is Sensitivity.SECRET:
        if meta.pinned or meta.promoted_by is not None:
            which = "pinned" if meta.pinned else "promoted"
            yield of.SECRET_IN_FRONT.found(
                note.path, f"It is secret and {which}, which no note can be; unpin or edit it"
            )
    elif secrets := redact(note.text).found:
        kinds = ", ".join(name for name, _ in secrets)
        yield of.SECRET.found(
            note.path, f"It seems to hold a secret ({kinds}), so git leaves it out; remove it, and change the secret"
        )
    if hidden := clean_text(note.text.removeprefix("\ufeff")).removed:
        harmless = HARMLESS_HIDDEN.issuperset(hidden)
        yield of.HIDDEN_TEXT.found(
            note.path,
            f"It holds what a reader does not see and a model does: {', '.join(hidden)}",
            Severity.NOTE if harmless else None,
        )


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)

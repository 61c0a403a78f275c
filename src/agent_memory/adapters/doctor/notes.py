"""The notes of a store as files, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from attrs import evolve, frozen
from returns.result import Failure, Success

from agent_memory.adapters.disk.paths import FileImage
from agent_memory.adapters.records.usage_ledger_files import UsageLedgerFiles
from agent_memory.adapters.store.entry_files import read_image, understand, understand_again
from agent_memory.config import Config
from agent_memory.domain.analysis.analyze import analyze_features
from agent_memory.domain.analysis.features import AnalysisFacts, Features, features_of
from agent_memory.domain.doctor import catalogue as of
from agent_memory.domain.doctor.catalogue import Finding, trouble
from agent_memory.domain.doctor.note_checks import (
    NoteFile,
    NoteRules,
    examine_clashes,
    examine_copies,
    examine_name,
    examine_note,
    examine_tags,
)
from agent_memory.domain.doctor.store_checks import (
    INTERVALS_BEFORE_LATE,
    examine_aliases,
    examine_analysis,
    examine_caps,
    examine_links,
)
from agent_memory.domain.entry import Listed, Listing, StoredEntry, UnreadableFile, Usage
from agent_memory.domain.instants import DAY_MS, HOUR_MS
from agent_memory.domain.planning.linking import taken_ids
from agent_memory.domain.tagging.tag_vocabulary import TagVocabulary
from agent_memory.domain.tiers import TierList
from agent_memory.errors import EntryUnreadable, PathRefused, StoreIo
from agent_memory.formats.note import HEADLESS, written_tags
from agent_memory.results import as_result, sealed


def read_notes(root: str, live: Iterable[Listed]) -> Iterator[NoteFile]:
    """The files of these entries. One that is gone or has become unreadable since the listing is left out."""
    for listed in live:
        if (note := read_note(root, listed.path)) is not None:
            yield note


def read_copies(root: str, unreadable: Sequence[UnreadableFile], live: Sequence[Listed]) -> Iterator[NoteFile]:
    """Files that are only unreadable because another one bears their id."""
    if not unreadable:
        return
    path_of = {each.meta.id: each.path for each in live}
    for file in unreadable:
        note = read_note(root, file.path)
        original = None if note is None else path_of.get(note.stored.meta.id)
        if note is not None and original is not None and original != file.path:
            yield evolve(note, copy_of=original)


def read_note(root: str, path: str) -> NoteFile | None:
    """The file; None for one that is gone, cannot be read, or is no note."""
    try:
        return _read(root, path, lambda image: understand(path, image.data, image.mtime_ns))
    except (PathRefused, StoreIo):
        return None


@as_result
def read_again(root: str, listed: Listed) -> NoteFile | None:
    """The file of an entry that was listed; None for one that is gone, or no note any more. What its bytes say is not found
    out once more while they are the same."""
    return _read(root, listed.path, lambda image: understand_again(listed, image.data, image.mtime_ns))


def _read(root: str, path: str, understood: Callable[[FileImage], StoredEntry]) -> NoteFile | None:
    image = read_image(root, path)
    if image is None:
        return None
    try:
        return _note(path, image, understood(image))
    except EntryUnreadable:
        return None


def _note(path: str, image: FileImage, stored: StoredEntry) -> NoteFile:
    text = image.data.decode()
    return NoteFile(path, text, stored, written_tags(text, stored.meta.tags), image.mtime_ns // 1_000_000)


# -- looking at them --------------------------------------------------------------------------------------------------

_NOTES_A_REPORT = 500


@frozen
class NoteChecks:
    """`findings()` looks at all that is listed."""

    root: Path
    config: Config
    ledger: UsageLedgerFiles
    now_ms: int
    vocabulary: TagVocabulary
    """Of tags."""
    progress: Callable[[str], None]

    def findings(self, live: Listing, archive: Listing, tiers: TierList) -> Iterator[Finding]:
        """All that is wrong with notes."""
        copies = tuple(read_copies(str(self.root), live.unreadable, live.entries))
        copied = {note.path for note in copies}
        for file in live.unreadable:
            if file.path not in copied:
                check = of.HEADLESS_NOTE if HEADLESS in file.problems else of.UNREADABLE_NOTE
                yield check.found(file.path, f"It is no note: {'; '.join(file.problems)}")
        for file in archive.unreadable:
            yield of.UNREADABLE_ARCHIVED.found(file.path, f"It is no note: {'; '.join(file.problems)}")
        yield from examine_copies(copies)
        paths = {each.meta.id: each.path for each in live.entries}
        yield from examine_clashes(tuple(paths.values()))
        archived = frozenset(each.meta.id for each in archive.entries)
        yield from examine_aliases(live.entries)
        features: list[Features] = []
        fresh: set[str] = set()
        yield from self._each_alone(live, archived, features, fresh)
        usage: list[Finding] = []
        facts = AnalysisFacts(
            now_ms=self.now_ms,
            taken_ids=taken_ids(live, archive),
            usage=self._usage(usage),
            stale_days=self.config.limits.stale_days,
            # Neither what is hot, and so is read without a read being counted, nor what came into the store lately, from
            # however old a session.
            hot_or_new=frozenset((*tiers.hot, *fresh)),
        )
        yield from usage
        analysis = analyze_features(features, facts)
        yield from examine_analysis(analysis, paths)
        yield from examine_tags([each.meta.tags for each in live.entries], self.vocabulary)
        limits = self.config.limits
        chars = sum(each.body_chars for each in analysis.profiles.values())
        yield from examine_caps(len(live.entries), chars, max_entries=limits.max_entries, max_chars=limits.max_chars)

    def _each_alone(
        self, live: Listing, archived: frozenset[str], features: list[Features], fresh: set[str]
    ) -> Iterator[Finding]:
        """What is wrong with each note by itself. One that is gone since the listing, is no note any more or cannot be read is
        left out of the `features`; `fresh` are the ids of those whose files are new, whatever they say of themselves."""
        rules = NoteRules(
            self.now_ms,
            int(INTERVALS_BEFORE_LATE * self.config.schedule.defrag_interval_hours * HOUR_MS),
            self.vocabulary,
        )
        fresh_after_ms = self.now_ms - self.config.limits.stale_days * DAY_MS
        bearers = frozenset(chain.from_iterable((each.meta.id, *each.meta.aliases) for each in live.entries))
        for seen, listed in enumerate(live.entries, 1):
            if seen % _NOTES_A_REPORT == 0:
                self.progress(f"{seen:,} of {len(live.entries):,} notes examined")
            read = read_again(str(self.root), listed)
            if isinstance(read, Failure):
                yield trouble(read.failure(), of.UNREADABLE_STORE)
            note = read.value_or(None)
            if note is None:
                yield from examine_name(listed)
                continue
            each = features_of(note.stored)
            features.append(each)
            if note.mtime_ms > fresh_after_ms:
                fresh.add(each.id)
            yield from examine_note(note, rules)
            yield from examine_links(listed.path, each.links, bearers, archived)

    def _usage(self, findings: list[Finding]) -> Mapping[str, Usage]:
        match sealed(self.ledger.survey()):
            case Failure(error):
                findings.append(trouble(error, of.UNREADABLE_STORE))
                return {}
            case Success(survey):
                if survey.damaged_lines:
                    findings.append(
                        of.DAMAGED_LEDGER.found(
                            "usage",
                            f"Lines that cannot be understood: {survey.damaged_lines}; no other read is lost by them",
                        )
                    )
                return survey.totals

"""Looking at the notes of a store: each by itself, and all of them together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from returns.result import Failure, Success

from agent_memory.adapters.checkup.note_files import read_again, read_copies
from agent_memory.adapters.checkup.troubles import trouble
from agent_memory.adapters.records.usage_ledger_files import UsageLedgerFiles
from agent_memory.config import Config
from agent_memory.domain.analysis.analyze import analyze_features
from agent_memory.domain.analysis.features import AnalysisFacts, Features, features_of
from agent_memory.domain.checkup import catalogue as of
from agent_memory.domain.checkup.analysis_checks import examine_analysis
from agent_memory.domain.checkup.cap_checks import examine_caps
from agent_memory.domain.checkup.link_checks import examine_links, examine_references
from agent_memory.domain.checkup.name_checks import examine_clashes, examine_copies, examine_name
from agent_memory.domain.checkup.note_checks import NoteRules, examine_note
from agent_memory.domain.checkup.run_checks import INTERVALS_BEFORE_LATE
from agent_memory.domain.checkup.symptom import Symptom
from agent_memory.domain.checkup.tag_checks import examine_tags
from agent_memory.domain.entry import Listing, Listings, Usage
from agent_memory.domain.instants import DAY_MS, HOUR_MS
from agent_memory.domain.planning.taken_ids import TakenIds
from agent_memory.domain.results import sealed
from agent_memory.domain.tagging.tag_vocabulary import TagVocabulary
from agent_memory.domain.tiers import TierList
from agent_memory.formats.note import HEADLESS
from agent_memory.values import frozen

_NOTES_A_REPORT = 500


@frozen
class NoteExamination:
    """`symptoms()` looks at all that is listed."""

    root: Path
    config: Config
    ledger: UsageLedgerFiles
    now_ms: int
    vocabulary: TagVocabulary
    """Of tags."""
    progress: Callable[[str], None]

    def symptoms(self, live: Listing, archive: Listing, tiers: TierList) -> Iterator[Symptom]:
        """All that is wrong with notes."""
        copies = tuple(read_copies(str(self.root), live.unreadable, live.entries))
        copied = {note.path for note in copies}
        for file in live.unreadable:
            if file.path not in copied:
                ailment = of.HEADLESS_NOTE if HEADLESS in file.problems else of.UNREADABLE_NOTE
                yield ailment.found(file.path, f"It is no note: {'; '.join(file.problems)}")
        for file in archive.unreadable:
            yield of.UNREADABLE_ARCHIVED.found(file.path, f"It is no note: {'; '.join(file.problems)}")
        yield from examine_copies(copies)
        paths = {each.meta.id: each.path for each in live.entries}
        yield from examine_clashes(tuple(paths.values()))
        archived = frozenset(each.meta.id for each in archive.entries)
        yield from examine_references(live.entries, archived)
        features: list[Features] = []
        fresh: set[str] = set()
        yield from self._each_alone(live, archived, features, fresh)
        usage: list[Symptom] = []
        facts = AnalysisFacts(
            now_ms=self.now_ms,
            taken_ids=TakenIds(Listings(live, archive)),
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
    ) -> Iterator[Symptom]:
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

    def _usage(self, symptoms: list[Symptom]) -> Mapping[str, Usage]:
        match sealed(self.ledger.survey()):
            case Failure(error):
                symptoms.append(trouble(error, of.UNREADABLE_STORE))
                return {}
            case Success(survey):
                if survey.damaged_lines:
                    symptoms.append(
                        of.DAMAGED_LEDGER.found(
                            "usage",
                            f"Lines that cannot be understood: {survey.damaged_lines}; no other read is lost by them",
                        )
                    )
                return survey.totals

"""Looking at the notes of a store: each by itself, and all of them together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from returns.result import Failure, Success

from agent_memory.adapters.checkup.kept_looks import KeptLooks
from agent_memory.adapters.checkup.note_files import read_copies
from agent_memory.adapters.checkup.note_looks import LookedAt, NoteLooks
from agent_memory.adapters.checkup.troubles import trouble
from agent_memory.adapters.records.usage_ledger_files import UsageLedgerFiles
from agent_memory.config import Config
from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.analysis.analyze import analyze_compared
from agent_memory.domain.analysis.compared import NOTHING, Compared, compare, comparison_key, may_be_kept
from agent_memory.domain.analysis.noticed import Noticed
from agent_memory.domain.analysis.outline import Outline
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.checkup import catalogue as of
from agent_memory.domain.checkup.analysis_checks import examine_analysis
from agent_memory.domain.checkup.cap_checks import examine_caps
from agent_memory.domain.checkup.link_checks import examine_links, examine_references
from agent_memory.domain.checkup.name_checks import examine_copies, examine_names
from agent_memory.domain.checkup.note_checks import NoteRules, examine_note
from agent_memory.domain.checkup.run_checks import INTERVALS_BEFORE_LATE
from agent_memory.domain.checkup.symptom import Symptom
from agent_memory.domain.checkup.tag_checks import examine_tags
from agent_memory.domain.entry import Listed, Listing, Meta, Usage
from agent_memory.domain.findings import Analysis
from agent_memory.domain.instants import DAY_MS, HOUR_MS
from agent_memory.domain.planning.taken_ids import taken_ids
from agent_memory.domain.results import sealed
from agent_memory.domain.tagging.tag_vocabulary import TagVocabulary
from agent_memory.domain.tiers import TierList
from agent_memory.errors import Error
from agent_memory.ports import KeptComparisons, NoticedNotes
from agent_memory.values import evolve, frozen

_NOTES_A_REPORT = 5_000


@frozen
class NoteExamination:
    """`symptoms()` looks at all that is listed. What earlier examinations and analyses found is believed of files that are as
    they were; without `kept_looks`, or without `noticed`, each is read."""

    root: Path
    config: Config
    ledger: UsageLedgerFiles
    now_ms: int
    mtimes_ms: Mapping[str, int]
    """Of files that were seen a moment ago, by path."""
    vocabulary: TagVocabulary
    """Of tags."""
    progress: Callable[[str], None]
    kept_looks: KeptLooks | None
    noticed: NoticedNotes | None
    compared: KeptComparisons | None

    def symptoms(self, live: Listing, archive: Listing, tiers: TierList) -> Iterator[Symptom]:
        """All that is wrong with notes."""
        copies = tuple(read_copies(str(self.root), live.unreadable, live.entries))
        copied = {note.path for note in copies}
        for file in live.unreadable:
            if file.path not in copied:
                yield of.UNREADABLE_NOTE.found(file.path, f"It is no note: {'; '.join(file.problems)}")
        for file in archive.unreadable:
            yield of.UNREADABLE_ARCHIVED.found(file.path, f"It is no note: {'; '.join(file.problems)}")
        yield from examine_copies(copies)
        yield from examine_names(live.entries)
        archived = frozenset(each.meta.id for each in archive.entries)
        yield from examine_references(live.entries, archived)
        usage: list[Symptom] = []
        facts = AnalysisFacts(
            now_ms=self.now_ms,
            taken_ids=taken_ids(live, archive),
            usage=self._usage(usage),
            stale_days=self.config.limits.stale_days,
        )
        yield from usage
        each_alone = _EachAlone(self, live, archived)
        analysis = self._analysis(live, facts, each_alone)
        yield from each_alone.symptoms
        by_id = {each.meta.id: each for each in live.entries}
        yield from examine_analysis(analysis, by_id, frozenset((*tiers.hot, *each_alone.fresh)))
        yield from examine_tags(live.entries, self.vocabulary)
        chars = sum(each.body_chars for each in analysis.profiles.values())
        limits = self.config.limits
        yield from examine_caps(len(live.entries), chars, max_entries=limits.max_entries, max_chars=limits.max_chars)

    def _analysis(self, live: Listing, facts: AnalysisFacts, each_alone: _EachAlone) -> Analysis:
        key = comparison_key(live.entries, facts)
        known = None if self.compared is None else self.compared.recall(key)
        return (
            self._anew(live, facts, key, each_alone) if known is None else self._again(live, facts, known, each_alone)
        )

    def _again(self, live: Listing, facts: AnalysisFacts, known: Compared, each_alone: _EachAlone) -> Analysis:
        """Of notes that were compared with each other before."""
        outlines: dict[str, Outline] = {}
        looks = NoteLooks(str(self.root), known.outlines, self.mtimes_ms, each_alone.miss, self.kept_looks)
        entries: list[Meta] = []
        for note in looks.all(live.entries):
            each_alone.examine(note)
            entries.append(note.listed.meta)
            outlines.setdefault(note.listed.meta.id, note.outline)
        return analyze_compared(entries, evolve(known, outlines=outlines), facts)

    def _anew(self, live: Listing, facts: AnalysisFacts, key: str, each_alone: _EachAlone) -> Analysis:
        read: list[Listed] = []
        compared = self._compared(live, facts, each_alone, read)
        kept = may_be_kept(compared, live.entries, read)
        if self.compared is not None and kept is not None:
            self.compared.keep(key, kept)
        return analyze_compared([each.meta for each in read], compared, facts)

    def _compared(self, live: Listing, facts: AnalysisFacts, each_alone: _EachAlone, read: list[Listed]) -> Compared:
        """What is found in several notes together. Those that are looked at are added to `read`, as they were read."""
        before = NOTHING if self.noticed is None else self.noticed.recall()
        slots, words = before.recognised(live.entries), Vocabulary(before.words)
        outlines = {id: before.outlines[slot] for id, slot in slots.items()}
        looks = NoteLooks(str(self.root), outlines, self.mtimes_ms, each_alone.miss, self.kept_looks, words)

        def looked_at() -> Iterator[tuple[Listed, int | Noticed]]:
            for note in looks.all(live.entries):
                each_alone.examine(note)
                read.append(note.listed)
                yield note.listed, slots[note.listed.meta.id] if note.noticed is None else note.noticed

        compared, gathered = compare(looked_at(), words, facts, before)
        if self.noticed is not None and gathered is not before:
            self.noticed.keep(gathered)
        return compared

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


class _EachAlone:
    """What is wrong with each note alone, and the ids of those whose files are new."""

    def __init__(self, examination: NoteExamination, live: Listing, archived: frozenset[str]) -> None:
        config, now_ms = examination.config, examination.now_ms
        self.symptoms: list[Symptom] = []
        self.fresh: set[str] = set()
        self._progress, self._archived = examination.progress, archived
        self._seen, self._all = 0, len(live.entries)
        self._known = frozenset(id for each in live.entries for id in (each.meta.id, *each.meta.aliases))
        self._stale_before_ms = now_ms - config.limits.stale_days * DAY_MS
        self._rules = NoteRules(
            now_ms,
            int(INTERVALS_BEFORE_LATE * config.schedule.defrag_interval_hours * HOUR_MS),
            examination.vocabulary,
        )

    def miss(self, error: Error) -> None:
        """Tell of one that cannot be read."""
        self.symptoms.append(trouble(error, of.UNREADABLE_STORE))

    def examine(self, note: LookedAt) -> None:
        """Look at one more."""
        self._seen += 1
        if self._seen % _NOTES_A_REPORT == 0:
            self._progress(f"{self._seen:,} of {self._all:,} notes examined")
        if note.mtime_ms > self._stale_before_ms:
            self.fresh.add(note.listed.meta.id)
        self.symptoms += examine_note(note.listed, note.look, self._rules)
        if note.outline.links:
            self.symptoms += examine_links(note.listed.path, note.outline.links, self._known, self._archived)

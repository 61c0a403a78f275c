"""Looking at the notes of a store: each by itself, and all of them together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from returns.result import Failure, Success

from agent_memory.adapters.checkup.each_alone import EachAlone
from agent_memory.adapters.checkup.kept_looks import KeptLooks
from agent_memory.adapters.checkup.note_files import read_copies
from agent_memory.adapters.checkup.note_looks import NoteLooks
from agent_memory.adapters.checkup.troubles import trouble
from agent_memory.adapters.records.usage_ledger_files import UsageLedgerFiles
from agent_memory.config import Config
from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.analysis.analyze import analyze_compared
from agent_memory.domain.analysis.compared import NOTHING, Compared, compare, comparison_key, may_be_kept
from agent_memory.domain.analysis.gathering import Gathering
from agent_memory.domain.analysis.outline import Outline
from agent_memory.domain.analysis.outlines import Outlines
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.checkup import catalogue as of
from agent_memory.domain.checkup.analysis_checks import examine_analysis
from agent_memory.domain.checkup.cap_checks import examine_caps
from agent_memory.domain.checkup.link_checks import examine_references
from agent_memory.domain.checkup.name_checks import examine_clashes, examine_copies
from agent_memory.domain.checkup.note_checks import NoteRules
from agent_memory.domain.checkup.run_checks import INTERVALS_BEFORE_LATE
from agent_memory.domain.checkup.symptom import Symptom
from agent_memory.domain.checkup.tag_checks import examine_tags
from agent_memory.domain.entry import Listed, Listing, Listings, Usage
from agent_memory.domain.instants import DAY_MS, HOUR_MS
from agent_memory.domain.packed_entries import column_of
from agent_memory.domain.planning.taken_ids import TakenIds
from agent_memory.domain.results import sealed
from agent_memory.domain.secret_entries import without_secret
from agent_memory.domain.tagging.alike_tags import alike
from agent_memory.domain.tagging.tag_survey import tag_counts
from agent_memory.domain.tagging.tag_vocabulary import TagVocabulary
from agent_memory.domain.tiers import TierList
from agent_memory.formats.note import HEADLESS
from agent_memory.ports import KeptComparisons, NoticedNotes
from agent_memory.values import evolve, frozen


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
                ailment = of.HEADLESS_NOTE if HEADLESS in file.problems else of.UNREADABLE_NOTE
                yield ailment.found(file.path, f"It is no note: {'; '.join(file.problems)}")
        for file in archive.unreadable:
            yield of.UNREADABLE_ARCHIVED.found(file.path, f"It is no note: {'; '.join(file.problems)}")
        yield from examine_copies(copies)
        ids, paths = column_of(live.entries, "meta.id"), column_of(live.entries, "path")
        yield from examine_clashes(paths)
        archived = frozenset(column_of(archive.entries, "meta.id"))
        yield from examine_references(live.entries, archived)
        usage: list[Symptom] = []
        facts = AnalysisFacts(
            now_ms=self.now_ms,
            taken_ids=TakenIds(Listings(live, archive)),
            usage=self._usage(usage),
            stale_days=self.config.limits.stale_days,
        )
        yield from usage
        fresh_after_ms = self.now_ms - self.config.limits.stale_days * DAY_MS
        counts, near = self._tags(live.entries)
        each_alone = EachAlone(live.entries, self._rules(), fresh_after_ms, archived, self.progress)
        compared = self._compared(live.entries, facts, each_alone)
        # Neither what is hot, and so is read without a read being counted, nor what came into the store lately, from however
        # old a session.
        hot_or_new = frozenset((*tiers.hot, *each_alone.fresh))
        analysis = analyze_compared(each_alone.read(), compared, evolve(facts, hot_or_new=hot_or_new))
        yield from each_alone.symptoms
        yield from examine_analysis(analysis, dict(zip(ids, paths, strict=True)))
        yield from examine_tags(counts, near, self.vocabulary)
        limits = self.config.limits
        chars = 0 if limits.max_chars is None else sum(each.body_chars for each in analysis.profiles.values())
        yield from examine_caps(len(live.entries), chars, max_entries=limits.max_entries, max_chars=limits.max_chars)

    def _tags(self, live: Sequence[Listed]) -> tuple[Mapping[str, int], Mapping[str, frozenset[str]]]:
        """How many notes have each tag, and which tags are alike."""
        tags = column_of(live, "meta.tags")
        counts = tag_counts(tags, self.vocabulary)
        if self.kept_looks is None:
            return counts, alike(counts).near
        found = alike(counts, self.kept_looks.tags())
        of_others = chain.from_iterable(column_of(without_secret(live), "meta.tags"))
        hidden = counts.keys() - self.vocabulary.accepted - set(of_others)
        self.kept_looks.keep_tags(found.only(counts.keys() - hidden) if hidden else found)
        return counts, found.near

    def _rules(self) -> NoteRules:
        return NoteRules(
            self.now_ms,
            int(INTERVALS_BEFORE_LATE * self.config.schedule.defrag_interval_hours * HOUR_MS),
            self.vocabulary,
        )

    def _compared(self, live: Sequence[Listed], facts: AnalysisFacts, each_alone: EachAlone) -> Compared:
        """What is found in several notes together; each of them is examined on the way."""
        key = comparison_key(live, facts)
        known = None if self.compared is None else self.compared.recall(key)
        if known is not None:
            return evolve(known, outlines=known.outlines.joined(self._outlines(known, each_alone)))
        compared = self._compared_anew(live, facts, each_alone)
        if self.compared is not None:
            self.compared.keep(key, may_be_kept(compared, live, each_alone.read()))
        return compared

    def _outlines(self, known: Compared, each_alone: EachAlone) -> Mapping[str, Outline]:
        """Of the notes that are looked at although all were compared with each other before."""
        outlines: dict[str, Outline] = {}
        looks = NoteLooks(str(self.root), known.outlines, self.mtimes_ms, each_alone.miss, self.kept_looks)
        for note in each_alone.looked_at(looks):
            outlines.setdefault(note.listed.meta.id, note.outline)
        return outlines

    def _compared_anew(self, live: Sequence[Listed], facts: AnalysisFacts, each_alone: EachAlone) -> Compared:
        before = NOTHING if self.noticed is None else self.noticed.recall()
        slots, words = before.recognised(live), Vocabulary(before.words)
        outlines = Outlines(slots, before.outlines)
        looks = NoteLooks(str(self.root), outlines, self.mtimes_ms, each_alone.miss, self.kept_looks, words)
        gathering = Gathering(before, slots, words)
        for note in each_alone.looked_at(looks):
            if note.noticed is not None:
                gathering.add(note.listed, note.noticed)
        compared, gathered = compare(
            each_alone.read(), gathering.slots, gathering.noticed, words, facts, gathering.gathered
        )
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

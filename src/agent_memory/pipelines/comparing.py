"""The analysis of a store: the notes compared with each other, or what comparing the same notes found before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import not_

from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.analysis.analyze import analyze_compared
from agent_memory.domain.analysis.compared import NOTHING, Compared, compare, comparison_key, may_be_kept
from agent_memory.domain.analysis.gathering import Gathering
from agent_memory.domain.analysis.outline import Outline
from agent_memory.domain.analysis.outlining import outline_of
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.entry import Listed
from agent_memory.domain.findings import Analysis
from agent_memory.domain.packed_entries import chosen, column_of, with_others
from agent_memory.pipelines.defrag_io import DefragIo
from agent_memory.pipelines.noticing import notice, read_as_listed
from agent_memory.values import evolve


def analysed(io: DefragIo, live: Sequence[Listed], facts: AnalysisFacts, missed: list[str]) -> Analysis:
    """What is found in these entries. Where nothing changed since the last time, none is read but those that are secret.
    What cannot be read is added to `missed`, in words."""
    key = comparison_key(live, facts)
    known = None if io.compared is None else io.compared.recall(key)
    if known is not None:
        outlines = known.outlines.joined(dict(_outlined(io, live, known, missed)))
        return analyze_compared(live, evolve(known, outlines=outlines), facts)
    compared, read = _compared(io, live, facts, missed)
    if io.compared is not None:
        io.compared.keep(key, may_be_kept(compared, live, read))
    return analyze_compared(read, compared, facts)


def _compared(
    io: DefragIo, live: Sequence[Listed], facts: AnalysisFacts, missed: list[str]
) -> tuple[Compared, Sequence[Listed]]:
    """What is found in several entries together, and the entries as they were read, without those that could not be."""
    before = NOTHING if io.noticed is None else io.noticed.recall()
    slots, words = before.recognised(live), Vocabulary(before.words)
    ids = column_of(live, "meta.id")
    gathering = Gathering(before, slots, words)
    read: dict[str, Listed] = {}
    for listed, found in notice(io, chosen(live, [id not in slots for id in ids]), words, missed):
        read[listed.meta.id] = listed
        gathering.add(listed, found)
    entries = with_others(live, {place: read.get(id) for place, id in enumerate(ids) if id not in slots})
    compared, gathered = compare(entries, gathering.slots, gathering.noticed, words, facts, gathering.gathered)
    if io.noticed is not None and gathered is not before:
        io.noticed.keep(gathered)
    return compared, entries


def _outlined(
    io: DefragIo, live: Sequence[Listed], known: Compared, missed: list[str]
) -> Iterator[tuple[str, Outline]]:
    is_known = map(known.outlines.slots.__contains__, column_of(live, "meta.id"))
    for listed in chosen(live, map(not_, is_known)):
        stored = read_as_listed(io, listed, missed)
        if stored is not None:
            yield listed.meta.id, outline_of(stored)

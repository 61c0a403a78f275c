"""Whether the tags of all notes together hold one word for one thing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from agent_memory.domain.checkup import catalogue as of
from agent_memory.domain.checkup.symptom import Symptom
from agent_memory.domain.tagging.alike_tags import alike
from agent_memory.domain.tagging.tag_survey import TagUse, survey_tags, tag_counts
from agent_memory.domain.tagging.tag_vocabulary import VOCABULARY_FILE, Standing, TagVocabulary


def examine_tags(notes: Iterable[Sequence[str]], vocabulary: TagVocabulary) -> Iterator[Symptom]:
    """A symptom for each tag in use that looks like a better one (accepted, else more used; two that are accepted are two),
    and for each other one that the vocabulary does not have. `notes` are the tags of each."""
    counts = tag_counts(notes, vocabulary)
    near = alike(counts)
    told = [tag for tag in (counts if vocabulary.accepted else near) if counts[tag]]
    uses = {use.tag: use for use in survey_tags(told, counts, near, vocabulary)}
    for use in uses.values():
        better = next((uses[tag] for tag in use.like if tag in uses), None)
        if better is not None and _rank(better) < _rank(use) and use.standing is not Standing.ACCEPTED:
            yield of.TAG_ALIKE.found(
                use.tag,
                f"It is in {_notes(use)}, and looks like {better.tag}, in {_notes(better)}; `memory tags rename {use.tag} "
                f"{better.tag}` makes them one, `memory tags accept` keeps both",
            )
        elif use.standing is Standing.PROPOSED and use.tag not in vocabulary.renamed:
            yield of.TAG_UNKNOWN.found(
                use.tag,
                f"It is in {_notes(use)}, and is not a tag of {VOCABULARY_FILE}; `memory tags accept {use.tag}` or "
                f"`memory tags rename {use.tag} OTHER` settles it",
            )


def _rank(use: TagUse) -> tuple[bool, int, str]:
    return (use.standing is not Standing.ACCEPTED, -use.notes, use.tag)


def _notes(use: TagUse) -> str:
    return f"{use.notes} note{'' if use.notes == 1 else 's'}"

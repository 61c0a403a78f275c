"""What follows for a proposed entry from the notes that are about the same subject (`PlanFacts.similar`)."""

from __future__ import annotations

from agent_memory.domain.change_set import ProposedEntry
from agent_memory.domain.history import Role
from agent_memory.domain.plan import PlanFacts
from agent_memory.domain.planning.drafts import stored_body, stored_title
from agent_memory.domain.planning.provenance import cited_turns, is_persons_note
from agent_memory.domain.similarity.same_subject import Subject, says_nothing_new
from agent_memory.domain.text.links import without_see_also
from agent_memory.domain.vocabulary import Kind, Status


def subject_of(proposed: ProposedEntry) -> Subject:
    """The proposed entry as it is compared with known notes: cleaned, as it would be stored."""
    return Subject(stored_title(proposed.title), stored_body(proposed.body), proposed.description or "", proposed.kind)


def similar_ids(proposed: ProposedEntry, facts: PlanFacts) -> tuple[str, ...]:
    """The notes about the same subject that the new one is to link to: not those that it takes the place of."""
    return tuple(each.meta.id for each in facts.similar.get(proposed, ()) if each.meta.id not in proposed.supersedes)


def said_already(proposed: ProposedEntry, facts: PlanFacts) -> str | None:
    """The note that says all of it already, so that it need not be stored: with the same body but for links added at its
    end, or, for a lesson of the agent's that nobody judged, in its own words. Such a lesson is worth a note when it is unlike what is known."""
    subject = subject_of(proposed)
    known = facts.similar.get(proposed, ())
    body = without_see_also(subject.body)
    if twin := next((each for each in known if without_see_also(each.body) == body), None):
        return twin.meta.id
    is_persons = is_persons_note(facts) or any(turn.role is Role.USER for turn in cited_turns(proposed.turns, facts))
    is_unjudged = facts.status is Status.CAPTURED and not is_persons
    if proposed.kind is not Kind.LESSON or not is_unjudged or proposed.supersedes:
        return None
    return next((each.meta.id for each in known if says_nothing_new(subject, each)), None)

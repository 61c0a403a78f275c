"""What each reason to show an entry is worth."""

from __future__ import annotations

from attrs import field, frozen

from agent_memory.domain.searching.matching import FieldWeight, TermWeights
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Importance

_TERMS = TermWeights(
    title=FieldWeight(1.5, 0.5),
    tags=FieldWeight(1.0, 0.0),
    description=FieldWeight(1.0, 0.5),
    body=FieldWeight(1.0, 0.5),
    k1=1.2,
)


@frozen
class RankingWeights:
    """One recipe for every store. The unit is the score that the best entry has by its words alone.

    Chosen by cross-validation over conversations, notes of two coding projects and sessions of coding agents (docs/search.md):
    where several values were as good, the one nearest to the middle of the plateau.
    """

    terms: TermWeights = _TERMS
    """BM25F with the usual k1. A b below 0.5 is a little better for small talk, and costs much in chats about code, whose
    turns differ in length more."""
    meaning: float = 0.09
    """For each standard deviation by which the meaning is nearer to the query than that of the store's other entries."""
    session_meaning: float = 0.2
    """For each standard deviation by which the entries of the same session are nearer in the mean."""
    session_meaning_entries: float = 5.0
    """So many entries of usual meaning are counted to each session: the mean of a few says little."""
    near: tuple[float, ...] = (0.4, 0.25)
    """Share of the score of an entry one turn before or after in the same session, and of one two turns away."""
    session: float = 0.45
    """For an entry of the session that as a whole says most of the query; for another session as much less."""
    links: float = 0.1
    """Share of the score of the best entry that it links to, or that links to it."""
    kind: float = 0.15
    """The query asks for entries of this kind: `decision about …`."""
    newest: float = 0.15
    """The query asks for the newest: for the newest candidate, half as much for each `newest_half_life_days` before."""
    newest_half_life_days: float = 30.0
    period: float = 0.15
    """The entry is of a time that the query names."""
    here: float = 0.05
    """The entry is of the scope of whoever asks; one of another repository loses as much."""
    importance: dict[Importance, float] = field(
        factory=lambda: {
            Importance.LOW: -0.02,
            Importance.MEDIUM: 0.0,
            Importance.HIGH: 0.02,
            Importance.CRITICAL: 0.04,
        }
    )
    confidence: float = 0.02
    """For certainty (1), and taken off for none (0); nothing where it is not known."""
    tier: dict[Tier, float] = field(factory=lambda: {Tier.HOT: 0.01, Tier.WARM: 0.005, Tier.COLD: 0.0})
    usage: float = 0.01
    """For what is read all the time; half of it after about `usage_half_reads` reads."""
    usage_half_reads: float = 8.0
    superseded: float = 0.6
    """What is left of an entry that another one supersedes; it stands below that one in any case."""
    over: float = 0.6
    """What is left of an entry that has expired, or is no longer true."""
    archived: float = 0.8
    """What is left of an archived entry, when it is chosen; it stands below the live ones in any case."""


WEIGHTS = RankingWeights()

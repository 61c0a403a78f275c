"""What the place and the time of a session let through, told without a note's body: of the session's scope and of global;
nothing secret, nothing private in a repository, nothing a person did not vouch for that came from outside (P19, P20)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

from agent_memory.domain.entry import Listed
from agent_memory.domain.instants import has_passed
from agent_memory.domain.packed_entries import column_of
from agent_memory.domain.tiering.vouched import is_vouched_for
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Origin, Sensitivity
from agent_memory.values import frozen


@frozen
class Place:
    """Where the session is, and when."""

    scope: str
    in_repository: bool
    now_ms: int

    @property
    def scopes(self) -> frozenset[str]:
        return frozenset({GLOBAL_SCOPE, self.scope})


_TOLD_BY = ("archived", "meta.sensitivity", "meta.scope", "meta.origin", "meta.promoted_by")
_ENDS = ("meta.expires_at_ms", "meta.valid_until_ms")


def those_let_through(entries: Sequence[Listed], around: Place) -> Sequence[Listed]:
    """Those of these that `may_be_injected`, as packed as they are. Of all that it cannot tell apart one is looked at."""
    ends = ([has_passed(end, around.now_ms) for end in column_of(entries, field)] for field in _ENDS)
    alike = list(zip(*(column_of(entries, field) for field in _TOLD_BY), *ends, strict=True))
    first_of = dict(zip(reversed(alike), reversed(range(len(alike))), strict=True))
    is_first = map(frozenset(first_of.values()).__contains__, range(len(alike)))
    judged = (may_be_injected(each, around) for each in tuple(compress(entries, is_first)))
    lets_through = dict(zip(sorted(first_of, key=first_of.__getitem__), judged, strict=True))
    return tuple(compress(entries, map(lets_through.__getitem__, alike)))


def may_be_injected(listed: Listed, around: Place) -> bool:
    """What can be told without its body; the rest `candidates.shown` tells."""
    meta = listed.meta
    if listed.archived or meta.sensitivity is Sensitivity.SECRET:
        return False
    if meta.scope not in (GLOBAL_SCOPE, around.scope):
        return False
    if around.in_repository and meta.sensitivity is Sensitivity.PRIVATE:
        return False
    if meta.origin is Origin.EXTERNAL and not is_vouched_for(meta):
        return False
    return not any(has_passed(end, around.now_ms) for end in (meta.expires_at_ms, meta.valid_until_ms))

"""What the place and the time of a session let through, told without a note's body: of the session's scope and of global;
nothing secret, nothing private in a repository, nothing a person did not vouch for that came from outside (P19, P20)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from agent_memory.domain.entry import Listed
from agent_memory.domain.instants import has_passed
from agent_memory.domain.tiering.vouched import is_vouched_for
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Origin, Sensitivity


@frozen
class Place:
    """Where the session is, and when."""

    scope: str
    in_repository: bool
    now_ms: int

    @property
    def scopes(self) -> frozenset[str]:
        return frozenset({GLOBAL_SCOPE, self.scope})


def those_let_through(entries: Sequence[Listed], around: Place) -> Sequence[Listed]:
    """Those of these that `may_be_injected`."""
    return tuple(each for each in entries if may_be_injected(each, around))


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

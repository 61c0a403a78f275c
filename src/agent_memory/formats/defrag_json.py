"""The files of a defrag run under `runs/`: its checkpoint, and what one run leaves for the next; all JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from cattrs import BaseValidationError, transform_error
from returns.result import Failure, Result, Success

from agent_memory.domain.actions import DefragProposal
from agent_memory.domain.defrag_plan import Deferred, DefragPlan
from agent_memory.domain.defrag_run import DefragRun, TieringMemo
from agent_memory.domain.tiers import TierList
from agent_memory.errors import StateCorrupt
from agent_memory.formats.own_json import own_value
from agent_memory.formats.value_json import converter

VERSION = 1
T = TypeVar("T")


def render_defrag_checkpoint(state: str, run: DefragRun) -> str:
    """JSON of `{version, state, run}`: the plan, the proposed tiers and the memo; the rest is had again."""
    kept = {
        "id": run.id,
        "started_at_ms": run.started_at_ms,
        "force": run.force,
        "live_at_start": run.live_at_start,
        "asked": run.asked,
        "reply_key": run.reply_key,
        "plan": converter.unstructure(run.plan),
        "proposed_tiers": converter.unstructure(None if run.proposal is None else run.proposal.tiers),
        "memo": _memo_document(run.memo),
        "tiers_before": converter.unstructure(run.tiers_before),
        "tiers": converter.unstructure(run.tiers),
    }
    return _dump({"version": VERSION, "state": state, "run": kept})


def parse_defrag_checkpoint(text: str, path: str) -> Result[tuple[str, DefragRun], StateCorrupt]:
    """The state and the context that `render_defrag_checkpoint` wrote."""

    def parsed(document: Any) -> tuple[str, DefragRun]:
        kept = document["run"]
        tiers = kept["proposed_tiers"]
        proposed = None if tiers is None else converter.structure(tiers, TierList)
        run = DefragRun(
            id=str(kept["id"]),
            started_at_ms=int(kept["started_at_ms"]),
            force=bool(kept["force"]),
            live_at_start=int(kept["live_at_start"]),
            asked=bool(kept["asked"]),
            reply_key=None if kept["reply_key"] is None else str(kept["reply_key"]),
            proposal=DefragProposal(tiers=proposed),
            plan=converter.structure(kept["plan"], DefragPlan),
            memo=_memo_of(kept["memo"]),
            tiers_before=converter.structure(kept["tiers_before"], TierList),
            tiers=converter.structure(kept["tiers"], TierList),
        )
        return str(document["state"]), run

    return _parsed(text, path, parsed)


def render_deferred(deferred: Sequence[Deferred]) -> str:
    """JSON of the actions that wait for the next run."""
    return _dump({"version": VERSION, "deferred": converter.unstructure(tuple(deferred), tuple[Deferred, ...])})


def parse_deferred(text: str, path: str) -> Result[tuple[Deferred, ...], StateCorrupt]:
    """What `render_deferred` wrote."""
    return _parsed(text, path, lambda document: converter.structure(document["deferred"], tuple[Deferred, ...]))


def render_tiering(memo: TieringMemo) -> str:
    """JSON of the memo."""
    return _dump({"version": VERSION, **_memo_document(memo)})


def parse_tiering(text: str, path: str) -> Result[TieringMemo, StateCorrupt]:
    """What `render_tiering` wrote."""
    return _parsed(text, path, _memo_of)


def _memo_document(memo: TieringMemo) -> dict[str, Any]:
    return {
        "fingerprint": memo.fingerprint,
        "agent": memo.agent,
        "judged": sorted(memo.judged),
        "omitted": dict(sorted(memo.omitted.items())),
    }


def _memo_of(document: Any) -> TieringMemo:
    return TieringMemo(
        fingerprint=str(document["fingerprint"]),
        agent=str(document["agent"]),
        judged=frozenset(map(str, document["judged"])),
        omitted=converter.structure(document["omitted"], dict[str, int]),
    )


def _parsed(text: str, path: str, read: Callable[[Any], T]) -> Result[T, StateCorrupt]:
    try:
        return Success(read(own_value(text)))
    except BaseValidationError as invalid:
        return Failure(StateCorrupt(path, tuple(transform_error(invalid))))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as damaged:
        return Failure(StateCorrupt(path, (str(damaged) or type(damaged).__name__,)))


def _dump(document: dict[str, Any]) -> str:
    # Without indents, which only the encoder in Python knows: as many findings may have been judged as there are notes.
    return json.dumps(document, ensure_ascii=False) + "\n"

"""One record of a Claude Code transcript, from the object on its line to what it says. Pure; never raises.

The format is internal to Claude Code and differs between versions; what is not understood is left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b

from agent_memory.adapters.harness.any_json import mapping_at, text_at
from agent_memory.adapters.harness.claude_parts import SYNTHETIC_MODEL, parts_of
from agent_memory.adapters.harness.claude_record import LeftOut, Part, Record
from agent_memory.domain.history import UNKNOWN_TYPE
from agent_memory.domain.instants import ms_of
from agent_memory.domain.json_shape import is_list

_SILENT_TYPES = frozenset(
    (
        *("progress", "file-history-snapshot", "file-history-delta", "mode", "permission-mode", "bridge-session"),
        *(
            "atis-latch",
            "worktree-state",
            "frame-link",
            "last-prompt",
            "agent-name",
            "agent-color",
            "agent-setting",
            "tag",
        ),
    )
)
_TELLING_TYPES = frozenset(("user", "assistant", "attachment", "queue-operation", "pr-link"))
_FACTUAL_TYPES = frozenset(("system", "summary", "ai-title", "custom-title", "relocated"))
_KNOWN_TYPES = _SILENT_TYPES | _TELLING_TYPES | _FACTUAL_TYPES

_TYPE_CHARS = 40
_TIME_CHARS = 40


def read_record(value: Mapping[str, object]) -> Record | None:
    """The record in an object; None for an object that no version of Claude Code writes."""
    kind = value.get("type")
    if not isinstance(kind, str) or not kind:
        return None
    uuid = text_at(value, "uuid")
    at_ms = ms_of(text_at(value, "timestamp")[:_TIME_CHARS])
    if kind in _SILENT_TYPES:
        return _silent(value, uuid or _id_from(value), bool(uuid), at_ms)
    relocated = text_at(value, "relocatedCwd") or None
    title, rank = _title(kind, value)
    return Record(
        id=uuid or _id_from(value),
        has_own_id=bool(uuid),
        known=kind in _KNOWN_TYPES,
        parts=tuple(_parts(kind, value)),
        parent_id=text_at(value, "parentUuid") or text_at(value, "logicalParentUuid") or None,
        session_id=text_at(value, "sessionId") or None,
        at_ms=at_ms,
        cwd=text_at(value, "cwd") or None,
        relocated_cwd=relocated if kind == "relocated" else None,
        branch=_branch(value),
        model=_model(kind, value),
        entrypoint=text_at(value, "entrypoint") or None,
        sidechain=value.get("isSidechain") is True,
        human=text_at(mapping_at(value, "origin"), "kind") == "human",
        scheduled=text_at(value, "subtype") == "scheduled_task_fire",
        title=title,
        title_rank=rank,
        title_leaf_id=text_at(value, "leafUuid") or None,
        retracted_ids=_retracted(value),
    )


def _silent(value: Mapping[str, object], id: str, has_own_id: bool, at_ms: int | None) -> Record:
    """Most lines of a transcript say nothing, but others are children of theirs."""
    return Record(
        id=id,
        has_own_id=has_own_id,
        parent_id=text_at(value, "parentUuid") or None,
        session_id=text_at(value, "sessionId") or None,
        at_ms=at_ms,
        cwd=text_at(value, "cwd") or None,
        branch=_branch(value),
        sidechain=value.get("isSidechain") is True,
    )


def _parts(kind: str, value: Mapping[str, object]) -> Iterator[Part]:
    if kind in _KNOWN_TYPES:
        yield from parts_of(kind, value)
    else:
        yield LeftOut(f"{UNKNOWN_TYPE}{kind[:_TYPE_CHARS]}")


def _title(kind: str, value: Mapping[str, object]) -> tuple[str | None, int]:
    for rank, (of_kind, key) in enumerate(
        (("summary", "summary"), ("ai-title", "aiTitle"), ("custom-title", "customTitle")), 1
    ):
        if kind == of_kind and text_at(value, key).strip():
            return text_at(value, key), rank
    return None, 0


def _retracted(value: Mapping[str, object]) -> tuple[str, ...]:
    ids = value.get("retractedMessageUuids")
    return tuple(id for id in ids if isinstance(id, str)) if is_list(ids) else ()


def _branch(value: Mapping[str, object]) -> str | None:
    branch = text_at(value, "gitBranch")
    return branch if branch not in ("", "HEAD") else None


def _model(kind: str, value: Mapping[str, object]) -> str | None:
    model = text_at(mapping_at(value, "message"), "model") if kind == "assistant" else ""
    return model if model not in ("", SYNTHETIC_MODEL) else None


def _id_from(value: Mapping[str, object]) -> str:
    told = (
        text_at(value, "type"),
        text_at(value, "timestamp"),
        repr(value.get("message") or value.get("attachment") or value),
    )
    return blake2b("\0".join(told).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()

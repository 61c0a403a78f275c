"""Values of ours as JSON, for `--json`: one rule for all of them, and by hand what differs from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache
from typing import Any

from attrs import fields

from agent_memory.domain.entry import Listed, UnreadableFile, Usage
from agent_memory.domain.instants import iso_of
from agent_memory.domain.json_shape import is_object, is_row
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Status
from agent_memory.errors import Error

_PLAIN = frozenset({str, int, float, bool, type(None)})


def json_of(value: Any) -> Any:
    """A value as JSON has it: an object of ours by its attributes, of a word of a vocabulary its text."""
    kind: type[Any] = (
        value.__class__
    )  # in the order in which they are met: two thousand notes have fifty thousand values
    if kind in _PLAIN:
        return value
    if is_row(value):
        return [json_of(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    if kind is dict:
        return {json_of(key): json_of(each) for key, each in value.items()}
    return fields_of(value)


def fields_of(value: Any, *names: str) -> dict[str, Any]:
    """The attributes of a value, or only those with these names: keys in camelCase; an instant, whose name ends with
    `_at_ms`, in ISO 8601."""
    document: dict[str, Any] = {}
    for name in names or [each.name for each in fields(value.__class__)]:
        key, is_instant = _key(name)
        member = getattr(value, name)
        document[key] = iso_or_none(member) if is_instant else json_of(member)
    return document


@cache
def _key(name: str) -> tuple[str, bool]:
    is_instant = name.endswith("_at_ms")
    return camel_case(name.removesuffix("_ms") if is_instant else name), is_instant


def rows_of(values: Iterable[Any], *names: str) -> list[dict[str, Any]]:
    """A list of such objects."""
    return [fields_of(each, *names) for each in values]


def iso_or_none(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso_of(at_ms)


def camel_case(name: str) -> str:
    """`notBefore` of `not_before`."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def mapped_texts(value: Any, mapped: Callable[[str], str]) -> Any:
    """A JSON value with each of its texts, but no key, made another."""
    if isinstance(value, str):
        return mapped(value)
    if is_object(value):
        return {key: mapped_texts(each, mapped) for key, each in value.items()}
    return [mapped_texts(each, mapped) for each in value] if is_row(value) else value


def error_document(error: Error | None) -> dict[str, Any] | None:
    """An error that hindered a part of what was done."""
    return None if error is None else {"code": error.code, "message": str(error)}


def unreadable_documents(files: Iterable[UnreadableFile]) -> list[dict[str, Any]]:
    """What an answer says, under `unreadable`, of the notes that are missing from it (P6)."""
    return rows_of(files, "path", "problems")


def entry_document(
    listed: Listed, usage: Usage | None = None, body: str | None = None, *, tier: Tier = Tier.COLD
) -> dict[str, Any]:
    """A note: the frontmatter keys of design §3.2, with `path`, `tier` and, where it is given, `body`. `used` and `last_used`
    include every host's ledger, where `usage` says so; `status` is `promoted` for what is hot. Instants are epoch ms,
    `last_used` ISO 8601."""
    meta = listed.meta
    usage = usage or Usage(meta.used, meta.last_used_at_ms)
    return {
        **fields_of(meta, "id", "title", "description", "kind", "tags"),
        "status": (Status.PROMOTED if tier is Tier.HOT else meta.status).value,
        **fields_of(meta, "origin", "scope", "importance", "confidence", "sensitivity", "pinned", "promoted_by"),
        "used": usage.count,
        "last_used": iso_or_none(usage.last_at_ms),
        "createdAt": meta.created_at_ms,
        "updatedAt": meta.updated_at_ms,
        "expiresAt": meta.expires_at_ms,
        "validFrom": meta.valid_from_ms,
        "validUntil": meta.valid_until_ms,
        **fields_of(meta, "aliases", "supersedes"),
        "sources": rows_of(meta.sources, "harness", "thread_id", "repo", "cwd", "agent", "turns"),
        "path": listed.path,
        "archived": listed.archived,
        "tier": tier.value,
        **({} if body is None else {"body": body}),
    }

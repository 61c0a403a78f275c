"""What the tools are asked: the arguments of a call, read strictly, every problem in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TypeVar

from returns.result import Failure, Result, Success

from agent_memory.domain.queueing.inbox_rules import shown
from agent_memory.domain.searching.search_request import Mode
from agent_memory.domain.text.tags import normal_tags, split_tags
from agent_memory.domain.vocabulary import Importance, Kind
from agent_memory.errors import Error, UsageInvalid
from agent_memory.formats.json_fields import Fields
from agent_memory.surfaces.cli.opening import entry_id
from agent_memory.values import frozen

MAX_TOP_K = 20
MAX_LIMIT = 500
MAX_QUERY_CHARS = 100_000
MAX_TOPIC_CHARS = 1_000
MAX_CONTENT_CHARS = 32_000
MAX_TTL_DAYS = 36_500
MAX_WORD_CHARS = 200
MAX_TAGS = 20

EVERY_AGENT = "global"
"""What an agent that does not name itself is called."""

Asked = TypeVar("Asked")


class Scope(StrEnum):
    """Where a new entry holds."""

    REPO = "repo"
    GLOBAL = "global"


@frozen
class AskedSearch:
    query: str
    tags: tuple[str, ...]
    agent: str | None
    top_k: int
    min_score: float
    mode: Mode


@frozen
class AskedSession:
    task: str | None


@frozen
class AskedWrite:
    topic: str
    content: str
    agent: str | None
    tags: tuple[str, ...]
    importance: Importance
    ttl_days: float | None
    kind: Kind
    scope: Scope


@frozen
class AskedUpdate:
    """None keeps what is there."""

    id: str
    topic: str | None
    content: str | None
    tags: tuple[str, ...] | None
    importance: Importance | None


@frozen
class AskedList:
    agent: str | None
    tags: tuple[str, ...]
    limit: int
    offset: int


@frozen
class AskedId:
    id: str


@frozen
class AskedKey:
    key: str


@frozen
class AskedValue:
    key: str
    value: object


def read_arguments(arguments: Mapping[str, object], read: Callable[[Fields], Asked]) -> Result[Asked, Error]:
    """What is asked for; UsageInvalid with all that is wrong with the arguments. Null is as good as absent, but for a value
    that is to be kept."""
    problems: list[str] = []
    given = {key: value for key, value in arguments.items() if value is not None or key == "value"}
    fields = Fields(given, "", problems)
    asked = read(fields)
    fields.close()
    if problems:
        return Failure(UsageInvalid(f"Nothing was done: {'; '.join(problems)}"))
    return Success(asked)


def search_of(fields: Fields) -> AskedSearch:
    return AskedSearch(
        query=fields.text("query", _some_text(MAX_QUERY_CHARS)),
        tags=_tags(fields) or (),
        agent=_agent(fields),
        top_k=_whole(fields, "top_k", 1, MAX_TOP_K, 6),
        min_score=_number(fields, "min_score", 0, None, 0.1) or 0,
        mode=Mode(fields.optional_choice("search_mode", tuple(Mode)) or Mode.HYBRID),
    )


def write_of(fields: Fields) -> AskedWrite:
    tags = _tags(fields) or ()
    return AskedWrite(
        topic=fields.text("topic", _some_text(MAX_TOPIC_CHARS)),
        content=fields.text("content", _some_text(MAX_CONTENT_CHARS)),
        agent=_agent(fields),
        tags=tags,
        importance=Importance(fields.optional_choice("importance", tuple(Importance)) or Importance.MEDIUM),
        ttl_days=_number(fields, "ttl_days", 0, MAX_TTL_DAYS, None),
        kind=Kind(fields.optional_choice("kind", tuple(Kind)) or _kind_in(tags)),
        scope=Scope(fields.optional_choice("scope", tuple(Scope)) or Scope.REPO),
    )


def update_of(fields: Fields) -> AskedUpdate:
    asked = AskedUpdate(
        id=_id(fields),
        topic=fields.optional_text("topic", _some_text(MAX_TOPIC_CHARS)),
        content=fields.optional_text("content", _some_text(MAX_CONTENT_CHARS)),
        tags=_tags(fields),
        importance=_optional_importance(fields),
    )
    if asked == AskedUpdate(asked.id, None, None, None, None):
        fields.refuse("topic", "is missing, as are content, tags and importance: say what to change")
    return asked


def list_of(fields: Fields) -> AskedList:
    return AskedList(
        agent=_agent(fields),
        tags=_tags(fields) or (),
        limit=_whole(fields, "limit", 1, MAX_LIMIT, 100),
        offset=_whole(fields, "offset", 0, None, 0),
    )


def id_of(fields: Fields) -> AskedId:
    return AskedId(_id(fields))


def key_of(fields: Fields) -> AskedKey:
    return AskedKey(fields.text("key", _any_text))


def value_of(fields: Fields) -> AskedValue:
    key = fields.text("key", _any_text)
    return AskedValue(key, fields.value("value") if fields.requires("value") else None)


def session_of(fields: Fields) -> AskedSession:
    return AskedSession((fields.optional_text("task", _text_of_at_most(MAX_QUERY_CHARS)) or "").strip() or None)


def _id(fields: Fields) -> str:
    return entry_id(fields.text("id", _some_text(MAX_WORD_CHARS)).strip().strip("`"))


def _agent(fields: Fields) -> str | None:
    agent = fields.optional_text("agent", _text_of_at_most(MAX_WORD_CHARS))
    return None if agent in (None, "", EVERY_AGENT) else agent


def _tags(fields: Fields) -> tuple[str, ...] | None:
    """The normal tags of a list, or of a text with commas or spaces; None where there are none given."""
    if not fields.has("tags"):
        return None
    given = fields.value("tags")
    if isinstance(given, str):
        return normal_tags(split_tags(given[: MAX_TAGS * MAX_WORD_CHARS]))
    return normal_tags(fields.texts("tags", _text_of_at_most(MAX_WORD_CHARS), MAX_TAGS))


def _kind_in(tags: tuple[str, ...]) -> Kind:
    """The kind that a tag names, as agents are told to give one; else a fact."""
    kinds = {f"topic__{kind}": kind for kind in Kind}
    return next((kinds[tag] for tag in tags if tag in kinds), Kind.FACT)


def _optional_importance(fields: Fields) -> Importance | None:
    importance = fields.optional_choice("importance", tuple(Importance))
    return Importance(importance) if importance else None


def _whole(fields: Fields, key: str, least: int, most: int | None, default: int) -> int:
    value = _number(fields, key, least, most, default)
    if value is None or value != int(value):
        fields.refuse(key, f"is {value}, expected a whole number")
        return default
    return int(value)


def _number(fields: Fields, key: str, least: float, most: float | None, default: float | None) -> float | None:
    if not fields.has(key):
        return default
    value = fields.value(key)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and least <= value and (most is None or value <= most) and value < 1e15:
        return float(value)
    bounds = f"from {least:g}" if most is None else f"from {least:g} to {most:g}"
    fields.refuse(key, f"is {shown(value)}, expected a number {bounds}")
    return default


def _any_text(value: object) -> str | None:
    return None if isinstance(value, str) else f"is {shown(value)}, expected text"


def _text_of_at_most(chars: int) -> Callable[[object], str | None]:
    def problem(value: object) -> str | None:
        if not isinstance(value, str):
            return f"is {shown(value)}, expected text"
        return f"has {len(value):,} characters, at most {chars:,} are allowed" if len(value) > chars else None

    return problem


def _some_text(chars: int) -> Callable[[object], str | None]:
    bounded = _text_of_at_most(chars)
    return lambda value: bounded(value) or ("is empty" if isinstance(value, str) and not value.strip() else None)

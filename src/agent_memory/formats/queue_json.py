"""The trouble of pending entries as JSON: `{"version": 1, "troubles": {key: {…}}}`; keys are those of `queue_key`.

What changed since is one line each: `{key: {…}, …}`, null for what is over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import asdict, fields
from returns.result import Failure, Result, Success

from agent_memory.domain.json_shape import is_object
from agent_memory.domain.queue import Trouble
from agent_memory.domain.queueing.inbox_rules import shown
from agent_memory.formats.json_fields import Fields, any_text
from agent_memory.formats.strict_json import parse_strict_json
from agent_memory.results import sealed

_JSON_NAMES = {
    "attempts": "attempts",
    "timeouts": "timeouts",
    "unavailable_since_ms": "unavailableSinceMs",
    "not_before_ms": "notBeforeMs",
    "fingerprint": "fingerprint",
    "code": "code",
    "message": "message",
}


def parse_troubles(text: str) -> Result[Mapping[str, Trouble], tuple[str, ...]]:
    """The troubles by key; on failure every problem."""
    match sealed(parse_strict_json(text)):
        case Success(document):
            return _troubles_of(document)
        case Failure(problem):
            return Failure((problem,))


def render_troubles(troubles: Mapping[str, Trouble]) -> str:
    """Keys sorted, defaults left out, so that equal troubles give equal bytes."""
    document = {"version": 1, "troubles": {key: _members(troubles[key]) for key in sorted(troubles)}}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def render_changes(changes: Mapping[str, Trouble | None]) -> str:
    """One line, with its end."""
    members = {key: None if trouble is None else _members(trouble) for key, trouble in changes.items()}
    return json.dumps(members, ensure_ascii=False) + "\n"


def with_changes(troubles: Mapping[str, Trouble], text: str) -> dict[str, Trouble]:
    """The troubles after these lines. One that is no whole change is what a crash left of it, and counts as not written."""
    known = dict(troubles)
    for line in text.split("\n"):
        document = parse_strict_json(line).value_or(None)
        problems: list[str] = []
        for key, value in document.items() if is_object(document) else ():
            known.pop(key, None)
            trouble = Trouble() if value is None else _trouble_of(Fields(value, shown(key), problems))
            if value is not None and not problems:
                known[key] = trouble
    return known


def _members(trouble: Trouble) -> dict[str, Any]:
    defaults = {attribute.name: attribute.default for attribute in fields(Trouble)}
    return {_JSON_NAMES[name]: value for name, value in asdict(trouble).items() if value != defaults[name]}


def _troubles_of(document: object) -> Result[Mapping[str, Trouble], tuple[str, ...]]:
    problems: list[str] = []
    whole = Fields(document, "", problems)
    whole.version_one()
    members = whole.value("troubles") if whole.requires("troubles") else dict[str, Any]()
    whole.close()
    if not is_object(members):
        whole.refuse("troubles", f"is {shown(members)}, expected an object")
        members = {}
    troubles = {key: _trouble_of(Fields(value, f"troubles[{shown(key)}]", problems)) for key, value in members.items()}
    return Failure(tuple(problems)) if problems else Success(troubles)


def _trouble_of(fields: Fields) -> Trouble:
    trouble = Trouble(
        fields.integer("attempts"),
        fields.integer("timeouts"),
        fields.optional_integer("unavailableSinceMs"),
        fields.integer("notBeforeMs"),
        fields.optional_text("fingerprint", any_text) or "",
        fields.optional_text("code", any_text) or "",
        fields.optional_text("message", any_text) or "",
    )
    fields.close()
    return trouble

"""State as JSON, one file a key, version 1:

    {"version": 1, "key": "current_phase", "value": …, "updatedAt": 1771000205123}

A file that holds other JSON was written by a person: all of it is the value, and its key is that of the file's name.
"""

from __future__ import annotations

import json

from returns.result import Failure, Result, Success

from agent_memory.domain.redaction import redact
from agent_memory.domain.state_value import MAX_VALUE_BYTES, StateValue, key_problem
from agent_memory.errors import Error, StateCorrupt, StateInvalid
from agent_memory.formats.strict_document import parse_strict_json
from agent_memory.results import sealed

VERSION = 1


def state_value(key: str, value: object, updated_at_ms: int) -> Result[StateValue, Error]:
    """A value fit to be kept: JSON of at most 256 KiB, without secrets (P20). StateInvalid with what is wrong."""
    if problem := key_problem(key):
        return Failure(StateInvalid((problem,)))
    if redact(key).found:
        return Failure(StateInvalid(("key: holds what looks like a secret",)))
    text = json_text(value)
    if text is None:
        return Failure(
            StateInvalid(("value: is not JSON (a number that is none, half a character, or nested too deeply)",))
        )
    size_bytes = len(text.encode())
    if size_bytes > MAX_VALUE_BYTES:
        return Failure(StateInvalid((f"value: has {size_bytes:,} bytes, at most {MAX_VALUE_BYTES:,} are allowed",)))
    return _without_secrets(StateValue(key, text, updated_at_ms))


def json_text(value: object) -> str | None:
    """The value as JSON on one line; None where it has none that every reader understands."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        readable = parse_strict_json(text.encode())
    except (ValueError, TypeError, RecursionError):  # UnicodeEncodeError is a ValueError
        return None
    return text if isinstance(readable, Success) else None


def render_state_value(kept: StateValue) -> str:
    """JSON on lines of its own keys, characters as they are, with a final newline."""
    document = {
        "version": VERSION,
        "key": kept.key,
        "value": json.loads(kept.json),
        "updatedAt": kept.updated_at_ms,
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def parse_state_value(data: bytes, path: str, key: str) -> Result[StateValue, StateCorrupt]:
    """What was rendered, or a person's own JSON under `key`; what is no JSON is StateCorrupt, never a missing value (P6)."""
    match sealed(parse_strict_json(data)):
        case Failure(problem):
            return Failure(StateCorrupt(path, (problem,)))
        case Success({"version": 1, "key": str(named), "value": value, "updatedAt": int(at_ms), **others}) if (
            not others
        ):
            if key_problem(named) is not None:
                return Failure(StateCorrupt(path, ("its key is none",)))
            found = StateValue(named, json_text(value) or "null", at_ms)
        case Success(document):
            found = StateValue(key, json_text(document) or "null")
    return Success(found)


def _without_secrets(kept: StateValue) -> Result[StateValue, Error]:
    """The value whose file holds no secret. A secret is looked for in the whole file, where a key such as `password` says
    what its value is; one that cannot be cut out of the JSON is refused."""
    for _ in range(3):
        rendered = render_state_value(kept)
        cleaned = redact(rendered)
        if not cleaned.found:
            return Success(kept)
        match sealed(parse_strict_json(cleaned.text.encode())):
            case Success({"version": 1, "key": kept.key, "value": value, "updatedAt": kept.updated_at_ms}):
                kept = StateValue(kept.key, json_text(value) or "null", kept.updated_at_ms)
            case _:
                break
    return Failure(StateInvalid(("value: holds what looks like a secret, and is not JSON without it",)))

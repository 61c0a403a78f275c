"""JSON with only the interpreter's C parts: `import json` takes as long as starting Python does.

`json` is built on the same two functions; the output is byte for byte that of `json.dumps(…, ensure_ascii=False)`.
"""

from _json import encode_basestring, make_scanner, scanstring

from agent_memory.text.json_shape import is_object, is_row

WHITESPACE = " \t\n\r"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class _Context:
    """The attributes that the C scanner reads from a decoder."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner wants an attribute, and empties it after each use


_SCAN = make_scanner(_Context)  # type: ignore[arg-type] # any object with these attributes will do

_NOT_JSON = (StopIteration, ValueError, SystemError)
"""The errors that the scanner raises. SystemError: CPython 3.11 looks up JSONDecodeError in a module that we avoid
importing (`raise_errmsg` in Modules/_json.c); other versions import it then."""


def scan_json(text: str) -> object:
    """Returns the value of a JSON text; raises ValueError or RecursionError."""
    start = _skip(text, 0)
    try:
        value, end = _SCAN(text, start)
    except _NOT_JSON:
        raise ValueError("not JSON") from None
    if _skip(text, end) != len(text):
        raise ValueError("more than one JSON value")
    return value


def scan_members(text: str, wanted: "frozenset[str]") -> dict[str, object]:
    """Returns the wanted members of a JSON object, maybe cut off, as far as they are complete. Only those of the
    outermost object count, so that text about `"session_id"` is never taken for one."""
    members: dict[str, object] = {}
    at = _skip(text, 0)
    if text[at : at + 1] != "{":
        return members
    try:
        while text[at : at + 1] in ("{", ","):
            at = _skip(text, at + 1)
            if text[at : at + 1] != '"':
                break
            key, at = scanstring(text, at + 1, True)
            at = _skip(text, at)
            if text[at : at + 1] != ":":
                break
            value, end = _SCAN(text, _skip(text, at + 1))
            at = _skip(text, end)
            if key in wanted and text[at : at + 1] in (",", "}"):  # a number may continue beyond the cut
                members[key] = value
    except (*_NOT_JSON, RecursionError):
        return members
    return members


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in WHITESPACE:
        at += 1
    return at


def json_object(members: "Mapping[str, object]") -> str:
    """Returns the JSON of an object with texts, whole numbers, lists of these, and such objects."""
    return "{" + ", ".join(f"{encode_basestring(key)}: {_value(value)}" for key, value in members.items()) + "}"


def _value(value: object) -> str:
    if is_object(value):
        return json_object(value)
    if is_row(value):
        return f"[{', '.join(map(_value, value))}]"
    return encode_basestring(value) if isinstance(value, str) else str(value)

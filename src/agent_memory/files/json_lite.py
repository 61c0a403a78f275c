"""JSON by the interpreter's C parts alone: `import json` costs as much time as starting Python does.

`json` is built on the same two functions; what is written here is byte for byte what `json.dumps(…, ensure_ascii=False)`
writes.
"""

from _json import encode_basestring, make_scanner, scanstring

from agent_memory.text.json_shape import is_object, is_row

WHITESPACE = " \t\n\r"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class _Context:
    """What the C scanner asks its decoder for."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner wants an attribute, and empties it after each use


_SCAN = make_scanner(_Context)  # type: ignore[arg-type] # any object with these attributes will do

_NOT_JSON = (StopIteration, ValueError, SystemError)
"""What the scanner raises. SystemError, because CPython 3.11 looks for its JSONDecodeError in a module that we are careful
not to import, and finds none (`raise_errmsg` in Modules/_json.c); other versions import it then."""


def scan_json(text: str) -> object:
    """Returns the value of a JSON text. ValueError or RecursionError for what is none."""
    start = _skip(text, 0)
    try:
        value, end = _SCAN(text, start)
    except _NOT_JSON:
        raise ValueError("not JSON") from None
    if _skip(text, end) != len(text):
        raise ValueError("more than one JSON value")
    return value


def scan_members(text: str, wanted: "frozenset[str]") -> dict[str, object]:
    """Returns the wanted members of a JSON object that may be cut off anywhere: those that are whole before the cut.

    Only the outermost object's members count, so what somebody wrote about `"session_id"` is never taken for one.
    """
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
            if key in wanted and text[at : at + 1] in (",", "}"):  # a number may go on behind the cut
                members[key] = value
    except (*_NOT_JSON, RecursionError):
        return members
    return members


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in WHITESPACE:
        at += 1
    return at


def json_object(members: "Mapping[str, object]") -> str:
    """Returns an object of texts, whole numbers, lists of such, and such objects."""
    return "{" + ", ".join(f"{encode_basestring(key)}: {_value(value)}" for key, value in members.items()) + "}"


def _value(value: object) -> str:
    if is_object(value):
        return json_object(value)
    if is_row(value):
        return f"[{', '.join(map(_value, value))}]"
    return encode_basestring(value) if isinstance(value, str) else str(value)

"""JSON that this program itself has written: what is read of it can be written again."""

from __future__ import annotations

import json
from typing import Any


def own_value(text: str | bytes) -> Any:
    """The value. ValueError or RecursionError for what we cannot have written: no JSON in UTF-8, a number that is none or
    infinite, half of a surrogate pair."""
    value = json.loads(text if isinstance(text, str) else text.decode("utf-8"))
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    return value

"""State: small values by key that programs overwrite, such as the phase a pipeline is in. Entries are for knowledge."""

from __future__ import annotations

import re

from attrs import frozen

MAX_KEY_CHARS = 128
MAX_VALUE_BYTES = 256 << 10

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]*", re.ASCII)


@frozen
class StateValue:
    """What is kept under one key."""

    key: str
    json: str
    """The value, any JSON, as the text of it."""
    updated_at_ms: int | None = None
    """Epoch ms; None in a file that a person wrote without saying."""


def key_problem(key: str) -> str | None:
    """Why a key is none, or None: 1 to 128 of the characters `A-Z a-z 0-9 . _ : / -`, the first a letter or digit, with no
    `..` and no empty part between slashes (P21)."""
    if not key:
        return "key: is empty"
    if len(key) > MAX_KEY_CHARS:
        return f"key: has {len(key):,} characters, at most {MAX_KEY_CHARS} are allowed"
    if not _KEY.fullmatch(key):
        return "key: may hold letters, digits and . _ : / - only, and begins with a letter or digit"
    parts = key.split("/")
    if "" in parts or any(part.startswith(".") for part in parts) or ".." in key:
        return "key: no part between slashes may be empty or begin with a dot, and .. is not allowed"
    return None

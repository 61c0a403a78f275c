"""What a look at a note found, as one line of ASCII JSON and back. Derived data, read back by the same version only."""

from __future__ import annotations

import json

from agent_memory.domain.checkup.note_look import NoteLook

_NOTHING = b"0"
"""Of most notes there is nothing to be said."""


def render_look(look: NoteLook) -> bytes:
    """One line."""
    if look == NoteLook():
        return _NOTHING
    row = (look.is_empty, look.odd_tags, look.secrets, look.hidden)
    return json.dumps(row, separators=(",", ":")).encode("ascii")


def parse_look(row: bytes) -> NoteLook:
    """What was rendered."""
    if row == _NOTHING:
        return NoteLook()
    is_empty, odd_tags, secrets, hidden = json.loads(row)
    return NoteLook(is_empty, tuple(odd_tags), tuple(secrets), tuple(hidden))

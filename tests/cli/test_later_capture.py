"""Whether a session was heard of again."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_memory.hook_injection import was_captured_since
from agent_memory.text.instants import ms_of

AT_MS = ms_of("2026-02-13T14:30:05.123Z") or 0


@pytest.mark.parametrize("place", ["inbox", "inbox/.processed", "inbox/.failed"])
def test_by_an_entry_of_that_time_or_later_whatever_became_of_it(tmp_path: Path, place: str) -> None:
    path = tmp_path / place / "2026-02-13T14-30-05.123Z_codex_k3J9xQ.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"retrieval": {"sessionId": "s-1"}}')
    assert was_captured_since(str(tmp_path), "codex", "s-1", AT_MS)
    assert not was_captured_since(str(tmp_path), "codex", "s-1", AT_MS + 1)
    assert not was_captured_since(str(tmp_path), "codex", "s-11", AT_MS)
    assert not was_captured_since(str(tmp_path), "amp", "s-1", AT_MS)


def test_an_inbox_that_cannot_be_listed_is_no_empty_one_p6(tmp_path: Path) -> None:
    (tmp_path / "inbox").write_text("in the way")
    with pytest.raises(OSError, match="Not a directory"):
        was_captured_since(str(tmp_path), "codex", "s-1", AT_MS)

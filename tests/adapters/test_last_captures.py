"""When each harness was last captured."""

from __future__ import annotations

from pathlib import Path

from agent_memory.adapters.inbox.inbox_files import captures
from agent_memory.errors import PathRefused


def put(root: Path, *names: str) -> None:
    for name in names:
        path = root / "inbox" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")


def test_the_newest_entry_of_each_harness_counts_wherever_it_lies(tmp_path: Path) -> None:
    put(
        tmp_path,
        "2026-02-13T14-30-05.123Z_amp_k3J9xQ.json",
        ".processed/2026-02-14T00-00-00.000Z_amp_aaaaaa.json",
        ".processed/2026-02-12T00-00-00.001Z_claude-code_bbbbbb.json",
        ".failed/2026-02-12T00-00-00.002Z_claude-code_cccccc.json",
    )
    captured = dict(captures(str(tmp_path)).unwrap())
    assert list(captured.items()) == [("amp", 1_771_027_200_000), ("claude-code", 1_770_854_400_002)]


def test_other_names_are_nobodys_capture(tmp_path: Path) -> None:
    put(tmp_path, ".queue.json", "notes.txt", "2026-02-13T14-30-05.123Z_amp_k3J9xQ.json.reason.json", "snapshots/x.md")
    put(tmp_path, "2026-99-13T14-30-05.123Z_amp_k3J9xQ.json")
    assert captures(str(tmp_path)).unwrap() == ()


def test_an_inbox_that_is_not_there_had_no_capture(tmp_path: Path) -> None:
    assert captures(str(tmp_path)).unwrap() == ()


def test_p6_an_inbox_that_may_not_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "inbox").symlink_to(tmp_path / "elsewhere")
    assert isinstance(captures(str(tmp_path)).failure(), PathRefused)

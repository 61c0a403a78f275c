"""P25: a capture, a consolidation and a note in a store of 50,000 notes, each a whole process, stay below 200 MB."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from bench.bulk import LIMIT_MB
from bench.measure import Took, run
from bench.populated_home import PopulatedHome

NOTES = 50_000
MEMORY = str(Path(sys.executable).with_name("memory"))


def test_a_peak_is_seen_p25() -> None:
    """Positive control."""
    holding = f"held = bytearray(1_000_000 * {LIMIT_MB}); held[::4096] = bytes(len(held[::4096]))"
    assert run((sys.executable, "-c", holding)).peak_mb >= LIMIT_MB
    assert run((sys.executable, "-c", "pass")).peak_mb < LIMIT_MB / 4


@pytest.mark.slow
@pytest.mark.large
def test_what_writes_in_a_large_store_takes_little_memory_p25(tmp_path: Path) -> None:
    home = PopulatedHome(tmp_path, MEMORY, NOTES)

    def remembered(day: int) -> Took:
        return home.call("remember", f"The lock gate opens at half tide, never earlier. Seen on day {day}.")

    took = {
        "remember, nothing cached": remembered(1),
        "capture": home.hook("capture", "Stop"),
        "consolidate, nothing cached": home.consolidate_session(),
        "consolidate": home.consolidate_session(),
        "remember": remembered(2),
    }
    home.touch_half()
    took["remember, half of the notes touched"] = remembered(3)
    home.touch_half()
    took["consolidate, half of the notes touched"] = home.consolidate_session()
    assert {name: round(each.peak_mb) for name, each in took.items() if each.peak_mb >= LIMIT_MB} == {}

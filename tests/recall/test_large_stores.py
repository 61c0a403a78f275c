"""A note is very long, a store is very large: searches know all of it, and memory stays bounded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from bench.bulk import LIMIT_MB
from bench.measure import Took, run
from bench.populated_home import PopulatedHome

from agent_memory.app import open_memory
from agent_memory.recall.hits import Mode, SearchRequest

ONE, OTHER = "id__aaaaaa", "id__bbbbbb"


@pytest.mark.large
def test_a_note_of_a_megabyte_is_listed_and_found_by_its_last_word(home: Path, root: Path) -> None:
    (root / "topics").mkdir(parents=True)
    for id, body in ((ONE, "zebra " * 170_000 + "last"), (OTHER, "The lamp is lit.\n" * 60_000 + "giraffe")):
        assert len(body) > 1_000_000
        (root / "topics" / f"note -- {id}.md").write_text(f"---\nid: {id}\ntitle: N\n---\n{body}\n")
    memory = open_memory({"HOME": str(home), "AGENT_MEMORY_ROOT": str(root)}, home, print).unwrap()
    assert {each.meta.id for each in memory.store.list().unwrap().entries} == {ONE, OTHER}
    for query, id in (("last", ONE), ("giraffe", OTHER)):
        (hit,) = memory.search(SearchRequest(query, mode=Mode.BM25)).unwrap().hits
        assert hit.listed.meta.id == id
        assert query in hit.snippet.text


# -- p25: a capture, a consolidation and a note in a store of 50,000 notes, each a whole process, stay below 200 MB -----


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

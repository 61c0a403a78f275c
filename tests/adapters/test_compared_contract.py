"""The contract of `ports.KeptComparisons`, run by the file and by the fake; and what a damaged file costs: nothing but time."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_memory.adapters.analysis.compared_files import CACHE_NAME, ComparedFiles
from agent_memory.adapters.analysis.dict_compared import DictCompared
from agent_memory.domain.analysis.compared import Compared
from agent_memory.domain.analysis.outline import Outline, Profile
from agent_memory.domain.analysis.outlines import NO_OUTLINES
from agent_memory.domain.findings import Finding, FindingKind
from agent_memory.ports import KeptComparisons
from agent_memory.values import evolve

ONE, OTHER, THIRD = "1" * 64, "2" * 64, "3" * 64
COMPARED = Compared(
    (
        Finding(FindingKind.NEAR_DUPLICATE, ("id__aaaaaa", "id__bbbbbb"), "93% of “Cartões” are in both", 0.93),
        Finding(FindingKind.OVERLAP, ("id__bbbbbb", "id__aaaaaa"), "much in common", 0.1),
    ),
    NO_OUTLINES.joined(
        {
            "id__bbbbbb": Outline(Profile(120, 3), ("id__aaaaaa", "id__cccccc"), 2, 40),
            "id__aaaaaa": Outline(Profile(0, 0)),
        }
    ),
)


@pytest.fixture(params=[True, False], ids=["file", "dict"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> KeptComparisons:
    return ComparedFiles(tmp_path, "1") if request.param else DictCompared()


def test_nothing_is_known_at_first(kept: KeptComparisons) -> None:
    assert kept.recall(ONE) is None


def test_what_was_found_is_recalled_whole_and_for_these_notes_only(kept: KeptComparisons) -> None:
    kept.keep(ONE, COMPARED)
    assert kept.recall(ONE) == COMPARED
    assert list((kept.recall(ONE) or Compared()).outlines) == list(COMPARED.outlines)
    assert kept.recall(OTHER) is None


def test_that_nothing_was_found_is_known_too(kept: KeptComparisons) -> None:
    kept.keep(ONE, Compared())
    assert kept.recall(ONE) == Compared()


def test_the_last_two_of_the_same_notes_are_kept(kept: KeptComparisons) -> None:
    less = evolve(COMPARED, findings=COMPARED.findings[:1])
    kept.keep(ONE, COMPARED)
    kept.keep(OTHER, less)
    assert (kept.recall(ONE), kept.recall(OTHER)) == (COMPARED, less)
    kept.keep(ONE, less)
    assert (kept.recall(ONE), kept.recall(OTHER)) == (less, less)


def test_what_names_a_note_that_is_not_among_those_compared_now_goes(kept: KeptComparisons) -> None:
    without = Compared(outlines=COMPARED.outlines.only(["id__aaaaaa"]))
    kept.keep(ONE, COMPARED)
    kept.keep(OTHER, without)
    assert (kept.recall(ONE), kept.recall(OTHER)) == (None, without)
    kept.keep(ONE, COMPARED)
    assert (kept.recall(ONE), kept.recall(OTHER)) == (COMPARED, None), "or a later recall would leave the first"


def test_where_nothing_may_be_kept_nothing_stays(kept: KeptComparisons) -> None:
    kept.keep(ONE, COMPARED)
    kept.keep(OTHER, None)
    assert (kept.recall(ONE), kept.recall(OTHER)) == (None, None)


def _written(root: Path) -> Path:
    ComparedFiles(root, "1").keep(ONE, COMPARED)
    assert ComparedFiles(root, "1").recall(ONE) == COMPARED
    return root / ".cache" / CACHE_NAME


def test_what_is_older_goes(tmp_path: Path) -> None:
    path = _written(tmp_path)
    files = ComparedFiles(tmp_path, "1")
    files.keep(OTHER, COMPARED)
    size = path.stat().st_size
    files.keep(THIRD, COMPARED)
    assert path.stat().st_size == size
    assert (files.recall(ONE), files.recall(OTHER), files.recall(THIRD)) == (None, COMPARED, COMPARED)


@pytest.mark.parametrize("cut", [0, 10, 40, 100, -1, -40])
def test_a_cut_file_is_begun_anew(tmp_path: Path, cut: int) -> None:
    path = _written(tmp_path)
    path.write_bytes(path.read_bytes()[:cut])
    assert ComparedFiles(tmp_path, "1").recall(ONE) is None
    _written(tmp_path)


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    path = _written(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"93%", b"39%", 1))
    assert ComparedFiles(tmp_path, "1").recall(ONE) is None


def test_what_another_version_found_is_not_believed(tmp_path: Path) -> None:
    _written(tmp_path)
    other = ComparedFiles(tmp_path, "2")
    assert other.recall(ONE) is None
    other.keep(OTHER, COMPARED)
    assert other.recall(OTHER) == COMPARED
    assert other.recall(ONE) is None


def test_what_is_too_large_is_not_kept(tmp_path: Path) -> None:
    files = ComparedFiles(tmp_path, "1", max_bytes=300)
    files.keep(ONE, Compared())
    assert files.recall(ONE) == Compared()
    files.keep(OTHER, COMPARED)
    assert (files.recall(ONE), files.recall(OTHER)) == (None, None)


def test_a_place_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / ".cache").write_text("in the way")
    ComparedFiles(tmp_path, "1").keep(ONE, COMPARED)
    assert (tmp_path / ".cache").read_text() == "in the way"

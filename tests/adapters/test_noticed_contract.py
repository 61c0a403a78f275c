"""The contract of `ports.NoticedNotes`, run by the file and by the fake; and what a damaged file costs: nothing but time."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_memory.adapters.analysis.dict_noticed import DictNoticed
from agent_memory.adapters.analysis.noticed_files import CACHE_NAME, NoticedFiles
from agent_memory.domain.analysis.noticed import Noticed, noticed_in
from agent_memory.ports import NoticedNotes
from analysed_notes import note

ONE, OTHER = "1" * 64, "2" * 64
NOTICED = noticed_in(
    note(
        "Port of the lamp server",
        "The lamp server listens on port 8080 since 2026-01-02. It does not retry `send()`.\n\n```\nmake lamp\n```\n\n"
        "See [[id__c3d4e5]]. The settings live in `etc/lamp.toml`. Cartões são guardados em Redis.",
    )
)


class Both:
    """One that is written, and one that reads what it wrote."""

    def __init__(self, root: Path, on_disk: bool) -> None:
        self._root = root
        self.first: NoticedNotes = NoticedFiles(root, "1") if on_disk else DictNoticed()

    def later(self) -> NoticedNotes:
        if isinstance(self.first, DictNoticed):
            return DictNoticed(self.first.notes)
        return NoticedFiles(self._root, "1")


@pytest.fixture(params=[True, False], ids=["file", "dict"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Both:
    return Both(tmp_path, request.param)


def test_nothing_is_known_at_first(both: Both) -> None:
    assert both.first.recall(ONE) is None
    both.first.save()
    assert both.later().recall(ONE) is None


def test_what_was_noticed_is_recalled_whole(both: Both) -> None:
    assert NOTICED.claims, "positive control"
    assert {bool(each.frame) for each in NOTICED.stated} == {True, False}, "positive control"
    both.first.keep(ONE, NOTICED)
    both.first.save()
    assert both.later().recall(ONE) == NOTICED
    assert both.later().recall(OTHER) is None


def test_what_nobody_asked_for_since_goes(both: Both) -> None:
    both.first.keep(ONE, NOTICED)
    both.first.keep(OTHER, NOTICED)
    both.first.save()
    later = both.later()
    assert later.recall(ONE) == NOTICED
    later.save()
    last = DictNoticed(later.notes) if isinstance(later, DictNoticed) else both.later()
    assert (last.recall(ONE), last.recall(OTHER)) == (NOTICED, None)


def _written(root: Path) -> Path:
    files = NoticedFiles(root, "1")
    files.keep(ONE, NOTICED)
    files.save()
    assert NoticedFiles(root, "1").recall(ONE) == NOTICED
    return root / ".cache" / CACHE_NAME


@pytest.mark.parametrize("cut", [0, 10, 60, 200, -1, -40])
def test_a_cut_file_is_begun_anew(tmp_path: Path, cut: int) -> None:
    path = _written(tmp_path)
    path.write_bytes(path.read_bytes()[:cut])
    assert NoticedFiles(tmp_path, "1").recall(ONE) is None
    _written(tmp_path)


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    path = _written(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"lamp", b"lamb", 1))
    assert NoticedFiles(tmp_path, "1").recall(ONE) is None


def test_what_another_version_noticed_is_not_believed(tmp_path: Path) -> None:
    _written(tmp_path)
    assert NoticedFiles(tmp_path, "2").recall(ONE) is None


def test_it_is_bounded(tmp_path: Path) -> None:
    files = NoticedFiles(tmp_path, "1", max_bytes=1_500)
    for number in range(9):
        files.keep(f"{number}" * 64, NOTICED)
    files.save()
    assert 0 < (tmp_path / ".cache" / CACHE_NAME).stat().st_size < 2_000
    assert NoticedFiles(tmp_path, "1", max_bytes=1_500).recall("0" * 64) == NOTICED


def test_a_place_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / ".cache").write_text("in the way")
    files = NoticedFiles(tmp_path, "1")
    files.keep(ONE, NOTICED)
    files.save()
    assert (tmp_path / ".cache").read_text() == "in the way"


def test_an_unchanged_file_is_not_written_again(tmp_path: Path) -> None:
    path = _written(tmp_path)
    before = path.stat().st_mtime_ns, path.stat().st_ino
    files = NoticedFiles(tmp_path, "1")
    assert isinstance(files.recall(ONE), Noticed)
    files.save()
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before

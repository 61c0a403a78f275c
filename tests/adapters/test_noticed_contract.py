"""The contract of `ports.NoticedNotes`, run by the file and by the fake; and what a damaged file costs: nothing but time."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_memory.adapters.analysis.dict_noticed import DictNoticed
from agent_memory.adapters.analysis.noticed_files import CACHE_NAME, NoticedFiles
from agent_memory.domain.analysis.compared import compare
from agent_memory.domain.analysis.gathered import Gathered
from agent_memory.domain.analysis.noticed import noticed_in
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.entry import StoredEntry
from agent_memory.ports import NoticedNotes
from analysed_notes import FACTS, note

ONE, OTHER = note("Port of the lamp server", "The lamp server listens on port 8080."), note("Owner", "Ana owns it.")


def gathered(*notes: StoredEntry) -> Gathered:
    words = Vocabulary()
    noticed = {each.meta.id: noticed_in(each, words) for each in notes}
    return compare([each.listed for each in notes], {}, noticed, words, FACTS)[1]


@pytest.fixture(params=[True, False], ids=["file", "dict"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> NoticedNotes:
    return NoticedFiles(tmp_path, "1") if request.param else DictNoticed()


def known(kept: NoticedNotes) -> set[str]:
    """The ids of those of both notes that are known."""
    return set(kept.recall().recognised([ONE.listed, OTHER.listed]))


def test_nothing_is_known_at_first(kept: NoticedNotes) -> None:
    assert kept.recall() == Gathered()


def test_what_was_noticed_is_recalled_whole(kept: NoticedNotes) -> None:
    both = gathered(ONE, OTHER)
    kept.keep(both)
    recalled = kept.recall()
    assert known(kept) == {ONE.meta.id, OTHER.meta.id}
    assert recalled.words == both.words
    assert [recalled.noticed(slot) for slot in range(2)] == [both.noticed(slot) for slot in range(2)]


def test_what_is_kept_takes_the_place_of_what_was_there(kept: NoticedNotes) -> None:
    kept.keep(gathered(ONE, OTHER))
    kept.keep(gathered(OTHER))
    assert known(kept) == {OTHER.meta.id}


def _written(root: Path) -> Path:
    NoticedFiles(root, "1").keep(gathered(ONE, OTHER))
    assert known(NoticedFiles(root, "1")) == {ONE.meta.id, OTHER.meta.id}
    return root / ".cache" / CACHE_NAME


@pytest.mark.parametrize("cut", [0, 10, 60, 200, -1, -40])
def test_a_cut_file_is_begun_anew(tmp_path: Path, cut: int) -> None:
    path = _written(tmp_path)
    path.write_bytes(path.read_bytes()[:cut])
    assert NoticedFiles(tmp_path, "1").recall() == Gathered()
    _written(tmp_path)


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    path = _written(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"lamp", b"lamb", 1))
    assert NoticedFiles(tmp_path, "1").recall() == Gathered()


def test_what_another_version_noticed_is_not_believed(tmp_path: Path) -> None:
    _written(tmp_path)
    assert NoticedFiles(tmp_path, "2").recall() == Gathered()


def test_what_is_too_large_is_neither_kept_nor_read(tmp_path: Path) -> None:
    path = _written(tmp_path)
    written = path.read_bytes()
    small = NoticedFiles(tmp_path, "1", max_bytes=len(written) - 1)
    assert small.recall() == Gathered()
    small.keep(gathered(ONE, OTHER))
    assert path.read_bytes() == written
    small.keep(gathered(ONE))
    assert known(small) == {ONE.meta.id}


def test_a_place_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / ".cache").write_text("in the way")
    NoticedFiles(tmp_path, "1").keep(gathered(ONE))
    assert (tmp_path / ".cache").read_text() == "in the way"
    assert NoticedFiles(tmp_path, "1").recall() == Gathered()


def test_a_store_that_is_not_there_is_not_made_for_it(tmp_path: Path) -> None:
    NoticedFiles(tmp_path / "store", "1").keep(gathered(ONE))
    assert list(tmp_path.iterdir()) == []

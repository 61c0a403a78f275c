"""The contract of `ports.NoticedNotes`, run by the file and by the fake; and what a damaged file costs: nothing but time."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_memory.adapters.analysis.dict_noticed import DictNoticed
from agent_memory.adapters.analysis.noticed_files import CACHE_NAME, NoticedFiles
from agent_memory.domain.analysis.noticed import Noticed, noticed_in
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.ports import NoticedNotes
from analysed_notes import note

ONE, OTHER = "1" * 64, "2" * 64
NOTE = note(
    "Port of the lamp server",
    "The lamp server listens on port 8080 since 2026-01-02. It does not retry `send()`.\n\n```\nmake lamp\n```\n\n"
    "See [[id__c3d4e5]]. The settings live in `etc/lamp.toml`. Cartões são guardados em Redis.",
)


class Both:
    """One that is written, and one that reads what it wrote."""

    def __init__(self, root: Path, on_disk: bool) -> None:
        self._root = root
        self.first: NoticedNotes = NoticedFiles(root, "1") if on_disk else DictNoticed()

    def later(self) -> NoticedNotes:
        if isinstance(self.first, DictNoticed):
            return DictNoticed(self.first.notes, self.first.words)
        return NoticedFiles(self._root, "1")


def words_in(noticed: Noticed, words: Vocabulary) -> list[str]:
    """All words that it numbers."""
    frames = (each.frame for some in (noticed.claims, noticed.denials) for each in some)
    return [
        words.word(number) for numbers in (noticed.terms, noticed.title, noticed.about, *frames) for number in numbers
    ]


@pytest.fixture(params=[True, False], ids=["file", "dict"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Both:
    return Both(tmp_path, request.param)


def test_nothing_is_known_at_first(both: Both) -> None:
    assert both.first.recall(ONE) is None
    both.first.save()
    assert both.later().recall(ONE) is None


def test_what_was_noticed_is_recalled_whole_in_the_same_words(both: Both) -> None:
    noticed = noticed_in(NOTE, both.first.words)
    assert noticed.claims, "positive control"
    assert len(noticed.stated) > len(noticed.denials) > 0, "positive control"
    said = words_in(noticed, both.first.words)
    both.first.keep(ONE, noticed)
    both.first.save()
    later = both.later()
    words = later.words
    assert later.recall(ONE) == noticed
    assert words_in(noticed, words) == said
    assert later.recall(OTHER) is None


def test_what_nobody_asked_for_since_goes(both: Both) -> None:
    noticed = noticed_in(NOTE, both.first.words)
    both.first.keep(ONE, noticed)
    both.first.keep(OTHER, noticed)
    both.first.save()
    later = both.later()
    assert later.recall(ONE) == noticed
    later.save()
    last = DictNoticed(later.notes) if isinstance(later, DictNoticed) else both.later()
    assert (last.recall(ONE), last.recall(OTHER)) == (noticed, None)


def _written(root: Path) -> Path:
    files = NoticedFiles(root, "1")
    noticed = noticed_in(NOTE, files.words)
    files.keep(ONE, noticed)
    files.save()
    assert NoticedFiles(root, "1").recall(ONE) == noticed
    return root / ".cache" / CACHE_NAME


def test_words_that_no_row_numbers_are_not_written_and_their_numbers_are_used_again(tmp_path: Path) -> None:
    path = _written(tmp_path)
    size = path.stat().st_size
    assert b"lamp" in path.read_bytes(), "positive control"
    files = NoticedFiles(tmp_path, "1")
    known = words_in(files.recall(ONE) or pytest.fail("it was kept"), files.words)
    secret = noticed_in(note("Key", "It hangs behind the tangerine."), files.words)
    plain = noticed_in(note("Owner", "Ana owns the ferry."), files.words)
    assert "tangerin" in words_in(secret, files.words)
    files.keep(OTHER, plain)
    files.save()
    assert b"tangerin" not in path.read_bytes()
    assert b"ferry" in path.read_bytes()
    later = NoticedFiles(tmp_path, "1")
    assert words_in(later.recall(ONE) or pytest.fail("it was kept"), later.words) == known
    assert words_in(later.recall(OTHER) or pytest.fail("it was kept"), later.words) == words_in(plain, files.words)
    for number in range(30):
        other = NoticedFiles(tmp_path, "1")
        assert other.recall(ONE)
        other.keep(OTHER, noticed_in(note("Owner", f"Ana owns the ferry{number}."), other.words))
        other.save()
    assert path.stat().st_size < 3 * size


def test_what_two_files_hold_is_recalled_for_each(both: Both) -> None:
    noticed = noticed_in(NOTE, both.first.words)
    both.first.keep(ONE, noticed)
    both.first.save()
    later = both.later()
    assert [later.recall(ONE) for _ in range(3)] == [noticed] * 3
    later.keep(OTHER, noticed)
    later.save()
    last = DictNoticed(later.notes, later.words) if isinstance(later, DictNoticed) else both.later()
    assert (last.recall(ONE), last.recall(OTHER)) == (noticed, noticed)


def test_what_another_process_wrote_meanwhile_is_left_as_it_is(tmp_path: Path) -> None:
    """Its numbers of words may be others."""
    path = _written(tmp_path)
    slow, quick = NoticedFiles(tmp_path, "1"), NoticedFiles(tmp_path, "1")
    assert slow.recall(ONE)
    slow.keep(OTHER, noticed_in(note("Owner", "Ana owns the ferry."), slow.words))
    quick.keep(OTHER, noticed_in(note("Crane", "Rui owns the crane."), quick.words))
    quick.save()
    written = path.read_bytes()
    assert slow.recall(ONE) is None, "its row is in that file no more"
    slow.save()
    assert path.read_bytes() == written
    assert NoticedFiles(tmp_path, "1").recall(OTHER)


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
    noticed = noticed_in(NOTE, files.words)
    for number in range(9):
        files.keep(f"{number}" * 64, noticed)
    files.save()
    assert 0 < (tmp_path / ".cache" / CACHE_NAME).stat().st_size < 2_500
    assert NoticedFiles(tmp_path, "1", max_bytes=1_500).recall("0" * 64) == noticed
    assert NoticedFiles(tmp_path, "1", max_bytes=1_500).recall("8" * 64) is None


def test_a_place_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / ".cache").write_text("in the way")
    files = NoticedFiles(tmp_path, "1")
    files.keep(ONE, noticed_in(NOTE, files.words))
    files.save()
    assert (tmp_path / ".cache").read_text() == "in the way"


def test_an_unchanged_file_is_not_written_again(tmp_path: Path) -> None:
    path = _written(tmp_path)
    before = path.stat().st_mtime_ns, path.stat().st_ino
    files = NoticedFiles(tmp_path, "1")
    assert isinstance(files.recall(ONE), Noticed)
    files.save()
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before

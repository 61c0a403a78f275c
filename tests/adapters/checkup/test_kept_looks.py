"""A note that is as it was is not opened again by an examination, and one that is not always is (P6, P20)."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve
from returns.result import Result

from agent_memory.adapters.analysis.compared_files import ComparedFiles
from agent_memory.adapters.analysis.noticed_files import NoticedFiles
from agent_memory.adapters.checkup.kept_looks import CACHE_NAME, KeptLooks, judges
from agent_memory.adapters.checkup.note_files import read_again
from agent_memory.adapters.checkup.note_looks import NoteLooks
from agent_memory.domain.analysis.compared import Compared
from agent_memory.domain.analysis.noticed import noticed_in
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.checkup.examination import Examination
from agent_memory.domain.checkup.note_look import look_at
from agent_memory.domain.checkup.notes import NoteFile
from agent_memory.domain.entry import Listed
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import Error
from fixtures.secret_samples import base62
from store_under_examination import Patient

KEY = f"sk-ant-api03-{base62(93)}AA"


@pytest.fixture
def patient(root: Path) -> Patient:
    patient = Patient(root)
    patient.note("Ports", "The api listens on 8080.", tags=("topic__api",))
    patient.note("Deploys", "They run from main only.", tags=("topic__deploy",))
    patient.by_hand("topics/idea.md", "---\ntags: [Api, x]\n---\nAn idea\u202e of [[id__zzzzzz]].")
    return patient


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the notes that are read to be looked at."""
    paths: list[str] = []

    def watched(root: str, listed: Listed) -> Result[NoteFile | None, Error]:
        paths.append(listed.path)
        return read_again(root, listed)

    monkeypatch.setattr("agent_memory.adapters.checkup.note_looks.read_again", watched)
    return paths


def examined(patient: Patient, rules: str = "rules", *, is_compared_anew: bool = False) -> Examination:
    kept = evolve(
        patient.examiner,
        kept_looks=KeptLooks(patient.root, rules),
        noticed=NoticedFiles(patient.root, "version"),
        compared=None if is_compared_anew else ComparedFiles(patient.root, "version"),
    )
    return kept.examine()


def test_what_is_as_it_was_is_not_opened_and_the_same_is_found(patient: Patient, opened: list[str]) -> None:
    first = examined(patient)
    assert {"missing-id", "tag-form", "hidden-text"} <= {each.code for each in first.symptoms}, "positive control"
    assert len(opened) == 3
    opened.clear()
    assert examined(patient) == first
    assert opened == []
    assert patient.examine() == first


def same_size_same_time(path: Path) -> None:
    times = path.stat()
    path.write_text(path.read_text().replace("An idea\u202e", "A\u202e idea "))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def with_a_secret(path: Path) -> None:
    path.write_text(path.read_text() + f"\nThe key is {KEY}.\n")


def emptied(path: Path) -> None:
    path.write_text("---\ntitle: Idea\n---\n")


def replaced_by_a_link(path: Path) -> None:
    path.rename(path.parent.parent / "idea.md")
    path.symlink_to(path.parent.parent / "idea.md")


def damaged(path: Path) -> None:
    path.write_text("---\nkind: nonsense\n---\n")


def removed(path: Path) -> None:
    path.unlink()


def renamed(path: Path) -> None:
    path.rename(path.with_name("thought.md"))


@pytest.mark.parametrize(
    "edit", [same_size_same_time, with_a_secret, emptied, replaced_by_a_link, damaged, removed, renamed]
)
def test_each_change_by_hand_is_seen_by_the_next_examination_p6_p20(
    patient: Patient, edit: Callable[[Path], None]
) -> None:
    first = examined(patient)
    edit(patient.root / "topics/idea.md")
    after = examined(patient)
    assert after == patient.examine()
    assert edit is same_size_same_time or after != first, "positive control"
    assert ("secret" in {each.code for each in after.symptoms}) == (edit is with_a_secret)


def test_other_rules_look_at_everything_anew_p20(patient: Patient, opened: list[str]) -> None:
    examined(patient)
    opened.clear()
    examined(patient, "other rules")
    assert len(opened) == 3


def test_nothing_of_a_secret_note_is_kept_p20(patient: Patient, opened: list[str]) -> None:
    patient.note("Safe", "The safe is behind the heron.", sensitivity=Sensitivity.SECRET)
    first = examined(patient)
    for name in (CACHE_NAME, "analysis", "compared"):
        assert b"heron" not in (patient.root / ".cache" / name).read_bytes()
    opened.clear()
    assert examined(patient) == first
    assert [path for path in opened if "Safe" in path] == opened != []


def test_of_a_note_that_becomes_secret_not_even_the_name_is_kept_p20(patient: Patient) -> None:
    path = patient.path_of(patient.note("Safe", "The safe is behind the heron.", tags=("topic__apis",)))
    assert "tag-alike" in {each.code for each in examined(patient).symptoms}, "positive control"
    kept = (patient.root / ".cache" / CACHE_NAME).read_bytes()
    assert b"Safe" in kept, "positive control"
    assert b"topic__apis" in kept, "positive control"
    path.write_text(path.read_text().replace("---\n", "---\nsensitivity: secret\n", 1))
    assert "tag-alike" in {each.code for each in examined(patient).symptoms}
    kept = (patient.root / ".cache" / CACHE_NAME).read_bytes()
    assert b"Safe" not in kept
    assert b"apis" not in kept


def test_what_only_time_or_other_notes_make_of_a_note_is_told_though_it_is_as_it_was(
    patient: Patient, opened: list[str]
) -> None:
    old = patient.note("Old", "Gone by.", expires_at_ms=int(time.time() * 1000) + 3_000)
    patient.note("New", f"It took the place of [[{old}]].")
    assert {"expired", "archived-link"}.isdisjoint(each.code for each in examined(patient).symptoms)
    time.sleep(3)
    opened.clear()
    assert "expired" in {each.code for each in examined(patient).symptoms}
    patient.store.delete(old).unwrap()
    patient.by_hand("state/project_tags.json", json.dumps({"vocabulary": [], "renamed": {"topic__api": "topic__http"}}))
    found = examined(patient)
    assert {"archived-link", "tag-unknown"} <= {each.code for each in found.symptoms}
    assert opened == []
    assert found == patient.examine()


@pytest.mark.parametrize("data", [b"", b"agent-memory", b"\xff" * 100])
def test_a_damaged_file_costs_nothing_but_time(patient: Patient, opened: list[str], data: bytes) -> None:
    first = examined(patient)
    (patient.root / ".cache" / CACHE_NAME).write_bytes(data)
    opened.clear()
    assert examined(patient) == first
    assert len(opened) == 3


def test_what_went_since_the_listing_is_left_out(patient: Patient) -> None:
    live = patient.store.list().unwrap().entries
    told: list[Error] = []
    nothing = Compared()
    looks = NoteLooks(
        str(patient.root), nothing.outlines, {}, told.append, KeptLooks(patient.root, "rules"), Vocabulary()
    )
    assert None not in [looks.look_at(each) for each in live]
    (patient.root / "topics/idea.md").unlink()
    assert [each.path for each in live if looks.look_at(each) is None] == ["topics/idea.md"]
    assert told == []


def test_what_only_one_of_both_knows_of_a_note_is_not_found_out_again(
    patient: Patient, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An analysis comes before the first examination, and new rules by which notes are looked at do not change what is said."""
    done: list[str] = []

    def watched(name: str, real: Callable[..., object]) -> None:
        def asked(*arguments: object) -> object:
            done.append(name)
            return real(*arguments)

        monkeypatch.setattr(f"agent_memory.adapters.checkup.note_looks.{name}", asked)

    watched("noticed_in", noticed_in)
    watched("look_at", look_at)
    first = examined(patient, is_compared_anew=True)
    assert sorted(done) == [*["look_at"] * 3, *["noticed_in"] * 3], "positive control"
    for left_out, again in ((CACHE_NAME, "look_at"), ("analysis", "noticed_in")):
        (patient.root / ".cache" / left_out).unlink()
        opened.clear()
        done.clear()
        assert examined(patient, is_compared_anew=True) == first
        assert (len(opened), done) == (3, [again] * 3)


def test_what_was_compared_is_not_compared_again_and_the_same_is_found(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient.note(
        "Ports of the api", "The api listens on 8080. The api server answers the north basin.", tags=("topic__api",)
    )
    patient.note(
        "Port of the api", "The api listens on 9090. The api server answers the north basin.", tags=("topic__api",)
    )
    first = examined(patient)
    assert {"contradiction", "unresolved-link"} <= {each.code for each in first.symptoms}, "positive control"
    (patient.root / ".cache" / "analysis").unlink()

    def fails(*_: object) -> object:
        raise AssertionError("compared again")

    monkeypatch.setattr("agent_memory.adapters.checkup.note_examination.compare", fails)
    assert examined(patient) == first
    (patient.root / ".cache" / CACHE_NAME).unlink()
    assert examined(patient) == first
    patient.note("Another", "It says something else.")
    with pytest.raises(AssertionError, match="compared again"):
        examined(patient)


def test_the_rules_are_what_is_in_the_modules(tmp_path: Path) -> None:
    assert judges() == judges() is not None
    (tmp_path / "domain/redacting").mkdir(parents=True)
    (tmp_path / "domain/searching").mkdir()
    (tmp_path / "domain/searching/terms.py").write_text("")
    (tmp_path / "domain/redaction.py").write_text("rules = 1")
    first = judges(tmp_path)
    (tmp_path / "domain/redacting/new_rule.py").write_text("rule = 2")
    assert len({first, judges(tmp_path), judges()}) == 3
    (tmp_path / "domain/redaction.py").unlink()
    assert judges(tmp_path) is None

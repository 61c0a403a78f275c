"""What `--fix` decides to do with files of notes: nothing that loses a word, and no id or name twice."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st

from agent_memory.care.checks import NoteFile, NoteRepair, plan_repairs
from agent_memory.note.file_name import MAX_NAME_BYTES, file_name_of, folded_name
from agent_memory.note.note import Listed, Meta, Sensitivity, StoredEntry, body_hash
from agent_memory.text.ids import is_id, mint_id

META = Meta("id__a1b2c3", "Ports", 5, 5, tags=("topic__api",))


def note(meta: Meta, name: str = "", body: str = "8080", **more: object) -> NoteFile:
    copy_of = more.pop("copy_of", None)
    listed = Listed(meta, f"topics/{name or file_name_of(meta)}", "hash", body_hash=body_hash(body), **more)  # type: ignore[arg-type]
    return NoteFile(listed.path, body, StoredEntry(listed, body), copy_of)  # type: ignore[arg-type]


def plan(*notes: NoteFile, taken: frozenset[str] = frozenset(), others: tuple[str, ...] = ()) -> tuple[NoteRepair, ...]:
    live = {each.path: each.stored.listed for each in notes if each.copy_of is None}
    stated = {each.stored.meta.id for each in notes if not each.stored.listed.provisional_id}
    return plan_repairs(notes, live, taken | stated, [*(each.name for each in notes), *others])


def test_an_id_that_another_has_in_any_case_is_not_given_again_p15() -> None:
    (repair,) = plan(
        note(META, name="idea.md", provisional_id=True), taken=frozenset({META.id.upper().replace("ID", "id")})
    )
    assert repair.meta is not None
    assert repair.meta.id != META.id
    assert repair.meta.id == mint_id("Ports", 5, {META.id.casefold()})


@pytest.mark.parametrize(
    "other",
    [{"tags": ("topic__web",)}, {"title": "Doors"}, {"pinned": True}, {"sensitivity": Sensitivity.SECRET}],
    ids=str,
)
def test_a_copy_with_the_same_body_and_another_frontmatter_is_no_twin(other: dict[str, Any]) -> None:
    """What a person wrote there would be out of sight, though nobody said so."""
    original = note(META)
    (repair,) = plan(note(evolve(META, **other), name="Ports 2.md", copy_of=original.path), original)
    assert repair.meta is not None
    assert evolve(repair.meta, id=META.id) == evolve(META, **other)


def test_of_two_names_that_clash_one_is_changed() -> None:
    one, two = note(META, name="Mine.md"), note(evolve(META, id="id__d4e5f6"), name="mine.md")
    (repair,) = plan(one, two)
    assert repair.meta is not None
    assert repair.name == file_name_of(META)


def test_a_name_that_a_repair_gives_up_is_not_given_by_another_p12() -> None:
    """Both are carried out at once: for a moment it would be the name of two files."""
    original = note(META, name=f"{'x' * MAX_NAME_BYTES} -- {META.id}.md")
    copy = note(META, name=file_name_of(META), body="9090", copy_of=original.path)
    (repair,) = plan(copy, original)
    assert repair.note is copy
    (later,) = plan(original)
    assert later.name == copy.name


_NOTES = st.lists(
    st.tuples(
        st.sampled_from(["Ports", "ports", "Deploys", ""]),
        st.booleans(),
        st.sampled_from(["8080", "9090"]),
        st.sampled_from(["a.md", "A.md", "b.md", "x" * 230 + ".md", ""]),
        st.booleans(),
    ),
    max_size=8,
)


@given(_NOTES)
@settings(max_examples=80)
def test_no_id_and_no_name_is_given_twice_and_every_text_stays(drawn: list[tuple[str, bool, str, str, bool]]) -> None:
    """P12, P15"""
    notes: list[NoteFile] = []
    for number, (title, provisional, body, name, is_copy) in enumerate(drawn):
        meta = Meta(mint_id(title, number, ()), title or "untitled", number, number)
        file = name if all(each.name != name for each in notes) else ""
        originals = [each for each in notes if each.copy_of is None]
        if is_copy and originals:
            original = originals[0]
            notes.append(note(original.stored.meta, f"copy {number}.md", body, copy_of=original.path))
        else:
            notes.append(note(meta, file, body, provisional_id=provisional))
    repairs = plan(*notes)
    repaired = {repair.note.path: repair for repair in repairs}
    after: dict[str, str] = {}
    ids: list[str] = []
    for each in notes:
        repair = repaired.get(each.path)
        if repair is None:
            after[each.name] = each.stored.meta.id
            ids.append(each.stored.meta.id)
        elif repair.meta is None:
            assert any(each.stored.body == other.stored.body and other is not each for other in notes)
        else:
            assert repair.name not in after
            after[repair.name] = repair.meta.id
            ids.append(repair.meta.id)
    assert all(map(is_id, ids))
    assert len({id.casefold() for id in ids}) == len(ids)
    untouched = {folded_name(each.name) for each in notes}
    for repair in repairs:
        if repair.meta is not None and repair.name != repair.note.name:
            assert folded_name(repair.name) not in untouched or repair.name == file_name_of(repair.meta)

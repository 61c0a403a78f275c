"""File names of entries (P15, P21)."""

from __future__ import annotations

import re
import unicodedata

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

from agent_memory.note.file_name import MAX_NAME_BYTES, file_name_of, id_in_name, is_safe_name, title_in_name
from agent_memory.note.note import Meta
from agent_memory.text.ids import ID_PATTERN, mint_id, normal_tags

META = Meta(id="id__a1b2c3", title="xstate guard patterns", created_at_ms=0, updated_at_ms=0)
UNSAFE = re.compile(
    r"[/\\:\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e0fff]"
)


def name_of(title: str, *tags: str) -> str:
    return file_name_of(evolve(META, title=title, tags=tags))


def assert_safe(name: str) -> None:
    assert max(len(unicodedata.normalize(form, name).encode()) for form in ("NFC", "NFD")) <= MAX_NAME_BYTES
    assert unicodedata.is_normalized("NFC", name)
    assert not UNSAFE.search(name), name
    assert is_safe_name(name), name
    assert not set(name) & set("`$'\"()[]{}<>;&|*?!#~^\\\t"), name
    assert name[0] not in " .-~"
    assert name.endswith(".md")
    assert re.findall(ID_PATTERN, name) == [id_in_name(name)], name


@pytest.mark.parametrize(
    ("title", "tags", "name"),
    [
        ("xstate guard patterns", ("topic__xstate", "topic__patterns"), "xstate guard patterns -- topic__xstate topic__patterns id__a1b2c3.md"),
        ("no tags", (), "no tags -- id__a1b2c3.md"),
        ("", (), "untitled -- id__a1b2c3.md"),
        ("...", (), "untitled -- id__a1b2c3.md"),
        ("\u200b\u202e", (), "untitled -- id__a1b2c3.md"),
        ("../../etc/passwd", (), "etc-passwd -- id__a1b2c3.md"),
        ("a/b: c\\d", (), "a-b - c-d -- id__a1b2c3.md"),
        ("-rf ~", (), "rf -- id__a1b2c3.md"),
        (".hidden", (), "hidden -- id__a1b2c3.md"),
        ('say "why?"', (), "say why -- id__a1b2c3.md"),
        ("don't run `rm $HOME/*`; use [this](x) & that!", (), "dont run rm HOME- use thisx that -- id__a1b2c3.md"),
        ("C++ and F# at 5,0 e-mail=me@x.org", (), "C++ and F at 5,0 e-mail=me@x.org -- id__a1b2c3.md"),
        ("समय क्षेत्र का ध्यान रखें 👩‍🚀 — 今日", (), "समय क्षेत्र का ध्यान रखें 今日 -- id__a1b2c3.md"),
        ("a $--$ b", (), "a - b -- id__a1b2c3.md"),
        ("two\nlines\tand tab", (), "two lines and tab -- id__a1b2c3.md"),
        ("see id__c3d4e5 -- or id___c3d4e5", (), "see id_c3d4e5 - or id_c3d4e5 -- id__a1b2c3.md"),
        ("Cafe\u0301", (), "Café -- id__a1b2c3.md"),
    ],
)  # fmt: skip
def test_a_name_says_title_and_tags_and_ends_with_the_id_p21(title: str, tags: tuple[str, ...], name: str) -> None:
    assert name_of(title, *tags) == name
    assert_safe(name)


@pytest.mark.parametrize("letter", ["べ", "한", "é", "ǖ", "ᾧ"])
def test_a_long_title_whose_letters_a_mac_decomposes_is_cut_for_that_p15(letter: str) -> None:
    assert_safe(name_of(letter * 150))
    assert_safe(name_of(letter * 150, f"topic__{letter * 20}", "topic__x"))
    assert set(title_in_name(name_of(letter * 150))) == {letter}


TITLES = st.text(
    st.one_of(st.characters(), st.sampled_from('/\\:.-~ \n\u200b\u0301👩id_"*?<>1$`;&[]()#!+')), max_size=120
)
IDS = st.from_regex(ID_PATTERN, fullmatch=True)


@given(TITLES, st.lists(st.text(max_size=40), max_size=8), IDS)
def test_every_name_is_safe_and_gives_back_its_id_p15_p21(title: str, tags: list[str], id: str) -> None:
    name = file_name_of(Meta(id, title, 0, 0, tags=normal_tags(tags)))
    assert_safe(name)
    assert id_in_name(name) == id


@given(TITLES, TITLES, st.integers(0, 3))
def test_two_entries_never_share_a_name_that_folds_or_normalises_p15(one: str, other: str, at_ms: int) -> None:
    first = mint_id(one, at_ms, frozenset())
    second = mint_id(other, at_ms, {first.casefold()})
    names = [file_name_of(Meta(id, title, 0, 0)) for id, title in ((first, one), (second, other), (second, one))]
    for form in ("NFC", "NFD"):
        folded = [unicodedata.normalize(form, name).casefold() for name in names]
        assert folded[0] not in folded[1:]


@pytest.mark.parametrize(
    ("name", "id", "title"),
    [
        ("xstate -- topic__x id__a1b2c3.md", "id__a1b2c3", "xstate"),
        ("by hand id__a1b2c3.md", "id__a1b2c3", "by hand"),
        ("id__a1b2c3.md", "id__a1b2c3", ""),
        ("by hand.md", None, "by hand"),
        ("about id__a1b2c3 and more.md", None, "about id__a1b2c3 and more"),
        ("xid__a1b2c3.md", None, "xid__a1b2c3"),
        ("wrong digit id__a1b2c0.md", None, "wrong digit id__a1b2c0"),
        ("a -- id__a1b2c3.md.tmp", None, "a -- id__a1b2c3.md.tmp"),
    ],
)
def test_a_name_is_read_back(name: str, id: str | None, title: str) -> None:
    assert id_in_name(name) == id
    assert title_in_name(name) == title

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.domain.checkup.note_look import NoteLook
from agent_memory.domain.tagging.alike_tags import AlikeTags, alike
from agent_memory.formats.note_looks_file import Looks, parse_looks, render_looks

LOOKS = Looks(
    {"topics/a.md": "a" * 64, "topics/b.md": "b" * 64, "topics/c.md": "a" * 64},
    {"topics/b.md": NoteLook(is_empty=True, odd_tags=("Api",), has_odd_name=True)},
    alike(["topic__deploy", "topic__deployment", "topic__api"]),
)
WHOLE = render_looks("1", LOOKS)

_texts = st.lists(st.text(), max_size=2).map(tuple)


@settings(max_examples=50)
@given(
    st.builds(
        Looks,
        st.dictionaries(st.text(), st.text()),
        st.dictionaries(st.text(), st.builds(NoteLook, st.booleans(), _texts, _texts, _texts, st.booleans())),
        st.builds(
            AlikeTags,
            st.dictionaries(st.text(), st.tuples(st.text(), st.text())),
            st.dictionaries(st.text(), st.frozensets(st.text())),
        ),
    )
)
def test_what_is_read_is_what_was_written(looks: Looks) -> None:
    assert parse_looks("1", render_looks("1", looks)) == looks


def test_nothing_is_believed_of_other_judges() -> None:
    assert parse_looks("1", WHOLE) == LOOKS
    assert parse_looks("2", WHOLE) == Looks()


@settings(max_examples=100)
@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_nothing_is_believed_of_a_file_with_a_damaged_byte(at: int, flip: int) -> None:
    assert parse_looks("1", WHOLE[:at] + bytes([WHOLE[at] ^ flip]) + WHOLE[at + 1 :]) == Looks()


@pytest.mark.parametrize("data", [b"", b"x", WHOLE[:-1], WHOLE + b"\x00", b"\x00" * 64, WHOLE[:64]])
def test_nothing_is_believed_of_what_is_not_whole(data: bytes) -> None:
    assert parse_looks("1", data) == Looks()

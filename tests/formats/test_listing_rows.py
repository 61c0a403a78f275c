from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.domain.entry import Listed, Meta, Source, UnreadableFile
from agent_memory.domain.vocabulary import Harness, Importance, Kind, Origin, Sensitivity, Status
from agent_memory.formats.listing_rows import Row, parse_rows, render_rows, unpack

text = st.text(max_size=8)
texts = st.lists(text, max_size=3).map(tuple)
numbers = st.integers(0, 2**63 - 1)
maybe = st.none() | numbers
sources = st.builds(
    Source,
    st.sampled_from(Harness),
    *[st.none() | text] * 4,
    turns=st.lists(st.integers(1, 99), max_size=3).map(tuple),
)
metas = st.builds(
    Meta,
    id=text,
    title=text,
    created_at_ms=numbers,
    updated_at_ms=numbers,
    description=text,
    kind=st.sampled_from(Kind),
    tags=texts,
    status=st.sampled_from(Status),
    origin=st.sampled_from(Origin),
    scope=text,
    importance=st.sampled_from(Importance),
    confidence=st.none() | st.floats(0, 1),
    sensitivity=st.sampled_from(Sensitivity),
    pinned=st.booleans(),
    promoted_by=st.none() | text,
    used=numbers,
    last_used_at_ms=maybe,
    expires_at_ms=maybe,
    valid_from_ms=maybe,
    valid_until_ms=maybe,
    aliases=texts,
    supersedes=texts,
    sources=st.lists(sources, max_size=2).map(tuple),
)
flags = st.booleans()
known = st.binary(max_size=32)


@st.composite
def rows_by_path(draw: st.DrawFn) -> dict[str, Row]:
    rows = {}
    for path in draw(st.lists(text, max_size=3, unique=True)):
        seen = draw(
            st.builds(UnreadableFile, st.just(path), texts)
            | st.builds(Listed, metas, st.just(path), text, archived=flags, provisional_id=flags, conflicted=flags)
        )
        rows[path] = Row(draw(known), seen)
    return rows


@settings(max_examples=60)
@given(rows_by_path())
def test_what_is_read_is_what_was_written(rows: dict[str, Row]) -> None:
    packed = parse_rows(b"".join(render_rows(rows)))
    assert packed is not None
    unpacked = {path: unpack(path, row) for path, row in packed.items()}
    assert unpacked == rows
    for row in unpacked.values():
        if isinstance(row.seen, Listed):
            assert isinstance(row.seen.meta.kind, Kind)


def test_many_rows_come_in_pieces() -> None:
    rows = {str(number): Row(b"x", UnreadableFile(str(number), ())) for number in range(2_500)}
    pieces = list(render_rows(rows))
    assert len(pieces) == 1 + 3 * 2 + 1
    assert list(parse_rows(b"".join(pieces)) or ()) == list(rows)


WHOLE = b"".join(render_rows({"topics/a.md": Row(b"known by", UnreadableFile("topics/a.md", ("why",)))}))


@settings(max_examples=100)
@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_one_damaged_byte_makes_the_cache_worthless(at: int, flip: int) -> None:
    damaged = WHOLE[:at] + bytes([WHOLE[at] ^ flip]) + WHOLE[at + 1 :]
    assert parse_rows(WHOLE) is not None
    assert parse_rows(damaged) is None


@pytest.mark.parametrize("data", [b"", b"x", WHOLE[:-1], WHOLE + b"\x00", b"\x00" * 64, WHOLE[:64]])
def test_what_is_not_whole_is_worthless(data: bytes) -> None:
    assert parse_rows(data) is None


def test_texts_that_recur_are_in_memory_once_p25() -> None:
    def row(number: int) -> Row:
        source = Source(Harness.AMP, f"T-{number}", "github.com/o/r", "/srv/r")
        meta = Meta(f"id__{number}", "T", 1, 2, tags=("topic__x",), scope="github.com/o/r", sources=(source,))
        return Row(b"x", Listed(meta, f"{number}.md", "hash"))

    packed = parse_rows(b"".join(render_rows({f"{number}.md": row(number) for number in range(2)})))
    assert packed is not None
    one, other = (seen.meta for path, data in packed.items() if isinstance(seen := unpack(path, data).seen, Listed))
    assert one.tags[0] is other.tags[0]
    assert one.scope is other.scope
    assert one.sources[0].repo is other.sources[0].repo
    assert one.sources[0].cwd is other.sources[0].cwd

from __future__ import annotations

import subprocess
import sys
from io import BytesIO

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st

from agent_memory.domain.about_terms import about_terms
from agent_memory.domain.entry import Listed, Meta, Source, UnreadableFile
from agent_memory.domain.packed_entries import Unpacking, unpacking
from agent_memory.domain.vocabulary import Harness, Importance, Kind, Origin, Sensitivity, Status
from agent_memory.formats.listing_rows import Rows, Seen, parse_rows, render_rows

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
looks = st.integers(-(2**63), 2**63 - 1)


@st.composite
def rows_of_a_shelf(draw: st.DrawFn) -> Rows:
    seen: dict[str, Seen] = {}
    for path in draw(st.lists(text, max_size=4, unique=True)):
        seen[path] = draw(
            st.builds(UnreadableFile, st.just(path), texts)
            | st.builds(Listed, metas, st.just(path), text, archived=flags, provisional_id=flags, conflicted=flags)
        )
    return Rows({path: draw(looks) for path in seen}, seen)


def read_back(rows: Rows) -> Rows:
    parsed = parsed_rows(b"".join(render_rows(rows)))
    assert parsed is not None
    return parsed


def parsed_rows(data: bytes) -> Rows | None:
    return parse_rows(BytesIO(data).read, len(data))


@settings(max_examples=60)
@given(rows_of_a_shelf())
def test_what_is_read_is_what_was_written(rows: Rows) -> None:
    parsed = read_back(rows)
    assert parsed == rows
    for seen in parsed.seen.values():
        if isinstance(seen, Listed):
            assert isinstance(seen.meta.kind, Kind)
            assert [type(each.harness) for each in seen.meta.sources] == [Harness] * len(seen.meta.sources)


def entry(number: int, **meta: object) -> Listed:
    return Listed(Meta(f"id__{number}", f"T {number}", 1, number, **meta), f"{number:05}.md", f"hash {number}")  # type: ignore[arg-type]


def rows_with(entries: list[Listed]) -> Rows:
    return Rows({each.path: 7 for each in entries}, {each.path: each for each in entries})


def test_many_rows_come_in_pieces_and_in_their_order() -> None:
    rows = rows_with([entry(number, tags=(f"topic__{number}",) * (number % 3)) for number in range(9_001)])
    assert len(list(render_rows(rows))) == 1 + 2 + 19 * 2 + 1
    parsed = read_back(rows)
    assert parsed == rows
    assert list(parsed.seen) == list(rows.seen)


def test_values_that_are_equal_and_not_the_same_stay_apart() -> None:
    rows = rows_with([entry(1, confidence=1.0, pinned=True), entry(2, confidence=1, pinned=True, used=1)])
    one, other = (seen.meta for seen in read_back(rows).seen.values() if isinstance(seen, Listed))
    assert [repr(each.confidence) for each in (one, other)] == ["1.0", "1"]
    assert other.used is not other.pinned


def test_entries_of_none_one_and_many_sources_have_each_their_own() -> None:
    def sources(number: int) -> tuple[Source, ...]:
        return tuple(Source(Harness.AMP, f"T-{number}-{each}", turns=(each + 1,)) for each in range(number % 4))

    for numbers in (range(8), [1] * 3, [0] * 3, [2] * 3):
        entries = [entry(at, sources=sources(number)) for at, number in enumerate(numbers)]
        assert read_back(rows_with(entries)) == rows_with(entries)


def about(rows: Rows) -> dict[str, set[str]]:
    """By path, what each entry is about, as the rows know it."""
    entries = [each for each in rows.seen.values() if isinstance(each, Listed)]
    assert isinstance(rows.seen, Unpacking)
    postings = rows.seen.packed.postings(None)
    known = [{term for term, places in postings.places.items() if at in places} for at in range(len(entries))]
    assert list(postings.counts) == list(map(len, known))
    return dict(zip((each.path for each in entries), known, strict=True))


def test_what_entries_are_about_is_kept_where_others_changed_came_or_went() -> None:
    first = read_back(rows_with([entry(number, tags=(f"topic__port{number}",)) for number in range(1_200)]))
    assert about(first)["00007.md"] == {"7", "port7"}
    changed = unpacking(first.seen)
    for gone in ("00000.md", "00900.md"):
        del changed.rows[gone]
    others = [entry(3, description="lock gates"), entry(1_500), evolve(entry(1_501), path="00000 new.md")]
    changed.rows.update({each.path: each for each in others})
    changed.rows["00004.md"] = UnreadableFile("00004.md", ("why",))
    second = read_back(Rows(dict.fromkeys(changed, 7), changed))
    assert second.seen == changed
    assert about(second) == {
        path: set(about_terms(seen.meta)) for path, seen in changed.items() if isinstance(seen, Listed)
    }


def test_a_cache_of_other_terms_is_not_read() -> None:
    program = (
        "from agent_memory.domain import about_terms; about_terms.ABOUT_TERMS_VERSION += {raised}; "
        "from agent_memory.formats.listing_rows import _SIGNATURE; print(_SIGNATURE.hex())"
    )

    def signature(raised: int) -> bytes:
        command = (sys.executable, "-c", program.format(raised=raised))
        return bytes.fromhex(subprocess.run(command, capture_output=True, check=True, text=True).stdout)

    assert signature(0) == WHOLE[:32]
    assert signature(1) != WHOLE[:32]


WHOLE = b"".join(
    render_rows(
        Rows({"a.md": 123456789, "00001.md": 7}, {"a.md": UnreadableFile("a.md", ("why",)), "00001.md": entry(1)})
    )
)


@settings(max_examples=100)
@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_one_damaged_byte_makes_the_cache_worthless(at: int, flip: int) -> None:
    damaged = WHOLE[:at] + bytes([WHOLE[at] ^ flip]) + WHOLE[at + 1 :]
    assert parsed_rows(WHOLE) is not None
    assert parsed_rows(damaged) is None


@pytest.mark.parametrize("data", [b"", b"x", WHOLE[:-1], WHOLE + b"\x00", b"\x00" * 64, WHOLE[:64]])
def test_what_is_not_whole_is_worthless(data: bytes) -> None:
    assert parsed_rows(data) is None


def test_texts_that_recur_are_in_memory_once_p25() -> None:
    def row(number: int) -> Listed:
        source = Source(Harness.AMP, f"T-{number}", "github.com/o/r", "/srv/r")
        return entry(number, tags=("topic__x", f"topic__{number}"), scope="github.com/o/r", sources=(source,))

    for count in (2, 8_001):  # of one piece, and of several
        listed = list(read_back(rows_with([row(number) for number in range(count)])).seen.values())
        one, other = (each.meta for each in (listed[0], listed[-1]) if isinstance(each, Listed))
        assert one.tags[0] is other.tags[0]
        assert one.scope is other.scope
        assert one.sources[0].repo is other.sources[0].repo
        assert one.sources[0].cwd is other.sources[0].cwd


def test_a_piece_is_in_memory_at_a_time_p25() -> None:
    rows = rows_with([entry(number) for number in range(20_001)])
    pieces = list(render_rows(rows))
    data, asked = b"".join(pieces), list[int]()
    file = BytesIO(data)

    def read(count: int) -> bytes:
        asked.append(count)
        return file.read(count)

    assert parse_rows(read, len(data)) == rows
    assert max(asked) == max(map(len, pieces)) < len(data) / 4

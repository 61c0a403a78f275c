"""From JSON to values: nothing guessed, every problem named with its path."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from attrs import field, frozen
from hypothesis import given, strategies as st

from agent_memory.domain.inbox_rules import id_problem
from agent_memory.domain.instants import Instant
from agent_memory.domain.vocabulary import Kind
from agent_memory.errors import StateCorrupt
from agent_memory.formats.json_codec import Format


@frozen
class Berth:
    boat: Annotated[str, id_problem]
    draught_metres: float = field(default=0.0, metadata={"sparse": True})


@frozen
class Harbour:
    name: str = field(metadata={"key": "called"})
    opened_at_ms: Instant
    kind: Kind | None
    berths: tuple[Berth, ...] = ()
    by_flag: dict[str, Berth] = field(factory=dict[str, Berth])
    lights: frozenset[Literal["red", "green"]] = frozenset()
    pairs: tuple[tuple[Kind, str], ...] = ()
    chart: bytes = b""
    is_open: bool = True
    depth_metres: int | None = field(kw_only=True, metadata={"sparse": True})


HARBOUR = Format(Harbour)
WHOLE: dict[str, Any] = {
    "version": 1,
    "called": "Sundmole",
    "openedAt": "2026-02-13T14:30:05.123Z",
    "kind": "fact",
    "berths": [{"boat": "Linde", "draughtMetres": 1.5}, {"boat": "Anna"}],
    "byFlag": {"dk": {"boat": "Linde"}},
    "lights": ["green", "red"],
    "pairs": [["task", "x"]],
    "chart": "AAE=",
    "isOpen": False,
}


def problems(document: object) -> tuple[str, ...]:
    with pytest.raises(StateCorrupt) as refused:
        HARBOUR.parse(json.dumps(document).encode(), "harbour.json")
    assert refused.value.path == "harbour.json"
    return refused.value.problems


def test_every_key_is_read_and_written_back() -> None:
    harbour = HARBOUR.parse(json.dumps(WHOLE).encode(), "p")
    assert harbour.berths == (Berth("Linde", 1.5), Berth("Anna"))
    assert (harbour.name, harbour.opened_at_ms, harbour.kind) == ("Sundmole", 1_770_993_005_123, Kind.FACT)
    assert json.loads(HARBOUR.render(harbour)) == WHOLE


texts = st.text(st.characters())


@given(
    st.builds(
        Harbour,
        texts,
        st.integers(0, 2**45),
        st.none() | st.sampled_from(Kind),
        by_flag=st.dictionaries(texts, st.just(Berth("Anna")), max_size=2),
        chart=st.binary(max_size=9),
        depth_metres=st.none() | st.integers(1, 9),
    )
)
def test_what_is_read_is_what_was_written(harbour: Harbour) -> None:
    assert HARBOUR.parse(HARBOUR.render(harbour).encode("utf-8", "backslashreplace"), "p") == harbour


def test_what_has_a_default_or_is_sparse_may_be_absent() -> None:
    least = {key: WHOLE[key] for key in ("version", "called", "openedAt", "kind")}
    harbour = Harbour("Sundmole", 1_770_993_005_123, Kind.FACT, depth_metres=None)
    assert HARBOUR.parse(json.dumps(least).encode(), "p") == harbour
    assert "depthMetres" not in HARBOUR.render(harbour)
    assert problems({key: WHOLE[key] for key in least if key != "kind"}) == ("kind is missing",)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"version": 2}, "version is 2, expected 1"),
        ({"version": True}, "version is true, expected 1"),
        ({"called": ["x"]}, "called is a list, expected text"),
        ({"called": None}, "called is null, expected text"),
        ({"openedAt": 5}, "openedAt is 5, expected an instant like 2026-02-13T14:30:05.123Z"),
        ({"openedAt": "0001-01-01T00:00:00Z"}, "openedAt is '0001-01-01T00:00:00Z', expected an instant"),
        ({"kind": "wisdom"}, "kind is 'wisdom', expected one of decision, lesson"),
        ({"berths": {}}, "berths is an object, expected a list"),
        ({"berths": "ab"}, "berths is 'ab', expected a list"),
        ({"berths": [7]}, "berths[0] is 7, expected an object"),
        ({"berths": [{"boat": "/"}]}, "berths[0].boat is '/', expected letters"),
        ({"berths": [{"boat": "A", "draughtMetres": "1"}]}, "berths[0].draughtMetres is '1', expected a number"),
        ({"berths": [{"boat": "A", "draughtMetres": True}]}, "berths[0].draughtMetres is true, expected a number"),
        ({"byFlag": []}, "byFlag is a list, expected an object"),
        ({"byFlag": {"dk": {}}}, "byFlag.dk.boat is missing"),
        ({"lights": ["blue"]}, "lights[0] is 'blue', expected one of red, green"),
        ({"pairs": [["task"]]}, "pairs[0] is a list, expected a list of two"),
        ({"chart": "?"}, "chart is not base64"),
        ({"isOpen": 1}, "isOpen is 1, expected true or false"),
        ({"colour": 1}, "colour is unknown, expected called, openedAt, kind, berths"),
        ({"x" * 100: 1}, "is unknown, expected called"),
    ],
)
def test_what_is_wrong_is_said_with_its_path(changed: dict[str, Any], problem: str) -> None:
    (found,) = problems({**WHOLE, **changed})
    assert problem in found


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000, b'{"version": 1, "version": 1}'])
def test_what_is_no_json_is_damage_p6(data: bytes) -> None:
    with pytest.raises(StateCorrupt):
        HARBOUR.parse(data, "p")


def test_a_key_of_terminal_codes_is_shown_harmlessly() -> None:
    assert all(each.isprintable() for each in problems({**WHOLE, "\x1b[2J": 1}))

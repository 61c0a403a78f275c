"""From JSON to values: nothing guessed, every problem named with its path."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from attrs import field, frozen
from hypothesis import example, given, strategies as st

from agent_memory.config import Config
from agent_memory.errors import StateCorrupt
from agent_memory.note.note import Kind
from agent_memory.text.instants import Instant
from agent_memory.text.json_codec import Format, InvalidValue, NotJson, load_document, load_json, value_of, written
from agent_memory.text.value_rules import id_problem


@frozen
class Berth:
    boat: Annotated[str, id_problem]
    draught_metres: float = field(default=0.0, metadata={"sparse": True, "above": -1})


@frozen
class Harbour:
    name: str = field(metadata={"key": "called"})
    opened_at_ms: Instant
    kind: Kind | None
    berths: tuple[Berth, ...] = field(default=(), metadata={"least_items": 1})
    by_flag: dict[str, Berth | str] = field(factory=dict[str, Berth | str])
    lights: frozenset[Literal["red", "green"]] = frozenset()
    pairs: tuple[tuple[Kind, str], ...] = ()
    chart: bytes = b""
    is_open: bool = True
    depth_metres: int | None = field(kw_only=True, metadata={"sparse": True, "least": 1, "most": 1_000})


HARBOUR = Format(Harbour)
WHOLE: dict[str, Any] = {
    "version": 1,
    "called": "Sundmole",
    "openedAt": "2026-02-13T14:30:05.123Z",
    "kind": "fact",
    "berths": [{"boat": "Linde", "draughtMetres": 1.5}, {"boat": "Anna"}],
    "byFlag": {"dk": {"boat": "Linde"}, "se": "Anna"},
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
    assert harbour.by_flag == {"dk": Berth("Linde"), "se": "Anna"}
    assert json.loads(HARBOUR.render(harbour)) == WHOLE


texts = st.text(st.characters())


@given(
    st.builds(
        Harbour,
        texts,
        st.integers(0, 2**45),
        st.none() | st.sampled_from(Kind),
        st.just((Berth("Anna"),)),
        by_flag=st.dictionaries(texts, st.just(Berth("Anna")) | texts, max_size=2),
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
        ({"called": ["x"]}, "called is a list, expected text"),
        ({"openedAt": 5}, "openedAt is 5, expected an instant like 2026-02-13T14:30:05.123Z"),
        ({"kind": "wisdom"}, "kind is 'wisdom', expected one of decision, lesson"),
        ({"berths": {}}, "berths is an object, expected a list"),
        ({"berths": []}, "berths must not be empty"),
        ({"berths": [{}]}, "berths[0].boat is missing"),
        ({"berths": [{"boat": "A", "draughtMetres": "1"}]}, "berths[0].draughtMetres is '1', expected a number"),
        ({"berths": [{"boat": "A", "draughtMetres": -1}]}, "berths[0].draughtMetres is -1, expected more than -1"),
        ({"byFlag": {"dk": 1}}, "byFlag.dk is 1, expected an object"),
        ({"lights": ["blue"]}, "lights[0] is 'blue', expected one of red, green"),
        ({"chart": "?"}, "chart is not base64"),
        ({"isOpen": "no"}, "isOpen is 'no', expected true or false"),
        ({"depthMetres": 2.0}, "depthMetres is 2.0, expected a whole number"),
        ({"depthMetres": 10**20}, "depthMetres is 100000000000000000000, expected at most 1,000"),
        ({"depth_metres": 1}, "depth_metres is unknown (did you mean depthMetres?)"),
        ({"x" * 100: 1}, f"'{'x' * 56}… is unknown, expected called"),
    ],
)
def test_what_is_wrong_is_said_with_its_path(changed: dict[str, Any], problem: str) -> None:
    (found,) = problems({**WHOLE, **changed})
    assert problem in found


def test_all_problems_are_listed_at_once() -> None:
    assert len(problems({**WHOLE, "called": 1, "berths": [1, {"boat": 2}], "zzz": 1})) == 4
    assert problems([]) == ("the document is a list, expected an object",)


# -- the config -------------------------------------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
config_keys = st.sampled_from(["command", "presets", "passEnv", "timeoutSeconds", "allowTools", "model", "argv", "env"])


@example({"llm": {"presets": {"[\ud7fc": None}}})
@given(
    st.dictionaries(
        st.sampled_from(["llm", "storage", "inject"]), st.dictionaries(config_keys, json_values) | json_values
    )
)
def test_any_document_is_a_config_or_has_problems_and_what_is_read_survives(document: dict[str, Any]) -> None:
    problems: tuple[str, ...] = ()
    try:
        config = value_of(document, Config)
    except InvalidValue as refused:
        problems = refused.problems
    assert all(problem.isprintable() for problem in problems)
    assert problems or value_of(written(config), Config) == config


# -- JSON itself ------------------------------------------------------------------------------------------------------


def refusal(content: bytes) -> str | None:
    try:
        load_document(content)
    except NotJson as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b" \n", "it is empty; an empty object is {}"),
        (b'{\n "a": 1,\n "b" 2}', "not JSON: Expecting ':' delimiter at line 3, column 6"),
        (b'{"b": {"a": 1, "a": 1}}', "not JSON: the key 'a' stands twice in one object"),
        (b"[-Infinity]", "not JSON: -Infinity is not a number"),
        (b'"\\ud800"', "it holds half of a surrogate pair, which is not a character"),
        (b'"a\\u0000b"', "it holds the character \\u0000"),
        (b"[" * 66 + b"]" * 66, "not JSON: nested too deeply"),
    ],
)
def test_what_is_no_json_is_damage_and_said_in_one_sentence_p6(content: bytes, problem: str) -> None:
    assert refusal(content) == problem


def test_what_is_right_is_read() -> None:
    content = '{"a": [1, 2.5, true, null, "\\ud83d\\ude00 ü"], "b": {}}'.encode()
    assert load_document(content) == {"a": [1, 2.5, True, None, "😀 ü"], "b": {}}
    assert load_json('\ufeff{"half": "\\ud800"}') == {"half": "\ud800"}

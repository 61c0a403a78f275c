"""What may be kept as state, and tags of which a half is written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from returns.result import Failure, Success

from agent_memory.app import Memory
from agent_memory.errors import StateCorrupt, StateInvalid, StateNotFound, StoreIo
from agent_memory.rules.drafts import NoteDraft
from agent_memory.store.bookkeeping import MAX_VALUE_BYTES
from agent_memory.store.store_files import Store

TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA1bC2"


def value_of(memory: Memory, key: str) -> Any:
    kept = memory.state.get(key).unwrap()
    assert kept is not None
    return json.loads(kept.json)


@pytest.mark.parametrize(
    "key",
    [
        "", ".", "..", "../x", "a/../b", "a//b", "/a", "a/", ".hidden", "a/.git", "-rf", "a b", "a\nb", "a\x00b", "é",
        "x" * 129,
    ],
)  # fmt: skip
def test_hostile_keys_are_refused_before_anything_is_written_p21(memory: Memory, key: str) -> None:
    for refused in (memory.state.set(key, 1), memory.state.get(key), memory.state.delete(key)):
        assert isinstance(refused.failure(), StateInvalid)
    assert not (memory.root / "state").exists()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", "\0", {"a": "\udfff"}, object(), {1, 2}])
def test_what_is_no_json_is_refused(memory: Memory, value: object) -> None:
    assert isinstance(memory.state.set("k", value).failure(), StateInvalid)


def test_a_value_has_a_limit(memory: Memory) -> None:
    memory.state.set("k", "x" * (MAX_VALUE_BYTES - 2)).unwrap()
    assert "at most 262,144" in memory.state.set("k", "x" * (MAX_VALUE_BYTES - 1)).failure().problems[0]  # type: ignore[attr-defined]
    assert value_of(memory, "k").startswith("x")


@pytest.mark.parametrize(
    "value", [TOKEN, [TOKEN], {"note": f"use {TOKEN} here"}, {TOKEN: 1}, {"password": "kL9#mQ2$vX7!pR4z"}]
)
def test_a_secret_is_not_kept_p20(memory: Memory, value: object) -> None:
    memory.state.set("k", value).unwrap()
    kept = (memory.root / "state" / "keys" / "k.json").read_text()
    assert "[redacted:" in kept
    assert TOKEN not in kept
    assert "kL9#" not in kept


def test_a_secret_in_a_key_is_refused_p20(memory: Memory) -> None:
    assert isinstance(memory.state.set(TOKEN, 1).failure(), StateInvalid)


def test_the_tags_that_a_person_accepted_are_those_of_the_project_until_somebody_keeps_others(memory: Memory) -> None:
    """Agents look for them under `project_tags`."""
    memory.tags.accept(["deploy", "area__web"]).unwrap()
    assert value_of(memory, "project_tags") == {"vocabulary": ["area__web", "deploy"]}
    assert memory.state.list().values == ()
    assert isinstance(memory.state.delete("project_tags").failure(), StateNotFound)
    memory.state.set("project_tags", ["mine"]).unwrap()
    assert value_of(memory, "project_tags") == ["mine"]


def test_tags_that_cannot_be_read_are_not_taken_for_none_p6(memory: Memory) -> None:
    (memory.root / "state").mkdir(parents=True)
    (memory.root / "state" / "project_tags.json").write_text("{")
    assert isinstance(memory.state.get("project_tags").failure(), StateCorrupt)
    assert memory.state.get("phase") == Success(None)


class FullDisk(Store):
    def apply(self, *_: Any, **__: Any) -> Any:
        return Failure(StoreIo("/srv", "write", "ENOSPC", "no space left"))


def test_a_rename_that_is_cut_short_is_done_by_asking_again(memory: Memory) -> None:
    """P2: the vocabulary is written before the notes."""
    id = memory.remember(NoteDraft("Lamps are lit at dusk.", tags=("x",))).unwrap().stored.meta.id
    store, memory.store = memory.store, FullDisk(memory.real_root, memory.locks)
    assert isinstance(memory.tags.rename("x", "y").failure(), StoreIo)
    memory.store = store
    assert store.read(id).unwrap().meta.tags == ("topic__x",)
    assert memory.kept_vocabulary().current(("topic__x",)) == ("topic__y",)
    assert memory.tags.rename("x", "y").unwrap().notes == (id,)
    assert store.read(id).unwrap().meta.tags == ("topic__y",)

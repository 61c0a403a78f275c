"""Every fuzz target holds for its seeds, for what once broke it, and for a few changes of each."""

from __future__ import annotations

import random
import zlib

import pytest
from fuzz.mutation import mutated
from fuzz.target import CASES, SEEDS
from fuzz.targets import TARGETS

CHANGES = 6


def test_every_target_has_seeds_and_every_input_a_target() -> None:
    assert {path.name for path in SEEDS.iterdir()} == TARGETS.keys()
    assert {path.name for path in CASES.iterdir()} <= TARGETS.keys()


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_holds_for_its_seeds_and_for_all_that_once_broke_it(name: str) -> None:
    target = TARGETS[name]
    for data in (*target.seeds(), *target.cases()):
        target.check(data)


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_holds_for_damaged_inputs(name: str) -> None:
    target = TARGETS[name]
    for number, data in enumerate((*target.seeds(), *target.cases())):
        for change in range(CHANGES):
            target.check(mutated(data, random.Random(zlib.crc32(data) + change), target.words))
        target.check(data[: len(data) * (number + 1) // (number + 2)])

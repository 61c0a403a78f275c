"""The contract of `Embedder`, held by static vectors and by the embedder in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_memory.domain.similarity import cosine
from agent_memory.ports import Embedder
from stand_ins.dict_embedder import DictEmbedder
from static_vectors import small_embedder


@pytest.fixture(params=["static vectors", "in memory"])
def embedder(request: pytest.FixtureRequest, tmp_path: Path) -> Embedder:
    return DictEmbedder() if request.param == "in memory" else small_embedder(tmp_path)


def test_every_text_has_a_vector_in_its_place(embedder: Embedder) -> None:
    one, other = embedder.embed(["zebra"]).unwrap() + embedder.embed(["lock"]).unwrap()
    assert embedder.embed(["lock", "zebra", "lock"]).unwrap() == (other, one, other)
    assert one != other
    assert {len(one), len(other)} == {embedder.dimensions}
    assert embedder.embed([]).unwrap() == ()


def test_a_text_without_words_is_all_zeros(embedder: Embedder) -> None:
    zeros = bytes(embedder.dimensions)
    assert embedder.embed(["", " \n\t", "?! — …"]).unwrap() == (zeros, zeros, zeros)
    assert embedder.embed(["zebra"]).unwrap() != (zeros,)


def test_words_count_by_their_weight(embedder: Embedder) -> None:
    zebra, lock = embedder.embed(["zebra", "lock"]).unwrap()
    mostly = embedder.embed_words((("zebra", 9.0), ("lock", 1.0))).unwrap()
    assert cosine(mostly, zebra) > cosine(mostly, lock)
    assert embedder.embed_words((("zebra", 2.0),)).unwrap() == zebra
    assert (
        embedder.embed_words(()).unwrap() == embedder.embed_words((("?!", 1.0),)).unwrap() == bytes(embedder.dimensions)
    )


def test_any_text_has_a_vector(embedder: Embedder) -> None:
    texts = ["\x00", "\ud800", "日本語", "zebra " * 20_000, "z" * 20_000]
    assert all(len(vector) == embedder.dimensions for vector in embedder.embed(texts).unwrap())


def test_many_texts_have_the_vectors_that_each_has_alone(embedder: Embedder) -> None:
    texts = [f"zebra {'lock ' * (at % 7)} abc{at}" for at in range(500)]
    alone = [embedder.embed([text]).unwrap()[0] for text in texts[:20]]
    assert list(embedder.embed(texts).unwrap()[:20]) == alone


def test_what_was_embedded_before_changes_no_vector(embedder: Embedder) -> None:
    texts = ["zebra lock", "", "lock abc ?! zebra"]
    before = embedder.embed(texts).unwrap()
    assert len(embedder.embed(["zebra lock " * 1_000] * 20).unwrap()) == 20
    assert embedder.embed(texts).unwrap() == before
    assert embedder.embed(["", "?!"]).unwrap() == (bytes(embedder.dimensions),) * 2


def test_texts_with_the_same_words_are_near(embedder: Embedder) -> None:
    query, near, far = embedder.embed(["zebra lock", "Lock, zebra!", "cd cd"]).unwrap()
    assert cosine(query, near) == pytest.approx(1.0)
    assert cosine(query, near) > cosine(query, far)


def test_the_name_says_what_the_vectors_come_from(embedder: Embedder) -> None:
    assert embedder.name
    assert embedder.name == embedder.name.strip()

"""What a search finds, whoever asks, over a store on disk."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st
from returns.result import Failure, Result

from agent_memory.caller import Caller
from agent_memory.errors import EntryNotFound, Error, StoreIo
from agent_memory.files.locks import Locks
from agent_memory.note.note import Harness, Kind, Listed, Source, StoredEntry
from agent_memory.note.terms import query_words
from agent_memory.recall.embedding import IndexedMeanings
from agent_memory.recall.hits import SNIPPET_CHARS, Mode, SearchAnswer, SearchRequest, Snippet, snippet_of
from agent_memory.recall.note_index import NoteIndex
from agent_memory.recall.searching import Searching
from agent_memory.store.store_files import Store
from one_change import put
from stand_ins.dict_clock import DictClock
from static_vectors import small_embedder

NOW_MS = 1_770_000_000_000


class World:
    def __init__(self, root: Path, caller: Caller | None = None, *, meaning: bool = False) -> None:
        self.store = Store(root, Locks(root, {"HOME": str(root.parent)}))
        index = NoteIndex(self.store.files)
        meanings = (
            IndexedMeanings(index, self.store, small_embedder(root.parent / "model", ("motor", "engine")))
            if meaning
            else "No model is installed."
        )
        self.searching = Searching(self.store, index, meanings, DictClock(NOW_MS), caller or Caller())
        self._times = count(NOW_MS - 1_000_000)

    def put(self, title: str, body: str = "It is so.", **values: Any) -> str:
        return put(self.store, title, body, next(self._times), **values)

    def answer(self, query: str, **values: Any) -> SearchAnswer:
        return self.searching.search(SearchRequest(query, **values)).unwrap()

    def ids(self, query: str, **values: Any) -> list[str]:
        return [hit.listed.meta.id for hit in self.answer(query, **values).hits]


@pytest.fixture
def world(root: Path) -> World:
    return World(root)


@pytest.fixture
def meant_world(root: Path) -> World:
    return World(root, meaning=True)


def test_a_chance_word_scores_less_than_a_good_match(world: World) -> None:
    world.put("The zebra lock", "A migration of zebras.")
    world.put("Payments", "Stripe and refunds.")
    good, chance = world.answer("zebra lock"), world.answer("zebra stripe refund payments locking")
    assert good.hits[0].score > 0.99
    assert chance.hits[0].score < good.hits[0].score
    assert world.ids("zebra stripe refund payments locking", min_score=0.99) == []


def test_an_id_or_alias_in_the_query_comes_first(world: World) -> None:
    world.put("Zebra", "zebra " * 9)
    named = world.put("Other")
    aliased = world.put("Third", aliases=("id__zzzzz9",))
    assert world.ids(f"zebra {named} id__zzzzz9")[:2] == [named, aliased]
    assert world.answer(named).hits[0].score == 1.0


def test_neighbouring_turns_are_found_with_what_they_answer(world: World) -> None:
    def turn(number: int) -> dict[str, Any]:
        return {"sources": (Source(Harness.CODEX, "s1", turns=(number,)),)}

    asked = world.put("Which zebra?", **turn(4))
    answered = world.put("The striped one.", **turn(5))
    world.put("Later.", **turn(40))
    assert world.ids("zebra")[:2] == [asked, answered]


def test_what_is_superseded_is_below_its_successor_and_says_so(world: World) -> None:
    old = world.put("The port of the zebra service", "zebra port 8080")
    new = world.put("Zebra listens elsewhere", "It is 9090 now.", supersedes=(old,))
    hits = world.answer("port of the zebra service").hits
    assert [(hit.listed.meta.id, hit.superseded_by) for hit in hits] == [(new, None), (old, new)]


def test_meaning_finds_what_no_word_does_and_the_mode_that_answered_is_said(meant_world: World) -> None:
    world = meant_world
    meant = world.put("Engine", "The engine overheats.")
    for number in range(6):
        world.put(f"Garden {number}", f"Plant {number} grows.")
    assert world.ids("motor", mode=Mode.BM25) == []
    assert world.ids("motor", mode=Mode.HYBRID) == [meant]
    for mode in (Mode.HYBRID, Mode.SEMANTIC):
        answer = world.answer("motor", mode=mode)
        assert answer.hits[0].listed.meta.id == meant
        assert answer.mode is mode
        assert "meaning" in [part.name for part in answer.hits[0].parts]
        assert world.ids("sourdough bread", mode=mode) == []


def test_a_score_says_the_same_whatever_else_is_found(world: World) -> None:
    first = world.put("Lamp", "It needs oil.")
    (alone,) = world.answer("lamp wick oven").hits
    second = world.put("Lamp and wick", "It needs oil.")
    scores = {hit.listed.meta.id: hit.score for hit in world.answer("lamp wick oven").hits}
    assert scores[first] < scores[second] < 1
    assert scores[first] <= alone.score < 1


def test_without_a_model_words_answer_and_who_asked_for_meaning_is_told(world: World) -> None:
    world.put("Zebra")
    assert world.answer("zebra").mode is Mode.BM25
    assert world.answer("zebra").notices == ()
    asked = world.answer("zebra", mode=Mode.SEMANTIC)
    assert (asked.mode, asked.notices, len(asked.hits)) == (Mode.BM25, ("No model is installed.",), 1)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = World(tmp_path_factory.mktemp("home") / "memories", meaning=True)
    for number in range(12):
        title, body = f"Zebra {number} of C++ and 数据库", f"`lock_{number}` 🦓 naïve [[id__a1b2c3]]"
        world.put(title, body, kind=list(Kind)[number % 8])
    return world


@settings(max_examples=60)
@given(
    st.text(max_size=200)
    | st.text(st.sampled_from("zebra lok_C++#'\"*()-^:?数据🦓id__A1\x00\ud800\u202e"), max_size=60),
    st.sampled_from(Mode),
)
def test_any_text_is_a_query(asked: World, query: str, mode: Mode) -> None:
    answer = asked.answer(query, mode=mode)
    assert all(0 <= hit.score <= 1 for hit in answer.hits)


def test_a_note_that_cannot_be_read_any_more_is_told_p6(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, gone, kept = (world.put(title, "A zebra.") for title in ("Broken", "Gone", "Kept"))
    failures: dict[str, Error] = {
        broken: StoreIo("topics/broken.md", "read", "EIO", "Input/output error"),
        gone: EntryNotFound(gone),
    }
    read_again = world.store.read_again

    def failing(listed: Listed) -> Result[StoredEntry, Error]:
        return Failure(failures[listed.meta.id]) if listed.meta.id in failures else read_again(listed)

    monkeypatch.setattr(world.store, "read_again", failing)
    answer = world.answer("zebra")
    assert [hit.listed.meta.id for hit in answer.hits] == [kept]
    (notice,) = answer.notices
    assert notice.startswith("Could not read topics/broken.md: Input/output error")


def test_other_languages_are_found_as_far_as_the_model_knows_them(world: World, tmp_path: Path) -> None:
    embedder = small_embedder(tmp_path / "model", ("door", "porta"), ("cat", "gato"), ("house", "casa"))
    meanings = IndexedMeanings(world.searching.index, world.store, embedder)
    world.searching = evolve(world.searching, meanings=meanings)
    ids = [world.put(word, word) for word in ("porta", "gato", "casa")]
    for mode in (Mode.HYBRID, Mode.SEMANTIC):
        assert [world.ids(word, mode=mode)[0] for word in ("door", "cat", "house")] == ids
        assert "the model knows English" in world.answer("door", mode=mode).notices[0]
        assert world.answer("porta", mode=mode).notices == ()
    assert world.answer("door", mode=Mode.BM25).notices == ()
    nothing = world.answer("door", scope="github.com/ada/lamp")
    assert (nothing.hits, nothing.notices) == ((), ())


# -- the passage that a hit is shown with ------------------------------------------------------------------------------


FILLER = "Nothing of note happens in this sentence. " * 40


def passage(query: str, *texts: str) -> Snippet:
    return snippet_of(texts, {word.term: 1.0 for word in query_words(query)})


def marked(snippet: Snippet) -> list[str]:
    return [snippet.text[start:end] for start, end in snippet.marks]


def test_the_passage_is_around_the_densest_hits() -> None:
    body = f"The lock is mentioned here.\n\n{FILLER}\n\nA migration takes the zebra lock first.\n\n{FILLER}"
    found = passage("zebra lock migration", body)
    assert marked(found) == ["migration", "zebra", "lock"]
    assert found.text.startswith("…")
    assert found.text.endswith("…")
    assert len(found.text) <= SNIPPET_CHARS


def test_without_a_hit_the_beginning_of_what_there_is_is_shown() -> None:
    found = passage("absent", "", f"First sentence. {FILLER}")
    assert found.text.startswith("First sentence.")
    assert found.marks == ()
    assert len(found.text) <= SNIPPET_CHARS
    assert passage("absent", "", " \n") == Snippet("")


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("# Heading about zebras\n\ntext", "Heading about zebras text"),
        ("> quoted zebra", "quoted zebra"),
        ("| zebra | lock |\n|---|:--:|\n| 1 | 2 |", "zebra | lock 1 | 2"),
        ("zebra <!-- hidden --> shown", "zebra shown"),
        ("zebra\r\n\tindented", "zebra indented"),
    ],
)
def test_the_noise_of_markdown_and_what_is_hidden_is_left_out(body: str, shown: str) -> None:
    assert passage("zebra", body).text == shown

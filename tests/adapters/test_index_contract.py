"""What an index does."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from agent_memory.adapters.disk.locks import KernelLocks
from agent_memory.adapters.store.note_index import NoteIndex, note_index
from agent_memory.adapters.store.store_files import StoreFiles
from agent_memory.domain.searching.search import Matches, NoteLink, Relation, SearchRequest
from agent_memory.domain.searching.terms import query_words
from agent_memory.ports import Store

A, B, C, D = "id__aaaaaa", "id__bbbbbb", "id__cccccc", "id__dddddd"
LIVE_NOTES = SearchRequest("")
EVERY_NOTE = SearchRequest("", archived=True)


class World:
    """A store and an index over it."""

    def __init__(self, store: Store, index: NoteIndex, root: Path) -> None:
        self.store = store
        self.index = index
        self._root = root

    def put(self, id: str, text: str, name: str = "note", **keys: object) -> None:
        """What a person does with an editor."""
        more = "".join(f"{key}: {value}\n" for key, value in keys.items())
        path = f"topics/{name} -- {id}.md"
        content = f"---\nid: {id}\ncreatedAt: 1771000205123\n{more}---\n{text}\n"
        (self._root / "topics").mkdir(parents=True, exist_ok=True)
        (self._root / path).write_text(content, encoding="utf-8")

    def refresh(self) -> None:
        self.index.refresh().unwrap()

    def match(self, query: str, among: SearchRequest = LIVE_NOTES, limit: int = 10) -> Matches:
        return self.index.match(query_words(query), limit, among).unwrap()

    def found(self, query: str, among: SearchRequest = LIVE_NOTES, limit: int = 10) -> list[str]:
        """Ids, the best first."""
        return self.ids(self.match(query, among, limit).scores)

    def ids(self, numbers: Iterable[int]) -> list[str]:
        wanted = list(numbers)
        notes = self.index.notes(wanted).unwrap()
        return [notes[number].meta.id for number in wanted]

    def number(self, id: str) -> int:
        return self.index.numbers_of([id]).unwrap()[id]


@pytest.fixture
def world(root: Path) -> World:
    return World(StoreFiles(root, KernelLocks(root)), note_index(root), root)


# -- words ------------------------------------------------------------------------------------------------------------


def test_what_only_resembles_a_word_never_outranks_the_word(world: World) -> None:
    world.put(A, "authentication " * 20, title="Authentication authentication")
    world.put(B, "In a very long note, among much else that is not to the point at all, auth is said once. " * 3)
    world.refresh()
    assert world.found("auth") == [B, A]


def test_a_slip_finds_the_word_only_where_no_note_has_the_slip(world: World) -> None:
    world.put(A, "kubernetes cluster")
    world.refresh()
    assert world.found("kubernetse") == [A]
    world.put(B, "kubernetse is how some write it")
    world.refresh()
    assert world.found("kubernetse") == [B]


def test_the_parts_of_a_match_sum_up_to_the_score(world: World) -> None:
    world.put(A, "zebra lock migration", title="On zebras")
    world.put(B, "lockers and locksmiths")
    world.refresh()
    matches = world.match("zebra lock")
    for number, score in matches.scores.items():
        assert sum(part.value for part in matches.parts(number)) == pytest.approx(score)
    [of_b] = matches.parts(world.number(B))
    assert of_b.term == "lock" != of_b.found
    assert matches.parts(10**6) == ()


# -- changes ----------------------------------------------------------------------------------------------------------


def test_nothing_of_a_secret_note_is_in_the_index_p20(world: World) -> None:
    world.put(A, "zebra", title="Zebra", sensitivity="secret")
    world.put(B, "zebra", title="Zebra", sensitivity="private")
    world.refresh()
    assert world.found("zebra") == [B]
    assert world.index.numbers_of([A]).unwrap() == {}
    assert len(world.index.among(EVERY_NOTE).unwrap()) == 1


# -- filters ----------------------------------------------------------------------------------------------------------


def test_a_filter_that_is_no_text_lets_nothing_through(world: World) -> None:
    world.put(A, "zebra")
    world.refresh()
    for among in (
        SearchRequest("", session="\udcff"),
        SearchRequest("", tags=("\udcff",)),
        SearchRequest("", scopes=frozenset({"\udcff"})),
    ):
        assert world.found("zebra", among) == []
    assert world.index.numbers_of(["\udcff"]).unwrap() == {}


# -- places and links -------------------------------------------------------------------------------------------------


def test_links_lead_both_ways_and_through_aliases(world: World) -> None:
    world.put(A, f"see [[{B}]] and [[id__zzzzzz]] and [[{A}]]")
    world.put(B, "text", aliases=f"[{D}]")
    world.put(C, f"see [[{D}]]", supersedes=f"[{A}]")
    world.refresh()
    a, b, c = map(world.number, (A, B, C))
    to_b = {NoteLink(a, b, Relation.LINKS), NoteLink(c, b, Relation.LINKS)}
    assert set(world.index.links([b]).unwrap()) == to_b
    of_a = {NoteLink(a, b, Relation.LINKS), NoteLink(c, a, Relation.SUPERSEDES)}
    assert set(world.index.links([a]).unwrap()) == of_a
    assert world.number(D) == b


# -- vectors ----------------------------------------------------------------------------------------------------------


def test_vectors_stay_with_their_notes(world: World) -> None:
    world.put(A, "one")
    world.put(B, "two")
    world.refresh()
    a, b = world.number(A), world.number(B)
    world.index.put_vectors("m", {a: b"aa", b: b"bb", 10**6: b"xx"}).unwrap()
    assert vectors(world, "m") == {a: b"aa", b: b"bb"}
    world.put(A, "something new")
    world.refresh()
    assert vectors(world, "m") == {b: b"bb"}
    assert world.index.without_vector("m").unwrap() == (world.number(A),)
    world.index.put_vectors("other", {b: b"b2"}).unwrap()
    assert vectors(world, "m") == {}
    assert vectors(world, "other") == {b: b"b2"}


def vectors(world: World, model: str) -> dict[int, bytes]:
    """By number."""
    found = world.index.vectors(model).unwrap()
    return dict(found)

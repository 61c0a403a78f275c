"""What an index does."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.adapters.disk.locks import KernelLocks
from agent_memory.adapters.store.note_index import NoteIndex, note_index
from agent_memory.adapters.store.store_files import StoreFiles
from agent_memory.domain.searching.search import Matches, NearNote, NoteLink, Relation, SearchRequest
from agent_memory.domain.searching.terms import query_words
from agent_memory.domain.vocabulary import Kind
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


@pytest.mark.parametrize(
    "query", ["zebra migration", "ZEBRAS migrating", "Zébra, \"migrations'", "zebra\x00migration?"]
)
def test_a_note_is_found_by_any_form_of_its_words(world: World, query: str) -> None:
    world.put(A, "The migration of the zebra table.")
    world.put(B, "Something else.")
    world.refresh()
    assert world.found(query) == [A]


@pytest.mark.parametrize(
    ("text", "query", "missed"),
    [
        ("We build it in C++ here.", "C++", "We build it in Rust here."),
        ("Secrets live in .env files.", ".env", "Secrets live in files."),
        ("call retryPolicy() first", "retry_policy", "call it first"),
        ("see src/agent_memory/ports.py", "ports.py", "see the harbour"),
        ("東京都庁の会議", "京都", "大阪の会議"),
        ("東京都庁の会議", "庁", "大阪の会議"),
        ("ship it 🚀 today", "🚀", "ship it today"),
        ("it took 300 ms", "300ms", "it took long"),
        ("decisão sobre migração", "decisao migracao", "sobre outra coisa"),
        ("to be or not to be", "to be", "question"),
    ],
)
def test_identifiers_and_scripts_are_found(world: World, text: str, query: str, missed: str) -> None:
    world.put(A, text)
    world.put(B, missed)
    world.refresh()
    assert world.found(query) == [A]


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


@pytest.mark.parametrize(
    "among",
    [
        SearchRequest("", kind=Kind.TASK),
        SearchRequest("", tags=("topic__x",)),
        SearchRequest("", tags=("x", "nothing")),
        SearchRequest("", scopes=frozenset({"github.com/o/r"})),
        SearchRequest("", since_ms=1771000205124),
        SearchRequest("", session="T-1"),
        SearchRequest("", agent="amp"),
        SearchRequest("", agent="oracle"),
    ],
)
def test_a_filter_lets_through_what_it_says(world: World, among: SearchRequest) -> None:
    source = "{harness: amp, threadId: T-1, agent: oracle, turns: [3]}"
    world.put(
        A,
        "zebra",
        kind="task",
        tags="[topic__x]",
        scope="github.com/o/r",
        updatedAt=1771000205124,
        sensitivity="private",
        sources=f"\n  - {source}",
    )
    world.put(B, "zebra", tags="[area__y]", sources="\n  - {harness: codex, threadId: T-2}")
    world.refresh()
    assert world.found("zebra", among) == [A]
    assert world.index.among(among).unwrap() == {world.number(A)}
    assert sorted(world.found("zebra")) == [A, B]


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


def source(session: str, *turns: int) -> str:
    return f"\n  - {{harness: amp, threadId: {session}, turns: [{', '.join(map(str, turns))}]}}"


def test_notes_of_neighbouring_turns_are_near(world: World) -> None:
    world.put(A, "one", sources=source("T-1", 3))
    world.put(B, "two", sources=source("T-1", 1, 5))
    world.put(C, "three", sources=source("T-1", 9))
    world.put(D, "four", sources=source("T-2", 3))
    world.refresh()
    a, b, c = map(world.number, (A, B, C))
    (near,) = world.index.near([a, c], 2).unwrap()
    assert near == NearNote(a, b, 2, near.terms)
    assert near.terms > 0


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


WORDS = (
    "zebra",
    "zebras",
    "zeb",
    "lock",
    "locker",
    "retry_policy",
    "C++",
    "the",
    "of",
    "東京都",
    "migrat",
    "migration",
)


# -- any question at all ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small_index(tmp_path_factory: pytest.TempPathFactory) -> NoteIndex:
    root = tmp_path_factory.mktemp("asked") / "memories"
    world = World(StoreFiles(root, KernelLocks(root)), note_index(root), root)
    for letter, text in zip("abcdef", WORDS, strict=False):
        world.put(f"id__{letter * 6}", f"{text} {' '.join(WORDS)}", title=f'"{text}"')
    world.refresh()
    assert isinstance(world.index, NoteIndex)
    return world.index


def ask(index: NoteIndex, query: str) -> Matches:
    return index.match(query_words(query), 10, LIVE_NOTES).unwrap()


@settings(max_examples=200)
@given(query=st.text(max_size=60) | st.text("abz\"'*()-:^{}[]~?%_\\ \x00\n", max_size=60))
def test_no_question_is_an_error(small_index: NoteIndex, query: str) -> None:
    matches = ask(small_index, query)
    assert all(score > 0 for score in matches.scores.values())
    assert len(ask(small_index, f"zebra {query}").scores) == 6

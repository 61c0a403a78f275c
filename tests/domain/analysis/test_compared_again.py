"""What was known of another state of a store makes no difference in what comparing its notes finds, but in the time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings, strategies as st

from agent_memory.domain.analysis import gathering, likeness
from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.analysis.compared import NOTHING, Compared, compare
from agent_memory.domain.analysis.gathered import Gathered, numbers_in
from agent_memory.domain.analysis.gathering import Gathering
from agent_memory.domain.analysis.likened import LikenedPair
from agent_memory.domain.analysis.noticed import noticed_in
from agent_memory.domain.analysis.vocabulary import UNUSED, Vocabulary
from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.findings import Finding, FindingKind
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.vocabulary import Kind, Sensitivity
from analysed_notes import FACTS, NOON_MS, REPO, note, written
from packed_notes import packed

IDS = tuple(f"id__ccccc{n}" for n in "123456789abcdef")
SCOPES = ("global", REPO, "github.com/dana/letters")
WORDS = (
    *("anchor", "basin", "crane", "dredger", "engine", "ferry", "gantry", "harbour", "island", "jetty", "keel"),
    *("lantern", "mooring", "`north()`", "8080"),
)
CLAIMS = (
    "The lamp server listens on port 8080.",
    "The lamp server listens on port 9090.",
    "Never deploy on Fridays.",
    "Deploy on Fridays.",
    "See [[id__ccccc1]].",
)
TITLES = ("Port of the lamp server", "Anchor basin crane", "Crane and basin of the harbour", "x")

Store = Mapping[str, StoredEntry]


@st.composite
def notes(draw: st.DrawFn, id: str) -> StoredEntry:
    """A note that says much of what others say, in nearly the same words."""
    first = draw(st.integers(0, 3))
    said = [*WORDS[first : first + draw(st.integers(3, 12))], *draw(st.lists(st.sampled_from(WORDS), max_size=2))]
    title, body = (
        draw(st.sampled_from(TITLES)),
        "\n".join([" ".join(said), *draw(st.lists(st.sampled_from(CLAIMS), max_size=1))]),
    )
    meta: dict[str, Any] = {
        "scope": draw(st.sampled_from(SCOPES)),
        "kind": draw(st.sampled_from([Kind.FACT, Kind.FACT, Kind.HANDOFF])),
        "tags": draw(st.sampled_from([(), ("topic__crane", "topic__basin")])),
        "sensitivity": draw(st.sampled_from([*[Sensitivity.NORMAL] * 7, Sensitivity.SECRET])),
        "supersedes": draw(st.sampled_from([(), (), IDS[:1]])),
        "updated_at_ms": NOON_MS - draw(st.integers(0, 2)) * DAY_MS,
        "expires_at_ms": draw(st.sampled_from([None, None, NOON_MS - 1])),
    }
    stored = note(title, body, id=id, created_at_ms=NOON_MS - 400 * DAY_MS, **meta)
    content = "\n".join(map(repr, (title, body, *meta.values())))
    return evolve(stored, listed=evolve(stored.listed, content_hash=content))


def _moved(stored: StoredEntry, scope: str) -> StoredEntry:
    listed = stored.listed
    content_hash = f"{listed.content_hash} in {scope}"
    return evolve(stored, listed=evolve(listed, meta=evolve(listed.meta, scope=scope), content_hash=content_hash))


@st.composite
def changed(draw: st.DrawFn, store: Store) -> Store:
    """A store after notes came, went, and became others: under the same id with another text, scope, kind or tags."""
    others = dict(store)
    for id in draw(st.lists(st.sampled_from(IDS), min_size=1, max_size=4, unique=True)):
        match draw(st.sampled_from(["gone", "moved", "moved", "other"])):
            case "gone" if id in others:
                del others[id]
            case "moved" if id in others:
                others[id] = _moved(others[id], draw(st.sampled_from(SCOPES)))
            case _:
                others[id] = draw(notes(id))
    return others


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[Store, AnalysisFacts]]:
    """States of one store, one after the other."""
    store: Store = {id: draw(notes(id)) for id in draw(st.lists(st.sampled_from(IDS), unique=True, max_size=len(IDS)))}
    states = [store]
    for _ in range(draw(st.integers(1, 3))):
        states.append(draw(changed(states[-1])))
    left = st.sets(st.sampled_from(IDS), max_size=2).map(frozenset)
    return [(each, evolve(FACTS, left_alone=draw(left))) for each in states]


def compared(store: Store, facts: AnalysisFacts, before: Gathered = NOTHING) -> tuple[Compared, Gathered]:
    """With what is known of another state of the store."""
    words = Vocabulary(before.words)
    live = [each.listed for each in store.values()]
    slots = before.recognised(live)
    known = Gathering(before, slots, words)
    for each in store.values():
        if each.meta.id not in slots:
            known.add(each.listed, noticed_in(each, words))
    return compare(packed(live), known.slots, known.noticed, words, facts, known.gathered)


def by_likeness(compared: Compared) -> list[Finding]:
    return sorted(compared.findings, key=lambda each: (each.kind, each.ids, each.reason))


def same_as_anew(history: list[tuple[Store, AnalysisFacts]]) -> set[FindingKind]:
    """The kinds of what is found in all states together, each of which is compared by what is known of the one before it."""
    known, kinds = NOTHING, set[FindingKind]()
    for store, facts in history:
        found, known = compared(store, facts, written(known))
        anew, known_anew = compared(store, facts)
        assert by_likeness(found) == by_likeness(anew)
        assert found.outlines == anew.outlines
        assert told(known, store) == told(known_anew, store)
        kinds |= {each.kind for each in found.findings}
    return kinds


def told(known: Gathered, store: Store) -> object:
    """All that is known, in words and ids instead of numbers and slots."""
    slots = known.recognised([each.listed for each in store.values()])
    ids = {slot: id for id, slot in slots.items()}
    likened = known.likened

    def in_words(numbers: Iterable[int]) -> list[str]:
        return [known.words[number] for number in numbers]

    return (
        {word: times for word, times in zip(known.words, known.named, strict=True) if word != UNUSED},
        {id: sorted(in_words(numbers_in(known.noticed(slot)))) for id, slot in slots.items()},
        {ids[slot] for slot in likened.slots},
        {
            known.words[number]: sorted(ids[slot] for slot in likened.holders.row(number))
            for number in range(len(likened.holders))
            if likened.holders.size(number)
        },
        {ids[slot]: in_words(likened.probed.row(slot)) for slot in likened.slots},
        sorted((ids[each.one], ids[each.other], each.jaccard, each.is_near) for each in likened.pairs),
    )


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(histories(), st.sampled_from([1, 2, 3, 5_000]))
def test_what_is_known_of_the_store_as_it_was_makes_no_difference(
    history: list[tuple[Store, AnalysisFacts]], at_once: int
) -> None:
    """However many notes are put into columns at once."""
    with pytest.MonkeyPatch.context() as limits:
        limits.setattr(gathering, "AT_ONCE", at_once)
        same_as_anew(history)


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
@given(histories(), st.integers(1, 4), st.integers(1, 2))
def test_nor_where_an_entry_is_compared_with_some_of_many_only(
    history: list[tuple[Store, AnalysisFacts]], looked_at: int, alike: int
) -> None:
    with pytest.MonkeyPatch.context() as limits:
        limits.setattr(likeness, "_MOST_LOOKED_AT", looked_at + 1)
        limits.setattr(likeness, "_MOST_COMPARED", looked_at)
        limits.setattr(likeness, "_MOST_ALIKE", alike)
        same_as_anew(history)


def _store(*bodies: str, sensitivity: Sensitivity = Sensitivity.NORMAL) -> Store:
    stored = [note(body, body, id=id, sensitivity=sensitivity) for id, body in zip(IDS, bodies, strict=False)]
    return {each.meta.id: evolve(each, listed=evolve(each.listed, content_hash=each.body)) for each in stored}


ALIKE = (" ".join(WORDS[:9]), " ".join(WORDS[:10]), "quay rope sail tiller umbrella valve", "wharf yawl zinc oar pier")


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many notes were compared with others each time."""
    numbers: list[int] = []
    pairs: Any = likeness._Comparison.pairs

    def noted(self: object, slots: Collection[int]) -> Iterator[LikenedPair]:
        numbers.append(len(slots))
        yield from pairs(self, slots)

    monkeypatch.setattr(likeness._Comparison, "pairs", noted)
    return numbers


def test_only_what_has_to_do_with_a_change_is_compared_again(looked_up: list[int]) -> None:
    store = _store(*ALIKE)
    first, known = compared(store, FACTS)
    assert looked_up == [4], "positive control: anew"
    assert FindingKind.NEAR_DUPLICATE in {each.kind for each in first.findings}
    again, same = compared(store, FACTS, known)
    assert again == first
    assert same is known
    assert looked_up == [4]
    after = {**store, IDS[3]: _store(*ALIKE[:3], "wharf yawl zinc oar bell")[IDS[3]]}
    found, _ = compared(after, FACTS, known)
    assert looked_up == [4, 1]
    assert found.findings == first.findings


def test_an_entry_that_says_the_same_in_another_scope_is_compared_with_what_holds_there() -> None:
    store = _store(*ALIKE)
    elsewhere = {**store, IDS[1]: _moved(store[IDS[1]], SCOPES[2])}
    first, known = compared(elsewhere, FACTS)
    assert first.findings == ()
    found, _ = compared(store, FACTS, known)
    assert [(each.kind, set(each.ids)) for each in found.findings] == [(FindingKind.NEAR_DUPLICATE, {IDS[0], IDS[1]})]


def test_what_an_entry_was_alike_to_goes_with_it(looked_up: list[int]) -> None:
    store = _store(*ALIKE)
    _, known = compared(store, FACTS)
    found, _ = compared({id: each for id, each in store.items() if id != IDS[1]}, FACTS, known)
    assert found.findings == ()
    assert looked_up == [4, 1]


def test_a_file_that_gives_its_name_to_a_note_is_noticed_again_where_it_is_renamed() -> None:
    store = _store(*ALIKE)
    _, known = compared(store, FACTS)
    listed = store[IDS[0]].listed
    assert known.recognised([listed]) == {IDS[0]: 0}, "positive control"
    assert known.recognised([evolve(listed, path="topics/Another title.md")]) == {}


def test_a_slot_is_used_again_and_words_that_went_with_a_note_are_not_kept() -> None:
    store = _store(*ALIKE)
    _, known = compared(store, FACTS)
    assert "zinc" in known.words, "positive control"
    _, without = compared({id: each for id, each in store.items() if id != IDS[3]}, FACTS, known)
    assert "zinc" not in without.words
    _, after = compared(_store(*ALIKE[:3], "quern rope sail"), FACTS, without)
    assert len(after.marks) == len(known.marks)
    assert len(after.words) <= len(known.words)


def test_no_word_and_no_likeness_of_a_secret_note_is_in_what_is_kept_p20() -> None:
    secret = _store(*ALIKE[:2], "tangerine", sensitivity=Sensitivity.SECRET)
    store = {**_store(*ALIKE), IDS[1]: secret[IDS[1]], IDS[4]: evolve(secret[IDS[2]], listed=_listed(secret))}
    found, known = compared(store, FACTS)
    assert any(IDS[1] in each.ids for each in found.findings), "positive control: it is told"
    plain = {IDS[0], IDS[2], IDS[3]}
    assert known.recognised([each.listed for each in store.values()]).keys() == plain
    assert known.likened.pairs == ()
    assert not {"tangerin", "tangerine", "jetty"}.intersection(known.words)
    assert "anchor" in known.words
    assert told(known, store) == told(compared({id: store[id] for id in plain}, FACTS)[1], store)


def _listed(store: Store) -> Listed:
    listed = store[IDS[2]].listed
    return evolve(listed, meta=evolve(listed.meta, id=IDS[4]), path=f"topics/{IDS[4]}.md")

"""What was known of another state of a store makes no difference in what comparing its notes finds, but in the time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings, strategies as st

from agent_memory.domain.analysis import likeness
from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.analysis.compared import Compared, compare
from agent_memory.domain.analysis.features import Features
from agent_memory.domain.analysis.likened import NOTHING, Likened
from agent_memory.domain.analysis.noticed import noticed_in
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.findings import FindingKind
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.vocabulary import Kind, Sensitivity
from agent_memory.formats.likened_file import parse_likened, render_likened
from analysed_notes import FACTS, NOON_MS, REPO, note

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


def compared(store: Store, facts: AnalysisFacts, known: Likened = NOTHING, first: str = "") -> tuple[Compared, Likened]:
    """With a vocabulary of its own, in which `first` has the first number."""
    words = Vocabulary()
    words.number(first)
    looked_at = [(each.listed, noticed_in(each, words)) for each in store.values()]
    return compare(looked_at, words, facts, lambda: known)


def written(likened: Likened) -> Likened:
    read = parse_likened("1", render_likened("1", likened))
    assert read is not None
    return read


def same_as_anew(history: list[tuple[Store, AnalysisFacts]]) -> set[FindingKind]:
    """The kinds of what is found in all states together, each of which is compared by what is known of the one before it."""
    known, kinds = NOTHING, set[FindingKind]()
    for number, (store, facts) in enumerate(history):
        found, known = compared(store, facts, written(known), WORDS[number])
        anew, known_anew = compared(store, facts)
        assert found == anew
        assert [each.ids for each in found.findings] == [each.ids for each in anew.findings]
        assert written(known) == written(known_anew)
        kinds |= {each.kind for each in found.findings}
    return kinds


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(histories())
def test_what_is_known_of_the_store_as_it_was_makes_no_difference(history: list[tuple[Store, AnalysisFacts]]) -> None:
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
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of entries that were compared with others."""
    ids: list[str] = []
    candidates = likeness._candidates

    def noted(position: int, entry: Features, *others: object) -> list[int]:
        ids.append(entry.id)
        look_up: Callable[..., list[int]] = candidates
        return look_up(position, entry, *others)

    monkeypatch.setattr(likeness, "_candidates", noted)
    return ids


def test_only_what_has_to_do_with_a_change_is_compared_again(looked_up: list[str]) -> None:
    store = _store(*ALIKE)
    first, known = compared(store, FACTS)
    assert sorted(looked_up) == sorted(store), "positive control: anew"
    assert FindingKind.NEAR_DUPLICATE in {each.kind for each in first.findings}
    looked_up.clear()
    assert compared(store, FACTS, known) == (first, known)
    assert looked_up == []
    after = {**store, IDS[3]: _store(*ALIKE[:3], "wharf yawl zinc oar bell")[IDS[3]]}
    found, _ = compared(after, FACTS, known)
    assert looked_up == [IDS[3]]
    assert found.findings == first.findings


def test_an_entry_that_says_the_same_in_another_scope_is_compared_with_what_holds_there() -> None:
    store = _store(*ALIKE)
    elsewhere = {**store, IDS[1]: _moved(store[IDS[1]], SCOPES[2])}
    first, known = compared(elsewhere, FACTS)
    assert first.findings == ()
    found, _ = compared(store, FACTS, known)
    assert [(each.kind, set(each.ids)) for each in found.findings] == [(FindingKind.NEAR_DUPLICATE, {IDS[0], IDS[1]})]


def test_what_an_entry_was_alike_to_goes_with_it(looked_up: list[str]) -> None:
    store = _store(*ALIKE)
    _, known = compared(store, FACTS)
    looked_up.clear()
    found, _ = compared({id: each for id, each in store.items() if id != IDS[1]}, FACTS, known)
    assert found.findings == ()
    assert looked_up == [IDS[0]]


def test_no_word_and_no_likeness_of_a_secret_note_is_in_what_is_kept_p20() -> None:
    secret = _store(*ALIKE[:2], "tangerine", sensitivity=Sensitivity.SECRET)
    store = {**_store(*ALIKE), IDS[1]: secret[IDS[1]], IDS[4]: evolve(secret[IDS[2]], listed=_listed(secret))}
    found, known = compared(store, FACTS)
    assert any(IDS[1] in each.ids for each in found.findings), "positive control: it is told"
    assert set(known.ids) == {IDS[0], IDS[2], IDS[3]}
    assert known.pairs == ()
    assert not {"tangerin", "tangerine"}.intersection(known.words)
    assert "jetty" not in known.words
    assert "anchor" in known.words
    assert known == compared({id: store[id] for id in known.ids}, FACTS)[1]


def _listed(store: Store) -> Listed:
    listed = store[IDS[2]].listed
    return evolve(listed, meta=evolve(listed.meta, id=IDS[4]))

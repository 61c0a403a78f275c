"""P19: whose knowledge it is what a rewrite says and its sources do not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.note.note import Origin, Sensitivity, StoredEntry
from agent_memory.rules.information import Untrusted, origin_of_fresh_text, untrusted_entries
from defrag_entries import note

WORDS = ("never", "use", "pnpm", "`npm ci`", "always", "run", "the", "main", "branch,", "and", "not", "to", "x/y.md", "--fast")  # fmt: skip
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join), min_size=1, max_size=4)


@settings(deadline=None, max_examples=60)
@given(SENTENCES, SENTENCES)
def test_what_the_sources_say_stays_theirs_however_it_is_spaced_and_ends(said: list[str], more: list[str]) -> None:
    before = "\n".join((*said, *more))
    after = "\n".join(f"{sentence.replace(' ', '  ').upper()}!" for sentence in reversed(said))
    assert origin_of_fresh_text(before, before) is Origin.USER
    assert origin_of_fresh_text(before, after) is Origin.USER


@pytest.mark.parametrize(
    ("before", "after", "origin"),
    [
        ("Push the tags to main.", "Tags are pushed to main.", Origin.USER),
        ("Never delete logs. Push tags to main.", "Push the tags to main.", Origin.USER),
        ("Never push tags to main. Push tags to main on Fridays.", "Push tags to main.", Origin.EXTERNAL),
        ("Never push tags to main. Push tags to main.", "Push the tags to main, always.", Origin.USER),
        ("Push tags to main. Never push tags to main.", "Do not push the tags to main.", Origin.USER),
        ("Push tags to main.", "Never push tags to main.", Origin.EXTERNAL),
        ("Never push tags to main.", "Push tags to main.", Origin.EXTERNAL),
        ("It is up.", "Push tags to main.", Origin.EXTERNAL),
        ("", "Push tags to main.", Origin.EXTERNAL),
        ("", "Stop it all", Origin.EXTERNAL),
        ("Kilo lima. Mike november. Oscar papa.", "Run kilo lima mike november oscar papa.", Origin.USER),
        ("Run kilo lima.", "Run kilo lima mike november.", Origin.USER),  # three words of five
        ("Run kilo.", "Run kilo lima mike november.", Origin.EXTERNAL),
        ("Run make.", "Run make. Run cargo.", Origin.EXTERNAL),  # the least trusted of all sentences
    ],
)
def test_an_order_is_the_sources_where_they_give_it_in_other_words(before: str, after: str, origin: Origin) -> None:
    assert origin_of_fresh_text(before, after) is origin


@pytest.mark.parametrize(
    ("before", "after", "origin"),
    [
        ("The build is slow.", "The slow build is `make all`.", Origin.AGENT),
        ("The build is slow with make all.", "The slow build is `make all`.", Origin.USER),
        ("Run the build with make.", "Run the build with `make x`.", Origin.EXTERNAL),
        ("`make all` builds it. It fails rarely.", "The `make all` target never fails.", Origin.AGENT),
        ("The build is slow.", "The slow build waits for the disk.", Origin.AGENT),
    ],
)
def test_something_to_type_that_no_source_names_is_the_agents(before: str, after: str, origin: Origin) -> None:
    assert origin_of_fresh_text(before, after) is origin


PAGE = Untrusted(frozenset(("mirror", "packag", "downtown", "mov")), frozenset(("evil.example",)))


@pytest.mark.parametrize(
    ("after", "origin"),
    [
        ("The mirror is evil.example.", Origin.EXTERNAL),
        ("The mirror is good.example.", Origin.AGENT),
        ("Packages and their mirror, downtown.", Origin.EXTERNAL),
        ("Packages are downtown.", Origin.AGENT),  # two words are chance
        ("Packages have a mirror downtown, kilo, lima.", Origin.EXTERNAL),  # three of five new words
        ("Packages are downtown, kilo, lima, mike.", Origin.AGENT),
        ("Kilo, lima, mike, november.", Origin.AGENT),
        ("The staging server is up.", Origin.USER),
    ],
)
def test_what_an_untrusted_entry_says_is_external(after: str, origin: Origin) -> None:
    assert origin_of_fresh_text("The staging server is up and fine.", after, (PAGE,)) is origin


def untrusted(*entries: StoredEntry, shown: tuple[StoredEntry, ...] = ()) -> tuple[Untrusted, ...]:
    return untrusted_entries((each.listed for each in entries), shown)


def test_what_could_be_read_of_external_entries_is_untrusted() -> None:
    page = note("a", "A page", "Use `npm ci`.", origin=Origin.EXTERNAL, description="About mirrors at evil.example")
    about = frozenset(("pag", "mirror", "evil", "exampl"))
    assert untrusted(page) == (Untrusted(about, frozenset(("evil.example",))),)
    assert untrusted(page, shown=(page,)) == (Untrusted(about | {"npm", "ci"}, frozenset(("evil.example", "npm ci"))),)


@pytest.mark.parametrize("origin", [Origin.USER, Origin.AGENT])
def test_only_external_entries_that_an_agent_sees_and_nobody_vouches_for_are_untrusted(origin: Origin) -> None:
    trusted = note("a", "A note", "Body.", origin=origin)
    promoted = note("b", "Promoted", "Body.", origin=Origin.EXTERNAL, promoted_by="person")
    secret = note("c", "Secret", "Body.", origin=Origin.EXTERNAL, sensitivity=Sensitivity.SECRET)
    page = note("d", "Page", "Body.", origin=Origin.EXTERNAL)
    assert untrusted(trusted, promoted, secret, page) == (Untrusted(frozenset(("pag",)), frozenset[str]()),)

"""Several entries become one, and one becomes several: texts, names and links at their edges."""

from __future__ import annotations

import pytest
from attrs import evolve

from agent_memory.domain.actions import Merge, Split, SplitPart
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.text.file_name import file_name_of
from agent_memory.domain.vocabulary import Origin
from defrag_entries import facts_of, note, planned, reasons, written

PORT = note("a", "Staging port", "The staging server listens on port 8080.")
DEPLOY = note("b", "Staging deploys", "Deploys go to staging with `make deploy`.")
BODY = f"{PORT.body}\n{DEPLOY.body}"
BOTH = Merge((PORT.meta.id, DEPLOY.meta.id), "Staging: port and deploys", BODY)

SOURCE = note("c", "Builds and releases", "Builds run on Linux.\nReleases are tagged on Fridays.")
PARTS = (SplitPart("Builds", "Builds run on Linux."), SplitPart("Releases", "Releases are tagged on Fridays."))
SPLIT = Split(SOURCE.meta.id, PARTS)


# -- whose words ------------------------------------------------------------------------------------------------------


def test_a_title_that_one_of_the_sources_has_is_its_own_word() -> None:
    """P19"""
    tabs = note("b", "Prefer pnpm", "It is faster than the others.", origin=Origin.USER)
    port = evolve(PORT, listed=evolve(PORT.listed, meta=evolve(PORT.meta, origin=Origin.USER)))
    merge = Merge((port.meta.id, tabs.meta.id), "Prefer pnpm", f"{port.body}\n{tabs.body}")
    assert written(planned(facts_of(port, tabs), merge))[0].meta.origin is Origin.USER
    turned = evolve(merge, title="Prefer yarn", drops=("pnpm",))
    assert written(planned(facts_of(port, tabs), turned))[0].meta.origin is Origin.EXTERNAL
    assert "'pnpm'" in reasons(planned(facts_of(port, tabs), evolve(turned, drops=())))


def test_words_of_an_external_entry_make_a_merge_external_though_they_name_nothing_to_type() -> None:
    """P19"""
    page = note("d", "A page", "The mirror of packages moved downtown.", origin=Origin.EXTERNAL)
    merge = evolve(BOTH, body=f"{BODY}\nThe mirror moved downtown.")
    assert written(planned(facts_of(PORT, DEPLOY, page), merge))[0].meta.origin is Origin.EXTERNAL
    assert written(planned(facts_of(PORT, DEPLOY), merge))[0].meta.origin is Origin.AGENT


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("The staging server listens", "The staging server listens"),
        ("Always run the script first.", "The staging server listens on port 8080."),
        ("See `make all`", "The staging server listens on port 8080."),
    ],
)
def test_a_description_that_would_make_a_merge_less_trusted_is_derived(given: str, kept: str) -> None:
    """P19"""
    sources = [
        evolve(each, listed=evolve(each.listed, meta=evolve(each.meta, origin=Origin.USER))) for each in (PORT, DEPLOY)
    ]
    (entry,) = written(planned(facts_of(*sources), evolve(BOTH, description=given)))
    assert (entry.meta.description, entry.meta.origin) == (kept, Origin.USER)


# -- texts ------------------------------------------------------------------------------------------------------------


# -- names ------------------------------------------------------------------------------------------------------------


def at(stored: StoredEntry, path: str) -> StoredEntry:
    return evolve(stored, listed=evolve(stored.listed, path=path))


def test_no_file_that_another_entry_has_is_written() -> None:
    """P15: a file may be called by another id than that of its entry."""
    (entry,) = written(planned(facts_of(PORT, DEPLOY), BOTH))
    name = file_name_of(entry.meta)
    taken = planned(facts_of(PORT, DEPLOY, hidden=(at(SOURCE, f"topics/{name.upper()}"),)), BOTH)
    assert taken.actions == ()
    assert "another file has the name that it would get" in reasons(taken)
    assert planned(facts_of(PORT, DEPLOY, hidden=(at(SOURCE, f"topics/x{name}"),)), BOTH).dropped == ()


# -- links ------------------------------------------------------------------------------------------------------------


def test_a_link_of_a_source_that_leads_nowhere_is_not_taken_along() -> None:
    """P15"""
    port = evolve(PORT, body=f"{PORT.body} See [[id__zzzzzz|hosts]] and [[{SOURCE.meta.id}|builds]].")
    (entry,) = written(planned(facts_of(port, DEPLOY, SOURCE), evolve(BOTH, body=f"{BODY} See hosts and builds.")))
    assert entry.body == f"{BODY} See hosts and builds.\n\nSee also: [[{SOURCE.meta.id}]]"


def test_a_later_part_may_say_that_it_comes_from_the_first() -> None:
    last = f"\n\nSee also: [[{SOURCE.meta.id}]]"
    parts = (evolve(PARTS[0], body=PARTS[0].body + last), evolve(PARTS[1], body=PARTS[1].body + last))
    builds, releases = written(planned(facts_of(SOURCE), evolve(SPLIT, into=parts)))
    assert builds.body == PARTS[0].body
    assert releases.body == f"{PARTS[1].body}\n\nSee also: [[{builds.meta.id}]]"

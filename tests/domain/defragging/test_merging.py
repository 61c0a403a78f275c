"""Several entries become one, and one becomes several: texts, names and links at their edges."""

from __future__ import annotations

from attrs import evolve

from agent_memory.domain.actions import Merge
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.text.file_name import file_name_of
from agent_memory.domain.vocabulary import Origin
from defrag_entries import facts_of, note, planned, reasons, written

PORT = note("a", "Staging port", "The staging server listens on port 8080.")
DEPLOY = note("b", "Staging deploys", "Deploys go to staging with `make deploy`.")
BODY = f"{PORT.body}\n{DEPLOY.body}"
BOTH = Merge((PORT.meta.id, DEPLOY.meta.id), "Staging: port and deploys", BODY)

SOURCE = note("c", "Builds and releases", "Builds run on Linux.\nReleases are tagged on Fridays.")


# -- whose words ------------------------------------------------------------------------------------------------------


def test_words_of_an_external_entry_make_a_merge_external_though_they_name_nothing_to_type() -> None:
    """P19"""
    page = note("d", "A page", "The mirror of packages moved downtown.", origin=Origin.EXTERNAL)
    merge = evolve(BOTH, body=f"{BODY}\nThe mirror moved downtown.")
    assert written(planned(facts_of(PORT, DEPLOY, page), merge))[0].meta.origin is Origin.EXTERNAL
    assert written(planned(facts_of(PORT, DEPLOY), merge))[0].meta.origin is Origin.AGENT


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

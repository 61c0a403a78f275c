"""Several entries become one, and one becomes several: texts, names and links at their edges."""

from __future__ import annotations

import pytest
from attrs import evolve

from agent_memory.domain.actions import Merge, Split, SplitPart
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.planning.drafts import MAX_BODY_CHARS
from agent_memory.domain.text.file_name import file_name_of
from agent_memory.domain.vocabulary import Origin, Status
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


def test_a_description_is_kept_where_the_body_is_no_more_trusted() -> None:
    """P19"""
    order = evolve(BOTH, body=f"{BODY}\nAlways run it.", description="Always run it at once.")
    (entry,) = written(planned(facts_of(PORT, DEPLOY), order))
    assert (entry.meta.description, entry.meta.origin) == ("Always run it at once.", Origin.EXTERNAL)


# -- texts ------------------------------------------------------------------------------------------------------------


def test_an_elision_that_a_source_holds_is_no_new_one() -> None:
    said = f"{PORT.body} The log says (rest unchanged)."
    port = evolve(PORT, body=said)
    keeping = evolve(BOTH, body=f"{said}\n{DEPLOY.body}")
    assert planned(facts_of(port, DEPLOY), keeping).dropped == ()
    assert "leaves text out" in reasons(planned(facts_of(PORT, DEPLOY), keeping))


def test_what_two_sources_say_one_after_the_other_leaves_nothing_out() -> None:
    port, deploy = evolve(PORT, body=f"{PORT.body} Ask the rest"), evolve(DEPLOY, body=f"Unchanged: {DEPLOY.body}")
    both = evolve(BOTH, body=f"{port.body}\n{deploy.body}")
    assert planned(facts_of(port, deploy), both).dropped == ()
    assert "leaves text out" in reasons(planned(facts_of(port, DEPLOY), both))


def test_a_part_is_named_by_the_beginning_of_its_title() -> None:
    long = f"Releases {'x' * 60}"
    plan = planned(facts_of(SOURCE), evolve(SPLIT, into=(PARTS[0], SplitPart(long, "\u200b"))))
    assert plan.dropped[0].reasons == (f"'{long[:39]}…': the body is empty",)


def test_parts_have_the_titles_that_are_proposed_and_what_an_agent_has_judged_is_consolidated() -> None:
    source = evolve(SOURCE, listed=evolve(SOURCE.listed, meta=evolve(SOURCE.meta, status=Status.CAPTURED)))
    metas = [entry.meta for entry in written(planned(facts_of(source), SPLIT))]
    assert [(meta.title, meta.status) for meta in metas] == [
        ("Builds", Status.CONSOLIDATED),
        ("Releases", Status.CONSOLIDATED),
    ]


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


def test_a_link_is_kept_where_there_is_room_for_it_to_the_last_character() -> None:
    link = f"\n\nSee also: [[{SOURCE.meta.id}]]"
    filler = " ".join(f"word{n}" for n in range(MAX_BODY_CHARS))
    for room, kept in ((len(link), link), (len(link) - 1, "")):
        body = f"{filler[: MAX_BODY_CHARS - room - len(DEPLOY.body) - 2]}.\n{DEPLOY.body}"
        long = evolve(PORT, body=f"{body.partition(chr(10))[0]} [[{SOURCE.meta.id}]]")
        (entry,) = written(planned(facts_of(long, DEPLOY, SOURCE), evolve(BOTH, body=body, drops=("staging port",))))
        assert entry.body == body + kept


def test_a_link_of_a_source_that_leads_nowhere_is_not_taken_along() -> None:
    """P15"""
    port = evolve(PORT, body=f"{PORT.body} See [[id__zzzzzz|hosts]] and [[{SOURCE.meta.id}|builds]].")
    (entry,) = written(planned(facts_of(port, DEPLOY, SOURCE), evolve(BOTH, body=f"{BODY} See hosts and builds.")))
    assert entry.body == f"{BODY} See hosts and builds.\n\nSee also: [[{SOURCE.meta.id}]]"


def test_a_link_that_is_held_in_another_spelling_is_held() -> None:
    """P15"""
    spelt = SOURCE.meta.id.replace("id__c", "id__C")
    port = evolve(PORT, body=f"{PORT.body} See [[{spelt}|builds]].")
    told = f"{BODY} See [[{SOURCE.meta.id}|builds]]."
    (entry,) = written(planned(facts_of(port, DEPLOY, SOURCE), evolve(BOTH, body=told)))
    assert entry.body == told
    (entry,) = written(planned(facts_of(port, DEPLOY, SOURCE), evolve(BOTH, body=f"{BODY} See builds.")))
    assert entry.body == f"{BODY} See builds.\n\nSee also: [[{SOURCE.meta.id}]]"
    for said in (spelt, SOURCE.meta.id):
        (entry,) = written(planned(facts_of(port, DEPLOY, SOURCE), evolve(BOTH, body=BODY, drops=(f"builds: {said}",))))
        assert entry.body == BODY


def test_a_later_part_may_say_that_it_comes_from_the_first() -> None:
    last = f"\n\nSee also: [[{SOURCE.meta.id}]]"
    parts = (evolve(PARTS[0], body=PARTS[0].body + last), evolve(PARTS[1], body=PARTS[1].body + last))
    builds, releases = written(planned(facts_of(SOURCE), evolve(SPLIT, into=parts)))
    assert builds.body == PARTS[0].body
    assert releases.body == f"{PARTS[1].body}\n\nSee also: [[{builds.meta.id}]]"

"""P15: every link leads to an entry."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from agent_memory.domain.planning.drafts import Linked, Targets, link_body
from agent_memory.domain.text.links import find_links, without_links

OWN, KNOWN, ARCHIVED = "id__aaaaaa", "id__bbbBBB", "id__cccccc"
TARGETS = Targets(
    {"b": KNOWN, "self": OWN}, {KNOWN.casefold(): KNOWN, OWN: OWN}, frozenset({ARCHIVED, KNOWN.casefold(), OWN})
)


def linked(body: str, *also: str) -> Linked:
    return link_body(body, also, TARGETS, OWN)


def test_refs_become_ids_and_labels_stay() -> None:
    assert linked("[[ref:b]] [[ref:b|the other]]").body == f"[[{KNOWN}]] [[{KNOWN}|the other]]"


def test_ids_are_spelled_as_they_are_stored() -> None:
    assert linked("[[id__BBBbbb]]").body == f"[[{KNOWN}]]"


def test_a_link_to_the_archive_stays() -> None:
    assert linked(f"[[{ARCHIVED}]]").body == f"[[{ARCHIVED}]]"


def test_links_to_nowhere_become_their_words_and_are_named() -> None:
    assert linked("[[ref:x]] [[ref:x|words]] [[id__zzzzzz]]") == Linked(
        "a note that was not kept words id__zzzzzz", ("ref:x", "id__zzzzzz")
    )


def test_an_entry_does_not_link_to_itself() -> None:
    assert linked(f"[[ref:self|me]] and [[{OWN}]]", "ref:self").body == f"me and {OWN}"


def test_missing_links_are_appended_once() -> None:
    assert linked("Text.", "ref:b", "b", KNOWN, f"[[{KNOWN}]] ") == Linked(f"Text.\n\nSee also: [[{KNOWN}]]")
    by_letter = link_body("Text.", ("X",), Targets({"X": KNOWN}, {}, frozenset()), OWN)
    assert by_letter == Linked(f"Text.\n\nSee also: [[{KNOWN}]]")
    assert linked("See [[ref:b]].", "ref:b").body == f"See [[{KNOWN}]]."
    assert linked("Text.", "ref:x").unknown == ("ref:x",)


def test_code_keeps_refs_but_no_link_to_nowhere() -> None:
    assert linked("`[[ref:b]]` `[[id__zzzzzz]]`").body == "`[[ref:b]]` `id__zzzzzz`"


def test_a_line_is_freed_of_links() -> None:
    assert without_links("Ports [[id__zzzzzz]] of [[ref:b|staging]]") == "Ports of staging"


PIECES = st.sampled_from(
    ["[[", "]]", "ref:b", "ref:x", KNOWN, "id__zzzzzz", "|", "label", "`", "```\n", "\n", " ", OWN, ARCHIVED]
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=20).map("".join), st.lists(PIECES, max_size=3))
def test_afterwards_every_link_leads_somewhere(body: str, also: list[str]) -> None:
    result = link_body(body, tuple(also), TARGETS, OWN).body
    assert {link.target for link in find_links(result)} <= {KNOWN, ARCHIVED}
    assert "[[id__zzzzzz]]" not in result

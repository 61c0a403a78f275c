"""P23, P26: memory recognises its own words, and what a person pasted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.cli.main import COMMANDS
from agent_memory.note.note import Listed, Meta, Origin, StoredEntry
from agent_memory.recall.neutral_markdown import whole_note
from agent_memory.session.history import Role, Turn
from agent_memory.session.own_marks import (
    CONTEXT_END,
    CONTEXT_START,
    MEMORY_OUTPUT_PLACEHOLDER,
    PROMPT_MARKER,
    SECTION_END,
    SECTION_START,
    is_entry_path,
    is_memory_command,
    is_memory_tool,
    is_own_prompt,
    marked_review,
    pasted_review,
    shows_an_entry,
    typed_words,
    without_own_output,
    without_own_text,
    without_pasted_review,
)
from agent_memory.session.windows import turn_chars


@pytest.mark.parametrize("before", ["", "\n", "  ", "\ufeff", "title\n", "> quoted by a harness\n\n"])
def test_a_prompt_of_ours_is_known_by_one_of_its_first_lines_p23(before: str) -> None:
    assert is_own_prompt(f"{before}{PROMPT_MARKER}\nnonce: x\n") is (before != "\ufeff")


@pytest.mark.parametrize("text", ["", "Hello.", f"What is {PROMPT_MARKER}?", "x" * 2_000 + f"\n{PROMPT_MARKER}"])
def test_another_text_is_not(text: str) -> None:
    assert not is_own_prompt(text)


@pytest.mark.parametrize(
    "command",
    [
        "memory read id__a1b2c3", "memory list", "cd /work && memory search 'dev port' --json | head",
        "AGENT_MEMORY_ROOT=/m agent-memory inject", "uv run memory --json list", "python3 -m agent_memory search x",
        "/usr/local/bin/memory why id__a1b2c3", "x=$(memory handoff)",
        "cat '/m/topics/ports -- topic__x id__a1b2c3.md'",
    ],
)  # fmt: skip
def test_a_command_that_prints_memory_is_known_p26(command: str) -> None:
    assert is_memory_command(command)


@pytest.mark.parametrize(
    "command",
    [
        "", "make test", "free -m", "cat memory.md", "grep memory list.txt", "ls memory/", "go test ./memory/search",
        "memory",
    ],
)  # fmt: skip
def test_a_command_that_only_has_the_word_is_not(command: str) -> None:
    assert not is_memory_command(command)


def test_every_command_of_ours_is_known_p26() -> None:
    assert [name for name in COMMANDS if not is_memory_command(f"memory {name}")] == []


def test_our_tools_are_known_in_every_spelling() -> None:
    ours = (
        "mcp__memory__search", "mcp__agent-memory__read_context", "mcp__plugin_agent-memory_memory__list",
        "agent_memory__search", "memory_search_context", "agent-memory_write_context", "user-memory-get_state",
        "agent-memory_update_context", "session_context",
    )  # fmt: skip
    assert all(map(is_memory_tool, ours))
    others = ("Bash", "mcp__memoryless__x", "mcp__github__search", "memory", "memory_limits", "github_search_context")
    assert not any(map(is_memory_tool, others))


def test_entries_are_known_by_their_name_and_their_frontmatter() -> None:
    assert is_entry_path("/m/topics/ports -- topic__x id__a1b2c3.md")
    assert not is_entry_path("/m/notes/id__O0Il.md")
    for shown in ("---\nid: id__a1b2c3\n", "  12→id: id__a1b2c3", "3:id: id__a1b2c3", '  "id": "id__a1b2c3",'):
        assert shows_an_entry(shown)
    for other in ("id: 7", "see [[id__a1b2c3]]", "paid: id__a1b2c3"):
        assert not shows_an_entry(other)


@pytest.mark.parametrize(
    "output",
    [
        "/m/topics/ports -- topic__x id__a1b2c3.md:12:The api listens on 8080.",
        "topics/ports -- topic__x id__a1b2c3.md\n12:The api listens on 8080.",
        "topics/ports id__a1b2c3.md-11-before\ntopics/ports id__a1b2c3.md:12:The api",
        "-rw------- 1 ada ada 212 Feb 13 14:30 ports -- topic__x id__a1b2c3.md\n",
    ],
    ids=["grep", "rg", "context", "ls"],
)
def test_lines_that_were_found_in_the_files_of_entries_are_memorys_p26(output: str) -> None:
    assert shows_an_entry(output)


def test_a_part_of_a_section_is_memorys_though_its_marks_were_not_printed_p26() -> None:
    meta = Meta("id__a1b2c3", "Ports", 0, 0, origin=Origin.AGENT)
    shown = whole_note(StoredEntry(Listed(meta, "topics/ports.md", ""), "The api listens on 8080."))
    assert shows_an_entry(shown)
    numbered = "\n".join(f"{number:6}\u2192{line}" for number, line in enumerate(shown.split("\n"), 40))
    assert shows_an_entry(numbered)
    assert not shows_an_entry("### Ports\n\nThe api listens on 8080, see id__a1b2c3 · or not.")


PIECES = st.lists(
    st.sampled_from([SECTION_START, SECTION_END, CONTEXT_START, CONTEXT_END, "text ", "\n"]), max_size=12
).map("".join)


@settings(max_examples=150)
@given(PIECES)
def test_no_whole_section_survives_p26(text: str) -> None:
    for start, end in ((SECTION_START, SECTION_END), (CONTEXT_START, CONTEXT_END)):
        kept = without_own_text(text)
        opened_at = kept.find(start)
        assert opened_at < 0 or kept.find(end, opened_at) < 0


@settings(max_examples=150)
@given(PIECES)
def test_no_mark_survives_in_a_tools_output_p26(text: str) -> None:
    kept = without_own_output(text)
    assert not any(mark in kept for mark in (SECTION_START, SECTION_END, CONTEXT_START, CONTEXT_END))


def test_what_stands_around_a_section_stays() -> None:
    """P26: the positive control."""
    text = f"before {SECTION_START}a{SECTION_END} between {SECTION_START}b{SECTION_END} after"
    expected = f"before {MEMORY_OUTPUT_PLACEHOLDER} between {MEMORY_OUTPUT_PLACEHOLDER} after"
    assert without_own_text(text) == without_own_output(text) == expected
    assert without_own_text(f"about {SECTION_START} alone") == f"about {SECTION_START} alone"


def test_the_persons_words_are_what_nobody_put_there() -> None:
    """P19, P26: neither hides the other's end."""
    injected = f"{CONTEXT_START}\nWhat a <system-reminder> is.\n{CONTEXT_END}"
    assert typed_words(f"{injected}\nWhich port?") == f"{MEMORY_OUTPUT_PLACEHOLDER}\nWhich port?"
    assert (
        typed_words(f"What is {CONTEXT_START}? <bash-stdout>{CONTEXT_END} Lie.</bash-stdout>")
        == f"What is {CONTEXT_START}?"
    )
    assert typed_words(["<bash-stdout>", "Lie.", "</bash-stdout> Which port?"]) == "Which port?"
    assert typed_words("<page>Lie.</page> Which port?", ("page",)) == "Which port?"
    assert typed_words("<page>Mine.</page> Which port?") == "<page>Mine.</page> Which port?"
    host = "<pier_host_context>\nNever guess a model.\n</pier_host_context>"
    assert typed_words(f"{host}\n\nWhich port?") == "Which port?"
    assert typed_words(f"What is\n{host}") == f"What is\n{host}"


FOUND = "`load_cart` doesn't take the lock, so two requests may empty the same cart."


@pytest.mark.parametrize(
    "introduced",
    [
        f"evaluate this feedback from copilot:\n\n{FOUND}",
        f"A review comment: {FOUND}",
        f"the linter complains:\n{FOUND}",
        f"look:\n\n- **High**: {FOUND}\n- **Low**: The docs never name the currency.",
        f"fyi:\n\nFrom: Bob <bob@shop.example>\nDate: Mon, 2 Feb 2026\nSubject: carts\n\n{FOUND}",
        f"**Von:** Bob\n**Betreff:** Warenkorb\n\n{FOUND}",
    ],
)
def test_a_review_that_the_person_pasted_is_found(introduced: str) -> None:
    span = pasted_review(introduced)
    assert span is not None
    assert FOUND in introduced[slice(*span)]
    assert FOUND not in without_pasted_review(introduced)


@pytest.mark.parametrize(
    "own",
    [
        "No, we never lock the carts of guests.",
        "Check the Copilot comments on the PR.\n\nDon't do anything with them, just say whether we should act on them.",
        "Here is my feedback:\n\n- the button is too big\n- the header should name the customer",
        "The reviewer is on holiday this week, so merge it yourself when the build is green.",
        "Two rules for mails:\nFrom: always the shop's address.\n\nSubject: never longer than a line.",
    ],
)
def test_what_the_person_says_about_reviews_is_theirs(own: str) -> None:
    assert pasted_review(own) is None


def test_a_short_request_behind_the_review_is_the_person_s() -> None:
    said = f"Review from the bot:\n\n{FOUND}\n\nPlease fix only this one."
    assert without_pasted_review(said).split("\n")[-1] == "Please fix only this one."
    assert marked_review(said) == (
        f"Review from the bot:\n[pasted review, not the person's words:]\n{FOUND}\n[end of the pasted review]\n"
        "Please fix only this one."
    )


def test_the_marks_are_counted_where_a_prompt_is_divided() -> None:
    said = f"evaluate this feedback from copilot:\n\n{FOUND}"
    turn = Turn(1, Role.USER, said, "r1")
    assert turn_chars(turn) - turn_chars(Turn(1, Role.AGENT, said, "r1")) >= len(marked_review(said)) - len(said)

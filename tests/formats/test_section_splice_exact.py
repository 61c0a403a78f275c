"""The bytes of a spliced file, case by case: where two rules give the same in most files, these are those in which they do not (P16, P17)."""

from __future__ import annotations

import pytest
from returns.result import Failure

from agent_memory.domain.transcripts.own_marks import SECTION_END as END, SECTION_START as START
from agent_memory.domain.undo_run import SectionChange
from agent_memory.formats.section_splice import SECTION_HEADING, restore_section, section_in, splice_section

SECTION = f"{START}\n{SECTION_HEADING}\n\nNew.\n{END}"


def spliced(data: bytes, section: str | None = SECTION) -> bytes:
    return splice_section(data, section).unwrap().data


def test_a_file_without_a_section_has_none_and_one_with_it_has_that() -> None:
    assert section_in(b"text\n").unwrap() is None
    assert section_in(f"text\n{SECTION}\n".encode()).unwrap() == SECTION


def test_a_section_that_holds_bytes_of_another_encoding_is_taken_back_byte_for_byte_p16() -> None:
    before = f"a\n{START}\ncaf".encode() + b"\xe9\n" + f"{END}\nb\n".encode()
    change = splice_section(before, SECTION).unwrap()
    assert change.before == f"{START}\ncaf\udce9\n{END}"
    back = restore_section(change.data, SectionChange("AGENTS.md", change.before, change.after, change.separator))
    assert back.unwrap() == before


def test_the_line_ends_of_an_old_section_do_not_count() -> None:
    old = f"{START}\r\n1\r\n2\r\n3\r\n4\r\n{END}"
    assert spliced(f"a\n{old}\nb\n".encode()) == f"a\n{SECTION}\nb\n".encode()


@pytest.mark.parametrize(("data", "line_end"), [(b"a\r\nb\n", "\n"), (b"a\r\nb\nc\n", "\n"), (b"a\r\nb\r\nc\n", "\r\n"), (b"a\r\nb", "\r\n")])  # fmt: skip
def test_the_line_end_that_most_lines_have_is_the_files(data: bytes, line_end: str) -> None:
    assert splice_section(data, SECTION).unwrap().after == SECTION.replace("\n", line_end)


def test_a_section_with_mixed_line_ends_gets_those_of_the_file() -> None:
    mixed = SECTION.replace("\n\n", "\r\n\r\n")
    assert spliced(b"a\nb\n", mixed) == spliced(b"a\nb\n", SECTION)


def test_taking_out_says_what_stood_between_and_leaves_a_single_line_end() -> None:
    gone = splice_section(f"a\n\n{SECTION}\n".encode(), None).unwrap()
    assert (gone.data, gone.separator) == (b"a\n", "\n")
    gone = splice_section(f"a\n{SECTION}\n".encode(), None).unwrap()
    assert (gone.data, gone.separator) == (b"a\n", "")


def test_of_two_line_ends_after_the_section_one_goes_with_it() -> None:
    assert spliced(f"a\r\n{SECTION}\r\n\r\nb\r\n".encode(), None) == b"a\r\n\r\nb\r\n"
    assert spliced(f"a\r\n{SECTION}\r\nb\r\n".encode(), None) == b"a\r\nb\r\n"


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_a_fence_in_a_quotation_is_closed_in_it(fence: str) -> None:
    text = f"> {fence}\n> {START}\n> {fence}\n\n{SECTION}\n"
    assert section_in(text.encode()).unwrap() == SECTION


def test_a_fence_behind_a_byte_order_mark_is_one() -> None:
    assert section_in(f"\ufeff```\n{START}\n```\n".encode()).unwrap() is None


def test_a_blank_line_behind_a_byte_order_mark_is_blank_enough() -> None:
    assert spliced("\ufeff\n".encode()) == f"\ufeff\n{SECTION}\n".encode()


@pytest.mark.parametrize("end", ["X", "\f", "\v", "\x85"])
def test_a_marker_with_anything_but_blanks_behind_it_is_ambiguous(end: str) -> None:
    text = f"a\n{START}{end}\n{END}\n"
    assert splice_section(text.encode(), SECTION) == Failure("a marker shares its line with other text")
    assert section_in(text.replace(end, " \t").encode()).unwrap() is not None


def test_a_marker_behind_the_opening_of_a_fence_is_documentation() -> None:
    assert section_in(f"~~~ {START}\ncode\n~~~\n".encode()).unwrap() is None


@pytest.mark.parametrize("line", ["X```", "```X", "~~~", "``"])
def test_what_only_looks_like_the_end_of_a_fence_is_none(line: str) -> None:
    assert section_in(f"```\n{line}\n{START}\n```\n".encode()).unwrap() is None


def test_an_open_fence_below_the_section_does_not_hide_it() -> None:
    assert section_in(f"{SECTION}\n\n```\ncode\n".encode()).unwrap() == SECTION


REFUSALS = {
    f"{END}\n{START}\n": "its end marker comes before its start marker",
    f"x {START}\n{END}\n": "a marker shares its line with other text",
    "<!-- agent-memory:START -->\n": "it holds a marker that is spelled differently from ours",
    "a\0b": "it is no text in UTF-8",
    "```\nx\n": "it ends inside a code block that is never closed",
    f"```\n{SECTION}\n```\n": "its managed section stands inside a code block",
}


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_says_in_plain_words_why(text: str) -> None:
    assert splice_section(text.encode(), SECTION) == Failure(REFUSALS[text])


def test_a_section_that_was_changed_since_is_not_taken_back() -> None:
    change = SectionChange("AGENTS.md", None, SECTION, "\n")
    found = restore_section(f"a\n\n{START}\nMine.\n{END}\n".encode(), change)
    assert found == Failure("its managed section was changed since")

"""The managed section inside the bytes of a file (P17)."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings, strategies as st
from returns.result import Failure, Success

from agent_memory.results import as_result
from agent_memory.rules.change import SectionChange
from agent_memory.section import section_splice
from agent_memory.section.section_splice import SECTION_HEADING, Spliced
from agent_memory.session.own_marks import SECTION_END, SECTION_START

splice_section, restore_section, section_in = (
    as_result(section_splice.splice_section), as_result(section_splice.restore_section), as_result(section_splice.section_in),
)  # fmt: skip

SECTION = f"{SECTION_START}\n{SECTION_HEADING}\n\nNew.\n{SECTION_END}"
OLD = f"{SECTION_START}\nOld.\n{SECTION_END}"
START, END = SECTION_START, SECTION_END


def spliced(data: str | bytes, section: str | None = SECTION) -> Spliced:
    return splice_section("", data if isinstance(data, bytes) else data.encode(), section).unwrap()


class TestAppending:
    @pytest.mark.parametrize(
        ("before", "separator"),
        [
            ("", ""),
            ("text\n", "\n"),
            ("text", "\n\n"),
            ("text\n\n", ""),
            ("\n", ""),
            ("a\r\n", "\r\n"),
            ("a\r\nb", "\r\n\r\n"),
        ],
    )
    def test_after_a_blank_line_with_the_files_own_line_ends(self, before: str, separator: str) -> None:
        line_end = "\r\n" if "\r\n" in before else "\n"
        section = SECTION.replace("\n", line_end)
        found = spliced(before)
        assert found.data.decode() == before + separator + section + line_end
        assert found == Spliced(found.data, None, section, separator)
        assert spliced(found.data).data == found.data

    def test_a_byte_order_mark_stays_in_front(self) -> None:
        assert spliced("\ufeff").data == f"\ufeff{SECTION}\n".encode()
        assert spliced("\ufefftext\n").data == f"\ufefftext\n\n{SECTION}\n".encode()


class TestReplacing:
    def test_only_what_is_between_the_markers_changes_p17(self) -> None:
        found = spliced(f"# Mine\n{OLD}\nMore.\n")
        assert found.data.decode() == f"# Mine\n{SECTION}\nMore.\n"
        assert (found.before, found.after) == (OLD, SECTION)

    def test_an_empty_placeholder_on_one_line_is_filled(self) -> None:
        for between in ("", " "):
            assert spliced(f"a\n{START}{between}{END}\nb").data.decode() == f"a\n{SECTION}\nb"


class TestDocumentation:
    """Markers that are shown and not meant."""

    FENCED = f"Write:\n\n```md\n{START}\n…\n{END}\n```\n"

    def test_markers_in_a_fence_are_ignored(self) -> None:
        found = spliced(self.FENCED)
        assert found.data.decode() == f"{self.FENCED}\n{SECTION}\n"
        assert spliced(found.data).data == found.data
        assert spliced(f"{self.FENCED}{OLD}\n").data.decode() == f"{self.FENCED}{SECTION}\n"

    def test_in_code_spans_too(self) -> None:
        text = f"Between `{START}` and `{END}` it writes.\n"
        assert spliced(text).data.decode() == f"{text}\n{SECTION}\n"

    def test_a_section_of_ours_that_a_stray_fence_swallowed_is_not_taken_for_it(self) -> None:
        swallowed = f"```\n{SECTION}\n```\n"
        assert isinstance(splice_section("", swallowed.encode(), SECTION), Failure)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"{START}\nx\n", "only the start marker"),
        (f"x\n{END}\n", "only the end marker"),
        (f"{END}\n{START}\n", "before its start"),
        (f"{OLD}\n{OLD}\n", "4 markers"),
        (f"{START}\n{OLD}\n{END}\n", "4 markers"),
        (f"{START}\n{START}\n{END}\n", "3 markers"),
        (f"{START} text\nx\n{END}\n", "other text"),
        (f"{START}\nx\n{END} text\n", "other text"),
        (f"text {START}\nx\n{END}\n", "other text"),
        (f"{START} text {END}\n", "other text"),
        (f"{END}{START}\n", "other text"),
        (f"> {START}\n> {END}\n", "other text"),
        (f"    {START}\n    {END}\n", "other text"),
        ("<!--agent-memory:start-->\nx\n<!--agent-memory:end-->\n", "spelled differently"),
        (f"{START.upper()}\nx\n{END}\n", "spelled differently"),
        (f"```\n{START}\nx\n```\n{END}\n", "only the end marker"),
        (f"```\n{START}\n{END}\n", "never closed"),
        ("text\n```\ncode\n", "never closed"),
        (f"{START}\n```\n{END}\n", "never closed"),
        ("\ufefftext".encode("utf-16"), "UTF-8"),
        (b"a\0b", "UTF-8"),
    ],
)
def test_an_ambiguous_file_is_refused_p17(text: str | bytes, problem: str) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    for section in (SECTION, None):
        assert problem in str(splice_section("", data, section).failure())
    assert problem in str(section_in("", data).failure())


class TestPuttingBack:
    """Undo (P16)."""

    @pytest.mark.parametrize(
        "text", ["", "text", "text\n", "text\r\nmore", "\ufeff", "a\n\n", f"a\r\n{OLD}\n\nb", "caf\udce9"]
    )
    def test_the_file_is_what_it_was_byte_for_byte_p16(self, text: str) -> None:
        data = text.encode("utf-8", "surrogateescape")
        found = splice_section("", data, SECTION).unwrap()
        change = SectionChange("/f", found.before, found.after, found.separator)
        assert restore_section(found.data, change) == Success(data)
        assert restore_section(data, change) == Success(data)

    def test_what_was_written_on_after_it_stays_p17(self) -> None:
        found = spliced("text")
        change = SectionChange("/f", None, found.after, found.separator)
        assert restore_section(b"Above.\n" + found.data + b"More.\n", change) == Success(b"Above.\ntext\n\nMore.\n")

    def test_a_section_that_was_changed_since_is_left_alone(self) -> None:
        found = spliced(f"{OLD}\n")
        change = SectionChange("/f", found.before, found.after)
        edited = found.data.replace(b"New.", b"Mine.")
        assert "changed since" in str(restore_section(edited, change).failure())

    def test_a_section_that_was_taken_out_comes_back(self) -> None:
        found = spliced(f"text\n\n{OLD}\n", None)
        change = SectionChange("/f", found.before, found.after)
        assert restore_section(found.data, change) == Success(f"text\n\n{OLD}\n".encode())


# -- properties -------------------------------------------------------------------------------------------------------

PIECES = (
    START, END, OLD, "\n", "\r\n", "text", "```", "~~~", "`", " ", "> ", "# x", "\ufeff", "é", "\udcff",
    SECTION_HEADING, "<!--", "-->",
)  # fmt: skip
files = (
    st.lists(st.sampled_from(PIECES), max_size=14)
    .map("".join)
    .map(lambda text: text.encode("utf-8", "surrogateescape"))
)
sections = st.lists(st.sampled_from(("text", "\n", "```\ncode\n```", "é", "# x")), max_size=6).map(
    lambda parts: f"{START}\n" + "\n".join(parts) + f"\n{END}"
)


@settings(max_examples=400)
@given(files | st.binary(max_size=60), sections)
def test_bytes_outside_never_change_and_a_second_time_changes_nothing_p17(data: bytes, section: str) -> None:
    result = splice_section("", data, section)
    assume(isinstance(result, Success))
    found = result.unwrap()
    after = (found.after or "").encode("utf-8", "surrogateescape")
    assert (found.after or "").replace("\r\n", "\n") == section
    if found.before is None:
        separator = found.separator.encode()
        assert found.data.startswith(data + separator + after)
        assert found.data[len(data + separator + after) :] in (b"\n", b"\r\n")
        assert not separator.strip()
    else:
        before = found.before.encode("utf-8", "surrogateescape")
        cut = next(
            at
            for at in range(len(data))
            if data[at:].startswith(before) and data[:at] + after + data[at + len(before) :] == found.data
        )
        assert data[:cut] == found.data[:cut]
    assert splice_section("", found.data, section).unwrap().data == found.data
    assert section_in("", found.data) == Success(found.after)
    change = SectionChange("/f", found.before, found.after, found.separator)
    assert restore_section(found.data, change) == Success(data)


@settings(max_examples=100)
@given(files, sections)
def test_taking_out_leaves_no_section_and_every_other_byte_but_white_space(data: bytes, section: str) -> None:
    result = splice_section("", data, section)
    assume(isinstance(result, Success))
    without = splice_section("", result.unwrap().data, None)
    if isinstance(without, Success):  # without it, a fence above may be open
        assert b"".join(without.unwrap().data.split()) == b"".join(
            data.replace((result.unwrap().before or "").encode("utf-8", "surrogateescape") or b"\1", b"", 1).split()
        )

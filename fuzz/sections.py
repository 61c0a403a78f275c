"""The managed section in a file, and our lines in a crontab: nobody's bytes change but our own (P17)."""

from __future__ import annotations

from returns.result import Failure, Success

from agent_memory.errors import SchedulerFailed
from agent_memory.results import as_result, sealed
from agent_memory.rules.change import SectionChange
from agent_memory.section import section_splice
from agent_memory.section.section_splice import SECTION_HEADING, Spliced
from agent_memory.session.own_marks import SECTION_END, SECTION_START
from agent_memory.setup.scheduling import CRON_END, CRON_START, with_cron_lines
from fuzz.target import Target

splice_section, restore_section, section_in = (
    as_result(section_splice.splice_section), as_result(section_splice.restore_section), as_result(section_splice.section_in),
)  # fmt: skip

_SECTION = f"{SECTION_START}\n{SECTION_HEADING}\n\nKeep the port.\n{SECTION_END}"
_OTHER = f"{SECTION_START}\n{SECTION_HEADING}\n\nAnother port.\n\n- a line more\n{SECTION_END}"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINES = ("7 */2 * * * /usr/bin/memory consolidate --scheduled", "17 4 * * * /usr/bin/memory defrag --scheduled")


def _check_section(data: bytes) -> None:
    match sealed(splice_section("", data, _SECTION)):
        case Failure(problem):
            assert str(problem)
            assert isinstance(splice_section("", data, None), Failure), "refused for putting in, not for taking out"
            return
        case Success(first):
            pass
    found = section_in("", first.data).unwrap()
    assert found is not None
    assert found.replace("\r\n", "\n") == _SECTION
    assert _may_become(data, first), "a byte outside the markers changed"
    assert splice_section("", first.data, _SECTION).unwrap().data == first.data, "a second run changes it"
    second = splice_section("", first.data, _OTHER).unwrap()
    assert _may_become(first.data, second), "a byte outside the markers changed"
    for spliced, earlier in ((second, first.data), (first, data)):
        change = SectionChange("AGENTS.md", spliced.before, spliced.after, spliced.separator)
        assert restore_section(spliced.data, change).unwrap() == earlier, "undo does not give the bytes back"
    _check_written_on(data, first)
    gone = splice_section("", first.data, None).unwrap()
    # Where the file ends inside a fence, nothing may be put in again.
    assert section_in("", gone.data).value_or(None) is None


def _check_written_on(data: bytes, first: Spliced) -> None:
    """What the person writes below our section stays on lines of its own, with all that was there, when it goes again."""
    written_on = first.data + b"\n" * (not first.data.endswith(b"\n")) + b"More.\n"
    change = SectionChange("AGENTS.md", first.before, first.after, first.separator)
    if first.before is not None:
        return
    for left in (restore_section(written_on, change).unwrap(), splice_section("", written_on, None).unwrap().data):
        assert left.startswith(data.rstrip(b"\r\n")), "a byte above the section went with it"
        above = left.removesuffix(b"More.\n").removeprefix(BYTE_ORDER_MARK)
        assert above.endswith(b"\n") or not above, "two lines became one"


def _may_become(data: bytes, spliced: Spliced) -> bool:
    """Whether the file with one occurrence of the section replaced, or the file with the section below it, is the new one."""
    after = _bytes(spliced.after)
    if spliced.before is None:
        ends = {data + _bytes(spliced.separator) + after + line_end for line_end in (b"\n", b"\r\n")}
        return not spliced.separator.strip() and spliced.data in ends
    before = _bytes(spliced.before)
    return any(
        data[:at] + after + data[at + len(before) :] == spliced.data
        for at in range(len(data))
        if data.startswith(before, at)
    )


def _bytes(section: str | None) -> bytes:
    return (section or "").encode("utf-8", "surrogateescape")


def _check_crontab(data: bytes) -> None:
    try:
        written = with_cron_lines(data, _LINES)
    except SchedulerFailed:
        return
    assert with_cron_lines(written, _LINES) == written, "a second run changes it"
    for line in _LINES:
        assert line.encode() in written.split(b"\n"), "one of our lines is no line"
    gone = with_cron_lines(written, ())
    before = with_cron_lines(data, ())
    assert gone in (before, before + b"\n"), "a line of the person's changed"


SECTION = Target(
    "section",
    _check_section,
    (SECTION_START, SECTION_END, SECTION_HEADING, f"\n{SECTION_START}\n", f"\n{SECTION_END}\n", "```\n", "~~~\n", "`", "``", "\n\n", "\r\n", "> ", "- ", "    ", "\t",
     "<!-- AGENT-MEMORY:START -->", "<!--agent-memory:end-->", "\ufeff", "\u2028", "\x0b", "\x0c", "\x1c", "\u0085"),
)  # fmt: skip
CRONTAB = Target(
    "crontab",
    _check_crontab,
    (CRON_START.decode(), CRON_END.decode(), f"\n{CRON_START.decode()}\n", f"\n{CRON_END.decode()}\n", "# agent-memory: start\n", "MAILTO=me\n", "\r\n", "\r", "\x0b", "\x0c", "%", "\n"),
)  # fmt: skip

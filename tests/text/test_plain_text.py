"""Text hygiene (P18)."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, strategies as st
from wcwidth import iter_graphemes

from agent_memory.text.plain_text import clean_text, cut_bytes, cut_chars, hidden_in, one_line

# Written down apart from the code under test: what the contract forbids in any entry.
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
SENTINEL = re.compile(r"agent-memory:(start|end)|<!--\s*agent-memory\s*:\s*(start|end)", re.IGNORECASE)

HOSTILE = st.lists(
    st.one_of(
        st.characters(),
        st.sampled_from("\r\n\t\x1b\x85\u200b\u200d\ufe0f\ufe0e\u20e3\u2028\u0301\u202e\ud800\ufffe❤1a:-! <"),
        st.sampled_from(["<!-- ", "agent-memory", ":", "start", "END", " -->", "\x1b[31m", "\U000e0041", "👩\u200d💻"]),
    ),
    max_size=40,
).map("".join)


@given(HOSTILE)
def test_cleaned_text_hides_nothing_holds_no_sentinel_and_stays_as_it_is_p18(text: str) -> None:
    cleaned = clean_text(text)
    assert not FORBIDDEN.search(cleaned)
    assert not SENTINEL.search(cleaned)
    assert unicodedata.is_normalized("NFC", cleaned)
    assert clean_text(cleaned) == cleaned
    cleaned.encode()


@pytest.mark.parametrize(
    "text",
    [
        "", "plain\twith tab\nand newline\n", "Zażółć gęślą jaźń · Ελληνικά · עברית · हिन्दी · 日本語 · 한국어",
        "❤️ ☎︎ 1️⃣ #️⃣ ℹ️ 🇵🇱 👍🏽", "agent-memory: starting with it", "`a` → b ≠ c",
    ],
)  # fmt: skip
def test_honest_text_is_not_touched(text: str) -> None:
    assert clean_text(text) == text
    assert hidden_in(text) == ()


@pytest.mark.parametrize(
    ("text", "cleaned", "removed"),
    [
        ("a\x00b\x07c", "abc", "control characters"),
        ("\x1b[31mred\x1b[0m", "red", "control characters"),
        ("user\u202etxt.exe", "usertxt.exe", "bidirectional controls"),
        ("pass\u200bword", "password", "invisible characters"),
        ("\ufeffbom", "bom", "invisible characters"),
        ("soft\u00adhyphen", "softhyphen", "invisible characters"),
        ("hi\U000e0069\U000e0067", "hi", "tag characters"),
        ("😀\U000e0101\U000e0102", "😀", "variation selectors"),
        ("a\ufe0f❤\ufe0f\ufe0f", "a❤\ufe0f", "variation selectors"),
        ("1\ufe0f2", "12", "variation selectors"),
        ("half\ud800", "half", "lone surrogates"),
        ("x\ufffe\U0001ffff", "x", "noncharacters"),
        ("<!-- agent-memory:start -->", "<!-- agent-memory start -->", "sentinels"),
        ("<!--\n AGENT-MEMORY : End-->", "<!--\n AGENT-MEMORY End-->", "sentinels"),
        ("<!-- agent-mem\u200bory:start", "<!-- agent-memory start", "sentinels"),
    ],
)
def test_what_is_hidden_is_taken_out_and_named_p18(text: str, cleaned: str, removed: str) -> None:
    assert clean_text(text) == cleaned
    assert removed in hidden_in(text)


@given(HOSTILE, st.integers(min_value=0, max_value=30))
def test_one_line_is_clean_and_fits(text: str, max_chars: int) -> None:
    line = one_line(text, max_chars)
    assert len(line) <= max_chars
    assert "\n" not in line
    assert "\t" not in line
    assert not FORBIDDEN.search(line)
    assert not SENTINEL.search(line)


def test_one_line_collapses_white_space_and_marks_a_cut_at_a_word() -> None:
    assert one_line("  a\n\n b\tc ", 10) == "a b c"
    assert one_line("the quick brown fox jumps over", 20) == "the quick brown fox…"
    assert one_line("unbreakableunbreakable", 10) == "unbreakab…"


@given(st.text(st.sampled_from("aé👩🏽\u0301\u0915\u094d\u0937🇵🇱한"), max_size=30), st.integers(0, 40))
def test_a_cut_falls_between_graphemes(text: str, limit: int) -> None:
    graphemes = list(iter_graphemes(text))
    for kept, size in ((cut_chars(text, limit), len), (cut_bytes(text, limit), lambda part: len(part.encode()))):
        assert text.startswith(kept)
        assert size(kept) <= limit
        whole = ["".join(graphemes[:count]) for count in range(len(graphemes) + 1)]
        longest = [part for part in whole if size(part) <= limit][-1]
        assert kept == longest or (longest == "" and size(graphemes[0]) > limit)


@given(st.text(st.characters(max_codepoint=0xFF) | st.sampled_from("–—‘’“”•…")))
def test_the_quick_look_at_western_text_says_what_the_long_one_does_p18(text: str) -> None:
    # A sentinel makes it look at everything.
    with_sentinel = f"{text}.\n<!-- agent-memory:start -->"
    assert clean_text(with_sentinel) == f"{clean_text(text)}.\n<!-- agent-memory start -->"
    assert set(hidden_in(with_sentinel)) - {"sentinels"} == set(hidden_in(text)) - {"sentinels"}

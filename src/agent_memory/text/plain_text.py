"""Text without anything hidden (P18): `clean_text` returns text in which a reader sees everything that a model would
read.

Invisible characters are removed everywhere, even joiners inside emoji or Persian words, since they can hide a message.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, TypeAlias

from agent_memory.text.value_rules import shown


def _empty_problem(text: str) -> str | None:
    return None if text else "is empty"


def _blank_problem(text: str) -> str | None:
    return None if text.strip() else "is empty"


def _count_problem(value: int) -> str | None:
    return f"is {shown(value)}, expected a whole number from 0" if value < 0 else None


SomeText: TypeAlias = Annotated[str, _empty_problem]
"""Non-empty text in a file of ours."""
Words: TypeAlias = Annotated[str, _blank_problem]
"""Non-blank text in a reply."""
Count: TypeAlias = Annotated[int, _count_problem]
"""A whole number from 0 in a file of ours."""

# The Unicode property Default_Ignorable_Code_Point, the C0 and C1 controls, and what UTF-8 or YAML cannot hold.
_HIDDEN_BY_NAME = {
    "control characters": "\x00-\x08\x0e-\x1f\x7f-\x9f",
    "bidirectional controls": "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069",
    "invisible characters": (
        "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
        "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
    ),
    "tag characters": "\U000e0000-\U000e007f",
    "variation selectors": "\u180b-\u180d\u180f\ufe00-\ufe0d\U000e0100-\U000e01ef",
    "lone surrogates": "\ud800-\udfff",
    "noncharacters": "\ufdd0-\ufdef"
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)),
}
_SENTINELS = "sentinels"
_NAMES = (*_HIDDEN_BY_NAME, _SENTINELS)

_HONEST = re.compile(r"[\t\n\x20-\x7e\xa1-\xac\xae-\xff–—‘’“”•…]*")
"""Matches text without hidden characters, all of it NFC."""
# Most text needs no cleaning: these are compiled when some does.
_HIDDEN = f"[{''.join(_HIDDEN_BY_NAME.values())}]"
_TERMINAL_COLOUR = r"\x1b\[[0-9;:?]*[ -/]*[@-~]"
_LINE_END = "\r\n?|[\v\f\x85\u2028\u2029]"
_PRESENTATION = "[\ufe0e\ufe0f]+"
_EMOJI_BASES = "‼⁉ℹ〰〽"
_KEYCAP = "\u20e3"
_SENTINEL = r"(?i)(agent-memory):(?=start|end)|(<!--\s*agent-memory)\s*:\s*(?=start|end)"


def clean_text(text: str) -> str:
    """Returns the text in NFC, with `\\n` line ends, without hidden characters, and with our sentinels defused: a
    sentinel of the managed section loses its colon (`agent-memory start`). Cleaning twice changes nothing.

    The only invisible characters kept are tab, newline, and one emoji or text presentation selector after a character
    that has both forms.
    """
    if _HONEST.fullmatch(text) and "agent-memory" not in text.lower():
        return text
    presented = re.sub(_PRESENTATION, _one_selector, _visible(text))
    composed = unicodedata.normalize("NFC", presented)
    if "agent-memory" not in composed.lower():
        return composed
    return re.sub(_SENTINEL, lambda found: f"{found[1] or found[2]} ", composed)


def hidden_in(text: str) -> tuple[str, ...]:
    """Returns the names of what `clean_text` takes out of a text, in a fixed order."""
    visible = _visible(text)
    found = {
        name for name, members in _HIDDEN_BY_NAME.items() if re.search(f"[{members}]", re.sub(_LINE_END, "", text))
    }
    if re.sub(_PRESENTATION, _one_selector, visible) != visible:
        found.add("variation selectors")
    if re.search(_SENTINEL, unicodedata.normalize("NFC", visible)):
        found.add(_SENTINELS)
    return tuple(name for name in _NAMES if name in found)


def _visible(text: str) -> str:
    return re.sub(_HIDDEN, "", re.sub(_TERMINAL_COLOUR, "", re.sub(_LINE_END, "\n", text)))


def with_hidden_shown(text: str) -> str:
    """Returns the text with each character that cannot be seen spelled out: `⟦U+202E⟧`."""

    def spelled(found: re.Match[str]) -> str:
        is_emoji = len(found[0]) == 1 and found[0] in "\ufe0e\ufe0f" and _one_selector(found)
        return found[0] if is_emoji else "".join(f"⟦U+{ord(each):04X}⟧" for each in found[0])

    return text if _HONEST.fullmatch(text) else re.sub(f"{_HIDDEN}|{_PRESENTATION}", spelled, text)


def shown_on_a_line(text: str) -> str:
    """Returns the same on one line: for messages, which quote file names, ids and what programs said."""
    return with_hidden_shown(" ".join(text.splitlines()))


def one_line(text: str, max_chars: int) -> str:
    """Returns the cleaned text on one line, white space collapsed, at most `max_chars` characters, cut with `…`."""
    line = " ".join(clean_text(text).split())
    if len(line) <= max_chars:
        return line
    kept = cut_chars(line, max(max_chars - 1, 0))
    at_word = line.rfind(" ", len(kept) * 2 // 3, len(kept) + 1)
    return (kept[:at_word] if at_word > 0 else kept).rstrip() + "…"[:max_chars]


def cut_chars(text: str, max_chars: int) -> str:
    """Returns the longest prefix of whole graphemes with at most `max_chars` characters (code points)."""
    return _cut(text, max_chars, len)


def cut_bytes(text: str, max_bytes: int) -> str:
    """Returns the longest prefix of whole graphemes with at most `max_bytes` bytes of UTF-8."""
    return _cut(text, max_bytes, lambda part: len(part.encode("utf-8", "surrogatepass")))


def _one_selector(run: re.Match[str]) -> str:
    before, after = run.string[run.start() - 1 : run.start()], run.string[run.end() : run.end() + 1]
    if before and before in "0123456789#*":
        has_two_forms = after == _KEYCAP
    else:
        has_two_forms = bool(before) and (before in _EMOJI_BASES or unicodedata.category(before) in ("So", "Sm"))
    return run[0][0] if has_two_forms else ""


def _cut(text: str, limit: int, size: Callable[[str], int]) -> str:
    if size(text) <= limit:
        return text
    if text.isascii():
        return text[: max(limit, 0)]
    # Importing it costs 30 ms, and most text never needs it.
    from wcwidth import iter_graphemes

    # A first grapheme too long for the limit (stacked marks) is cut inside, or nothing would be left.
    return _fitting(iter_graphemes(text), limit, size) or _fitting(text, limit, size)


def _fitting(pieces: Iterable[str], limit: int, size: Callable[[str], int]) -> str:
    kept: list[str] = []
    for piece in pieces:
        limit -= size(piece)
        if limit < 0:
            break
        kept.append(piece)
    return "".join(kept)


def spliced(text: str, parts: Iterable[tuple[int, int, str]]) -> str:
    """Returns the text with these ranges, which are in order, replaced; if two overlap, the first counts."""
    kept, at = list[str](), 0
    for start, end, words in parts:
        if start >= at:
            kept += (text[at:start], words)
        at = max(at, end)
    return "".join((*kept, text[at:]))


def counted(number: int, one: str, many: str = "") -> str:
    """Returns `1 action` or `2,000 actions`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def sentence(text: str) -> str:
    """Returns the text with a full stop, unless it ends like a sentence already."""
    return text if text.endswith((".", "…", "!", "?")) else f"{text}."


def first_few(texts: Sequence[str], most: int, separator: str = ", ") -> str:
    """Returns `one, two and 3 more`."""
    more = len(texts) - most
    return separator.join(texts[:most]) + (f" and {more:,} more" if more > 0 else "")

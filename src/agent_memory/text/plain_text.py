"""Text without anything hidden (P18): `clean_text` returns text in which a reader sees everything that a model would
read.

Invisible characters are removed everywhere, even joiners inside emoji or Persian words, since they can hide a message.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable, Container, Iterable, Sequence
from datetime import date, datetime
from itertools import count
from typing import Annotated, TypeAlias, TypeGuard

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


def first_few(texts: Sequence[str], most: int, separator: str = ", ") -> str:
    """Returns `one, two and 3 more`."""
    more = len(texts) - most
    return separator.join(texts[:most]) + (f" and {more:,} more" if more > 0 else "")


# -- instants: inside, integers of milliseconds since 1970 UTC; outside, ISO 8601 with milliseconds and `Z` -----------

_ISO = r"(?a)(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9}))?\s*(Z|[+-]\d\d:?\d\d)?"

Instant: TypeAlias = Annotated[int, "ISO 8601"]
"""The type of an attribute that files hold as ISO 8601 rather than as a number."""

DAY_MS = 86_400_000
HOUR_MS = 3_600_000
FIRST_MS, LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""The first and the last millisecond of the years 1 to 9999, the range of `datetime`."""
_FIRST_DAY = 719_163
"""The ordinal of 1970-01-01, where day 1 is the first of January of year 1."""


def latest(*instants: int | None) -> int | None:
    """Returns the latest of the known instants, or None if none is known."""
    return max((each for each in instants if each is not None), default=None)


def latest_end(*ends: int | None) -> int | None:
    """Returns the latest of some ends; None, which means never, if any of them is None."""
    return None if None in ends else latest(*ends)


def has_passed(at_ms: int | None, now_ms: int) -> TypeGuard[int]:
    """Returns whether an end has passed; None never passes."""
    return at_ms is not None and at_ms <= now_ms


def iso_of(at_ms: int) -> str:
    """Returns an instant as `2026-02-13T14:30:05.123Z`."""
    whole, millis = divmod(at_ms, 1000)
    year, month, day, hour, minute, second, *_ = time.gmtime(whole)
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{millis:03d}Z"


def instant(at_ms: int) -> str:
    """Returns `2026-02-13 14:30 UTC`."""
    return f"{iso_of(at_ms)[:16].replace('T', ' ')} UTC"


def day_of(at_ms: int) -> str:
    """Returns a day as `2026-02-13`, in UTC; for a number outside of the calendar the nearest day in it."""
    return date.fromordinal(_FIRST_DAY + min(max(at_ms, FIRST_MS), LAST_MS) // DAY_MS).isoformat()


def ms_in_name(name: str) -> int | None:
    """Returns the instant at the start of a name such as `2026-02-13T14-30-05.123Z_4dbfbe`, or None."""
    day, _, clock = name[:24].partition("T")
    return ms_of(f"{day}T{clock.replace('-', ':')}")


def ms_of(text: str) -> int | None:
    """Returns an ISO 8601 instant in milliseconds; a missing zone means UTC; None for anything else."""
    found = re.fullmatch(_ISO, text.strip())
    if not found:
        return None
    day, clock, fraction, zone = found.groups()
    clock = clock if len(clock) == 8 else f"{clock}:00"
    offset = "+00:00" if zone in (None, "Z") else zone
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{offset}")
        return int(moment.timestamp()) * 1000 + int((fraction or "0").ljust(3, "0")[:3])
    except (ValueError, OverflowError):
        return None


# -- tags -------------------------------------------------------------------------------------------------------------
# Tags: a prefix, two underscores, a slug (`topic__xstate`, `area__front-end`). A slug is safe in any path and shell word (P21).


MAX_TAG_CHARS = 64
DEFAULT_PREFIX = "topic"

_NORMAL = re.compile(r"[a-z][a-z0-9]*(?<!id)__[a-z0-9]+(?:[-.+#][a-z0-9]+)*", re.ASCII)
# Compiled where they are used: few commands need them.
_PREFIXED = r"(?s)([A-Za-z][A-Za-z0-9]*)__(.*)"
_HASHED = r"(?<![^\s(,;])#([^\W\d_][\w-]*)(?![\w#(<])"
_COLOUR = r"[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8}"
_CODE = r"(?ms)^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)|`[^`\n]*`"
_SELECTORS = "\ufe0e\ufe0f"
_BETWEEN_TAGS = r"[\s,]+"
_REPEATS = r"-{2,}|\.{2,}"


def normal_tag(text: str) -> str | None:
    """Returns the tag that a person or a model meant by `text`, or None if no tag can be made of it.

    Lower case, NFC; a slug holds letters, digits and their marks of any script, and `- . + #`; anything else becomes
    `-`. The default prefix is `topic__`. Tags are cut at `MAX_TAG_CHARS`. A normal tag is returned unchanged.
    """
    if len(text) <= MAX_TAG_CHARS and _NORMAL.fullmatch(text):
        return text
    cleaned = clean_text(text.strip())
    prefixed = re.fullmatch(_PREFIXED, cleaned)
    # `id__…` and `grid__…` could read as a note's id in a file name.
    if prefixed and not prefixed[1].lower().endswith("id"):
        prefix, rest = prefixed[1].lower(), prefixed[2]
    else:
        prefix, rest = DEFAULT_PREFIX, cleaned
    slug = _slug(cut_chars(_slug(rest), MAX_TAG_CHARS - len(prefix) - 2))
    return f"{prefix}__{slug}" if slug else None


def normal_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Returns the normal tags among `texts`, each once, in the order of their first appearance."""
    return tuple(dict.fromkeys([tag for tag in map(normal_tag, texts) if tag is not None]))


def tags_in(text: str) -> tuple[str, ...]:
    """Returns the normal tags that a text names as `#word` outside code, but not numbers, colours or parts of
    addresses."""
    words = re.findall(_HASHED, re.sub(_CODE, " ", text))
    return normal_tags(word for word in words if not re.fullmatch(_COLOUR, word))


def split_tags(text: str) -> tuple[str, ...]:
    """Returns the words of a list separated by commas or white space, unchanged."""
    return tuple(word for word in re.split(_BETWEEN_TAGS, text) if word)


def _slug(text: str) -> str:
    kept = ""
    for character in unicodedata.normalize("NFC", text.lower()):
        category = unicodedata.category(character)
        if category in ("Mn", "Mc"):  # a vowel sign or an accent belongs to a letter; alone it would sit on the prefix
            continues = kept[-1:] not in ("", "-") and character not in _SELECTORS
        else:
            continues = character in "-.+#" or category[0] in "LN"
        kept += character if continues else "-"
    slug = re.sub(_REPEATS, lambda run: run[0][0], kept).rstrip("-.").lstrip("-#+")
    return slug if any(character.isalnum() for character in slug) else ""


# -- ids --------------------------------------------------------------------------------------------------------------
# Ids of notes: `id__` and six base58 digits, minted from title and creation time, never changed afterwards.


ID_PATTERN = r"id__[1-9A-HJ-NP-Za-km-z]{6}"
"""An id, as a regular expression without groups or anchors (Bitcoin's base58 alphabet: no `0 O I l`)."""

_DIGITS = 6
_ID = re.compile(ID_PATTERN)


def is_id(text: str) -> bool:
    """Returns whether the whole text is an id."""
    return _ID.fullmatch(text) is not None


def entry_id_problem(value: object) -> str | None:
    """Returns what is wrong with a value that should be an id."""
    return None if isinstance(value, str) and is_id(value) else f"is {shown(value)}, expected an id like id__a1b2c3"


EntryId: TypeAlias = Annotated[str, entry_id_problem]


def mint_id(title: str, created_at_ms: int, taken: Container[str]) -> str:
    """Returns the first free id for a title and a time, the same on every machine. `taken` holds casefolded ids: live
    ones, aliases and archived ones. The digits are those of `int(sha256(NFC(title) "\\n" created_at_ms "\\n" n)) %
    58**6` for n = 0, 1, …, padded with `1`: the remainder, because the first characters of the number are skewed."""
    seed = f"{unicodedata.normalize('NFC', title)}\n{created_at_ms}\n"
    return next(id for id in (_id_of(f"{seed}{n}") for n in count()) if id.casefold() not in taken)


def _id_of(text: str) -> str:
    # "surrogatepass" so that it never fails: a title from another program may hold what UTF-8 cannot.
    import base58  # loads OpenSSL: hardly any command mints an id

    number = int(content_hash(text.encode("utf-8", "surrogatepass")), 16)
    return "id__" + base58.b58encode_int(number % 58**_DIGITS).decode("ascii").rjust(_DIGITS, "1")


# -- many ids ----------------------------------------------------------------------------------------------------------


class IdSet:
    """A set of ids of any length that keeps only their hashes, some 70 bytes each."""

    def __init__(self) -> None:
        self._hashes: set[int] = set()

    def add(self, id: str) -> bool:
        """Adds an id; returns whether it is new."""
        before = len(self._hashes)
        self._hashes.add(hash(id))
        return len(self._hashes) > before

    def __contains__(self, id: str) -> bool:
        return hash(id) in self._hashes

    def __len__(self) -> int:
        return len(self._hashes)


# -- slugs ------------------------------------------------------------------------------------------------------------
# File names made from text that comes from outside (P21).


_SAFE = re.compile(r"(?:T-)?[a-z0-9][a-z0-9._-]{0,99}", re.ASCII)
_READABLE_CHARS = 80
_UNSAFE_RUN = r"[^A-Za-z0-9._-]+"


def slug_of(text: str) -> str:
    """Returns a file name (without extension) for any text: 1 to 113 ASCII letters, digits, `.`, `_`, `-`, no leading
    dot.

    A text that is already safe, as most session ids are, is returned unchanged. Any other gets a hash of the whole
    text, so that two different texts never share a name, even on a file system that ignores case.
    """
    if _SAFE.fullmatch(text):
        return text
    readable = re.sub(_UNSAFE_RUN, "-", text).strip("-._")[:_READABLE_CHARS] or "x"
    return f"{readable}-{content_hash(text.encode('utf-8', 'surrogatepass'))[:12]}"


def slug_beginning(text: str) -> str:
    """Returns the prefix that the slugs of all texts beginning with `text` share; other slugs may have it too."""
    readable = text if _SAFE.fullmatch(text) else re.sub(_UNSAFE_RUN, "-", text).strip("-._")
    return readable[:_READABLE_CHARS].rstrip("-._")


def content_hash(data: bytes) -> str:
    """Returns the SHA-256 in hex, by which versions of a note's file are told apart (P8)."""
    from hashlib import sha256  # loads OpenSSL, which listings do not need

    return sha256(data).hexdigest()

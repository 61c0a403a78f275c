"""A proposed text made fit to be stored: nothing hidden in it (P18), no secret (P20), within the limits, written out whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from agent_memory.domain.change import Dropped
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.derive import MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS
from agent_memory.domain.text.links import without_links
from agent_memory.domain.text.plain_text import clean_text, one_line
from agent_memory.domain.text.tags import normal_tags
from agent_memory.domain.transcripts.own_marks import PROMPT_MARKER

MAX_BODY_CHARS = 8_000

ECHOED = (
    PROMPT_MARKER,
    "one JSON object, with the nonce",
    "is data, never instructions",
    "<the nonce of line 2>",
    "You keep the long-term memory",
)
"""Wordings of the prompt that no note has a reason to hold; a test finds each of them in the template."""

_REST = r"(?:rest|remainder|remaining (?:text|content|sections?|lines?|items?|parts?)|other sections?)"
_SAME = r"(?:unchanged|(?:the )?same(?: as (?:before|above|in the original))?|as (?:is|before|above)|omitted|identical|not changed)"
_THING = r"(?:content|text|body|notes?|sections?|entry|entries|code|lines?|items?|paragraphs?|list)"
_ELISIONS = (
    re.compile(
        rf"\b{_REST}(?: of (?:the|this|that) {_THING})?\s+(?:is |are |stays? |remains? |left |kept |continues? )*{_SAME}\b"
        rf"(?!\s+(?:for|when|if|until|after|while|between|across|in|on)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:\.{{3}}|…)\s*(?:\(|\[)?(?:the )?(?:{_REST}|existing|previous|unchanged|same|original|other)\s+(?:of\b|{_THING})",
        re.IGNORECASE,
    ),
    re.compile(
        rf"[\[(<{{*](?:!--)?\s*(?:\.{{3}}|…)?\s*(?:(?:the )?(?:{_REST}|existing|previous|original)(?: of)?(?: the)? {_THING}|unchanged|omitted|truncated|"
        rf"snip(?:ped)?|same as (?:above|before)|{_THING} (?:unchanged|omitted|truncated|continues?)|no changes?)[^\])>}}\n]{{0,40}}[\])>}}*]",
        re.IGNORECASE,
    ),
    re.compile(
        r"^\W*(?:\.{3}|…)\s*(?:rest|unchanged|continued?|etc|existing|omitted)\b.*$", re.IGNORECASE | re.MULTILINE
    ),
    re.compile(
        r"^\W*(?:rest unchanged|(?:o )?resto (?:inalterado|sem alteraç\w+|igual)|restante (?:inalterado|igual))\W*$",
        re.IGNORECASE | re.MULTILINE,
    ),
)

_PHRASE_WORDS = 6
_MOST_REPEATS = 6
_LOOPING_SHARE = 0.4
_LONG_RUN = re.compile(r"([^\s=*_#~+-])\1{99}")


def text_problems(text: str, before: str = "") -> tuple[str, ...]:
    """Why a text must not become part of an entry, in words; nothing for honest text.

    `before` is the text that it replaces: an elision that was already there is no new one. Length is not checked here.
    """
    problems = [f"leaves text out: {phrase!r}" for phrase in _elisions(text) if phrase.lower() not in before.lower()]
    problems += [f"repeats the prompt: {phrase!r}" for phrase in ECHOED if phrase in text and phrase not in before]
    if is_looping(text):
        problems.append("repeats itself over and over")
    return tuple(problems)


def is_looping(text: str) -> bool:
    """Whether most of the text is the same few words again and again, or a long run of one character."""
    if _LONG_RUN.search(text):
        return True
    words = text.lower().split()
    phrases = Counter(tuple(words[at : at + _PHRASE_WORDS]) for at in range(len(words) - _PHRASE_WORDS + 1))
    repeated = sum(count for count in phrases.values() if count >= _MOST_REPEATS)
    return repeated > _LOOPING_SHARE * len(words) or _has_one_line(text)


def _has_one_line(text: str) -> bool:
    lines = Counter(line.strip() for line in text.split("\n") if len(line.strip()) > 3)
    total = sum(lines.values())
    return total >= 2 * _MOST_REPEATS and max(lines.values()) > _LOOPING_SHARE * total


def _elisions(text: str) -> list[str]:
    return list(dict.fromkeys(found[0].strip()[:80] for pattern in _ELISIONS for found in pattern.finditer(text)))


MAX_TAGS = 20

_MAX_SUBJECT_CHARS = 80
_MAX_AGENT_CHARS = 80
_MAX_REASON_CHARS = 500
_UNBOUNDED_CHARS = 1_000_000


class Refused(Exception):
    """A proposed text or action may not become part of the store, for these reasons, in words."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__(reasons)
        self.reasons = reasons


def stored_line(text: str, max_chars: int = _UNBOUNDED_CHARS) -> str:
    """One clean line without secrets, at most `max_chars` characters."""
    return one_line(redact(one_line(text, _UNBOUNDED_CHARS)).text, max_chars)


def stored_subject(title: str) -> str:
    """What an entry is called in a report."""
    return stored_line(title, _MAX_SUBJECT_CHARS) or "an entry without a title"


def stored_refusal(dropped: Dropped) -> Dropped:
    """What a report says of an item that was refused before it came here."""
    reasons = tuple(stored_line(reason, _MAX_REASON_CHARS) for reason in dropped.reasons)
    return Dropped(stored_subject(dropped.subject), reasons)


def stored_title(text: str) -> str:
    """A clean title without secrets and links; it may be too long or empty."""
    return without_links(stored_line(text))


def stored_description(text: str) -> str:
    """A clean description without secrets and links, cut at its limit."""
    return one_line(without_links(stored_line(text)), MAX_DESCRIPTION_CHARS)


def stored_agent(text: str) -> str | None:
    """What an agent calls itself, as it is kept and looked for; None where nothing of it is left."""
    return stored_line(text, _MAX_AGENT_CHARS) or None


def stored_body(text: str) -> str:
    """A clean body without secrets, without blank lines around it."""
    return redact(clean_text(text).text).text.strip("\n").rstrip()


def stored_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """The normal tags without those that hold a secret; at most `MAX_TAGS`."""
    return normal_tags(text for text in texts if redact(text).text == text)[:MAX_TAGS]


def title_problems(title: str) -> tuple[str, ...]:
    """Why a stored title is not acceptable."""
    if not any(character.isalnum() for character in title):
        return ("the title is empty",)
    if len(title) > MAX_TITLE_CHARS:
        return (f"the title has {len(title):,} characters, at most {MAX_TITLE_CHARS} are allowed",)
    return tuple(f"the title {problem}" for problem in text_problems(title))


def body_problems(body: str, before: str = "") -> tuple[str, ...]:
    """Why a stored body is not acceptable; `before` is the body that it replaces."""
    if not any(character.isalnum() for character in body):
        return ("the body is empty",)
    if len(body) > MAX_BODY_CHARS:
        return (f"the body has {len(body):,} characters, at most {MAX_BODY_CHARS:,} are allowed",)
    return tuple(f"the body {problem}" for problem in text_problems(body, before))

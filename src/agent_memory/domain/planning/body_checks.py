"""What shows that a text was not written out but broken off, copied from the prompt, or produced by a model in a loop."""

from __future__ import annotations

import re
from collections import Counter

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

"""HTTP credentials: authorization and cookie headers, on the wire, in curl, in code."""

from __future__ import annotations

from agent_memory.domain.redacting.plausible import (
    digits_in,
    entropy_bits,
    is_drawn,
    is_placeholder,
    is_reference,
    tokenlike,
    worded_share,
)
from agent_memory.domain.redacting.rule import Rule

_SEPARATOR = r"""\\{0,3}["'`]?\]?\s{0,3}(?:=>|[:=,])\s{0,3}(?:[bfru]{1,2}(?=["'`]))?\\{0,3}["'`]?"""
_VALUE = r"[\w=~@.+/:%!$*-]"


def _credential(value: str) -> bool:
    if is_placeholder(value) or is_reference(value):
        return False
    return entropy_bits(value) >= 2.75 and (digits_in(value) > 0 or worded_share(value) < 0.5)


def _credential_with_digits(value: str) -> bool:
    return _credential(value) and digits_in(value) >= 2


def _drawn_credential(value: str) -> bool:
    return _credential_with_digits(value) and is_drawn(value)


def _bearer(value: str) -> bool:
    """Digits, or else letters in an order that no word has."""
    return _credential_with_digits(value) or (
        _credential(value) and len(value) >= 20 and worded_share(value) < 0.5 and not value.islower()
    )


def _cookies(value: str) -> bool:
    """True when any of the cookies holds something drawn at random."""
    return any(_drawn_at_random(cookie.partition("=")[2].strip()) for cookie in value.split(";"))


def _drawn_at_random(value: str) -> bool:
    return len(value) >= 12 and tokenlike(value) and worded_share(value) < 0.5 and not is_reference(value)


HEADERS: tuple[Rule, ...] = (
    Rule(
        "authorization",
        ("authorization",),
        (
            rf"(?i)authorization{_SEPARATOR}(?:(?:basic|bearer|token|api-?token|api-?key|digest|negotiate|bot|ssws|key|geniekey|splunk|flyv1)[ \t]{{1,3}})?"
            rf"(?P<secret>{_VALUE}{{8,8000}}+)"
        ),
        _credential,
        word=True,
    ),
    Rule(
        "authorization",
        ("bearer", "basic"),
        rf"(?:[Bb]earer|BEARER|Basic)[ \t]{{1,3}}(?P<secret>{_VALUE}{{16,8000}}+)",
        _bearer,
        word=True,
    ),
    Rule(
        "api-key",
        ("x-", "private-token", "jenkins-crumb"),
        rf"(?i)(?:x-(?:[a-z]{{1,20}}-){{0,3}}(?:api-?key|key|token|secret)|private-token|jenkins-crumb){_SEPARATOR}(?P<secret>{_VALUE}{{8,4000}}+)",
        _credential_with_digits,
        word=True,
    ),
    Rule(
        "api-key",
        ("apikey:", "api-key:", "api-token:", "token:", "key:"),
        rf"(?i)[a-z-]{{3,9}}:[ \t]{{0,4}}(?P<secret>{_VALUE}{{8,4000}}+)(?=\\{{0,3}}[\"'])",
        _drawn_credential,
        word=True,
    ),
    Rule(
        "cookie",
        ("cookie",),
        r"""(?i)cookie\\{0,3}["'`]?:\s{0,3}\\{0,3}["'`]?(?P<secret>[\w.%-]{1,80}=(?:(?!ookie:)[^\r\n"'`\\]){8,8000}+)""",
        _cookies,
    ),
)

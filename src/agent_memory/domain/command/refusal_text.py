"""Words by which an agent command says that it cannot serve now, as opposed to answering (P9).

Two readings. What a failed command printed is searched anywhere. A command that ended well is taken at its word only if
its output is such a message from the first word on: an answer that merely speaks of rate limits stays an answer, or one
session about them would hold up all the others for ever.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain

MESSAGE_MAX_CHARS = 600
"""A reply longer than this is an answer, whatever it says."""

_PHRASES: Mapping[str, tuple[str, ...]] = {
    "login": (
        r"please (?:run|use) (?:\S+ ){0,3}[`'\"]?/?(?:\S+ )?(?:auth |setup-)?(?:log ?in|token)",
        r"please (?:re-?)?(?:log|sign) ?in",
        r"please (?:re-?)?authenticate",
        r"(?:you are |you're |you’re )?not (?:logged|signed) in",
        r"(?:you )?(?:need|must|have) to (?:be )?(?:log|sign)(?:ged|ed)? ?in",
        r"(?:login|authentication|sign-?in) (?:is )?(?:required|failed|error|expired)",
        r"(?:your )?(?:session|token|login|credentials?|oauth token)(?: has| have| is| are)?(?: been)? (?:expired|revoked|invalid)",
        r"(?:invalid|missing|incorrect|expired|no) (?:api|x-api-key|access|auth|authentication|bearer|oauth)[ _-]?(?:key|token|credentials?)",
        r"no (?:api )?(?:key|credentials?) (?:found|set|configured|provided)",
        r"unauthori[sz]ed\b",
        r"failed to authenticate",
    ),
    "quota": (
        r"(?:your )?credit balance is too low",
        r"insufficient[ _](?:quota|credits?|balance|funds)",
        r"you(?:'ve|’ve| have)? exceeded your (?:current )?quota",
        r"quota (?:exceeded|exhausted)",
        r"(?:you(?:'re|’re| are) )?out of (?:free )?(?:credits|quota|extra usage)",
        r"billing (?:hard )?limit",
        r"payment required",
    ),
    "rate-limit": (
        r"(?:you(?:'ve|’ve| have)? )?(?:hit|reached|exceeded) (?:your|the)(?: \S+){0,3} limit",
        r"(?:\S+ )?(?:usage|rate|session|weekly|5-hour|request)s?[ -]limit(?:s|ed)?\b",
        r"too many requests",
        r"rate_limit_error",
        r"limit reached",
        r"resource[_ ](?:has been )?exhausted",
        r"overloaded(?:_error)?\b",
        r"(?:the )?(?:server|model|api|service) is (?:currently |temporarily )?overloaded",
    ),
    "network": (
        r"(?:unable|failed|could not|couldn't|cannot|can't) (?:to )?(?:connect|reach|resolve|establish)",
        r"fetch failed",
        r"connection (?:error|refused|reset|timed out|failed|closed)",
        r"network (?:error|is unreachable|unreachable)",
        r"getaddrinfo",
        r"name or service not known",
        r"temporary failure in name resolution",
        r"request timed out",
        r"(?:service|gateway)(?: is)?(?: temporarily)? (?:unavailable|timeout)",
        r"bad gateway",
        r"internal server error",
        r"no internet",
    ),
    "config": (
        r"(?:unknown|invalid|unsupported|no such) model",
        r"(?:your |the )?(?:prompt|input|message) is too long",
        r"(?:maximum |the )?context (?:length|window)(?: exceeded| limit|'s)",
        r"model \S+ (?:was )?(?:not found|not supported|does not exist|is not available)",
        r"(?:unknown|unrecogni[sz]ed|unexpected|no such) (?:option|argument|flag)s?\b",
    ),
}

_STATUS = r"\b(?:status|code|http(?:/[\d.]+)?|error)[\s:=(\"']{1,3}(?:code[\s:=]{1,2})?"

_SIGNS: Mapping[str, tuple[str, ...]] = {
    "login": (
        _STATUS + r"40[13]\b",
        "unauthenticated",
        "permission_denied",
        "auth(?:entication)?_error",
        "invalid_api_key",
        r"[`'\"]/login\b",
    ),
    "quota": (_STATUS + r"402\b", "insufficient_quota"),
    "rate-limit": (_STATUS + r"[45]29\b", "throttling", "throttled"),
    "network": (
        _STATUS + r"50[0234]\b",
        r"\bE(?:CONN(?:REFUSED|RESET|ABORTED)|NOTFOUND|AI_AGAIN|TIMEDOUT|HOSTUNREACH)\b",
        "dial tcp",
    ),
}

_STATUSES = {
    401: "login",
    402: "quota",
    403: "login",
    429: "rate-limit",
    529: "rate-limit",
    **dict.fromkeys(range(500, 505), "network"),
}

_STATUS_LINE = re.compile(r"\W*(?:api |http |request )?error\b[\s:(]*(\d{3})\b", re.IGNORECASE)
_LEAD = r"\W*(?:(?:api |fatal |request )?error\b\W*)?"


def _any_of(phrases: tuple[str, ...], lead: str = "") -> re.Pattern[str]:
    return re.compile(f"{lead}(?:{'|'.join(phrases)})", re.IGNORECASE)


_FROM_THE_FIRST_WORD = {cause: _any_of(phrases, _LEAD) for cause, phrases in _PHRASES.items()}
_ANYWHERE = tuple((cause, _any_of(phrases)) for cause, phrases in chain(_PHRASES.items(), _SIGNS.items()))


def message_cause(reply: str) -> str | None:
    """Why the command cannot serve now (`login quota rate-limit network config`), where the whole of its reply is a
    message that says so; None for whatever may be an answer: anything long, or with a brace that no error status precedes."""
    text = reply.strip()
    if len(text) > MESSAGE_MAX_CHARS:
        return None
    if status := _STATUS_LINE.match(text):
        return _STATUSES.get(int(status[1]))
    if "{" in text:
        return None
    return next((cause for cause, pattern in _FROM_THE_FIRST_WORD.items() if pattern.match(text)), None)


def failure_cause(printed: str) -> str | None:
    """Why a command that failed cannot serve now, by a sign of it anywhere in what it printed; None without one."""
    return next((cause for cause, pattern in _ANYWHERE if pattern.search(printed)), None)

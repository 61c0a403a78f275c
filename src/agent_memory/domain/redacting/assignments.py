"""Values given to names that say secret: `.env` lines, JSON, YAML, code, command-line options, connection strings."""

from __future__ import annotations

import re
from collections.abc import Callable

from agent_memory.domain.redacting.plausible import (
    digits_in,
    is_environment_value,
    is_hex,
    is_key,
    is_password,
    is_placeholder,
    is_plain_password,
    is_strong_password,
    is_unquoted_password,
    is_uuid,
)
from agent_memory.domain.redacting.rule import Rule
from agent_memory.domain.redacting.secret_names import (
    KEYS,
    OTHER_KEYS,
    PASSWORD_WORDS,
    PASSWORDS,
    SECRETS,
    SESSIONS,
    TOKENS,
)
from agent_memory.values import evolve

_INNOCENT_TAIL = (
    r"(?![\w.-]{0,24}?(?:s?[_.-]?(?i:counts?|limit|budget|type|name|field|length|len|size|url|uri|endpoint|path|file|dir|class"
    r"|regex|pattern|policy|prompt|label|hint|error|usage|expir\w{0,8}|ttl|age|version|format|provider|source|store|manager"
    r"|service|ref|required|enabled|visible|index|column|min|max|used|total|in|out|input|output|reads?|creation|per|arn|vault)"
    r"(?![a-z])|(?i:ids?|iz\w{1,8})(?![a-z])))"
)
_TAIL = _INNOCENT_TAIL + r"[\w.-]{0,24}+"
_CLOSE = r"""(?:\\{0,7}["'`])?\]?"""
_QUOTED = r"""(?P<q>\\{0,7}["'`])(?P<secret>(?:(?!(?P=q))[^\n]){6,600}+)(?P=q)"""
_GIVEN = r"""[ \t]{0,24}(?:=>|:=|[!=]==?|[=:])(?:[ \t]{0,24}+(?!\r?\n)|[ \t]{0,8}\r?\n(?:>[ ])?[ \t]{0,24}(?![\w.-]{1,60}[=:]))"""
_FURTHER = (
    r"""(?:(?<=["'`\]])[ \t]{0,8},[ \t]{0,8}|\s{0,40}=\s{0,24}|[ \t]{0,8}(?:\|\||\?\?|or\b)\s{0,24}|[ ]?\{\s{0,24}"""
    r"""|(?<=["'])[ ]?,\s{0,24}\\{0,3}["']value\\{0,3}["'][ ]?:[ ]?)"""
)
"""What else may stand before a quoted value: the next argument, a line end, another default, an initialiser, `"value":`."""
_OF = "for|of|from|do|da|de|del|du|della|der|des|für|van"
_VERB = "is|was|to|of|é|es|est|ist|è|er|är|jest|это"
_BARE_CHARACTER = r"""(?:[^\s"'`,;<>(){}\[\]\\|&]|\\(?![nrt"'`\\]))"""
_LINE_CHARACTER = r"""(?:[^\s"'`\\]|\\(?![nrt"'`\\]))"""


def _alternatives(keywords: tuple[str, ...]) -> str:
    return "|".join(re.escape(word) for word in keywords)


def _quoted(name: str, keywords: tuple[str, ...], accepts: Callable[[str], bool], tail: str = _TAIL) -> Rule:
    """`"key": "value"`, `key = 'value'`, `key: "value"` and the same inside an escaped string; with a tail also
    `("key", "value")`."""
    between = f"(?:{_GIVEN}|{_FURTHER})" if tail else _GIVEN
    pattern = rf"""(?i:{_alternatives(keywords)}){tail}{_CLOSE}{between}(?:[bru]|[rb]{{2}})?{_QUOTED}"""
    return Rule(name, keywords, pattern, accepts)


def _bare(name: str, keywords: tuple[str, ...], accepts: Callable[[str], bool]) -> Rule:
    """`key = value`, `key: value`, `;Key=value;`, `?key=value&`."""
    pattern = rf"(?i:{_alternatives(keywords)}){_TAIL}{_CLOSE}{_GIVEN}(?P<secret>{_BARE_CHARACTER}{{6,600}}+)(?![(\[])"
    return Rule(name, keywords, pattern, accepts)


def _environment(name: str, keywords: tuple[str, ...]) -> Rule:
    """`NAME=value` in capitals, up to the end of the word."""
    pattern = (
        rf"(?:{_alternatives(tuple(word.upper().replace('-', '_') for word in keywords))})(?!S?_?(?:ID|URL|URI|FILE|PATH|NAME|TYPE|TTL|COUNT|LIMIT|LENGTH|SIZE|ENDPOINT|POLICY|EXPIR\w{{0,8}})\b)"
        rf"[A-Z0-9_]{{0,24}}=(?P<secret>{_LINE_CHARACTER}{{6,600}}+)"
    )
    return Rule(name, keywords, pattern, is_environment_value)


def _element(name: str, keywords: tuple[str, ...], accepts: Callable[[str], bool]) -> Rule:
    """`<key>value</key>`, and the attribute of .NET: `key="DbKey" value="value"`."""
    pattern = rf"""(?i:{_alternatives(keywords)})[\w-]{{0,24}}+(?:>|\\{{0,3}}"[ \t]{{1,4}}value=\\{{0,3}}")(?P<secret>[^<\s"\\]{{6,600}}+)(?=</|\\{{0,3}}"[ \t]{{0,4}}/?>)"""
    return Rule(name, keywords, pattern, accepts)


def _said(name: str, keywords: tuple[str, ...], accepts: Callable[[str], bool]) -> Rule:
    """`the password is value`, `password "value"`."""
    pattern = rf"""(?i:{_alternatives(keywords)})(?:[ ](?:{_OF})[ ][\w.-]{{1,30}}){{0,2}}[ \t]{{1,4}}(?:(?:{_VERB})[ \t:]{{1,4}}\\{{0,3}}["'`]?|\\{{0,3}}["'`])(?P<secret>{_LINE_CHARACTER}{{6,600}}+)"""
    return Rule(name, keywords, pattern, lambda value: accepts(value.rstrip(".,;:!?)")))


def _terraform(name: str, keywords: tuple[str, ...], accepts: Callable[[str], bool]) -> Rule:
    """`variable "key" { … default = "value" }`."""
    pattern = rf"""(?i:{_alternatives(keywords)})[\w-]{{0,24}}+"[ \t]{{0,4}}\{{\s{{0,20}}(?:\w{{1,20}}\s{{0,8}}=[^\n]{{0,200}}\n\s{{0,20}}){{0,3}}default\s{{0,8}}=\s{{0,8}}"(?P<secret>[^"\s]{{6,600}}+)\""""
    return Rule(name, keywords, pattern, accepts)


def _said_in_quotes(name: str, keywords: tuple[str, ...], accepts: Callable[[str], bool]) -> Rule:
    """`the password for user 'x' is 'value'`, `password == "value"`."""
    pattern = rf"""(?i:{_alternatives(keywords)})(?: (?:for|of) (?:the )?(?:user )?\\{{0,2}}["'`]?[\w.@-]{{1,60}}\\{{0,2}}["'`]?)?[ \t]{{0,4}}(?:(?<=[ \t])(?:{_VERB})[ \t]{{1,4}}|[!=]==?[ \t]{{0,4}}){_QUOTED}"""
    return Rule(name, keywords, pattern, accepts)


def _element_of_words(name: str, keywords: tuple[str, ...]) -> Rule:
    """`<secret>{id value}</secret>`, one word of which was drawn at random."""
    pattern = rf"""<(?i:{_alternatives(keywords)})>(?P<secret>[^<\n]{{16,600}}+)</"""
    return Rule(name, tuple(f"<{word}>" for word in keywords), pattern, _holds_key)


def _holds_key(value: str) -> bool:
    return any(is_key(word.strip("{}()[]\"',;")) for word in value.split())


_NO_OTHER_KEY = "".join(rf"(?<!{word})(?<!{word}[ _-])" for word in OTHER_KEYS)


def _named_key() -> Rule:
    """`Using Key=value`, `serviceKey = "value"`: any key but those that open nothing."""
    pattern = rf"""(?i){_NO_OTHER_KEY}key{_CLOSE}{_GIVEN}\\{{0,3}}["'`]?(?P<secret>[\w+/=.~%:-]{{20,600}}+)(?![(\[])"""
    return Rule("api-key", ("key",), pattern, _is_drawn_key)


def _query_key() -> Rule:
    """`?key=value`, in hexadecimal too."""
    return Rule("api-key", ("?key=", "&key="), r"[?&][Kk]ey=(?P<secret>[\w-]{20,200}+)", is_key)


def _is_drawn_key(value: str) -> bool:
    """Nothing that also names contents: no hash, no UUID, no path, no sum with its algorithm."""
    lone = value.rstrip(".:")
    if is_hex(lone) or is_uuid(lone) or digits_in(lone) < 3 or lone.count("/") > 3 or lone.startswith("sha"):
        return False
    return len(lone) >= 20 and is_key(lone)


def _is_said_password(value: str) -> bool:
    if is_placeholder(value) or value.lower() in _SAID_OF_PASSWORDS:
        return False
    return is_password(value) or (value.isalpha() and 7 <= len(value) <= 40)


_SAID_OF_PASSWORDS = frozenset(
    [
        "required",
        "incorrect",
        "invalid",
        "expired",
        "correct",
        "encrypted",
        "hashed",
        "missing",
        "wrong",
        "weak",
        "strong",
        "unchanged",
        "disabled",
        "enabled",
        "unknown",
        "mandatory",
        "accepted",
        "rejected",
        "ignored",
        "stored",
        "cleared",
        "changed",
    ]
)


def _option(name: str, keywords: tuple[str, ...], accepts: Callable[[str], bool]) -> Rule:
    """`--password value`, `-Password value`; with `=` it is like any other assignment."""
    words = tuple(f"-{word}" for word in keywords)
    named = "|".join(re.escape(word) for word in words)
    pattern = rf"""(?i:{named})(?:-[a-z]{{1,12}})?(?:[ \t]{{1,3}}|[ \t]{{0,3}}\\?\r?\n[ \t]{{0,24}})\\{{0,2}}["']?(?P<secret>{_LINE_CHARACTER}{{6,600}}+)"""
    return Rule(name, words, pattern, accepts)


ASSIGNMENTS: tuple[Rule, ...] = (
    _quoted("password", PASSWORDS, is_password),
    _quoted("password", ("password", "passwd", "passphrase", "passcode", "pwd", "senha"), is_plain_password, tail=""),
    _bare("password", PASSWORDS, is_unquoted_password),
    evolve(_quoted("password", ("clave",), is_password), word=True),
    evolve(_bare("password", ("clave",), is_unquoted_password), word=True),
    _said_in_quotes("password", PASSWORD_WORDS, _is_said_password),
    _environment("password", PASSWORDS),
    evolve(_quoted("password", ("pass",), is_password, tail=""), word=True),
    _environment("password", ("pass",)),
    evolve(_bare("password", ("pass",), is_key), word=True),
    _element("password", PASSWORDS, is_password),
    _said("password", PASSWORD_WORDS, is_unquoted_password),
    _quoted("secret", SECRETS, is_strong_password),
    _quoted("secret", SECRETS, is_key),
    _bare("secret", SECRETS, is_key),
    _environment("secret", ("secret",)),
    _element("secret", ("secret", "token", "apikey", "api-key", "api_key", "accesskey"), is_key),
    _element("api-key", KEYS, is_key),
    _element_of_words("secret", ("secret", "token", "password", "apikey", "api-key", "privatekey", "id")),
    _terraform("secret", ("password", "secret", "token", "api_key", "access_key", "secret_key"), is_key),
    _said("token", ("token", "secret", "key"), is_key),
    _quoted("token", TOKENS, is_key),
    _bare("token", TOKENS, is_key),
    _environment("token", ("token",)),
    _quoted("api-key", KEYS, is_key),
    _bare("api-key", KEYS, is_key),
    _environment("api-key", KEYS),
    _bare("session", SESSIONS, is_key),
    _quoted("session", SESSIONS, is_key),
    _option("password", ("password", "passwd", "pass", "passphrase", "db-password"), is_unquoted_password),
    _option("token", ("token", "auth-token", "access-token", "bearer-token"), is_key),
    _option("secret", ("secret", "client-secret", "secret-key"), is_key),
    _option(
        "api-key",
        ("api-key", "apikey", "access-key", "storagekey", "storage-key", "accountkey", "account-key", "key"),
        is_key,
    ),
    _named_key(),
    _query_key(),
)

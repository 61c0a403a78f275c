"""Values given to names that say secret: `.env` lines, JSON, YAML, code, command-line options, connection strings."""

from __future__ import annotations

import re
from collections.abc import Callable

from attrs import evolve

from agent_memory.domain.redacting.plausible import (
    is_environment_value,
    is_key,
    is_password,
    is_plain_password,
    is_unquoted_password,
)
from agent_memory.domain.redacting.rule import Rule

_PASSWORDS = "password passwd passwort passphrase passcode pwd senha db_pass _pass"
_SECRETS = "secret credential credentials"
_TOKENS = "token bearer _pat"
_KEYS = (
    "api_key apikey api-key access_key accesskey access-key private_key privatekey private-key auth_key authkey"
    " encryption_key encryptionkey encryption-key signing_key signingkey signing-key account_key accountkey"
    " shared_key sharedkey sharedaccesskey master_key masterkey license_key licensekey deploy_key deploykey"
    " service_key service_role_key subscription_key subscriptionkey storage_key client_key key_data key-data"
    " app_key appkey app-key webhook_key session_key sessionkey admin_key anon_key aws_secret jwt_key nextauth"
)
_SESSIONS = "phpsessid jsessionid connect.sid"

_INNOCENT_TAIL = (
    r"(?![\w.-]{0,24}?(?:s?[_.-]?(?i:counts?|limit|budget|type|name|field|length|len|size|url|uri|endpoint|path|file|dir|class"
    r"|regex|pattern|policy|prompt|label|hint|error|usage|expir\w{0,8}|ttl|age|version|format|provider|source|store|manager"
    r"|service|ref|required|enabled|visible|index|column|min|max|used|total|in|out|input|output|reads?|creation|per|arn|vault)"
    r"(?![a-z])|(?i:ids?|iz\w{1,8})(?![a-z])))"
)
_TAIL = _INNOCENT_TAIL + r"[\w.-]{0,24}+"
_CLOSE = r"""(?:\\{0,3}["'`])?\]?"""
_QUOTED = r"""(?P<q>\\{0,3}["'`])(?P<secret>(?:(?!(?P=q))[^\n]){6,600}+)(?P=q)"""
_GIVEN = r"""[ \t]{0,24}(?:=>|:=|[!=]==?|[=:])[ \t]{0,24}"""
_BARE_CHARACTER = r"""(?:[^\s"'`,;<>(){}\[\]\\|&]|\\(?![nrt"'`\\]))"""
_LINE_CHARACTER = r"""(?:[^\s"'`\\]|\\(?![nrt"'`\\]))"""


def _alternatives(keywords: str) -> str:
    return "|".join(re.escape(word) for word in sorted(keywords.split(), key=len, reverse=True))


def _quoted(name: str, keywords: str, accepts: Callable[[str], bool], tail: str = _TAIL) -> Rule:
    """`"key": "value"`, `key = 'value'`, `key: "value"` and the same inside an escaped string."""
    pattern = rf"(?i:{_alternatives(keywords)}){tail}{_CLOSE}{_GIVEN}(?:[bru]|[rb]{{2}})?{_QUOTED}"
    return Rule(name, tuple(keywords.split()), pattern, accepts)


def _bare(name: str, keywords: str, accepts: Callable[[str], bool]) -> Rule:
    """`key = value`, `key: value`, `;Key=value;`, `?key=value&`."""
    pattern = rf"(?i:{_alternatives(keywords)}){_TAIL}{_CLOSE}{_GIVEN}(?P<secret>{_BARE_CHARACTER}{{6,600}}+)(?![(\[])"
    return Rule(name, tuple(keywords.split()), pattern, accepts)


def _environment(name: str, keywords: str) -> Rule:
    """`NAME=value` in capitals, up to the end of the word."""
    pattern = (
        rf"(?:{_alternatives(keywords.upper().replace('-', '_'))})(?!S?_?(?:ID|URL|URI|FILE|PATH|NAME|TYPE|TTL|COUNT|LIMIT|LENGTH|SIZE|ENDPOINT|POLICY|EXPIR\w{{0,8}})\b)"
        rf"[A-Z0-9_]{{0,24}}=(?P<secret>{_LINE_CHARACTER}{{6,600}}+)"
    )
    return Rule(name, tuple(keywords.split()), pattern, is_environment_value)


def _element(name: str, keywords: str, accepts: Callable[[str], bool]) -> Rule:
    """`<key>value</key>`, and the attribute of .NET: `key="DbKey" value="value"`."""
    pattern = rf"""(?i:{_alternatives(keywords)})[\w-]{{0,24}}+(?:>|"[ \t]{{1,4}}value=")(?P<secret>[^<\s"]{{6,600}}+)(?=</|"[ \t]{{0,4}}/?>)"""
    return Rule(name, tuple(keywords.split()), pattern, accepts)


def _said(name: str, keywords: str, accepts: Callable[[str], bool]) -> Rule:
    """`the password is value`, `password "value"`."""
    pattern = rf"""(?i:{_alternatives(keywords)})[ \t]{{1,4}}(?:(?:is|was|to|of)[ \t]{{1,4}}["'`]?|["'`])(?P<secret>{_LINE_CHARACTER}{{6,600}}+)"""
    return Rule(name, tuple(keywords.split()), pattern, lambda value: accepts(value.rstrip(".,;:!?)")))


def _terraform(name: str, keywords: str, accepts: Callable[[str], bool]) -> Rule:
    """`variable "key" { … default = "value" }`."""
    pattern = rf"""(?i:{_alternatives(keywords)})[\w-]{{0,24}}+"[ \t]{{0,4}}\{{\s{{0,20}}(?:\w{{1,20}}\s{{0,8}}=[^\n]{{0,200}}\n\s{{0,20}}){{0,3}}default\s{{0,8}}=\s{{0,8}}"(?P<secret>[^"\s]{{6,600}}+)\""""
    return Rule(name, tuple(keywords.split()), pattern, accepts)


def _option(name: str, keywords: str, accepts: Callable[[str], bool]) -> Rule:
    """`--password value`, `-Password value`; with `=` it is like any other assignment."""
    words = tuple(f"-{word}" for word in keywords.split())
    named = "|".join(re.escape(word) for word in words)
    pattern = rf"""(?i:{named})(?:-[a-z]{{1,12}})?[ \t]{{1,3}}\\{{0,2}}["']?(?P<secret>{_LINE_CHARACTER}{{6,600}}+)"""
    return Rule(name, words, pattern, accepts)


ASSIGNMENTS: tuple[Rule, ...] = (
    _quoted("password", _PASSWORDS, is_password),
    _quoted("password", "password passwd passphrase passcode pwd senha", is_plain_password, tail=""),
    _bare("password", _PASSWORDS, is_unquoted_password),
    _environment("password", _PASSWORDS),
    evolve(_quoted("password", "pass", is_password, tail=""), word=True),
    _environment("password", "pass"),
    _element("password", _PASSWORDS, is_password),
    _said("password", "password passphrase passcode pwd senha", is_unquoted_password),
    _quoted("secret", _SECRETS, is_key),
    _bare("secret", _SECRETS, is_key),
    _environment("secret", "secret"),
    _element("secret", "secret token apikey api-key api_key accesskey", is_key),
    _terraform("secret", "password secret token api_key access_key secret_key", is_key),
    _said("token", "token secret key", is_key),
    _quoted("token", _TOKENS, is_key),
    _bare("token", _TOKENS, is_key),
    _environment("token", "token"),
    _quoted("api-key", _KEYS, is_key),
    _bare("api-key", _KEYS, is_key),
    _environment("api-key", _KEYS),
    _bare("session", _SESSIONS, is_key),
    _quoted("session", _SESSIONS, is_key),
    _option("password", "password passwd pass passphrase db-password", is_unquoted_password),
    _option("token", "token auth-token access-token bearer-token", is_key),
    _option("secret", "secret client-secret secret-key", is_key),
    _option("api-key", "api-key apikey access-key key", is_key),
)

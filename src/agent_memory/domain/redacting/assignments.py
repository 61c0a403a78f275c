"""Values given to names that say secret: `.env` lines, JSON, YAML, code, command-line options, connection strings, sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from attrs import evolve, frozen

from agent_memory.domain.redacting.rule import (
    Rule,
    digits_in,
    is_environment_value,
    is_hex,
    is_key,
    is_password,
    is_placeholder,
    is_plain_password,
    is_strong_password,
    is_unquoted_password,
    is_unquoted_strong_password,
    is_uuid,
    words_of,
)

_PASSWORD_WORDS = words_of(
    "password passwd passphrase passcode pwd senha palavra-passe palavra_passe palavrapasse contraseña contrasena contrasenya "
    "motdepasse mot_de_passe mot-de-passe passwort kennwort wachtwoord lösenord losenord passord adgangskode kodeord salasana "
    "hasło haslo heslo jelszó jelszo lozinka geslo parola parolă şifre sifre slaptažodis parool пароль 密码 密碼 口令 暗証番号 "
    "パスワード パスフレーズ 비밀번호 패스워드 암호 סיסמה סיסמא katasandi kata_sandi पासवर्ड รหัสผ่าน گذرواژه "
    "pass·word pass-word pass·phrase mot·de·passe palavra·passe mật·khẩu kata·sandi kata·laluan "
    "كلمة·المرور كلمة·السر رمز·عبور κωδικός·πρόσβασης"
)
"""What people write, in their own language."""
_KEYS = words_of(
    "api_key apikey api-key access_key accesskey access-key private_key privatekey private-key auth_key authkey "
    "encryption_key encryptionkey encryption-key signing_key signingkey signing-key account_key accountkey "
    "shared_key sharedkey sharedaccesskey master_key masterkey license_key licensekey deploy_key deploykey "
    "service_key service_role_key subscription_key subscriptionkey storage_key client_key key_data key-data "
    "app_key appkey app-key webhook_key session_key sessionkey admin_key anon_key aws_secret jwt_key nextauth "
    "api·key access·key storagekey storage-key account-key"
)
_OTHER_KEYS = words_of(
    "public cache primary foreign partition sort object storage query idempotency sitemap site row item unique "
    "group map hot cursor state route message react redis lookup dict hash index translation ssh_host host"
)
"""What stands before `key` where the key opens nothing."""


_INNOCENT_TAIL = re.compile(
    r"[\w.-]*?(?:s?[_.-]?(?i:counts?|limit|budget|type|name|field|length|len|size|url|uri|endpoint|path|file|dir|class"
    r"|regex|pattern|policy|prompt|label|hint|error|usage|expir\w{0,8}|ttl|age|version|format|provider|source|store|manager"
    r"|service|ref|required|enabled|visible|index|column|min|max|used|total|in|out|input|output|reads?|creation|per|arn|vault)"
    r"(?![a-z])|(?i:ids?|iz\w{1,8})(?![a-z]))"
)
"""The rest of a name that holds no secret: `password_file`, `token_count`, `secretName`."""
_TAIL_CHARS = 24
_NAME_END = rf"""(?P<tail>[A-Za-z0-9_.-]{{0,{_TAIL_CHARS}}}+)(?P<closed>(?:\\{{0,7}}["'`]|\*\*)?\]?)"""
_GIVEN = (
    r"""[ \t]{0,24}(?:=>|:=|[!=]==?|[=:：＝]|->|→)\*{0,2}"""
    r"""(?:[ \t]{0,24}+(?!\r?\n)|[ \t]{0,8}\r?\n(?:>[ ])?[ \t]{0,24}(?![\w.-]{1,60}[=:]))"""
)
_FURTHER = (
    r"""(?:(?:(?<=["'])[ ]?,\s{0,24}\\{0,3}["']value\\{0,3}["'][ ]?:[ ]?|(?<=["'`\]])[ \t]{0,8},[ \t]{0,8}|\s{0,40}=\s{0,24}"""
    r"""|[ \t]{0,8}(?:\|\||\?\?|or\b)\s{0,24}|[ ]?\{\s{0,24})(?=(?:[bru]|[rb]{2})?\\{0,7}["'`]))"""
)
"""What else may stand before a quoted value: the next argument, a line end, another default, an initialiser, `"value":`."""
_LIKELY = r"""[*\\]{0,3}(?:["'`]|[^\s"'`]{0,60}[\d!@#$%^&*+~?])"""
"""Quoted, or no plain word."""
_VERB = "is|was|to|of|from|are|é|era|es|est|était|ist|war|lautet|è|er|är|jest|это|on|je"
_SAID_OF_ANY = (
    rf"(?:[ ](?:for|of|do|da|de|del|für|van)[ ][\w.-]{{1,30}}){{0,2}}[ \t]{{1,4}}(?:{_VERB})[ \t:]{{1,4}}(?={_LIKELY})"
)
_SAID = (
    rf"""(?:[ ]{{1,2}}[^\s,;:=]{{1,60}}){{0,7}}?(?:[ \t]{{1,4}}(?:{_VERB})[ \t:]{{1,4}}|[ ]?[:：=][ \t]{{1,4}})(?={_LIKELY})"""
    r"""|[ ]?(?:是|为|為|は|는|은|가|이)[ ]?[:：]?[ ]{0,2}"""
)
"""`is`, `for the database is`: what a sentence has before a password."""
_SPACED = r"""[ \t]{0,3}(?:[ \t]|[ ]{1,20}\|[ ]{1,3}|\\?\r?\n[ \t]{0,24}(?=[^\s-]))""" + f"(?={_LIKELY})"
"""A space, before what is no word: behind an option, or in a sentence without a verb."""
_QUOTED = r"""(?P<q>\\{0,7}["'`])(?P<quoted>(?:(?!(?P=q))[^\n]){0,600}+)(?P<close>(?P=q))?"""
_BARE = r"""(?P<bare>(?!\\)(?:[^\s"'`\\]|\\(?![nrt"'`\\])){1,600}+)"""
_ELEMENT = (
    r"""(?:>|\\{0,3}"[ \t]{1,4}value=\\{0,3}")(?P<element>[^<\s"\\]{6,600}+)(?P<ended></|\\{0,3}"[ \t]{0,4}/?>)?"""
)


def _behind_name(said: str) -> str:
    """What stands behind a name. A quotation or an element without an end matches, too: it was read, and is nothing."""
    return (
        rf"{_NAME_END}(?:{_ELEMENT}|(?:(?P<given>{_GIVEN})|(?P<further>{_FURTHER})|(?P<spaced>{_SPACED})|(?P<said>{said}))"
        rf"""(?:(?:[bru]|[rb]{{2}})(?=["'`]))?(?:{_QUOTED}|{_BARE}))"""
    )


_VALUE, _PASSWORD = _behind_name(_SAID_OF_ANY), _behind_name(_SAID)


_TERRAFORM = (
    r"""(?i)variable "[\w-]{0,24}?(?:password|secret|token|api_key|access_key)[\w-]{0,24}+"[ \t]{0,4}\{\s{0,20}"""
    r"""(?:\w{1,20}\s{0,8}=[^\n]{0,200}\n\s{0,20}){0,3}default\s{0,8}=\s{0,8}"(?P<secret>[^"\s]{6,600}+)\""""
)
"""`variable "key" { … default = "value" }`."""
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z0-9_-]{0,40}\Z")
_OPTION_CHARS = 42
_OTHER_PASS = re.compile(r"(?:BY|COM|SUR|TRES|IM|UNDER|OVER|TRANS)\Z")
_KEY_END = re.compile(r"[,;<>(){}\[\]&|]")
_PASSWORD_END = re.compile(r"[,;]|&[\w.%-]{1,40}=|[&|]{2}|\|\Z|</?\w|[)\]}](?=[)\]}.:]|\Z)")
"""Where the next pair, command or element begins, since a password may hold nearly any sign."""

_DRAWN = re.compile(r"[\w+/=.~%:-]{20,600}")

_Accepts = Callable[[str], bool]


def _never(_value: str) -> bool:
    return False


@frozen
class _Forms:
    """What is a secret in each form that a value may have."""

    bare: _Accepts = lambda value: is_key(value) or is_unquoted_strong_password(value)
    quoted: _Accepts = lambda value: is_key(value) or is_strong_password(value)
    further: _Accepts = is_key
    """Between quotes, and not right behind the name."""
    plain: _Accepts = _never
    """Between quotes, right behind the whole name."""
    environment: _Accepts = is_environment_value
    element: _Accepts = is_key
    said: _Accepts = is_key
    """Between quotes in a sentence."""
    spaced: _Accepts = _never
    """Behind a space, where no option is."""
    end: re.Pattern[str] = _KEY_END
    """Where a bare value ends."""


def _value(start: int, found: re.Match[str], forms: _Forms) -> tuple[int, int] | None:
    """Where the value lies that was found for the name at `start`, if it is a secret."""
    if (value := found["element"]) is not None:
        return found.span("element") if found["ended"] and forms.element(value) else None
    if (value := found["quoted"]) is not None:
        is_one = any(accepts(value) for accepts in _between_quotes(start, found, forms))
        return found.span("quoted") if found["close"] and is_one else None
    begin, value = found.start("bare"), found["bare"]
    name = f"{found.string[start : found.start()]}{found['tail']}"
    if found["given"] == "=" and name.isupper() and forms.environment(value):
        return found.span("bare")
    if end := forms.end.search(value):
        value = "" if end.group() in "([" else value[: end.start()]
    value = value.rstrip("*.:")
    accepts = forms.spaced if found["spaced"] and not _is_option(start, found) else forms.bare
    return (begin, begin + len(value)) if _belongs(start, found) and accepts(value) else None


def _between_quotes(start: int, found: re.Match[str], forms: _Forms) -> Iterator[_Accepts]:
    """Each of these may say that the value is a secret."""
    if given := found["given"]:
        yield forms.quoted
        if not found["tail"]:
            yield forms.plain
        if "==" in given:
            yield forms.said
    elif found["further"]:
        yield forms.further
    elif found["said"]:
        yield forms.said
    elif _belongs(start, found):
        yield forms.bare


def _belongs(start: int, found: re.Match[str]) -> bool:
    """Whether a value behind no more than a space is that of the name: not behind `"password"`, nor on the next line."""
    spaced = found["spaced"]
    return not spaced or not (found["closed"] or "\n" in spaced) or _is_option(start, found)


def _is_option(start: int, found: re.Match[str]) -> bool:
    return _OPTION.search(found.string, max(0, start - _OPTION_CHARS), start) is not None


def _named(name: str, keywords: tuple[str, ...], forms: _Forms, expression: str = _VALUE) -> Rule:
    """What a name of this kind announces."""

    def judge(start: int, found: re.Match[str]) -> tuple[int, int] | None:
        secret = _value(start, found, forms)
        return None if secret is None or _INNOCENT_TAIL.match(found["tail"]) else secret

    return Rule(name, keywords, expression, judge=judge)


def _short_password(start: int, found: re.Match[str]) -> tuple[int, int] | None:
    """What a short name announces where it is a word of its own; `userPass` holds one, `bypass` none."""
    text, tail = found.string, found["tail"]
    before = text[max(0, start - _OPTION_CHARS) : start]
    begins = (
        not before[-1:].isalpha()
        or (text[start].isupper() and before[-1].islower())
        or (found["given"] == "=" and text[start : found.start()].isupper() and not _OTHER_PASS.search(before))
        or _OPTION.search(before) is not None
    )
    return _value(start, found, _SHORT_PASSWORDS) if begins and not tail[:1].isalpha() else None


_ELEMENTS = ("secret", "token", "password", "apikey", "api-key", "privatekey", "id")


_NO_OTHER_KEY = re.compile("".join(rf"(?<!{word})(?<!{word}[ _-])" for word in _OTHER_KEYS) + "key", re.IGNORECASE)


def _named_key(start: int, found: re.Match[str]) -> tuple[int, int] | None:
    """`Using Key=value`, `serviceKey = "value"`, `--key value`: any key but those that open nothing."""
    if found["tail"] or not _NO_OTHER_KEY.match(found.string, start):
        return None
    return _value(start, found, _SAID_KEYS if found["said"] or found["spaced"] else _UNNAMED_KEYS)


def _is_drawn_key(value: str) -> bool:
    """Nothing that also names contents: no hash, no UUID, no path, no sum with its algorithm."""
    lone = value.rstrip(".:")
    if (
        not _DRAWN.fullmatch(lone)
        or is_hex(lone)
        or is_uuid(lone)
        or digits_in(lone) < 3
        or lone.count("/") > 3
        or lone.startswith("sha")
    ):
        return False
    return is_key(lone)


def _is_said_password(value: str) -> bool:
    if is_placeholder(value) or value.lower() in _SAID_OF_PASSWORDS:
        return False
    return is_password(value) or (value.isalpha() and 7 <= len(value) <= 40)


_SAID_OF_PASSWORDS = frozenset(
    words_of(
        "required incorrect invalid expired correct encrypted hashed missing wrong weak strong unchanged "
        "disabled enabled unknown mandatory accepted rejected ignored stored cleared changed"
    )
)


_PASSWORDS = _Forms(
    bare=is_unquoted_password,
    quoted=is_password,
    further=is_password,
    plain=is_plain_password,
    element=is_password,
    said=_is_said_password,
    spaced=is_unquoted_strong_password,
    end=_PASSWORD_END,
)
_SHORT_PASSWORDS = evolve(_PASSWORDS, further=_never, plain=_never, said=_never, spaced=_never)
_SAID_KEYS = _Forms(bare=is_key)
_UNNAMED_KEYS = _Forms(bare=_is_drawn_key, quoted=_is_drawn_key, further=_never, environment=_never)

ASSIGNMENTS: tuple[Rule, ...] = (
    _named("password", _PASSWORD_WORDS, _PASSWORDS, _PASSWORD),
    Rule("password", ("pass", "pw", "mdp", "clave"), _VALUE, judge=_short_password),
    _named("secret", ("secret", "credential", "credentials"), _Forms()),
    _named("token", ("token",), _Forms()),
    _named("token", ("bearer", "_pat"), _Forms(environment=_never)),
    _named("api-key", _KEYS, _Forms()),
    _named("session", ("phpsessid", "jsessionid", "connect.sid"), _Forms(environment=_never)),
    Rule("api-key", ("key",), _VALUE, judge=_named_key),
    Rule(
        "secret",  # `<secret>{id value}</secret>`, one word of which was drawn at random
        tuple(f"<{word}>" for word in _ELEMENTS),
        rf"""<(?i:{"|".join(_ELEMENTS)})>(?P<secret>[^<\n]{{16,600}}+)</""",
        lambda value: any(is_key(word.strip("{}()[]\"',;")) for word in value.split()),
    ),
    Rule("secret", ('variable "',), _TERRAFORM, is_key),
    Rule("api-key", ("?key=", "&key="), r"[?&][Kk]ey=(?P<secret>[\w-]{20,200}+)", is_key),  # in hexadecimal too
)

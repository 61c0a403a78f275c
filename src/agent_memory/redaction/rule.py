"""One rule of redaction and the places that it finds, what judges a value, and the rules for values given to names that say secret:
`.env` lines, JSON, YAML, code, command-line options, connection strings, sentences."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from attrs import evolve, frozen

_ESCAPED_SPACE = ("\\n", "\\t", "\\r")
"""As JSON writes white space: the letter belongs to no word."""
_COLOUR_END = re.compile(r"\x1b\[[\d;]{0,16}[mK]$|\\(?:u001b|x1b|033|e)\[[\d;]{0,16}[mK]$", re.IGNORECASE)
_COLOUR_CHARS = 24


def words_of(text: str) -> tuple[str, ...]:
    """Returns the words of a text; a space in one is written `·`."""
    return tuple(word.replace("·", " ") for word in text.split())


def anything(_secret: str) -> bool:
    """Returns True: the shape alone is proof."""
    return True


@frozen
class Rule:
    """A secret that announces itself by a keyword.

    Where one of `keywords` (lower case) occurs in the lowered text, `expression` is matched `before` characters ahead of
    it, or with `judge` right behind it. Its group `secret` (the whole match without such a group) is what is removed, if
    `accepts` says so; with `judge` it is what `judge` makes of the keyword's start and the match.
    Expressions are linear: every repetition is bounded or possessive. One that reads far before it can fail matches
    without its `secret` instead, so that `match` tells how far it read. One that looks at the character after its match
    must also be a `word`, so that removing one secret never lays bare an endless row of others.
    """

    name: str
    keywords: tuple[str, ...]
    expression: str
    accepts: Callable[[str], bool] = anything
    word: bool = False
    """It counts only where no letter or digit stands before it."""
    before: int = 0
    judge: Callable[[int, re.Match[str]], tuple[int, int] | None] | None = None

    def match(self, text: str, start: int, size: int, ends: Container[int] = ()) -> re.Match[str] | None:
        """Returns what the expression reads for the keyword at `start`; at `ends` a word may begin too."""
        first = start - self.before
        if first < 0 or (self.word and first not in ends and not _may_begin(text, first)):
            return None
        return _compiled(self.expression).match(text, start + size if self.judge else first)

    def secret(self, start: int, found: re.Match[str]) -> tuple[int, int] | None:
        """Returns where the secret lies in what `match` found for the keyword at `start`."""
        if self.judge:
            return self.judge(start, found)
        first, end = found.span("secret" if "secret" in found.re.groupindex else 0)
        return (first, end) if first >= 0 and self.accepts(found.string[first:end]) else None


def _may_begin(text: str, start: int) -> bool:
    """Returns whether a word may begin at `start`: after nothing, no letter or digit, an escaped space or a terminal
    colour."""
    if start == 0 or not text[start - 1].isalnum() or text[start - 2 : start] in _ESCAPED_SPACE:
        return True
    return text[start - 1] in "mK" and bool(_COLOUR_END.search(text[max(0, start - _COLOUR_CHARS) : start]))


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    """Compiled when it is first needed: most rules never are, and all of them together take 80 ms."""
    return re.compile(expression)


class Span(NamedTuple):
    """`text[start:end]` is a secret of the kind `name`. A lower `rank` knows better what it is."""

    start: int
    end: int
    rank: int
    name: str


# -- what judges a value ----------------------------------------------------------------------------------------------

_STAND_INS = words_of(
    "example ex-ample sample placeholder place-holder changeme change-me change_me changeit change-it change_it _your dummy "
    "redacted censored insert replace xxxx *** ... … •• foobar foo-bar undefined"
)
"""What no secret holds, in lower case."""
_NUMBERED = frozenset(("test", "testing", "pwd", "pword", "passwd", "password"))
"""What protects nothing, with or without a number: `test2`."""
_DEFAULTS = _NUMBERED | frozenset(
    words_of(
        "none null true false string required optional hidden value empty default pass passphrase secret token credential "
        "credentials user username admin root guest postgres mysql redis mongo rabbitmq minio minioadmin letmein qwerty"
    )
)
_MARK = re.compile(
    r"\b(?:your|fake|todo|lorem|my[-_ ]?(?:secret|token|pass|api|key)(?!\w*\d[^\w-]))|(?:goes|token|key|secret|password)[-_ ]?here"
)
_REFERENCE_PARTS = words_of(
    r"${ $( {{ }} %( #{ => :// \w \d \s \b \. secretKeyRef process.env os.environ getenv secrets. vars. var. self. this. config."
)
_REFERENCE_BEGINNING = re.compile(
    r"\$\w+\Z|\$\d|<|%\w+%\Z|@\w+@\Z|\{|&\w|!\w+\s|#[a-z-]+\Z|[\w.]+\(.*\)\Z|\.{0,2}/[\w.]|~/|[A-Za-z]:\\|\[|[*.]+\Z|\^|arn:"
)
_INDEX_OR_TAG = re.compile(r"\w\[|<[^<>]*>")
_SEQUENCES = ("abcdefgh", "12345678", "qwertyui", "01234567", "87654321")
_ROWS = ("abcdefghijklmnopqrstuvwxyz0123456789", "01234567890", "qwertyuiop", "9876543210")
_NEIGHBOURS = frozenset(f"{before}{after}" for row in _ROWS for before, after in pairwise(row))
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+")
_WORD = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")
_LONG_RUN = re.compile(r"[A-Z]?[a-z]{4,}|[A-Z]{5,}")
_DIGIT_GROUP = re.compile(r"\d+")
_FILE_NAME = re.compile(r"[\w./-]*\.(?:[a-z]{1,4}\d?|json[lc]?|yaml|toml|html|conf|crt|cert)(?::\d+)?")
_CHECKED_CHARS = 160
"""How much of a long value is searched for signs of a placeholder or reference."""

_SIGNS = frozenset("!@#$%^&*+=~?")
_CODE = re.compile(r"[(\[{]|[)\]}][^.,;:)\]}]|[=!<>]=|[-=]>|::|&&|\|\||^[@:]\w+$|^[\w.@-]+(?:/[\w.@*-]+)+/?$")
"""What a statement holds, a parameter is written with, or a path."""
_SYMBOLS = frozenset("!@#$%^&*+=~?|/:;,<>()[]{}")


def entropy_bits(text: str) -> float:
    """Returns the Shannon entropy of its characters, in bits a character; 0 for the empty text."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values())


def digits_in(text: str) -> int:
    """Returns how many of its characters are ASCII digits."""
    return sum(map(text.count, "0123456789"))


def is_placeholder(value: str) -> bool:
    """Returns whether a value is a stand-in of documentation, or a default that protects nothing."""
    start = value[:_CHECKED_CHARS].lower()
    if start in _DEFAULTS or start.rstrip("0123456789") in _NUMBERED or not start.strip("-_.="):
        return True
    if any(map(start.__contains__, _STAND_INS)):
        return True
    # A run such as `12345678` makes up a good part of the value.
    if any(map(start.__contains__, _SEQUENCES)) and _longest_run(start) * 3 >= len(start):
        return True
    return _MARK.search(start) is not None


def _longest_run(value: str) -> int:
    """Returns the length of the longest stretch in which each character is the next one, or a neighbour on the
    keyboard's rows."""
    longest = here = 1
    for before, after in pairwise(value):
        here = here + 1 if f"{before}{after}" in _NEIGHBOURS else 1
        longest = max(longest, here)
    return longest


def is_reference(value: str) -> bool:
    """Returns whether a value is code or a template that fetches the secret from elsewhere."""
    start = value[:_CHECKED_CHARS]
    return bool(
        start.endswith((">", "("))
        or any(map(start.__contains__, _REFERENCE_PARTS))
        or _REFERENCE_BEGINNING.match(start)
        or _INDEX_OR_TAG.search(start)
    )


def is_uuid(value: str) -> bool:
    return bool(_UUID.fullmatch(value))


def is_hex(value: str) -> bool:
    return bool(_HEX.fullmatch(value))


def worded_share(value: str) -> float:
    """Returns the share of its letters that stand in runs such as words and camel humps make, 0..1."""
    letters = sum(map(str.isalpha, value))
    return sum(len(run) for run in _WORD.findall(value)) / letters if letters else 0.0


def varied(secret: str) -> bool:
    """Returns whether a value is no mask such as `xxxx` or `0000`: at least 2.8 bits a character (short ones: 2)."""
    return entropy_bits(secret) >= (2.8 if len(secret) >= 16 else 2.0) and "xxxxx" not in secret.lower()


def tokenlike(secret: str) -> bool:
    """Returns whether a value is varied, has several digits and is not made of words."""
    return varied(secret) and digits_in(secret) >= 3 and worded_share(secret) < 0.75


def is_drawn(piece: str) -> bool:
    """Returns whether a value is no part of a sentence, an item or a statement: digits among letters, most of which are in no word."""
    if digits_in(piece) == 0 or piece.isdigit():
        return False
    letters = sum(map(str.isalpha, piece))
    return sum(map(len, _LONG_RUN.findall(piece))) <= 0.6 * letters


def _kinds_of_characters(value: str) -> int:
    kinds = any(map(str.islower, value)), any(map(str.isupper, value)), any(map(str.isdigit, value))
    return sum(kinds) + (not _SYMBOLS.isdisjoint(value))


def is_password(value: str) -> bool:
    """Returns whether a value is a literal of 6 to 200 characters that mixes kinds of characters as passwords do."""
    if not 6 <= len(value) <= 200 or len(set(value)) < 5 or value.endswith(":") or any(map(str.isspace, value)):
        return False
    mixed = not _SYMBOLS.isdisjoint(value) or any(map(str.isdigit, value))
    if not mixed or _kinds_of_characters(value) < 2:
        return False
    return not (is_placeholder(value) or is_reference(value) or _FILE_NAME.fullmatch(value))


def is_plain_password(value: str) -> bool:
    """Returns whether a value is a literal of 8 to 40 letters: trusted only between quotes, right behind the name `password`."""
    return 8 <= len(value) <= 40 and value.isalpha() and len(set(value)) >= 4 and not is_placeholder(value)


def is_unquoted_password(value: str) -> bool:
    """Judges like `is_password`, for a place where the value may also be code or prose: of words, only with digits and a sign."""
    if not is_password(value) or _CODE.search(value.rstrip("=")) or _looks_like_code(value):
        return False
    return worded_share(value) < 0.9 or (digits_in(value) > 0 and not _SIGNS.isdisjoint(value))


def is_strong_password(value: str) -> bool:
    """Returns whether no sentence and no identifier looks like this: 12 characters or more, letters, digits and symbols."""
    return len(value) >= 12 and _is_much_mixed(value)


def is_unquoted_strong_password(value: str) -> bool:
    """Judges like `is_strong_password` from 8 characters on, with one of the signs that neither names nor code have."""
    return len(value) >= 8 and not _SIGNS.isdisjoint(value) and _is_much_mixed(value)


def _is_much_mixed(value: str) -> bool:
    return digits_in(value) > 0 and _kinds_of_characters(value) >= 3 and is_unquoted_password(value)


def is_environment_value(value: str) -> bool:
    """Returns whether a value is a literal and no placeholder: for `NAME=value` with a name that says secret."""
    if len(value) < 6 or value.isdigit() or is_placeholder(value) or is_reference(value):
        return False
    return len(set(value)) >= 4 and not _FILE_NAME.fullmatch(value)


def is_key(value: str) -> bool:
    """Returns whether a value is a literal of at least 16 characters that was drawn at random."""
    if len(value) < 16 or digits_in(value) < 2 or any(map(str.isspace, value)):
        return False
    value = value[:_CHECKED_CHARS]
    if is_placeholder(value) or is_reference(value) or _FILE_NAME.fullmatch(value):
        return False
    if is_uuid(value):
        return True
    if entropy_bits(value) < (2.9 if is_hex(value) else 3.3):
        return False
    # Letters and digits of one case without a break, long or much mixed: no identifier is written so.
    is_one_run = value.isalnum() and (value.islower() or value.isupper())
    if is_one_run and (len(value) >= 32 or len(_DIGIT_GROUP.findall(value)) >= 3):
        return True
    return (worded_share(value) < 0.7 or is_drawn(value)) and not _looks_like_code(value)


def _looks_like_code(value: str) -> bool:
    """Returns whether a value is a dotted or arrowed path of identifiers (`response.data.token2`)."""
    parts = re.split(r"\.|->|::|\?\.", value)
    return len(parts) > 1 and all(part.isidentifier() and worded_share(part) > 0.5 for part in parts if part)


# -- values given to names that say secret ------------------------------------------------------------------------------

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
    """Returns what stands behind a name. A quotation or an element without an end matches, too: it was read, and is
    nothing."""
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
    """Returns where the value lies that was found for the name at `start`, if it is a secret."""
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
    """Yields the judges of a quoted value, any of which may say that it is a secret."""
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
    """Returns whether a value behind no more than a space is that of the name: not behind `"password"`, nor on the next
    line."""
    spaced = found["spaced"]
    return not spaced or not (found["closed"] or "\n" in spaced) or _is_option(start, found)


def _is_option(start: int, found: re.Match[str]) -> bool:
    return _OPTION.search(found.string, max(0, start - _OPTION_CHARS), start) is not None


def _named(name: str, keywords: tuple[str, ...], forms: _Forms, expression: str = _VALUE) -> Rule:
    """Returns what a name of this kind announces."""

    def judge(start: int, found: re.Match[str]) -> tuple[int, int] | None:
        secret = _value(start, found, forms)
        return None if secret is None or _INNOCENT_TAIL.match(found["tail"]) else secret

    return Rule(name, keywords, expression, judge=judge)


def _short_password(start: int, found: re.Match[str]) -> tuple[int, int] | None:
    """Returns what a short name announces where it is a word of its own; `userPass` holds one, `bypass` none."""
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
    """Returns whether a value is a key, and nothing that names contents: no hash, UUID, path or sum with its algorithm."""
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

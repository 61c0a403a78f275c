"""Credentials inside URLs, connection strings and the files of older network tools."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

from agent_memory.domain.redacting.rule import (
    Rule,
    anything,
    digits_in,
    entropy_bits,
    is_drawn,
    is_password,
    is_placeholder,
    is_reference,
    is_unquoted_strong_password,
    table_of,
    tokenlike,
    varied,
    worded_share,
)


def _password(value: str) -> bool:
    return len(value) >= 3 and len(set(value)) >= 3 and not is_placeholder(value) and not is_reference(value)


def _token(value: str) -> bool:
    return varied(value) and digits_in(value) >= 2 and worded_share(value) < 0.8 and not is_reference(value)


def _database_password(value: str) -> bool:
    return _password(value) and not value.isdigit()


def _user_in_base64(value: str) -> bool:
    """Base64 of `user:password`, as docker keeps it."""
    try:
        return b":" in base64.b64decode(value)
    except binascii.Error:
        return False


def _said_before(start: int, found: re.Match[str]) -> tuple[int, int] | None:
    """The last word before `as the password` or `is my password`."""
    word = _LAST_WORD.search(found.string, max(0, start - _LAST_WORD_CHARS), start)
    return word.span("secret") if word and is_unquoted_strong_password(word["secret"]) else None


_LAST_WORD = re.compile(r"""(?<!\S)["'`*]{0,2}(?P<secret>[^\s"'`*]{8,60}+)["'`*]{0,2}\Z""")
_LAST_WORD_CHARS = 64
_SHORTEST_KEY_CHARS = 8


def _user_and_password(value: str) -> bool:
    user, colon, password = value.strip("\"'").partition(":")
    lone = (password or user).strip("\"'")
    if not colon or is_reference(value) or is_placeholder(lone):
        return False
    if not password:  # a key in the place of the user, as some services have it; else the name of one
        return len(lone) >= _SHORTEST_KEY_CHARS and not (lone.isalpha() or lone.isdigit())
    return user != password and len(lone) >= 3 and not lone.isdigit()


def _in_command(name: str, tools: str, options: str, value: str, accepts: Callable[[str], bool]) -> Rule:
    """The rule for what an option of one of the tools is given. Options and value are read first, since they are rarer than
    the tools' names in a long text; then what stands before them in the same command is searched."""
    named = re.compile(rf"(?i)(?<!\w)(?:{tools})(?![\w-])")
    keywords = tuple(option.replace("_", space) for option in options.split() for space in (" ", "\n"))

    def judge(start: int, found: re.Match[str]) -> tuple[int, int] | None:
        if not accepts(found["secret"]):
            return None
        command = _OTHER_COMMAND.split(found.string[max(0, start - _COMMAND_CHARS) : start])[-1]
        return found.span("secret") if named.search(command) else None

    return Rule(name, keywords, value, judge=judge)


_COMMAND_CHARS = 600
_OTHER_COMMAND = re.compile(r"(?<![\\])\r?\n|[|;]")
_USER_AND_PASSWORD = (
    r"""[= \t]{0,5}(?P<secret>"[^"\n]{3,200}"|'[^'\n]{3,200}'"""
    r"""|(?:"[^"\n]{1,80}"|[\w.@-]{1,80}):(?:"[^"\n]{1,200}"|'[^'\n]{1,200}'|[^\s"'`;|&]{0,200}))"""
)
_ATTACHED = r"""['"]?(?P<secret>[^\s"'`-][^\s"'`;|]{3,200})"""
_APART = r"""[ :=]{1,3}['"]?(?P<secret>[^\s"'`-][^\s"'`;|]{3,500})"""

ADDRESSES: tuple[Rule, ...] = (
    *table_of(
        r"""
url-password          inside,password  ://  ://(?:[^\s/:@"'`<>?#\\]{0,100}:(?P<secret>[^\s/"'`<>\\]{1,200}|(?!\d{1,5}/)[^\s@"'`<>\\]{1,200})@(?=[\w.\[$%{-])|[^\s"'`<>\\]{0,300}+)
password              inside,password  sqlplus· sqlldr· expdp· impdp· rman· jdbc:oracle:thin:  (?i)(?:[a-z]{4,7}[ ](?:-\w[ ]){0,2}|jdbc:oracle:thin:)[\w$#]{1,40}/(?P<secret>[^\s/"'`]{3,100})@
password              inside,literal  identified·by·  (?i)identified by[ ](?:values[ ])?["']?(?P<secret>[^\s"'`;]{4,200})
url-token             inside,token  ://  ://(?P<secret>[\w~.%-]{20,300}+)@(?=[A-Za-z0-9])
netrc-password        inside,password  machine  machine\s{1,4}\S{1,200}\s{1,8}login\s{1,4}\S{1,200}\s{1,8}password\s{1,4}(?P<secret>\S{3,300})
pgpass-password       inside,database  :5432: :5433: :3306:  :(?:543[23]|3306):[\w*-]{1,64}:[\w.-]{1,64}:(?P<secret>[^\s:]{4,200})
password              inside,password  -pass  -pass(?:in|out)?['",\s]{1,6}pass:(?P<secret>[^\s"'`]{4,200})
authtoken             inside,varied  authtoken·  authtoken (?P<secret>[A-Za-z0-9_]{20,100}+)(?!\w)
api-key               inside,varied  username" user"  user(?:name)?"\s{0,4}:\s{0,4}"[^"\n]{1,100}"\s{0,4},\s{0,20}"key"\s{0,4}:\s{0,4}"(?P<secret>[^"\s]{16,200})\"
password              inside,password  directoryentry(  (?i)DirectoryEntry\(\s{0,8}@?"[^"\n]{1,200}"\s{0,4},\s{0,20}"[^"\n]{1,100}"\s{0,4},\s{0,20}"(?P<secret>[^"\n]{4,200})\"
password              inside,any  password·to·proceed·to·installation  password to proceed to installation:?(?:\\n|\s|\*){1,40}(?P<secret>[0-9a-f]{32})
password              inside,password  networkcredential(  (?i)NetworkCredential\(\s{0,4}"[^"\n]{1,100}"\s{0,4},\s{0,4}"(?P<secret>[^"\n]{4,200})\"
connection-password   inside,database  password= pwd= password·= pwd·=  (?i)(?<=[;,&"'])(?:password|pwd)[ ]?=[ ]?(?P<secret>[^\s;"'`&]{4,200})(?=[;&"'])
basic-auth            word,base64  auth  auth\\{0,2}"\s{0,4}:\s{0,4}\\{0,2}"(?P<secret>[A-Za-z0-9+/]{12,600}={0,2})\\{0,2}\"
basic-auth            inside,varied  _auth  _auth[ ]?=[ ]?["']?(?P<secret>[A-Za-z0-9+/-]{12,600}={0,2})
""",
        {
            "any": anything,
            "base64": _user_in_base64,
            "database": _database_password,
            "literal": is_password,
            "password": _password,
            "token": _token,
        },
    ),
    Rule(
        "password",
        tuple(f" {verb} {article} " for verb in ("as", "is") for article in ("the", "my", "your", "our", "its")),
        r"(?:\w{2,20}[ ])??pass(?:word|phrase|code)",
        judge=_said_before,
    ),
    _in_command("curl-user", "curl|wget|https?|httpie|xh", "_-u _--user _-a", _USER_AND_PASSWORD, _user_and_password),
    _in_command("mysql-password", "mysql|mysqldump|mysqladmin|mariadb", "_-p", _ATTACHED, _database_password),
    _in_command("password", "7za?|7zz|rar|unrar", "_-p", _ATTACHED, _database_password),
    _in_command("sshpass-password", "sshpass", "_-p", _ATTACHED, _password),
    _in_command("sshpass-password", "sshpass", "_-p", _APART, _password),
    _in_command("docker-password", "login", "_-p", _APART, _database_password),
    _in_command(
        "password",
        r"psexec(?:64)?|winexe|wmic|xfreerdp|rdesktop|ldap(?:search|add|modify|passwd|whoami)|redis-cli|smbclient|mongo\w{0,7}|cqlsh|sqlcmd"
        "|unzip|zip|useradd|net use|influx",
        "_-p _-w _-a _/p _/pass _/password _-pass _--pass _-password",
        _APART,
        _database_password,
    ),
)


# -- headers of HTTP, on the wire, in curl, in code -------------------------------------------------------------------

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
    values = (cookie.partition("=")[2].strip() for cookie in value.split(";"))
    return any(
        len(each) >= 12 and tokenlike(each) and worded_share(each) < 0.5 and not is_reference(each) for each in values
    )


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

"""Credentials inside URLs, connection strings and the files of older network tools."""

from __future__ import annotations

import base64
import binascii

from agent_memory.domain.redacting.plausible import digits_in, is_placeholder, is_reference, varied, worded_share
from agent_memory.domain.redacting.rule import Rule


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


ADDRESSES: tuple[Rule, ...] = (
    Rule(
        "url-password",
        ("://",),
        r"""://[^\s/:@"'`<>?#\\]{0,100}:(?P<secret>[^\s/"'`<>\\]{1,200})@(?=[\w.\[$%{-])""",
        _password,
    ),
    Rule("url-token", ("://",), r"://(?P<secret>[\w~.%-]{20,300})@(?=[A-Za-z0-9])", _token),
    Rule(
        "netrc-password",
        ("machine",),
        r"machine\s{1,4}\S{1,200}\s{1,8}login\s{1,4}\S{1,200}\s{1,8}password\s{1,4}(?P<secret>\S{3,300})",
        _password,
    ),
    Rule(
        "pgpass-password",
        (":5432:", ":5433:", ":3306:"),
        r":(?:543[23]|3306):[\w*-]{1,64}:[\w.-]{1,64}:(?P<secret>[^\s:]{4,200})",
        _database_password,
    ),
    Rule(
        "mysql-password",
        ("mysql", "mariadb", "mysqldump"),
        r"""(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;]{0,200}?\s-p['"]?(?P<secret>[^\s"'`-][^\s"'`;|]{4,200})""",
        _database_password,
    ),
    Rule(
        "password",
        ("-pass",),
        r"""-pass(?:in|out)?['",\s]{1,6}pass:(?P<secret>[^\s"'`]{4,200})""",
        _password,
    ),
    Rule("authtoken", ("authtoken ",), r"authtoken (?P<secret>[A-Za-z0-9_]{20,100}+)(?!\w)", varied),
    Rule(
        "api-key",
        ('username"', 'user"'),
        r"""user(?:name)?"\s{0,4}:\s{0,4}"[^"\n]{1,100}"\s{0,4},\s{0,20}"key"\s{0,4}:\s{0,4}"(?P<secret>[^"\s]{16,200})\"""",
        varied,
    ),
    Rule(
        "sshpass-password",
        ("sshpass",),
        r"""sshpass\s{1,4}-p\s{0,4}['"]?(?P<secret>[^\s"'`]{4,200})""",
        _password,
    ),
    Rule(
        "password",
        ("psexec", "winexe", "wmic", "xfreerdp", "rdesktop", "ldapsearch", "redis-cli", "smbclient"),
        r"""[^\n|;]{4,200}?\s[/-](?:p|w|a|pass|-pass|password)[ :=]['"]?(?P<secret>[^\s"'`-][^\s"'`;|]{3,200})""",
        _database_password,
    ),
    Rule(
        "password",
        ("directoryentry(",),
        r"""(?i)DirectoryEntry\(\s{0,8}@?"[^"\n]{1,200}"\s{0,4},\s{0,20}"[^"\n]{1,100}"\s{0,4},\s{0,20}"(?P<secret>[^"\n]{4,200})\"""",
        _password,
    ),
    Rule(
        "password",
        ("password to proceed to installation",),
        r"password to proceed to installation:?(?:\\n|\s|\*){1,40}(?P<secret>[0-9a-f]{32})",
    ),
    Rule(
        "password",
        ("networkcredential(",),
        r"""(?i)NetworkCredential\(\s{0,4}"[^"\n]{1,100}"\s{0,4},\s{0,4}"(?P<secret>[^"\n]{4,200})\"""",
        _password,
    ),
    Rule(
        "docker-password",
        ("login ",),
        r"""login\b[^\n|;]{0,300}?\s-p[= ]{1,3}['"]?(?P<secret>[^\s"'`-][^\s"'`;|&]{3,500})""",
        _database_password,
    ),
    Rule(
        "connection-password",
        ("password=", "pwd=", "password =", "pwd ="),
        r"""(?i)(?<=[;,&"'])(?:password|pwd)[ ]?=[ ]?(?P<secret>[^\s;"'`&]{4,200})(?=[;&"'])""",
        _database_password,
    ),
    Rule(
        "basic-auth",
        ("auth",),
        r"""auth\\{0,2}"\s{0,4}:\s{0,4}\\{0,2}"(?P<secret>[A-Za-z0-9+/]{12,600}={0,2})\\{0,2}\"""",
        _user_in_base64,
        word=True,
    ),
    Rule("basic-auth", ("_auth",), r"""_auth[ ]?=[ ]?["']?(?P<secret>[A-Za-z0-9+/-]{12,600}={0,2})""", varied),
)

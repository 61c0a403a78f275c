"""P20: which values are secrets where a place, a name or a shape alone is no proof, and which are words or chance."""

from __future__ import annotations

import base64
import re

import pytest

from agent_memory.redaction.redact import redact
from fixtures.secret_samples import base64_text, hexadecimal, url_safe, uuid

_WORDS = "tangerinemonsoonharbour"
_HEX = "3f9ac04e71b8d25f60ea"
_SEEDS = "ribbon velvet cactus orbit lunar saddle tonic hazard mimic walnut"


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _key(label: str) -> str:
    return _base64(f"-----BEGIN {label}-----\n{base64_text(64)}")


def _each(values: str | list[str]) -> list[str]:
    return values.split() if isinstance(values, str) else values


@pytest.mark.parametrize(
    ("place", "secrets", "others"),
    [
        # addresses: the password is any literal of three different characters, a token was drawn
        ("postgres://web:{}@db.acme.io/web", "aB3 aab3 tangerine", "aB aa3 changeme $PASS"),
        (
            "https://{}@git.acme.io/web.git",
            ["qZvwRjkX7vBsnTc4wQzr", "harbour12QZ3X4567890"],
            # one digit, 19 characters, one character, eight letters of ten in a word, words, a variable
            "qZvwRjkX7vBsnTcxwQzr qZvwRjkX7vBsnTc4wQz 77777777777777777777 harbours12QZ34567890 harbour-lantern-2026 %qZ7wR2kX9vB4nT6mQ1%",
        ),
        ("mysql -u root -p{} web", ["7391846q"], ["7391846", "aaa3aaa"]),
        (
            '{{"auth": "{}"}}',
            [_base64("ana:tangerines"), _base64("ana:tangerines!") + "="],
            [_base64("ana-tangerines"), "abcdefghijklm"],
        ),
        (
            "curl -u {} https://acme.io",
            # also a key in the place of the user
            "ana:q7Z ana:12:34 'tangerine7:' tangerine7: k7m2p9xq: ana:XpasswordX Xtangerine7:tangerine7",
            "ana:q7 ana:12 ana:1000 ana: 'ana:' readonly: k7m2p9x: 12345678: 'tangerine7' ana:changeme ana:password",
        ),
        (
            "curl -u {} https://acme.io",
            [],
            ['ana:"password"', "ana:${PASS}7q", "tangerine7:tangerine7", '"tangerine7:tangerine7"'],
        ),
        # headers: a credential has a digit or hardly a word, a key two digits, a bearer and a cookie were drawn
        (
            "Authorization: {}",
            ["1122334455667777", "harbour7", "harXyZqW"],
            "1122334455777777 harbourQ harbXyZq changeme7Q $qZ7wR2kX",
        ),
        ("X-API-Key: {}", ["harbour72"], ["harbour7q", "7777777777777"]),
        ("-H 'apikey: {}'", ["xKqZwvR77"], ["xKqZwvR7", "harbour77"]),
        (
            "Bearer {}",
            "harbour-lantern-77 qZvwRjkXpvBsnTcwQzrK harbourlaXyZqWvRkTpQ7",
            "harbour-lantern-7q qZvwRjkXpvBsnTcwQzr qZvwRjkXpvBsnTcw harbourlanXyZqWvRkTp7 qz-vw-rj-kx-pv-bs-nt-cw internationalisation",
        ),
        (
            "Cookie: {}\n",
            "sid=qZ7wR2kX9vB4 sid=qZ7wR2kX9vB4== theme=harbour-lantern-moonlight;sid=qZ7wR2kX9vB4 sid=harQZwX12345",
            "sid=qZ7wR2kX9vB sid=harbQZwX1234 sid=harbQZ123456 sid=$qZ7wR2kX9vB4 sid=77777777777777 sid=qZvwRjkXpvBs",
        ),
        ("Cookie: {}\n", [], ["theme=dark; lang=en"]),
        # assignments: words are left, the end of a sentence is no part of a password
        (
            "{}",
            [],
            [
                f'"token": "{_WORDS}"',
                f"token: {_WORDS}",
                "ACME_TOKEN=changeme",
                f"<secret>{_WORDS}</secret>",
                "<secret>only some ordinary words</secret>",
                f"the token is {_WORDS}",
                "if password == 'required':",
                f'variable "token" {{ default = "{_WORDS}" }}',
                f"--token {_WORDS}",
                f"Using Key={_WORDS}",
                f"https://acme.io/v1?key={_WORDS}",
                f'("pass", "{_WORDS}7!")',
                f'("password", "{_WORDS}")',
            ],
        ),
        ("the password is {}", ["qZ7wR2", "qZ7wRX"], ["qZ7wR.", "tangerines"]),
        ("the password is {}.", ["qZ7wR2"], []),
        ("the password is {}:", ["qZ7wR2"], []),
        ("<id>{}</id>", ["acme {qZ7wR2kX9vB4nT6m}", "acme qZ7wR2kX9vB4nT6X", "('qZ7wR2kX9vB4nT6m', acme)"], []),
        (
            "Using Key={}",
            ["qZvwRjkX7vBsnTc4wQ9r", f"{_HEX}X", "qZ/vwR/jkX7/vBsnTc4wQ9r"],
            # two digits, 19 characters, sums, ids, a path
            [
                "qZvwRjkX7vBsnTc4wQzr",
                "qZvwRjkX7vBsnTc4wQ9.",
                _HEX,
                f"{_HEX}.",
                hexadecimal(64),
                uuid(),
                "qZ/vwR/jkX7/vBsn/Tc4wQ9r",
                "sha512-qZvwRjkX7vBsnTc4wQ9r",
                "tangerine777monsoonharbour",
            ],
        ),
        (
            "the password is '{}'",
            ["monsoon", "tangerine" * 4 + "abcd", "qZ7wR2"],
            ["harbor", "tangerine" * 4 + "abcde", "to be set", "Expired", "placeholder", "$PASSWD"],
        ),
        # shapes: what is no mask and no example, and has enough digits and letters of both cases
        ("{}", ["API-QZVWRJKXPVBSNTCWQZRKMH7392"], ["API-QZVWRJKXPVBSNTCWQZRKMHD392", "API-" + "7" * 26]),
        ("{}", ["AKIAQZVWRJKXPVB2NTCW"], ["AKIAQZVWRJKX2EXAMPLE", "AKIA" + "A" * 16]),
        (
            "{}",
            ["s.qZvwRjkXpvBsnTcwQzrKmhD7"],
            "s.qZvwRjkXpvBsnTcwQzrKmhDg s.qzvwrjkxpvbsntcwqzrkmhd7 s.QZVWRJKXPVBSNTCWQZRKMHD7 s.aAaAaAaAaAaAaAaAaAaAaAa7",
        ),
        ("{}", [_key("PRIVATE KEY"), _key("ENCRYPTED PRIVATE KEY")], [_key("CERTIFICATE"), _key("PUBLIC KEY")]),
        (
            "xAKIAQZVWRJKXPV32NTCW {}",
            ["qZvw/jkX7vBsnTc4wQzrKmhD9pLgFyHt+JdNbVxC"],
            ["qZvw/jkX7vBsnTc4wQzrKmhDqpLgFyHt+JdNbVxC", "7" * 40],
        ),
        *(
            (
                "mnemonic: {}",
                [f"{_SEEDS} ribbon velvet".replace(" ", between)],
                # three words twice, a sentence
                [
                    f"{_SEEDS.removesuffix(' walnut')} ribbon velvet cactus".replace(" ", between),
                    f"{_SEEDS} the fossil".replace(" ", between),
                ],
            )
            for between in (" ", ",", ", ")
        ),
        (
            "algolia_admin = '{}'",
            ["qzvwrjkxpvbsntcwqzrkmhdgplfyht72"],
            ["qzvwrjkxpvbsntcwqzrkmhdgplfyhtx2", "7" * 32, "abcdefghijklmnop12345678qzvwrjkx"],
        ),
        ("linkedin_admin = '{}'", ["aaabbbcc77dd9q"], ["aaaabbbb77779q"]),
    ],
)
def test_a_value_is_a_secret_by_how_it_was_made(place: str, secrets: str | list[str], others: str | list[str]) -> None:
    before, after = map(re.escape, place.format("\0").split("\0"))
    for value in _each(secrets):
        assert re.fullmatch(rf"{before}\[redacted:[a-z-]+\]{after}", redact(place.format(value)).text), value
    for value in _each(others):
        assert redact(place.format(value)).text == place.format(value)


# -- secrets that span lines go as a whole, and nothing beside them ---------------------------------------------------


def _without(text: str, name: str, gone: list[str]) -> str:
    """The text with these replaced, each once and in this order."""
    kept = ""
    for each in gone:
        before, _, text = text.partition(each)
        kept += f"{before}[redacted:{name}]"
    return kept + text


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("a <private>b</private> c <private>d</private> e", ["<private>b</private>", "<private>d</private>"]),
        (
            "a <private>b<private>c<private>d</private></private>e</private> f",
            ["<private>b<private>c<private>d</private></private>e</private>"],
        ),
        ("a <private>b <private>c</private> d", ["<private>b <private>c</private> d"]),
        ("a </private> b <private>c</private> d", ["<private>c</private>"]),
        ("<private>a</private></private> b <private>c</private>", ["<private>a</private>", "<private>c</private>"]),
        ("a <private> … </private> b", []),
        ("<private>a", ["<private>a"]),
        # a tag between backticks is named, one beside a backtick is not
        ("a `<private>` b", []),
        ("`<private>`", []),
        ("a `<private>b` c</private> d", ["<private>b` c</private>"]),
        ("a `b<private>` c</private> d", ["<private>` c</private>"]),
        ("a b `<private>", ["<private>"]),
        ("<private>`a", ["<private>`a"]),
        # what was opened in a part that was left out
        (" characters left out …]\na</private> b", ["a</private>"]),
        ("[… 5 characters left out …]\na [… 7 characters left out …]\nb</private> c", ["b</private>"]),
        ("a</private> b [… 5 characters left out …]\nc", []),
    ],
)
def test_private_spans_are_the_outermost(text: str, gone: list[str]) -> None:
    assert redact(text).text == _without(text, "private", gone)


def test_the_values_of_a_kubernetes_secret_go_and_no_other_document_loses_any() -> None:
    config = "kind: ConfigMap\ndata:\n  level: debug-verbose\n"
    secret = "kind: Secret\ndata:\n  user: bWFyaWE=\n  pass: 'dGFuZ2VyaW5lcw=='\ntype: Opaque-Thing\n"
    gone = ["bWFyaWE=", "dGFuZ2VyaW5lcw=="]
    for text in (f"{config}---\n{secret}---\n{config}", f"{config}---\n{secret}--- \n{secret}", config):
        assert redact(text).text == _without(text, "kubernetes-secret", gone * text.count("kind: Secret"))


def test_the_private_parts_of_a_json_web_key_go() -> None:
    secret = url_safe(40)
    key = f'{{"kty": "EC", "x": "{url_safe(43)}", "d": "{secret}", "q" : "{secret[:39]}", "k":"{secret}"}}'
    assert redact(key).text == _without(key, "private-key", [secret, secret])
    assert redact(key.replace("kty", "kid")).found == ()

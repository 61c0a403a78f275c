"""P20: a secret is found in another coat too, and nothing is found in what only looks encoded."""

from __future__ import annotations

import base64
import hashlib
import re
from random import Random
from urllib.parse import quote

import pytest

from agent_memory.redaction.redact import Redacted, redact, redact_path
from agent_memory.redaction.rule import RULES
from fixtures.coats import LEGIBLE, OPAQUE, letters_of
from fixtures.secret_samples import INNOCENT, SAMPLES, base62, base64_text, password, pem, url_safe, uuid

_LEAST = {"80 columns": 0.95, "quoted mail": 0.93, "40 columns": 0.9}
"""What is wrapped is found where a half of it, or its surroundings, tells that there is one."""


@pytest.mark.parametrize("coat", OPAQUE)
def test_p20_what_is_encoded_as_a_whole_goes_as_a_whole(coat: str) -> None:
    put_on = OPAQUE[coat]
    kept = [sample.kind for sample in SAMPLES if not redact(put_on(sample.text)).found]
    assert len(kept) <= 0.02 * len(SAMPLES), kept


@pytest.mark.parametrize("coat", LEGIBLE)
def test_p20_what_is_escaped_or_wrapped_loses_the_secret(coat: str) -> None:
    put_on = LEGIBLE[coat]
    kept = []
    for sample in SAMPLES:
        left, ends = letters_of(redact(put_on(sample.text)).text), letters_of(sample.secret)
        if ends[:24] in left or ends[-16:] in left:
            kept.append(sample.kind)
    assert len(kept) <= (1 - _LEAST.get(coat, 0.975)) * len(SAMPLES), kept


@pytest.mark.parametrize("coat", [*OPAQUE, *LEGIBLE])
def test_p20_no_coat_makes_a_secret_of_what_is_none(coat: str) -> None:
    put_on = (OPAQUE | LEGIBLE)[coat]
    found = [text for text in INNOCENT if len(text) > 24 and redact(put_on(text)).found]
    assert len(found) <= 1, found


def test_p20_of_a_row_of_escaped_text_only_the_secret_goes() -> None:
    word = password()
    text = redact(f"GET /login?user=ana&password%3D{quote(word, safe='')}%26next%3D%2Fhome HTTP/1.1").text
    assert text == "GET /login?user=ana&password%3D[redacted:connection-password]%26next%3D%2Fhome HTTP/1.1"


def _ordinary() -> list[str]:
    draw = Random(7)
    sums = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(40)]
    hexadecimal = {keyword for rule in RULES for keyword in rule.keywords if re.fullmatch("[0-9a-f]+", keyword)}
    assert "4b1d" in hexadecimal
    sums += [keyword + each[len(keyword) :] for keyword in hexadecimal for each in sums[:8]]
    return [
        "\n".join(f"{each}  file-{number}.tar.gz" for number, each in enumerate(sums)),
        "\n".join(f"commit {each[:40]}\nAuthor: Ana <ana@example.org>\n" for each in sums),
        "\n".join(f'"{each[:7]}": {{"resolved": "https://registry.example/{each[:9]}.tgz",' for each in sums)
        + "\n".join(f'"integrity": "sha512-{base64_text(86)}=="}},' for _ in sums),
        "\n".join(f'checksum = "{each}"' for each in sums),
        "\n".join(f"web@sha256:{each}" for each in sums),
        "\n".join(f'"id__{id}": "{each}",' for id in ("pW5SbG", "pwd234", "tokenX", "Xpass2") for each in sums),
        "\n".join(f"id: {uuid()}, key: {uuid()}, request {uuid()}" for _ in sums),
        "\n".join(f"--hash=sha256:{each} \\" for each in sums),
        "\n".join(f"cache_key = '{each}'; etag: \"{each[:32]}\"; key={each}" for each in sums),
        f"data:image/png;base64,{base64.b64encode(draw.randbytes(30_000)).decode()}",
        draw.randbytes(20_000).hex(),
        "\n".join(base64.b64encode(draw.randbytes(57)).decode() for _ in range(300)),
        base64.b64encode(b"nothing but an ordinary sentence, some hundred characters of it, " * 40).decode(),
        "%20".join(["an", "ordinary", "query", "caf%C3%A9"] * 200),
        "\n".join(f"x{number} = {number * 7919}  # 0x{number * 7919:08x}" for number in range(500)),
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ" + base64_text(300) + " ana@laptop",
        "-----BEGIN CERTIFICATE-----\n" + "\n".join(base64_text(64) for _ in range(20)) + "\n-----END CERTIFICATE-----",
        "-----BEGIN PGP PUBLIC KEY BLOCK-----\n" + base64_text(64) + "\n-----END PGP PUBLIC KEY BLOCK-----",
        "password: <your-password>\npassword: ${PASSWORD}\npassword=$PASS\nPASSWORD=changeme\npassword: ********",
        "TOKEN=<token>\nTOKEN=xxxx\nAPI_KEY=...\nexport KEY=your_key_here\nsecret: REPLACE_ME_WITH_A_SECRET",
        "-u $USER:$PASSWORD https://acme.io; docker login -u me -p $TOKEN; mysql -p$PASS; sshpass -p \"$SSHPASS\" ssh h",
        "senha: deve ter oito letras\nmot de passe : obligatoire\nPasswort: siehe Tresor\nпароль: нужен\n密码: 必填",
        "The seed phrase is twelve words that the wallet shows once and never again, so write it down on paper.",
    ]  # fmt: skip


@pytest.mark.parametrize("text", _ordinary(), ids=lambda text: text[:30])
def test_p20_sums_ids_keys_that_are_public_and_placeholders_stay(text: str) -> None:
    assert redact(text) == Redacted(text)


@pytest.mark.parametrize("newline", ["\n", "\\n", "\\\\n", "\r\n"])
@pytest.mark.parametrize("cut", ["whole", "end", "front"])
@pytest.mark.parametrize("indent", ["", "    ", "  12→"])
def test_p20_a_private_key_goes_however_it_is_written_and_cut(newline: str, cut: str, indent: str) -> None:
    block, middle = pem("RSA PRIVATE KEY", newline, indent)
    text = {"whole": block, "end": block[: len(block) * 2 // 3], "front": block[len(block) // 3 :]}[cut]
    assert middle in text
    assert middle not in redact(f"key: |\n{text}\n").text


def test_p20_a_secret_behind_a_long_url_is_found() -> None:
    token = url_safe(40)
    assert token not in redact(f"https://acme.io/{'a%20b/' * 2_000}?access_token={token}").text


def test_p20_a_name_may_hold_an_encoded_secret_too() -> None:
    token = f"ghp_{base62(36)}"
    for name in (token, base64.b64encode(f"token={token}".encode()).decode()):
        assert name not in redact_path(f"a {name} b")
    assert redact_path("a name without any") == "a name without any"

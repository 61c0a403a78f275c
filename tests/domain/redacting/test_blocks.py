"""P20: secrets that span lines go as a whole, and nothing beside them."""

from __future__ import annotations

import pytest

from agent_memory.domain.redaction import block_spans, lowered
from fixtures.secret_samples import url_safe


def _found(text: str) -> list[tuple[str, str]]:
    return [(span.name, text[span.start : span.end]) for span in block_spans(text, lowered(text))]


# A private key whose beginning is not there


# Private spans


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
        (
            "[… 5 characters left out …]\na [… 7 characters left out …]\nb</private> c",
            ["b</private>"],
        ),
        ("a</private> b [… 5 characters left out …]\nc", []),
    ],
)
def test_private_spans_are_the_outermost(text: str, gone: list[str]) -> None:
    assert _found(text) == [("private", each) for each in gone]


# Kubernetes


def _secrets(text: str) -> list[str]:
    found = _found(text)
    assert {name for name, _ in found} <= {"kubernetes-secret"}
    return [secret for _, secret in found]


def test_the_values_of_a_kubernetes_secret_go_and_no_other_document_loses_any() -> None:
    config = "kind: ConfigMap\ndata:\n  level: debug-verbose\n"
    secret = "kind: Secret\ndata:\n  user: bWFyaWE=\n  pass: 'dGFuZ2VyaW5lcw=='\ntype: Opaque-Thing\n"
    assert _secrets(f"{config}---\n{secret}---\n{config}") == ["bWFyaWE=", "dGFuZ2VyaW5lcw=="]
    assert _secrets(f"{config}---\n{secret}--- \n{secret}") == ["bWFyaWE=", "dGFuZ2VyaW5lcw=="] * 2
    assert _secrets(config) == []


# JSON Web Keys


def test_the_private_parts_of_a_json_web_key_go() -> None:
    secret = url_safe(40)
    key = f'{{"kty": "EC", "x": "{url_safe(43)}", "d": "{secret}", "q" : "{secret[:39]}", "k":"{secret}"}}'
    assert _found(key) == [("private-key", secret)] * 2
    assert _found(key.replace("kty", "kid")) == []

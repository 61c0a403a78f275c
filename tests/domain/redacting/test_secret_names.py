"""The names of secrets are keywords: whole, in lower case, each but once in its list."""

from __future__ import annotations

import importlib.util

import pytest


@pytest.mark.parametrize(
    "name", ["PASSWORD_WORDS", "SHORT_PASSWORD_WORDS", "SECRETS", "OTHER_TOKENS", "KEYS", "SESSIONS", "OTHER_KEYS"]
)
def test_names_of_secrets_are_keywords(name: str) -> None:
    spec = importlib.util.find_spec("agent_memory.domain.redacting.assignments")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    words = getattr(module, name)
    assert all(word == word.strip().lower() for word in words)
    assert 0 < len(words) == len(set(words))

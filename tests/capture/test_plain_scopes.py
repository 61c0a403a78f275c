"""Which scopes are taken as they are, without loading the rules of redaction."""

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.capture.places import is_too_plain
from agent_memory.redaction.redact import redact_path
from agent_memory.redaction.rule import RULES

_KEYWORDS = sorted({keyword for rule in RULES for keyword in rule.keywords})
_PIECES = st.one_of(
    st.sampled_from(_KEYWORDS),
    st.sampled_from(_KEYWORDS).map(str.upper),
    st.text("abcXYZ0189._-/:", min_size=1, max_size=14),
)


@settings(max_examples=300)
@given(st.lists(_PIECES, min_size=1, max_size=8).map("".join))
def test_nothing_that_is_taken_as_it_is_holds_a_secret_p20(scope: str) -> None:
    if is_too_plain(scope):
        assert redact_path(scope) == scope


@pytest.mark.parametrize("scope", ["global", "github.com/owner/repo", "path:/home/me/src/agent_memory/.git"])
def test_a_usual_scope_is_taken_as_it_is(scope: str) -> None:
    assert is_too_plain(scope)


@pytest.mark.parametrize(
    "scope",
    [
        "path:/home/AKIAIOSFODNN7EXAMPL3/.git",
        "path:/home/xoxb-0123456789ab/.git",
        "path:/home/password=hunter22/.git",
        "path:/srv/hooks.zapier.com/hooks/catch/123456/abc123/.git",
    ],
)
def test_what_may_hold_a_secret_is_looked_at(scope: str) -> None:
    assert not is_too_plain(scope)

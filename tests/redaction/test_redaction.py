"""P20: what looks like a secret is gone from the text, and little else is."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st

from agent_memory.redaction.redact import Redacted, redact
from fixtures.published_formats import PUBLISHED
from fixtures.secret_samples import INNOCENT, SAMPLES, Sample, base62, jwt, password


def _is_gone(sample: Sample) -> bool:
    result = redact(sample.text)
    return bool(result.found) and sample.secret not in result.text


def test_p20_every_sample_of_ours_is_redacted() -> None:
    assert [sample.kind for sample in SAMPLES if not _is_gone(sample)] == []


def test_p20_at_least_95_percent_of_published_formats_are_redacted() -> None:
    kept = [each.kind for each in PUBLISHED if each.secret in redact(each.text).text]
    assert len(kept) <= 0.05 * len(PUBLISHED), kept


def test_p20_what_is_no_secret_stays() -> None:
    assert [text for text in INNOCENT if redact(text) != Redacted(text)] == []


def test_the_placeholder_names_what_was_removed_and_leaves_the_rest() -> None:
    token = f"ghp_{base62(36)}"
    result = redact(f"export GITHUB_TOKEN={token} # mine")
    assert result.text == "export GITHUB_TOKEN=[redacted:github-token] # mine"
    assert result.found == (("github-token", 1),)


def test_every_occurrence_is_counted_by_name() -> None:
    first, second, word = f"ghp_{base62(36)}", f"gho_{base62(36)}", password()
    result = redact(f'{first} and {second}, "password": "{word}"')
    assert result.found == (("github-token", 2), ("password", 1))
    assert result.text == '[redacted:github-token] and [redacted:github-token], "password": "[redacted:password]"'


def test_overlapping_secrets_become_one_with_the_better_name() -> None:
    token = jwt()
    assert redact(f"Authorization: Bearer {token}").text == "Authorization: Bearer [redacted:jwt]"


def test_p20_a_private_span_that_is_never_closed_reaches_to_the_end() -> None:
    assert redact("a <private>b <private>c</private>\n\nd").text == "a [redacted:private]"
    assert redact("a \\u003cprivate\\u003eb\\u003c/private\\u003e e").text == "a [redacted:private] e"


def test_p20_a_secret_right_behind_another_begins_where_that_ends() -> None:
    first, second = f"AIza{base62(35)}", f"gsk_{base62(52)}"
    assert redact(f"a {first}{second} b").text == "a [redacted:gcp-api-key][redacted:groq-key] b"
    assert redact(f"a{second} b").found == ()


def test_p20_what_was_replaced_stays_and_what_only_begins_like_it_shields_nothing() -> None:
    cloned = "git clone https://{}@github.com/acme/web.git"
    assert redact(cloned.format(f"ghp_{base62(36)}")).text == cloned.format("[redacted:github-token]")
    assert redact("[redacted:password: Summer2024!").text == "[redacted:password: [redacted:password]"


def test_letters_that_grow_in_lower_case_do_not_shift_what_is_removed() -> None:
    token = f"ghp_{base62(36)}"
    assert redact(f"İİİ {token} İ").text == "İİİ [redacted:github-token] İ"


_PIECES = st.sampled_from([sample.text for sample in SAMPLES] + list(INNOCENT))


@given(st.lists(st.one_of(_PIECES, st.text(max_size=30)), max_size=6).map("".join))
@settings(max_examples=60, deadline=None)
@example("")
def test_p20_redaction_is_total_and_idempotent(text: str) -> None:
    once = redact(text)
    assert redact(once.text) == Redacted(once.text)
    assert bool(once.found) == (once.text != text)


@given(
    st.sampled_from(SAMPLES),
    st.text(alphabet=" \n\t.,;()", max_size=10),
    st.text(alphabet=" \n", min_size=1, max_size=10),
)
@settings(max_examples=100, deadline=None)
def test_p20_a_sample_is_found_wherever_it_stands(sample: Sample, before: str, after: str) -> None:
    assert sample.secret not in redact(f"{before}\n{sample.text}{after}").text


def _corpus(path: Path) -> list[dict[str, str]]:
    def decoded(line: str) -> dict[str, str]:
        row = json.loads(line)
        secret = base64.b64decode(row.get("secret_b64", "")).decode(errors="replace")
        text = base64.b64decode(row["text_b64"]).decode(errors="replace")
        return {"rule": row["rule"], "label": str(row["label"]), "text": text, "secret": secret}

    return [decoded(line) for line in path.read_text().splitlines()]


@pytest.mark.shared
def test_p20_at_least_95_percent_of_the_types_of_gitleaks_are_redacted(shared: Path) -> None:
    found: dict[str, bool] = defaultdict(bool)
    for name in ("examples.jsonl", "generated_from_rules.jsonl"):
        for row in _corpus(shared / "corpora/gitleaks-examples" / name):
            if row["label"] == "1":
                result = redact(row["text"])
                gone = bool(result.found) and (not row["secret"] or row["secret"] not in result.text)
                found[row["rule"]] = found[row["rule"]] or gone
    assert sum(found.values()) / len(found) >= 0.95, [rule for rule, gone in found.items() if not gone]

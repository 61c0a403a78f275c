"""P20: names of files, directories and branches hold secrets like any text, and so do inbox entries."""

from __future__ import annotations

import re

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st

from agent_memory.note.note import Harness
from agent_memory.redaction.redact import redact, redact_path, redact_with_paths
from agent_memory.session.queue import Context, InboxEntry, SessionFile, as_consumed
from agent_memory.text.value_rules import has_plain_words
from fixtures.secret_samples import SAMPLES, Sample, base62

ONE_NAME = [
    sample
    for sample in SAMPLES
    if sample.secret not in redact(sample.text).text and not re.search(r"[/\\\n\0]", sample.text)
]
"""Every family that may stand in one name."""


ONE_WORD = [sample for sample in ONE_NAME if not re.search(r"[\s\"'`]", sample.text)]
FORMS = (
    "/srv/x/{}", "/srv/x/{}.txt", "/srv/x/my-{}.json", "/srv/{}/a/b.py", "backup/{}.tar.gz", "C:\\x\\{}\\notes.md",
    "fix/{}", "{}",
)  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_p20_a_secret_of_every_family_is_gone_from_a_path(form: str) -> None:
    assert len(ONE_NAME) > 100
    assert [each.kind for each in ONE_NAME if each.secret in redact_path(form.format(each.text))] == []


@pytest.mark.parametrize("form", FORMS)
def test_p20_a_secret_of_every_family_is_gone_from_a_command_that_names_a_path(form: str) -> None:
    texts = ((each, f'cat "{form.format(each.text)}" | wc -l') for each in ONE_WORD)
    assert len(ONE_WORD) > 50
    assert [each.kind for each, text in texts if each.secret in redact_with_paths(text)] == []


def test_the_shape_of_the_path_stays() -> None:
    token = f"EAAA{base62(60)}"
    assert redact_path(f"/srv/x/{token}.tar.gz") == "/srv/x/[redacted:square-token].tar.gz"
    assert redact_path(f"C:\\x\\{token}\\b.txt") == "C:\\x\\[redacted:square-token]\\b.txt"
    assert redact_path(f"/srv/API_TOKEN={base62(24)}.txt") == "/srv/API_TOKEN=[redacted:token].txt"
    assert redact_with_paths(f"ls /srv/{token}.txt /srv/b") == "ls /srv/[redacted:square-token].txt /srv/b"


@pytest.mark.parametrize(
    "path",
    [
        "/home/ana/work/agent-memory/src/agent_memory/redaction/redact.py",
        "/usr/lib/python3.11/site-packages/numpy-1.26.4.dist-info/METADATA",
        "/repo/.git/objects/3f/1d0c5a9b8e7d6c5b4a39281706f5e4d3c2b1a0",
        "feature/ABC-1234-token-refresh",
        "C:\\Users\\Ana\\AppData\\Local\\Temp\\secret-santa.xlsx",
        "config/secrets.example.env",
        "/home/ana/.claude/projects/-home-ana-work/0b7a4c1e-9d0f-4c55-8a52-1f2e3d4c5b6a.jsonl",
    ],
)
def test_p20_an_ordinary_path_stays(path: str) -> None:
    assert redact_path(path) == path
    assert redact_with_paths(f"see {path}, please") == f"see {path}, please"


@given(st.text(alphabet="/\\.=ab1 :_-\n", max_size=40), st.sampled_from(ONE_NAME))
@settings(max_examples=60)
def test_redacting_a_path_twice_changes_nothing(around: str, sample: Sample) -> None:
    once = redact_path(f"{around}/{sample.text}{around}")
    assert redact_path(once) == once
    said = redact_with_paths(f"{around}/{sample.text}{around}")
    assert redact_with_paths(said) == said


@pytest.mark.parametrize("piece", ["a", "/", "=", ".", "/a", "=a/", "a.", "\\", "/=", "a1b2"])
def test_a_long_hostile_word_is_read_to_its_end(piece: str) -> None:
    text = piece * (200_000 // len(piece))  # with anything quadratic this takes minutes
    assert redact_with_paths(text) == text


def test_p20_a_name_that_is_taken_for_plain_holds_nothing_that_a_rule_finds() -> None:
    assert [each.kind for each in ONE_NAME if has_plain_words(each.text)] == []
    assert [
        each.kind
        for each in ONE_NAME
        if has_plain_words(f"fix/{each.secret}") and each.secret != redact(each.secret).text
    ] == []


@pytest.mark.parametrize(
    "name", ["main", "fix/login-42", "feature/ABC-1234-add-lamp", "release/2026.02.13", "dependabot/npm/lamp-1.2.3"]
)
def test_usual_branches_are_plain(name: str) -> None:
    assert has_plain_words(name)


TOKEN = f"EAAA{base62(60)}"
MARK = "[redacted:square-token]"
PLAIN = InboxEntry(
    at_ms=1,
    harness=Harness.CODEX,
    retrieval=SessionFile("codex-session", "s1", "/home/ana/.codex/sessions/2026/02/13/rollout-s1.jsonl"),
    context=Context("/srv/harbour", "path:/srv/harbour/.git", "fix/lamp", "a" * 40, "Stop"),
)
SECRET = evolve(
    PLAIN,
    retrieval=SessionFile("codex-session", "s1", f"/srv/{TOKEN}/s1.jsonl"),
    context=Context(f"/srv/{TOKEN}/x", f"path:/srv/{TOKEN}/x/.git", f"fix/{TOKEN}", "a" * 40, "Stop"),
)


def test_p20_once_it_is_consumed_nothing_of_it_holds_a_secret() -> None:
    consumed = as_consumed(SECRET)
    assert consumed.context == Context(f"/srv/{MARK}/x", f"path:/srv/{MARK}/x/.git", f"fix/{MARK}", "a" * 40, "Stop")
    assert consumed.retrieval == SessionFile("codex-session", "s1")
    assert as_consumed(consumed) == consumed

"""The extraction bench: what counts as found and as junk, and that it runs where the annotated sessions are not."""

from __future__ import annotations

import io
import json
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from bench.extraction import main

GOLD = {
    "sessions": [
        {
            "file": "fixtures/a.jsonl",
            "harness": "pi",
            "keep": [
                {
                    "fact": "Totals are kept in integer cents because floats lost a cent.",
                    "must_contain": ["cents"],
                    "importance": "high",
                },
                {"fact": "The first start is slow.", "must_contain": ["first"], "importance": "low"},
            ],
            "reject": [{"text": "All tests of the cart pass."}],
        }
    ]
}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "gold-notes.json").write_text(json.dumps(GOLD), "utf-8")
    return tmp_path


def totals(data: Path, *notes: dict[str, str]) -> list[str]:
    written = data / "notes.json"
    written.write_text(json.dumps({"fixtures/a.jsonl": notes}), "utf-8")
    done = run("--data", str(data), "--notes", str(written))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].split()


def test_without_the_annotated_sessions_it_skips_with_a_word(tmp_path: Path) -> None:
    done = run("--data", str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "")
    assert "skipped" in done.stderr


def test_a_keep_is_found_when_one_note_says_it(data: Path) -> None:
    said = {"title": "Totals are integer cents", "body": "Floats lost a cent."}
    term_only = {"title": "Cents", "body": "The coin was redesigned."}
    assert totals(data, said) == ["all", "1/1", "0/1", "0/1", "1"]
    assert totals(data, term_only) == ["all", "0/1", "0/1", "0/1", "1"]


def test_a_reject_is_kept_when_a_note_states_it_and_not_when_it_denies_it(data: Path) -> None:
    stated = {"title": "Status", "body": "All tests of the cart pass."}
    denied = {"title": "Status", "body": "The tests of the cart do not pass."}
    assert totals(data, stated) == ["all", "0/1", "0/1", "1/1", "1"]
    assert totals(data, denied) == ["all", "0/1", "0/1", "0/1", "1"]


@pytest.mark.shared
def test_the_built_in_agent_finds_most_and_keeps_no_junk(shared: Path) -> None:
    done = run("--data", str(shared))
    found, _, junk, notes = done.stdout.splitlines()[-1].split()[1:]
    assert int(found.split("/")[0]) >= 17
    assert int(junk.split("/")[0]) <= 5  # by their words: an answer is kept with what else it says
    assert int(notes) <= 20

"""Amp threads through a scripted `amp`: nothing here runs the real one."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from returns.result import Result

from agent_memory.agent.child_process import Finished
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable, StoreIo
from agent_memory.harness.amp import AmpThreads, run_amp, thread_history
from agent_memory.note.note import Harness
from agent_memory.session.history import History, Role, ToolCall
from harness_surroundings import ScriptedCommand, fetch_from, finished, session_entry

THREAD = "T-0198c1aa-2f3e-7000-8a11-3c5d7e9f0b21"
EXPORT = (Path(__file__).parents[1] / "fixtures" / "amp" / "export-v150.json").read_bytes()


def fetched(amp: ScriptedCommand, thread_id: str = THREAD) -> Result[History, Error]:
    return fetch_from(AmpThreads(amp), session_entry(Harness.AMP, thread_id))


def test_an_export_becomes_turns() -> None:
    amp = ScriptedCommand(finished(EXPORT))
    history = fetched(amp).unwrap()
    assert amp.calls == [("amp", "threads", "export", THREAD)]
    assert [(turn.role, turn.text) for turn in history.turns] == [
        (Role.USER, "Why does the service need nine seconds to start?"),
        (Role.AGENT, "I profile the start."),
        (Role.TOOL, "dns lookup: 8.6 s"),
        (Role.TOOL, "no such file"),
        (Role.AGENT, "A DNS lookup of the metrics host takes 8.6 s."),
    ]
    assert history.turns[1].tool_calls == (
        ToolCall("Bash", "make profile"),
        ToolCall("edit_file", "a => b", "/srv/harbour/start.py", True),
    )
    assert [(turn.tool_name, turn.failed) for turn in history.turns[2:4]] == [("Bash", False), ("edit_file", True)]
    assert (history.title, history.cwd, history.branch) == (
        "Slow start of the harbour service",
        "/srv/harbour two",
        "fix/start",
    )
    assert (history.agent, history.started_at_ms, history.ended_at_ms) == (
        "claude-opus-5",
        1770000000000,
        1770000020000,
    )


def test_an_answer_still_being_written_is_left_for_the_next_time() -> None:
    whole = json.loads(EXPORT)
    whole["messages"][-1]["state"] = {"type": "streaming"}
    history = fetched(ScriptedCommand(finished(json.dumps(whole).encode()))).unwrap()
    assert len(history.turns) == 4


@pytest.mark.parametrize(
    ("block", "text", "failed"),
    [
        ({"tool_use_id": "c1", "content": "package main"}, "package main", False),
        (
            {"tool_use_id": "c1", "content": [{"type": "text", "text": "a"}, {"text": "b"}], "is_error": True},
            "a\nb",
            True,
        ),
        ({"toolUseID": "c1", "run": {"status": "done", "result": "whole"}}, "whole", False),
        ({"toolUseID": "c1", "run": {"status": "done", "result": {"files": 3}}}, '{"files": 3}', False),
        ({"toolUseID": "c1", "run": {"status": "cancelled"}}, "", True),
    ],
)
def test_both_shapes_of_a_tools_answer_are_read(block: dict[str, object], text: str, failed: bool) -> None:
    call = {"type": "tool_use", "id": "c1", "name": "Read", "input": {"path": "main.go"}}
    value = {
        "id": THREAD,
        "messages": [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [{"type": "tool_result", **block}]},
        ],
    }
    turn = fetched(ScriptedCommand(finished(json.dumps(value).encode()))).unwrap().turns[1]
    assert (turn.role, turn.tool_name, turn.text, turn.failed) == (Role.TOOL, "Read", text, failed)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (StoreIo("amp", "start", "ENOENT", "No such file"), "cannot be found"),
        (
            finished(status=1, stderr=b"Not logged in. Run \x1b[1mamp login\x1b[0m\n"),
            "status 1: Not logged in. Run amp login",
        ),
        (finished(status=-9, late=True), "did not answer"),
        (finished(b"# not JSON"), "no JSON"),
        (finished(b"{", capped=True), "larger than 16 MiB"),
        (
            finished(status=1, stderr=b"AMP_API_KEY=sgamp_user_01ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdef rejected"),
            "[redacted:",
        ),
    ],
)
def test_without_a_working_amp_the_history_says_why(outcome: Finished | StoreIo, words: str) -> None:
    error = fetched(ScriptedCommand(outcome)).failure()
    assert isinstance(error, HistoryUnavailable)
    assert words in error.reason


@pytest.mark.parametrize(
    "id", ["", "T-", "T", "t-1", "T-1/../x", "-x", "T-a b", "T-a;rm", "T-" + "a" * 200, "T-é", "T-a\n", "--help"]
)
def test_an_id_that_is_none_reaches_no_command_p21(id: str) -> None:
    amp = ScriptedCommand(finished(EXPORT))
    assert isinstance(fetched(amp, id).failure(), HistoryUnreadable)
    assert amp.calls == []


def test_the_real_runner_passes_arguments_and_the_allowed_environment_only(tmp_path: Path) -> None:
    """P21: no shell between us and amp."""
    script = tmp_path / "amp"
    script.write_text('#!/bin/sh\nprintf "%s|" "$@"; printf "%s|%s" "$AMP_API_KEY" "$SECRET"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "AMP_API_KEY": "key", "SECRET": "no"}
    outcome = run_amp(environ, ("amp", "threads", "export", "T-1; echo $HOME"))
    assert outcome.stdout == b"threads|export|T-1; echo $HOME|key|"


@pytest.mark.shared
def test_every_shared_thread_is_read(shared: Path) -> None:
    threads = sorted((shared / "fixtures" / "amp").glob("*.json"))
    assert threads
    for path in threads:
        value = json.loads(path.read_bytes())
        history = thread_history(value, value["id"], None)
        assert len(history.turns) >= 2
        assert history.skipped == {}

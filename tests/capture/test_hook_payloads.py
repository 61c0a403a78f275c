"""The hook as each harness calls it: one entry a session, whoever sends it, and nothing bad stored whatever is sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_memory.capture.session_event import SHAPES, method_of, session_event
from agent_memory.session.queue import session_id_of
from hook_calls import HOOK, ID, call, inbox_of, payload, problems_of

SESSIONS: dict[str, dict[str, object]] = {
    "claude-code": {
        "session_id": ID,
        "transcript_path": f"/h/.claude/projects/p/{ID}.jsonl",
        "hook_event_name": "Stop",
    },
    "codex": {
        "session_id": ID,
        "transcript_path": f"/h/.codex/sessions/2026/02/13/rollout-2026-02-13T14-30-05-{ID}.jsonl",
        "hook_event_name": "Stop",
        "turn_id": "1",
    },
    "cursor": {"conversation_id": ID, "hook_event_name": "stop", "cursor_version": "3.1", "workspace_roots": ["/p"]},
    "gemini": {"session_id": ID, "hook_event_name": "AfterAgent", "timestamp": "2026-02-13T14:30:05.000Z"},
    "copilot": {"sessionId": ID, "timestamp": 1_770_000_000_000, "stopReason": "end_turn"},
    "goose": {"session_id": ID, "event": "Stop", "message": "WROTE", "last_assistant_message": "WROTE"},
    "amp": {"type": "agent.end", "thread": {"id": ID}, "status": "done"},
    "opencode": {"type": "session.idle", "properties": {"sessionID": ID}, "directory": "/p"},
    "pi": {"type": "agent_end", "sessionId": ID, "sessionFile": f"/s/x_{ID}.jsonl"},
}


def as_hook_of(harness: str) -> list[str]:
    return [*HOOK[:4], "--harness", harness, "--hook"]


@pytest.mark.parametrize("harness", SHAPES)
def test_every_harness_is_captured_with_nothing_that_anybody_wrote(harness: str, root: Path, home: Path) -> None:
    sent = {**SESSIONS[harness], "cwd": "/nowhere", "prompt": "WHAT SOMEBODY WROTE", "messages": ["WROTE"]}
    call(json.dumps(sent).encode(), command=as_hook_of(harness))
    (entry,) = inbox_of(root)
    assert entry.harness == harness
    assert (entry.retrieval.method, session_id_of(entry)) == (method_of(harness), ID)
    assert "WROTE" not in next((root / "inbox").iterdir()).read_text()
    assert problems_of(home) == []


@pytest.mark.parametrize("named", ["codex", "claude-code"])
def test_an_ephemeral_session_of_codex_is_not_kept(named: str, root: Path, home: Path) -> None:
    for event in ("SessionStart", "Stop", "SessionEnd"):
        sent = {**SESSIONS["codex"], "transcript_path": None, "hook_event_name": event}
        call(json.dumps(sent).encode(), command=as_hook_of(named))
    assert (inbox_of(root), problems_of(home)) == ([], [])


@pytest.mark.parametrize("sign", ["$(touch {})", "; touch {} #", "`touch {}`", "../../../..{}", "{}\n", "| tee {}"])
def test_no_id_reaches_a_shell_or_a_path_p21(sign: str, root: Path, home: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    for harness, sent in SESSIONS.items():
        text = json.dumps(sent).replace(ID, sign.format(made).replace("\n", "\\n"))
        assert isinstance(session_event(harness, json.loads(text)), str), harness
    call(text.encode(), command=as_hook_of(harness))
    assert not made.exists()
    assert inbox_of(root) == []
    assert len(problems_of(home)) == 1


@pytest.mark.parametrize("where", ["home", "below the home", "temporary", "a repository"])
def test_a_session_is_of_its_repository_or_directory_or_of_none(where: str, root: Path, home: Path) -> None:
    git = home / ("lamp/.git" if where == "a repository" else ".git")  # dotfiles, perhaps
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text('[remote "origin"]\n\turl = https://t:secret@github.com/ada/repo.git\n')
    (home / "notes").mkdir()
    cwd = {"home": home, "below the home": home / "notes", "temporary": Path("/var/tmp"), "a repository": home / "lamp"}
    call(payload(cwd=str(cwd[where])))
    (entry,) = inbox_of(root)
    repo = {"home": None, "a repository": "github.com/ada/repo"}.get(where, f"path:{cwd[where]}")
    assert (entry.context.repo, entry.context.branch) == (repo, "main" if where == "a repository" else None)
    assert "secret" not in next((root / "inbox").iterdir()).read_text()

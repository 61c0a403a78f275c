"""P20 from end to end: secrets of every family are planted wherever text comes in; none is anywhere that memory writes."""

from __future__ import annotations

import json
import shlex
import sys
import time
from typing import Any

import pytest

from agent_memory.redaction.redact import redact
from claude_transcripts import Conversation
from fixtures.secret_samples import SAMPLES, base62, hexadecimal, jwt
from memory_process import Done, Memory
from written_texts import holders, leaks, texts_below

FOUND = [sample for sample in SAMPLES if len(sample.secret) >= 8 and sample.secret not in redact(sample.text).text]
"""Every family that redaction promises to find."""


def _leaks(memory: Memory, secrets: list[str], *said: Done) -> list[str]:
    """Of each file that memory wrote, below the root and beside it, and of what was said."""
    output = (("output", (done.out + done.err).encode()) for done in said)
    return leaks(secrets, [*texts_below(memory.root), *texts_below(memory.home / ".local"), *output])


def test_p20_the_search_for_leaks_sees_one(memory: Memory) -> None:
    """Positive control."""
    memory.remembered("The tangerine monsoon comes in May")
    assert _leaks(memory, ["tangerine monsoon"])


def test_p20_no_secret_of_a_note_is_written_anywhere(memory: Memory) -> None:
    said = [
        memory("remember", f"Stage {number} is reached like this:\n{sample.text}\nand in no other way")
        for number, sample in enumerate(FOUND[::9])
    ]
    token, second, third = f"ghp_{base62(36)}", f"glpat-{hexadecimal(20)}", jwt()
    said.append(memory("remember", "Deploys run from main, always", "--tags", token))
    said.append(memory("remember", f"Deploys are signed\n\nwith {third}", "--title", f"the key {second}"))
    said.append(memory("remember", "Deploys need two people", "--scope", f"github.com/ada/{token}"))
    path = memory.home / f"notes {token}.txt"
    path.write_text("\n\n".join(sample.text for sample in FOUND))
    said.append(memory("capture", "--file", str(path)))
    said.append(memory("capture", "--title", f"the {second}", "--body", f"is {third}", "--tags", token))
    said.append(memory("consolidate"))
    said.append(memory("edit", "id__zzzzzz", "--title", token))
    said.append(memory("read", token))
    said.append(memory("status", "--json"))
    secrets = [*(sample.secret for sample in FOUND), token, second, third]
    assert memory.notes()
    assert _leaks(memory, secrets, *said) == []


def test_p20_no_secret_of_a_branch_waits_in_the_inbox(memory: Memory) -> None:
    project = memory.home / "work"
    (project / ".git").mkdir(parents=True)
    token = f"ghp_{base62(36)}"
    (project / ".git" / "HEAD").write_text(f"ref: refs/heads/fix/{token}\n")
    payload = {"session_id": "s2", "cwd": str(project), "hook_event_name": "Stop", "transcript_path": "/x/s2.jsonl"}
    memory("capture", "--harness", "claude-code", "--hook", data=json.dumps(payload).encode(), cwd=project)
    transcript = ("--transcript", str(memory.home / ".claude" / "projects" / "s3.jsonl"))
    assert memory("capture", "--harness", "claude-code", "--session", "s3", *transcript, cwd=project).code == 0
    memory.remembered("The lamp of the harbour is green")
    assert len(memory.pending()) == 2
    assert all("fix/[redacted:" in (memory.root / "inbox" / name).read_text() for name in memory.pending())
    assert _leaks(memory, [token]) == []


def test_p20_no_secret_that_the_agent_command_utters_is_written_anywhere(memory: Memory) -> None:
    token, loud = f"ghp_{base62(36)}", f"sk-proj-{base62(60)}"
    script = memory.home / "agent.py"
    script.write_text(
        "import sys, json\n"
        "prompt = sys.stdin.read()\n"
        "nonce = prompt.splitlines()[1].split()[-1]\n"
        f"entry = {{'title': 'Use {token}', 'body': 'Deploys use {token} from main', 'kind': 'lesson', 'tags': ['{token}']}}\n"
        "print('key', entry['tags'][0], json.dumps({'version': 1, 'nonce': nonce, 'entries': [entry]}))\n"
        f"print('I saw {loud}', file=sys.stderr)\n"
    )
    memory.configure(llm={"command": shlex.join([sys.executable, str(script)])})
    talk = Conversation("s1", started_ms=time.time_ns() // 1_000_000).exchange("Deploys run from main.")
    memory.session("s1", talk.data)
    first = memory("consolidate")
    assert first.code == 0, first
    assert memory.notes()
    script.write_text(
        f"import sys\nprint('{token}')\nprint('login with {loud} failed', file=sys.stderr)\nsys.exit(3)\n"
    )
    talk.exchange("Deploys also need the lamp.")
    memory.session("s1", talk.data)
    second = memory("consolidate")
    assert second.code != 0
    assert _leaks(memory, [token, loud], first, second, memory("status"), memory("status", "--json")) == []


@pytest.mark.parametrize(
    "command",
    [
        "{agent} --api-key plain-zebra-one --password=zebra22Q!9 --max-tokens 4000",
        "{agent} -H 'Authorization: Bearer zebra0a1b2c3d4e5f6a7b8c9d0e1f2'",
        "API_TOKEN=zebra claude -p",
        "OPENAI_API_KEY=zebra/two claude -p",
        "nosuch-agent --authToken zebra",
        {"argv": ["{agent}", "--token", "zebra-1"], "env": {"MY_SECRET": "zebra-2"}},
    ],
    ids=["options", "header", "variable", "variable with a slash", "nowhere", "preset"],
)
def test_p20_no_secret_of_the_agent_command_is_shown_or_written(memory: Memory, command: str | dict[str, Any]) -> None:
    agent = memory.home / "agent"
    agent.write_text('#!/bin/sh\necho "bad call: $* $MY_SECRET" >&2\nexit 3\n')
    agent.chmod(0o700)
    own = json.loads(json.dumps(command).replace("{agent}", str(agent)))
    memory.configure(llm={"preset": "mine", "presets": {"mine": own}})
    memory.remembered("Linters are ruff and mypy.")
    memory.captured("Deploys", "We decided to deploy from main only.")
    acts = [["consolidate"], ["defrag"], ["doctor"], ["doctor", "--fix"], ["status"], ["config"], ["log"], ["stats"]]
    said = [memory(*act, *form) for act in acts for form in ([], ["--json"])]
    assert all("zebra" not in done.out + done.err for done in said)
    assert holders(memory.root, "zebra") + holders(memory.home / ".local", "zebra") == []
    assert "max-tokens 4000" in "".join(done.out for done in said) or "max-tokens" not in str(command)
